"""Estimates of time and memory before a fit begins, and the choice of a store by them.

The figures are those of a machine of 2020 or later, within a factor of two or so; they need only
tell minutes from seconds, and gigabytes from what is there. docs/scale.md derives them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from conjunct.columns.kernel import Counts, bit_pairs_a_second
from conjunct.columns.native.library import native_library
from conjunct.columns.packing import line_bytes
from conjunct.errors import InputError
from conjunct.memory import available_bytes, byte_text

StoreKind = Literal["auto", "bits", "sparse"]
_KINDS: tuple[Literal["bits", "sparse"], ...] = ("bits", "sparse")
STORE_KINDS: tuple[StoreKind, ...] = ("auto", "bits", "sparse")

_IN_C = native_library is not None

# to look at a pair of columns in a matrix of counts, for each iteration; to pack a cell, and to
# look for rows that are the same
_CELL_SECONDS = 2e-8
_PACK_SECONDS = 3e-9 if _IN_C else 4e-9
# to count two ones in a row as a meeting of their columns, to look at a pair that met, and to
# bring a one from columns to rows and back; to look at a row
_MEETING_SECONDS, _MET_SECONDS, _ONE_SECONDS = (
    (3e-9, 8e-8, 2.4e-7) if _IN_C else (1e-8, 2.5e-7, 2.5e-7)
)
_ROW_SECONDS = 1e-7

# A matrix of counts, that with conjunctions of m/2 pairs, that rewritten: 4 (1 + 9/4 + 9/4).
_MATRIX_BYTES = 22
# Lines of the present and the next columns, and of conjunctions.
_LINES = 3
# A pair that met is listed (12 bytes), again in the next iteration, and with its evidence if it
# passes; a one has its row, its value and a place by rows, before and after.
_MET_BYTES = 70
_ONE_BYTES = 36
# a row, where rows are looked for that are the same
_ROW_BYTES = 50

# to test a pair of columns before any merge, to take a one from a row when two columns are merged,
# all that a merge takes beside, and how many times as many columns as at first there are on average
# while a run goes on, and there is room for when it begins
_TEST_SECONDS = 3e-7
_MERGED_SECONDS = 1e-8
_MERGE_SECONDS = 2e-4 if _IN_C else 1e-3
_MERGED_COLUMNS = 10
_FIRST_ROOM = 1.25
# a pair in the lists of both of its columns, most of which are there already
_TESTED_BYTES = 12

LARGEST_MATRIX = 1 << 28
"""Bytes of a matrix of counts that grows with merges: beyond, pairs are held as lists."""

COPIES_OF_COUNTS = 3
"""Counts are there with those of the next feature set, and once more while it is made."""

# Columns from which the number of pairs that meet is estimated.
_SAMPLE = 64

# Packed tables below this are made sooner than a choice.
_SMALL_BYTES = 1 << 24


@dataclass(frozen=True)
class Need:
    """An estimate of what the first iteration takes.

    Where pairs are merged one at a time: the first count of all pairs, and each merge after it.
    """

    n_bytes: int
    seconds: float
    merge_seconds: float | None = None
    n_pairs: int = 0
    """Pairs of columns that may meet."""
    batch_bytes: int = 0
    """Those of the bytes that only pairs taken together need: counts with their conjunctions."""

    def __str__(self) -> str:
        memory = byte_text(max(self.n_bytes, 10**6))
        begin = f"about {_format_time(self.seconds)} and {memory} of memory"
        if self.merge_seconds is None:
            return f"{begin} for the first iteration, and more as features are added"
        each = f"{max(1e3 * self.merge_seconds, 1):.0f} ms"
        return f"{begin} to begin with, and about {each} for each merge"

    def grown(self, factor: float) -> Need:
        """Estimate an iteration once there are ``factor`` times as many features."""
        return Need(int(self.n_bytes * factor**2), self.seconds * factor**2)

    def in_merges(self, n_rows: int, n_columns: int, n_ones: int) -> Need:
        """Estimate the same columns, where pairs are merged one at a time.

        All pairs are tested first. A matrix of counts has room for a quarter more columns to
        begin with, until lists of pairs take its place; one new column is counted for each merge.
        """
        counts = int(4 * (_FIRST_ROOM * n_columns) ** 2)
        if 4 * n_columns**2 > LARGEST_MATRIX // 4:
            counts = _TESTED_BYTES * self.n_pairs  # lists from the beginning
        of_bits = _MERGED_COLUMNS * n_columns * n_rows / bit_pairs_a_second()
        of_lists = _MERGED_SECONDS * n_ones / max(n_columns, 1) * n_ones / max(n_rows, 1)
        merge = _MERGE_SECONDS + min(of_bits, of_lists)
        seconds = self.seconds + _TEST_SECONDS * self.n_pairs
        return Need(self.n_bytes - self.batch_bytes + counts, seconds, merge, self.n_pairs)


@dataclass(frozen=True)
class Size:
    """The size of data, as far as it is known before counting.

    ``n_meetings`` is the sum, over rows, of the square of the number of ones.
    ``n_common_pairs`` is about how many pairs of columns have a common row; 0 before a look.
    """

    n_rows: int
    n_columns: int
    n_ones: int
    n_meetings: int
    n_common_pairs: int

    @classmethod
    def spread(cls, n_rows: int, n_columns: int, n_ones: int) -> Size:
        """Assume that all rows have equally many ones: there cannot be fewer meetings."""
        n_meetings = n_ones * n_ones // max(n_rows, 1)
        return cls(n_rows, n_columns, n_ones, n_meetings, min(n_meetings, n_columns**2) // 2)

    def of_bits(self) -> Need:
        """Estimate a first iteration on packed bits: half the pairs, as many with conjunctions."""
        each = self.n_rows / bit_pairs_a_second() + _CELL_SECONDS
        lines = _LINES * self.n_columns * line_bytes(self.n_rows) + _ROW_BYTES * self.n_rows
        seconds = self.n_columns**2 * each + _PACK_SECONDS * self.n_rows * self.n_columns
        n_pairs = self.n_columns**2 // 2
        counts = matrix_bytes(self.n_columns)
        batch = counts - 4 * self.n_columns**2
        return Need(lines + counts, seconds, n_pairs=n_pairs, batch_bytes=batch)

    def of_sparse(self) -> Need:
        """Estimate a first iteration on lists of rows."""
        n_pairs = self.n_common_pairs
        met = _MEETING_SECONDS * self.n_meetings + _MET_SECONDS * n_pairs
        seconds = met + _ONE_SECONDS * self.n_ones + _ROW_SECONDS * self.n_rows
        return Need(_ONE_BYTES * self.n_ones + _MET_BYTES * n_pairs, seconds, n_pairs=n_pairs)

    def of(self, kind: Literal["bits", "sparse"]) -> Need:
        """Estimate a first iteration on one kind of store."""
        return self.of_bits() if kind == "bits" else self.of_sparse()

    def of_parts(self, kind: Literal["bits", "sparse"]) -> Need:
        """Estimate a first iteration where rows are elsewhere, and only counts are here."""
        counts = (
            matrix_bytes(self.n_columns) if kind == "bits" else _MET_BYTES * self.n_common_pairs
        )
        need = self.of(kind)
        return replace(need, n_bytes=counts)


Sum = Callable[[Callable[[Any], Any]], Any]
"""Adds up what a function counts in each part of the rows."""


def survey_rows(total: Sum, n_columns: int) -> tuple[Size, Counts]:
    """Return the size of columns as if no pair met, and their supports."""
    (n_rows, n_meetings), supports = total(_meetings_and_supports)
    return Size(int(n_rows), n_columns, int(supports.sum()), int(n_meetings), 0), supports


def survey_size(total: Sum, n_columns: int) -> Size:
    """Return the size of columns; a sample of columns says about how many pairs meet."""
    size, supports = survey_rows(total, n_columns)
    # evenly from the rare to the common
    sample = np.argsort(supports, kind="stable")[:: max(1, n_columns // _SAMPLE)]
    met = total(partial(_share_rows, sample)).nnz - np.count_nonzero(supports[sample])
    return replace(size, n_common_pairs=int(met * n_columns / max(len(sample), 1)) // 2)


def _share_rows(columns: Any, part: Any) -> Any:
    return part.sharing_rows(columns)


def _meetings_and_supports(part: Any) -> tuple[Counts, Counts]:
    lengths = part.row_lengths()
    return np.array([part.n_rows, (lengths * lengths).sum()], np.int64), part.supports()


def merges_as_lists(n_rows: int, n_columns: int, n_ones: int) -> bool:
    """Return True if pairs are merged faster as lists of rows than as bits.

    A merge counts one new column with all others: all bits of all columns, or the ones of the
    rows that a column of average support has.
    """
    of_bits = _MERGED_COLUMNS * n_columns * n_rows / bit_pairs_a_second()
    of_lists = _MERGED_SECONDS * n_ones / max(n_columns, 1) * n_ones / max(n_rows, 1)
    return of_lists < of_bits and _ONE_BYTES * n_ones < available_bytes() // 2


def matrix_bytes(n_columns: int) -> int:
    """Return the bytes of the counts of all pairs, with those of the next iteration."""
    return _MATRIX_BYTES * n_columns**2


def is_sparse(n_ones: int, n_rows: int, n_columns: int) -> bool:
    """Return True if lists of rows, at 4 bytes per one, save much over one bit per cell."""
    packed = n_columns * line_bytes(n_rows)
    return packed > _SMALL_BYTES and 4 * n_ones < packed


def choose_store(
    size: Size, kind: StoreKind, survey: Callable[[], Size] | None = None
) -> Literal["bits", "sparse"]:
    """Choose the store to fit on: the one asked for, or the fastest that fits in memory.

    ``survey`` gives the size with ``n_common_pairs``; it is called only if that matters.

    Raises
    ------
    InputError
        Where memory will not do.
    """
    available = available_bytes()
    if kind == "auto" and _are_bits_better(size.of_bits(), size.of_sparse(), available):
        return "bits"
    size = size if survey is None else survey()
    kinds = _KINDS if kind == "auto" else (kind,)
    fitting = [one for one in kinds if size.of(one).n_bytes <= available]
    if not fitting:
        least = min((size.of(one).n_bytes, one) for one in kinds)
        raise InputError(_explain_lack(size, *least, available))
    return min(fitting, key=lambda one: size.of(one).seconds)


def choose_for_parts(
    size: Size, memory: int, survey: Callable[[], Size]
) -> Literal["bits", "sparse"]:
    """Choose the faster store for parts, if their counts may take ``memory`` bytes."""
    if _are_bits_better(size.of_parts("bits"), size.of_parts("sparse"), memory):
        return "bits"
    size = survey()
    fitting = [kind for kind in _KINDS if size.of_parts(kind).n_bytes <= memory]
    if not fitting:
        least = min(size.of_parts(kind).n_bytes for kind in _KINDS)
        raise counts_too_large(size.n_columns, least, memory)
    return min(fitting, key=lambda kind: size.of(kind).seconds)


def _are_bits_better(bits: Need, sparse_at_least: Need, available: int) -> bool:
    """Return True if bits fit and are faster, however few pairs meet."""
    return bits.n_bytes <= available and bits.seconds <= sparse_at_least.seconds


def check_counts(n_columns: int, pair_bytes: int) -> None:
    """Refuse counts of all pairs of columns, and the next ones, that memory will not hold."""
    n_bytes = 2 * pair_bytes * n_columns**2
    if n_bytes > _SMALL_BYTES and n_bytes > (available := available_bytes()):
        raise counts_too_large(n_columns, n_bytes, available)


def counts_too_large(n_columns: int, n_bytes: int, memory: int) -> InputError:
    """Return the error that the counts of all pairs do not fit in memory."""
    return InputError(
        f"the counts of {n_columns} columns take {byte_text(n_bytes)}, and {byte_text(memory)} "
        f"are left for them: allow more memory, leave rare columns out, or make fewer features "
        f"with max_iter or max_length"
    )


def check_packed(n_rows: int, n_columns: int) -> None:
    """Refuse columns that the available memory will not hold as packed bits."""
    n_bytes, available = n_columns * line_bytes(n_rows), available_bytes()
    if n_bytes > available:
        raise InputError(
            f"{n_rows} rows and {n_columns} columns take {byte_text(n_bytes)} of memory at one bit "
            f"a cell, and there are {byte_text(available)}: work on fewer columns or rows"
        )


def _format_time(seconds: float) -> str:
    for unit, name in ((3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{max(seconds, 1):.0f} s"


def _explain_lack(size: Size, n_bytes: int, kind: str, available: int) -> str:
    advice = "leave out rare columns, or spread the rows over machines with Dask"
    if kind == "bits" and size.of_sparse().n_bytes <= available:
        advice = f"store='sparse' takes {byte_text(size.of_sparse().n_bytes)}"
    return (
        f"{size.n_rows} rows and {size.n_columns} columns with {size.n_ones} ones take about "
        f"{byte_text(n_bytes)} of memory (store={kind!r}) and there are {byte_text(available)}: "
        f"{advice}"
    )
