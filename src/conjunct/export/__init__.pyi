"""Features that leave conjunct: as SQL, as expressions of narwhals and Polars, as Python, as ONNX.

One file for each, and nothing imported here: each needs another library, or none.
"""

from .dialects.base import DIALECTS as DIALECTS
from .narwhals import LazyColumns as LazyColumns
from .narwhals import lazy_columns as lazy_columns
from .narwhals import to_narwhals as to_narwhals
from .onnx import Graph as Graph
from .onnx import check_exportable as check_exportable
from .onnx import columns_of_features as columns_of_features
from .onnx import to_onnx as to_onnx
from .polars import to_polars as to_polars
from .python import to_python as to_python
from .raw import Check as Check
from .raw import checks_of as checks_of
from .sql import Kind as Kind
from .sql import Source as Source
from .sql import to_sql as to_sql
