"""The containers that Boolean data comes in.

They are arrays and nested lists, pandas/polars/pyarrow tables (through narwhals), scipy sparse
matrices, lists of baskets (sets, or lists that hold strings), and packed Boolean tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import narwhals as nw
from sklearn.utils.validation import check_array

from conjunct.binarize.columns import twice
from conjunct.binarize.preparation import Preparation
from conjunct.binarize.table import BooleanTable
from conjunct.errors import InputError
from conjunct.io.streaming import Stream


def names_its_columns(data: Any) -> bool:
    """Whether ``data`` says by itself what its columns are: baskets, Boolean tables, streams."""
    return isinstance(data, BooleanTable | Stream) or is_baskets(data)


def preparation(data: Any) -> Preparation:
    """How the columns came from raw data, as far as the container knows."""
    return data.preparation if isinstance(data, BooleanTable | Stream) else Preparation()


def is_dask(data: Any) -> bool:
    """Whether ``data`` is a collection of Dask."""
    return type(data).__module__.partition(".")[0] == "dask" and hasattr(data, "to_delayed")


def is_baskets(data: Any) -> bool:
    """Whether ``data`` is a list of baskets: sets, or lists with a string among their items.

    Lists of numbers are rows of a table; baskets of numbers must be sets. Lists that are all
    empty can only be baskets: a table has columns.
    """
    if not isinstance(data, list | tuple) or not len(data):
        return False
    if any(isinstance(row, set | frozenset) for row in data):
        return True
    if not all(isinstance(row, list | tuple) for row in data):
        return False
    return not any(data) or any(isinstance(item, str) for row in data for item in row)


def basket_items(baskets: Iterable[Any]) -> tuple[str, ...]:
    """The distinct items, as text, in code-point order."""
    return tuple(sorted({item for basket in baskets for item in items(basket)}))


def column_names(data: Any) -> tuple[str, ...] | None:
    """Names the container brings along, if it has any."""
    if isinstance(data, BooleanTable | Stream):
        return data.names
    if is_baskets(data):
        return basket_items(data)
    frame = frame_of(data)
    if frame is None:
        return None
    names = tuple(frame.columns)
    return names if all(isinstance(name, str) for name in names) else None


def frame_backend(data: Any) -> str | None:
    """The library of a data frame, by name; ``None`` for other containers."""
    frame = None if names_its_columns(data) else frame_of(data)
    return None if frame is None else str(frame.implementation.value)


def checked(data: Any) -> Any:
    """``data`` with its shape checked as scikit-learn does; values are checked when read."""
    if isinstance(data, Stream):
        raise InputError("a stream gives tables to use one by one: for table in stream: …")
    if is_dask(data):
        raise InputError("only fit and transform take a Dask collection: call .compute() first")
    if isinstance(data, BooleanTable):
        if not data.names or not data.n_rows:
            what = "rows (0 sample(s))" if data.names else "columns (0 feature(s))"
            raise InputError(f"the table has no {what}: at least 1 is needed")
        return data
    if is_baskets(data):
        return data
    frame = frame_of(data)
    if frame is None:
        try:
            return check_array(data, accept_sparse="csr", dtype=None, ensure_all_finite=False)
        except ValueError as error:
            if "inhomogeneous" in str(error):
                raise InputError(
                    "the rows have different lengths: a table needs rows of one length, "
                    "and baskets of numbers must be given as sets"
                ) from None
            what, *rest = str(error).splitlines()
            advice = [line for line in rest if line.startswith("Reshape")]
            raise InputError(" ".join([what, *advice])) from None
    if not frame.columns:
        raise InputError("the table has no columns (0 feature(s)): at least 1 is needed")
    if not len(frame):
        raise InputError("the table has no rows (0 sample(s)): at least 1 is needed")
    return data


def frame_of(data: Any) -> nw.DataFrame[Any] | None:
    try:
        frame = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise InputError(twice(list(getattr(data, "column_names", data.columns)))) from None
    if isinstance(frame, nw.LazyFrame):
        raise InputError("lazy tables are not read by themselves: call .collect() first")
    return frame if isinstance(frame, nw.DataFrame) else None


def check_distinct(names: Sequence[str]) -> None:
    """Refuse names that stand for two columns."""
    if len(set(names)) < len(names):
        raise InputError(twice(names))


def items(basket: Any) -> Iterator[str]:
    if isinstance(basket, str) or not isinstance(basket, Iterable):
        raise InputError(f"a basket must be a set or a list of items, not {basket!r}")
    for item in basket:
        if item is None or item != item:
            raise InputError(f"a basket holds {item!r}: items are strings or numbers")
        yield str(item)
