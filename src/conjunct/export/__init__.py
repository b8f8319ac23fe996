"""Features that leave conjunct: as SQL, as Polars expressions, as a Python function."""

from conjunct.export.polars import to_polars
from conjunct.export.python import to_python
from conjunct.export.sql import DIALECTS, Source, to_sql

__all__ = ["DIALECTS", "Source", "to_polars", "to_python", "to_sql"]
