"""Export of features: to SQL, narwhals, Polars, Python and ONNX.

Each needs another library or none, and is imported when it is used.
"""

from .dialects import DIALECTS as DIALECTS
from .formulas import Check as Check
from .formulas import checks_of as checks_of
from .frames import LazyColumns as LazyColumns
from .frames import lazy_columns as lazy_columns
from .frames import to_narwhals as to_narwhals
from .frames import to_polars as to_polars
from .programs import Graph as Graph
from .programs import check_exportable as check_exportable
from .programs import columns_of_features as columns_of_features
from .programs import to_onnx as to_onnx
from .programs import to_python as to_python
from .sql import ColumnType as ColumnType
from .sql import Kind as Kind
from .sql import to_sql as to_sql
