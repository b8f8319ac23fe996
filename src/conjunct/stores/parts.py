"""Parts of the rows of a table: in which form they are held, and what each adds to the counts.

What is counted in parts is sent to them as an object and adds up: arrays, sparse matrices, or
tuples of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from conjunct.errors import InputError
from conjunct.stores.base import Arrays, Positions, Rewrite
from conjunct.stores.bits import BitStore
from conjunct.stores.counting import Counts
from conjunct.stores.packing import pack, unpack
from conjunct.stores.pair_list import matrix_of
from conjunct.stores.partial import PartialStore
from conjunct.stores.partial_tally import Borders
from conjunct.stores.sizing import StoreKind, chosen_for_parts, matrix_bytes
from conjunct.stores.sparse import SparseStore
from conjunct.stores.sparse_tally import met_pairs, supports_of
from conjunct.stores.surveying import Look, first_seen, surveyed

Part = BitStore | SparseStore | PartialStore
PartKind = Literal["bits", "sparse", "partial"]
_STORES: dict[PartKind, type[BitStore] | type[SparseStore] | type[PartialStore]] = {
    "bits": BitStore,
    "sparse": SparseStore,
    "partial": PartialStore,
}

# Lists are there by rows and by columns, with a value beside each row.
_LIST_COPIES = 4
# A matrix of counts below this is made sooner than the data is looked at.
_SMALL_BYTES = 1 << 24


def part_from(kind: PartKind, arrays: Arrays, n_rows: int, n_jobs: int | None = None) -> Part:
    return _STORES[kind].from_arrays(arrays, n_rows, n_jobs)


def count_united(kind: PartKind, buckets: Sequence[Arrays]) -> int:
    """Number of distinct rows in the same bucket (``row_buckets``) of some parts."""
    return _STORES[kind].count_united(buckets)


def as_kind(part: Part, kind: PartKind) -> Part:
    """A part in another form."""
    if part.kind == kind:
        return part
    if kind == "sparse" and isinstance(part, BitStore):
        return SparseStore.from_bits(part)
    bits = part.to_bits() if isinstance(part, SparseStore) else part
    if kind == "partial" and isinstance(bits, BitStore):
        return PartialStore.complete(bits)
    return bits


def chosen_kind(
    kinds: set[PartKind],
    asked: StoreKind,
    n_columns: int,
    memory: int,
    total: Callable[[Look], Any],
) -> PartKind:
    """The form for all parts, whatever forms they come in, if counts may take ``memory`` bytes.

    ``total`` gives what is seen in all parts together.
    """
    if "partial" in kinds:
        if asked == "sparse":
            raise InputError("a sparse store keeps no missing cells: use store='auto'")
        return "partial"
    if asked != "auto":
        return asked
    small = kinds <= {"bits"} and matrix_bytes(n_columns) <= min(_SMALL_BYTES, memory)
    if small:
        return "bits"
    least, _ = first_seen(total, n_columns)
    return chosen_for_parts(least, memory, lambda: surveyed(total, n_columns))


def joined_parts(parts: Iterable[Part], limit: int) -> Iterator[Part]:
    """Successive parts brought together, for about ``limit`` bytes each.

    Bits of one part can follow those of another where that has whole words only.
    """
    some: list[Part] = []
    for part in parts:
        is_full = sum(map(_work_bytes, some)) >= limit
        if some and (is_full or some[-1].kind != part.kind or _is_torn(some[-1])):
            yield united(some)
            some = []
        some.append(part)
    if some:
        yield united(some)


def _work_bytes(part: Part) -> int:
    """What a part takes while it is counted, compared with bits."""
    return part.__sizeof__() * (_LIST_COPIES if part.kind == "sparse" else 1)


def _is_torn(part: Part) -> bool:
    return part.kind != "sparse" and part.n_rows % 64 != 0


def united(parts: Sequence[Part]) -> Part:
    """The rows of successive parts."""
    kind: PartKind = max((part.kind for part in parts), key=list(_STORES).index)
    alike = [as_kind(part, kind) for part in parts]
    if len(alike) == 1:
        return alike[0]
    if kind == "sparse":
        ones = sp.vstack([part.ones for part in alike if isinstance(part, SparseStore)])
        return SparseStore.from_matrix(ones)
    planes = zip(*(part.arrays() for part in alike), strict=True)
    n_rows = [part.n_rows for part in alike]
    if any(map(_is_torn, alike[:-1])):
        arrays = tuple(pack(np.concatenate(list(map(unpack, plane, n_rows)))) for plane in planes)
    else:
        arrays = tuple(map(np.hstack, planes))
    return part_from(kind, arrays, sum(n_rows))


@dataclass(frozen=True)
class JointCounts:
    """How often each two columns are both true."""

    dtype: type[np.signedinteger[Any]]

    def __call__(self, part: BitStore) -> Counts:
        return part.joint_counts().astype(self.dtype, copy=False)


@dataclass(frozen=True)
class NewCounts:
    """How often the conjunctions ``left[k] ∧ right[k]`` are true with columns, and together."""

    left: Positions
    right: Positions
    dtype: type[np.signedinteger[Any]]

    def __call__(self, part: BitStore) -> tuple[Counts, Counts]:
        both = part.conjunctions(self.left, self.right)
        across, new = part.joint_counts(both), both.joint_counts()
        return across.astype(self.dtype, copy=False), new.astype(self.dtype, copy=False)


@dataclass(frozen=True)
class PairedCounts:
    """In how many rows each column is true with both columns of a pair."""

    left: int
    right: int
    dtype: type[np.signedinteger[Any]]

    def __call__(self, part: BitStore | SparseStore) -> Counts:
        if isinstance(part, BitStore):
            both = part.conjunctions(np.array([self.left]), np.array([self.right]))
            return part.joint_counts(both)[:, 0].astype(self.dtype, copy=False)
        rows = part.conjunction(
            part.lines[self.left], part.lines[self.right], not_left=False, not_right=False
        )
        return np.asarray(part.rows_matrix[rows].sum(axis=0)).astype(self.dtype).ravel()


@dataclass(frozen=True)
class Meetings:
    """The pairs that meet, but for those of two kept columns, and the supports of the others."""

    rewrite: Rewrite | None
    n_before: int
    dtype: type[np.signedinteger[Any]]

    def __call__(self, part: SparseStore) -> Any:
        keeps = None if self.rewrite is None else self.rewrite.kept(self.n_before)
        supports = supports_of(part.ones).astype(self.dtype)
        if keeps is not None:
            supports[keeps] = 0
        return matrix_of(met_pairs(part.ones, keeps), supports)


@dataclass(frozen=True)
class KnownCounts:
    """Counts of some columns (by default of all) with all, among the cells that are known."""

    columns: Positions | None
    dtype: type[np.signedinteger[Any]]

    def __call__(self, part: PartialStore) -> Borders:
        true, true_known, known_true, known = (
            counts.astype(self.dtype, copy=False) for counts in part.borders(self.columns)
        )
        return true, true_known, known_true, known


def added(values: Sequence[Any]) -> Any:
    """What parts counted, together."""
    if isinstance(values[0], tuple):
        return tuple(map(added, zip(*values, strict=True)))
    return reduce(add, values)
