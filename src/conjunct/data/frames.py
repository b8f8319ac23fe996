"""Columns of results as a table of whatever library is wanted."""

from __future__ import annotations

from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Backend = Literal["pandas", "polars", "pyarrow", "dict"]
FRAMES = ("pandas", "polars", "pyarrow")


def as_table(columns: dict[str, list[Any]], backend: Any) -> Any:
    """The columns as a data frame of ``backend``, or as they are for ``"dict"``."""
    if backend == "dict":
        return columns
    try:
        return nw.from_dict(columns, backend=backend).to_native()
    except ImportError:
        raise ImportError(
            f"a table needs {backend}: pip install {backend}, or ask for backend='dict'"
        ) from None


def boolean_series(
    name: str,
    values: Mask,
    missing: Mask | None,
    backend: Any,
    nullable: bool = True,
) -> nw.Series[Any]:
    """Booleans, null where ``missing``.

    pandas' own bool has no null; ``nullable`` asks for its type that has, whatever the rows.
    """
    if missing is None or not missing.any():
        series = nw.new_series(name, values, nw.Boolean, backend=backend)
        return nw.maybe_convert_dtypes(series) if nullable else series
    series = nw.maybe_convert_dtypes(nw.new_series(name, values, nw.Boolean, backend=backend))
    if series.implementation.is_pandas():
        native = series.to_native()
        native[missing] = None
        return series
    cells = [None if gone else bool(v) for v, gone in zip(values, missing.tolist(), strict=True)]
    return nw.new_series(name, cells, nw.Boolean, backend=backend)
