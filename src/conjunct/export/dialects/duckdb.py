"""DuckDB."""

from conjunct.export.dialects.base import DIALECTS, Dialect


class DuckDB(Dialect):
    name = "duckdb"
    summary = "DuckDB"
    is_run = True
    # Steps that are only marked as such are planned in more than linear time, and held in memory;
    # a sample of all rows is neither.
    keeps_steps = "sample"
    takes_nan_for_true = True


DIALECTS.enter(DuckDB())
