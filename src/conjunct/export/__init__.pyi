"""Export of features: to SQL, narwhals, Polars, Python and ONNX.

Each needs another library or none, and is imported when it is used.
"""

from .dialects import DIALECTS as DIALECTS
from .frames import LazyColumns as LazyColumns
from .frames import lazy_columns as lazy_columns
from .frames import to_narwhals as to_narwhals
from .frames import to_polars as to_polars
from .onnx import Graph as Graph
from .onnx import check_exportable as check_exportable
from .onnx import columns_of_features as columns_of_features
from .onnx import to_onnx as to_onnx
from .python import to_python as to_python
from .raw import Check as Check
from .raw import checks_of as checks_of
from .sql import ColumnType as ColumnType
from .sql import Kind as Kind
from .sql import to_sql as to_sql
