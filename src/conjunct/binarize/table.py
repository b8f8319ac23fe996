"""Boolean columns with names, packed: what readers of files make and estimators take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from conjunct.binarize.binarizer import Binarizer, boolean_series
from conjunct.binarize.columns import Mask, eager_frame, from_series
from conjunct.binarize.preparation import Preparation
from conjunct.errors import CellError, InputError
from conjunct.stores import BitStore, Counts, SparseStore
from conjunct.stores.counting import count_each
from conjunct.stores.packing import Bits, count_distinct, line_bytes, pack_column, packed_rows

MISSING_ADVICE = "fill it, or pass missing='pairwise' or 'false' (at a prompt: --missing)"


class Ids(NamedTuple):
    """What each row is called."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class BooleanTable:
    """Rows of Boolean features at one bit a cell, two where cells are missing.

    Attributes
    ----------
    names : tuple of str
        Names of the features.
    values : ndarray of uint8, shape (n_features, bytes), or SparseStore
        One packed line per feature (``conjunct.stores.packing``); 0 where a cell is missing.
        Many rare tags are lists of rows instead, and then no cell is missing.
    n_rows : int
    observed : ndarray of uint8 or None
        Where cells are not missing, packed in the same way; None if none is.
    ids : Ids or None
        ``name`` and ``values`` of a column that names the rows.
    preparation : Preparation
        How the features came from raw data. Models fitted on the table keep and save it.
    tags : bool
        Whether a feature that is not there is false (tags, baskets) rather than unknown.

    Examples
    --------
    >>> import polars as pl
    >>> from conjunct import BooleanTable
    >>> table = BooleanTable.from_frame(pl.DataFrame({"wet": ["yes", None], "legs": [2, 4]}))
    >>> table
    BooleanTable(2 rows, 2 features, 1 missing)
    >>> table.to_frame("polars").rows()
    [(True, False), (None, True)]
    """

    names: tuple[str, ...]
    values: Bits | SparseStore
    n_rows: int
    observed: Bits | None = None
    ids: Ids | None = None
    preparation: Preparation = field(default_factory=Preparation)
    tags: bool = False

    @classmethod
    def from_frame(cls, data: Any, binarizer: Binarizer | None = None) -> BooleanTable:
        """A data frame made Boolean by a fitted Binarizer, or by a new one if none is given."""
        frame = eager_frame(data)
        fitted = Binarizer().fit(data) if binarizer is None else binarizer
        names = tuple(fitted.get_feature_names_out())
        wanted = list(fitted.feature_names_in_)
        absent = [name for name in wanted if name not in frame.columns]
        if absent:
            raise InputError(f"the table has no column {absent[0]!r}")
        lines = PackedLines(len(frame))
        # one by one: to ``select``, a name such as * is a pattern
        columns = (from_series(name, frame.get_column(name)) for name in wanted)
        for values, missing in fitted.apply(columns):
            lines.append(values, missing)
        return cls(names, *lines.stacked(), preparation=Preparation(fitted).if_needed())

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        missing = f", {self.n_missing} missing" if self.n_missing else ""
        return f"BooleanTable({self.n_rows} rows, {len(self.names)} features{missing})"

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, len(self.names)

    @property
    def n_missing(self) -> int:
        """Number of missing cells."""
        if self.observed is None:
            return 0
        return self.n_rows * len(self.names) - int(BitStore(self.observed, 0).supports().sum())

    @property
    def nbytes(self) -> int:
        """Memory of the cells."""
        return self.values.nbytes + (0 if self.observed is None else self.observed.nbytes)

    def column(self, position: int) -> tuple[Mask, Mask]:
        """The values of a feature, and where they are missing."""
        values = _unpacked(self.line(position), self.n_rows)
        if self.observed is None:
            return values, np.zeros(self.n_rows, np.bool_)
        return values, ~_unpacked(self.observed[position], self.n_rows)

    def line(self, position: int) -> Bits:
        """The values of a feature, packed."""
        if isinstance(self.values, SparseStore):
            return self.values.packed(position)
        line: Bits = self.values[position]
        return line

    def packed(self) -> Bits:
        """The values of all features, packed."""
        if isinstance(self.values, SparseStore):
            return self.values.to_bits().bits
        return self.values

    def supports(self) -> Counts:
        """Number of rows in which each feature is true."""
        if isinstance(self.values, SparseStore):
            return self.values.supports()
        return count_each(self.values)

    def count_distinct_rows(self) -> int:
        """Number of distinct rows; missing is a value of its own."""
        if isinstance(self.values, SparseStore):
            return self.values.count_distinct_rows()
        planes = [self.values] if self.observed is None else [self.values, self.observed]
        return count_distinct(packed_rows(np.concatenate(planes), self.n_rows))

    def aligned(self, names: Sequence[str]) -> BooleanTable:
        """The features called ``names``, in that order. Absent tags are false; others an error."""
        if tuple(names) == self.names:
            return self
        position = {name: k for k, name in enumerate(self.names)}
        absent = [name for name in names if name not in position]
        if absent and not self.tags:
            shown = ", ".join(map(repr, absent[:3])) + (", …" if len(absent) > 3 else "")
            raise InputError(f"the table lacks {len(absent)} features of the model: {shown}")
        if isinstance(self.values, SparseStore):
            lists = [
                self.values.lines[position[name]] if name in position else self.values.nowhere
                for name in names
            ]
            return replace(self, names=tuple(names), values=self.values.with_lines(lists))
        values = np.zeros((len(names), line_bytes(self.n_rows)), np.uint8)
        observed = None if self.observed is None else np.zeros_like(values)
        for k, name in enumerate(names):
            if name in position:
                values[k] = self.values[position[name]]
                if observed is not None and self.observed is not None:
                    observed[k] = self.observed[position[name]]
            elif observed is not None:
                observed[k] = pack_column(np.ones(self.n_rows, np.bool_))
        return replace(self, names=tuple(names), values=values, observed=observed)

    def refuse_missing(self) -> None:
        """Name the first missing cell, if there is one."""
        if self.observed is None:
            return
        for k, name in enumerate(self.names):
            missing = self.column(k)[1]
            if missing.any():
                column = self.preparation.source_of(name)
                row = int(np.flatnonzero(missing)[0])
                raise CellError(column, row, None, "the value is missing", MISSING_ADVICE)

    def to_frame(self, backend: Any = "polars") -> Any:
        """The table as a data frame of Booleans, null where missing; ids first if there are any."""
        columns = {}
        if self.ids is not None:
            if self.ids.name in self.names:
                raise InputError(f"a feature and the ids are both called {self.ids.name!r}")
            columns[self.ids.name] = nw.new_series(
                self.ids.name, list(self.ids.values), nw.String, backend=backend
            )
        nullable = self.observed is not None
        for k, name in enumerate(self.names):
            columns[name] = boolean_series(name, *self.column(k), backend, nullable=nullable)
        return nw.from_dict(columns).to_native()


class PackedLines:
    """Lines packed one after the other, and where they are observed if not everywhere."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self._values: list[Bits] = []
        self._observed: list[Bits | None] = []

    def append(self, values: Mask, missing: Mask | None) -> None:
        self._values.append(pack_column(values))
        complete = missing is None or not missing.any()
        self._observed.append(None if complete else pack_column(~np.asarray(missing)))

    def append_packed(self, values: Bits, observed: Bits | None) -> None:
        self._values.append(values)
        self._observed.append(observed)

    def stacked(self) -> tuple[Bits, int, Bits | None]:
        """Values, number of rows, and observed cells: what ``BooleanTable`` starts with."""
        shape = (len(self._values), line_bytes(self.n_rows))
        values = np.array(self._values, np.uint8).reshape(shape)
        if not any(line is not None for line in self._observed):
            return values, self.n_rows, None
        everywhere = pack_column(np.ones(self.n_rows, np.bool_))
        observed = np.array([everywhere if o is None else o for o in self._observed], np.uint8)
        return values, self.n_rows, observed


def _unpacked(line: Bits, n_rows: int) -> NDArray[np.bool_]:
    return np.unpackbits(line, count=n_rows, bitorder="little").view(np.bool_)


def lines_of(table: BooleanTable) -> Iterator[tuple[str, Bits, Bits | None]]:
    """Each feature's name, packed values and packed observed cells."""
    for k, name in enumerate(table.names):
        yield name, table.line(k), None if table.observed is None else table.observed[k]
