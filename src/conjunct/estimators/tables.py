"""Columns of results as a table of whatever library is wanted."""

from __future__ import annotations

from typing import Any, Literal

import narwhals as nw

Backend = Literal["pandas", "polars", "pyarrow", "dict"]


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
