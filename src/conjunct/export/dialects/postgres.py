"""PostgreSQL."""

from conjunct.export.dialects.base import DIALECTS, Dialect


class Postgres(Dialect):
    name = "postgres"
    summary = "PostgreSQL"
    keeps_steps = True
    longest_name = 63


DIALECTS.enter(Postgres())
