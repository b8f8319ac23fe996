"""DuckDB."""

from conjunct.export.dialects.base import DIALECTS, Dialect


class DuckDB(Dialect):
    name = "duckdb"
    summary = "DuckDB"
    keeps_steps = True
    takes_nan_for_true = True


DIALECTS.enter(DuckDB())
