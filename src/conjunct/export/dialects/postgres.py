"""PostgreSQL."""

from conjunct.export.dialects.base import DIALECTS, Dialect


class Postgres(Dialect):
    name = "postgres"
    summary = "PostgreSQL"
    is_run = True
    folds_case = False
    keeps_steps = "hint"
    most_columns = 1664
    most_in_table = 1600
    longest_name = 63


DIALECTS.enter(Postgres())
