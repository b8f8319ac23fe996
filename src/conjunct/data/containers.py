"""The containers that Boolean data comes in, and goes out in.

They are arrays and nested lists, pandas/polars/pyarrow tables (through narwhals), scipy sparse
matrices, and lists of baskets (sets, or lists that hold strings); ``batches`` has those that are
read some rows at a time.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import repeat
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from conjunct.columns import (
    Columns,
    MaskedColumns,
    PackedColumns,
    SparseColumns,
    check_packed,
    packed_columns,
    stored_as,
)
from conjunct.data.cells import CellRules, Cells
from conjunct.data.frames import boolean_series
from conjunct.data.preparation import Preparation
from conjunct.data.raw_columns import twice
from conjunct.errors import ConjunctWarning, InputError


class Container(ABC):
    """What was given, looked at once: what its columns are called, their cells, and the way back.

    ``names`` is ``None`` where it has none.
    """

    tags: bool = False
    """Whether a column that is not there is false rather than unknown."""
    names_itself: ClassVar[bool] = False
    """Whether its columns are found by name, in whatever order they are."""
    backend: str | None = None
    """The library of a data frame."""
    preparation: Preparation = Preparation()
    """How the columns came from raw data, as far as the container knows."""
    ids: Any = None
    index: Any = None
    """What rows are called in a data frame, if they are."""
    data: Any
    names: tuple[str, ...] | None = None
    lazy: nw.LazyFrame[Any] | None = None
    """The rows as a lazy table with columns c0, c1, …, on which nothing was computed."""

    @property
    def has_names(self) -> bool:
        """Whether its columns have names of their own."""
        return self.names is not None

    @property
    def head(self) -> Any:
        """What scikit-learn looks at."""
        return self.data

    @property
    @abstractmethod
    def n_columns(self) -> int: ...

    @abstractmethod
    def columns(self, names: Sequence[str], rules: CellRules) -> Columns:
        """The columns called ``names``."""

    @abstractmethod
    def written(self, columns: Columns, names: Sequence[str], *, nullable: bool) -> Any:
        """Other columns in a container of this kind.

        Missing cells are null in data frames, and NaN in arrays, which are of floats then.
        ``nullable``: cells may be missing in other rows, so data frames get a type that allows it.
        """

    def renamed(self, names: tuple[str, ...]) -> Container:
        """The same container, its columns called otherwise."""
        other = copy(self)
        other.names = names
        return other

    def positions(self, names: Sequence[str]) -> list[int]:
        """Where the columns called ``names`` are."""
        check_distinct(self.names or ())
        position = {name: k for k, name in enumerate(self.names or ())}
        refuse_lack(names, position)
        return [position[name] for name in names]

    def adopted(self, table: Any) -> Any:
        """A data frame of ``backend`` as a container of this kind."""
        if self.index is not None:
            table.index = self.index
        return table

    def check_filled(self) -> None:  # noqa: B027
        """Refuse a table without columns or rows."""

    def stored(self, names: Sequence[str], rules: CellRules, *, counts: bool = False) -> Any:
        """The columns called ``names``, kept as the rules say."""
        columns = self.columns(names, rules).with_jobs(rules.n_jobs)
        return stored_as(columns, rules.store, counts=counts)


class Array(Container):
    """An array, or lists of rows."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def check_filled(self) -> None:
        try:
            self.data = check_array(
                self.data, accept_sparse="csr", dtype=None, ensure_all_finite=False
            )
        except ValueError as error:
            if "inhomogeneous" in str(error):
                raise InputError(
                    "the rows have different lengths: a table needs rows of one length, "
                    "and baskets of numbers must be given as sets"
                ) from None
            what, *rest = str(error).splitlines()
            advice = [line for line in rest if line.startswith("Reshape")]
            raise InputError(" ".join([what, *advice])) from None

    @property
    def n_columns(self) -> int:
        return int(self.data.shape[1])

    def columns(self, names: Sequence[str], rules: CellRules) -> Columns:
        table = np.asarray(self.data)
        check_packed(*table.shape)
        return _read_blocks(lambda a, b: table[a:b], table.shape, names, rules)

    def written(self, columns: Columns, names: Sequence[str], *, nullable: bool) -> Any:
        return columns.to_dense()


class SparseMatrix(Array):
    """A sparse matrix or array of scipy."""

    def columns(self, names: Sequence[str], rules: CellRules) -> Columns:
        rows = self.data.tocsr()
        true = rules.read_stored(rows.data)
        if true is not None:
            ones = sp.csr_array((true, rows.indices, rows.indptr), shape=rows.shape)
            return SparseColumns.from_matrix(ones, rules.n_jobs)
        check_packed(*rows.shape)
        return _read_blocks(lambda a, b: rows[a:b].toarray(), rows.shape, names, rules)

    def written(self, columns: Columns, names: Sequence[str], *, nullable: bool) -> Any:
        written = columns.to_scipy()
        return sp.csr_matrix(written) if isinstance(self.data, sp.spmatrix) else written


class Frame(Container):
    """A data frame of any library that narwhals knows."""

    def __init__(self, data: Any, frame: nw.DataFrame[Any]) -> None:
        self.data = data
        self.frame = frame
        self.backend = str(frame.implementation.value)
        names = tuple(frame.columns)
        self.names = names if all(isinstance(name, str) for name in names) else None
        self.index = nw.maybe_get_index(frame)

    @property
    def n_columns(self) -> int:
        return len(self.frame.columns)

    def check_filled(self) -> None:
        if not self.frame.columns:
            raise InputError("the table has no columns (0 feature(s)): at least 1 is needed")
        if not len(self.frame):
            raise InputError("the table has no rows (0 sample(s)): at least 1 is needed")

    def columns(self, names: Sequence[str], rules: CellRules) -> Columns:
        def lines() -> Iterator[Cells]:
            for column, name in zip(self.frame.iter_columns(), names, strict=True):
                true, missing = rules.read(column.to_numpy().reshape(-1, 1), [name])
                yield Cells(true[:, 0], None if missing is None else missing[:, 0])

        return packed_columns(lines(), len(self.frame), rules.n_jobs)

    def written(self, columns: Columns, names: Sequence[str], *, nullable: bool) -> Any:
        backend = self.frame.implementation
        return self.adopted(frame_of_columns(columns, names, backend, nullable=nullable))


class Baskets(Container):
    """A list of baskets: the items of each row."""

    names_itself = True
    tags = True

    def __init__(self, data: Any) -> None:
        self.data = data

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """The distinct items, as text, in code-point order."""
        return tuple(sorted({item for basket in self.data for item in _items(basket)}))

    @property
    def n_columns(self) -> int:
        return len(self.names)

    def columns(self, names: Sequence[str], rules: CellRules) -> Columns:
        position = {name: k for k, name in enumerate(names)}
        rows: list[int] = []
        columns: list[int] = []
        unknown: set[str] = set()
        for row, basket in enumerate(self.data):
            before = len(columns)
            for item in _items(basket):
                if item in position:
                    columns.append(position[item])
                else:
                    unknown.add(item)
            rows.extend(repeat(row, len(columns) - before))
        if unknown:
            warnings.warn(
                f"{len(unknown)} items were not seen in fit and are ignored, "
                f"for instance {min(unknown)!r}",
                ConjunctWarning,
                stacklevel=2,
            )
        ones = np.ones(len(rows), np.bool_)
        matrix = sp.coo_array((ones, (rows, columns)), shape=(len(self.data), len(names)))
        return SparseColumns.from_matrix(matrix, rules.n_jobs)

    def written(self, columns: Columns, names: Sequence[str], *, nullable: bool) -> list[list[str]]:
        return baskets_of_columns(columns, names)


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


def check_distinct(names: Sequence[str]) -> None:
    """Refuse names that stand for two columns."""
    if len(set(names)) < len(names):
        raise InputError(twice(names))


def refuse_lack(names: Sequence[str], known: Collection[str]) -> None:
    """Refuse a table without some columns of the model."""
    absent = [name for name in names if name not in known]
    if absent:
        shown = ", ".join(map(repr, absent[:3])) + (", …" if len(absent) > 3 else "")
        raise InputError(f"the table lacks {len(absent)} features of the model: {shown}")


def frame_of_columns(
    columns: Columns,
    names: Sequence[str],
    backend: Any,
    *,
    nullable: bool,
    before: Mapping[str, nw.Series[Any]] | None = None,
) -> Any:
    """A data frame of the columns, with some series before them."""
    made = {
        name: boolean_series(name, *columns.cells(k), backend, nullable)
        for k, name in enumerate(names)
    }
    return nw.from_dict({**(before or {}), **made}).to_native()


def baskets_of_columns(columns: Columns, names: Sequence[str]) -> list[list[str]]:
    """A list of the true columns for each row."""
    baskets: list[list[str]] = [[] for _ in range(columns.n_rows)]
    for k, name in enumerate(names):
        for row in columns.true_rows(k).tolist():
            baskets[row].append(name)
    return baskets


def _items(basket: Any) -> Iterator[str]:
    if isinstance(basket, str) or not isinstance(basket, Iterable):
        raise InputError(f"a basket must be a set or a list of items, not {basket!r}")
    for item in basket:
        if item is None or item != item:
            raise InputError(f"a basket holds {item!r}: items are strings or numbers")
        yield str(item)


def _read_blocks(
    block: Callable[[int, int], Any],
    shape: tuple[int, int],
    names: Sequence[str],
    rules: CellRules,
) -> Columns:
    some_missing = False

    def true(start: int, stop: int) -> Any:
        nonlocal some_missing
        read = rules.read(block(start, stop), names, start)
        some_missing = some_missing or read.missing is not None
        return read.true

    store = PackedColumns.from_blocks(true, *shape, rules.n_jobs)
    if not some_missing:
        return store

    def known(start: int, stop: int) -> Any:
        read = rules.read(block(start, stop), names, start)
        return np.ones_like(read.true) if read.missing is None else ~read.missing

    return MaskedColumns(store, PackedColumns.from_blocks(known, *shape, rules.n_jobs))
