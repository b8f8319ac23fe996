"""Features that leave conjunct: as SQL, as Polars expressions, as a Python function.

One file for each, and nothing imported here: each needs another library, or none.
"""

from .dialects.base import DIALECTS as DIALECTS
from .polars import to_polars as to_polars
from .python import to_python as to_python
from .raw import Check as Check
from .raw import checks_of as checks_of
from .sql import Kind as Kind
from .sql import Source as Source
from .sql import to_sql as to_sql
