"""DuckDB."""

from conjunct.export.dialects.base import DIALECTS, Dialect


class DuckDB(Dialect):
    name = "duckdb"
    summary = "DuckDB"
    is_run = True
    keeps_steps = "hint"
    takes_nan_for_true = True


DIALECTS.enter(DuckDB())
