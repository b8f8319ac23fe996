"""Estimates of time and memory before a fit, and the choice of a layout based on them.

The figures hold for machines of 2020 or later within a factor of about 2, which suffices to tell
minutes from seconds. docs/scale.md derives them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from conjunct.columns.kernel import BIT_PAIRS_A_SECOND, Counts, line_bytes, native_library
from conjunct.errors import InputError
from conjunct.memory import available_bytes, byte_text

Kind = Literal["dense", "sparse"]
StorageKind = Literal["auto", "dense", "sparse"]
STORAGE_KINDS: tuple[StorageKind, ...] = ("auto", "dense", "sparse")

_IN_C = native_library is not None

# to read a pair of columns in a matrix of counts, per iteration; to pack a cell and compare rows
_CELL_SECONDS = 2e-8
_PACK_SECONDS = 3e-9 if _IN_C else 4e-9
# to count a meeting of two columns in a row, to read a pair that met, and to move a one from
# columns to rows and back; to read a row
_MEETING_SECONDS, _MET_SECONDS, _ONE_SECONDS = (
    (3e-9, 8e-8, 2.4e-7) if _IN_C else (1e-8, 2.5e-7, 2.5e-7)
)
_ROW_SECONDS = 1e-7

# a matrix of counts, one with conjunctions of m/2 pairs, and a rewritten one: 4 (1 + 9/4 + 9/4)
_MATRIX_BYTES = 22
# lines of the present columns, the next columns and the conjunctions
_LINES = 3
# a pair that met (12 bytes), again in the next iteration, and with its evidence if it passes; a
# one with its row, its value and its place by rows, before and after
_MET_BYTES = 70
_ONE_BYTES = 36
# a row, to find equal rows
_ROW_BYTES = 50

# to test a pair of columns before any merge, to remove a one from a row in a merge, and for the
# rest of a merge; the average number of columns during a run as a multiple of that at first; the
# approximate number of merges per column, and the maximum, as most of many columns are rare
_TEST_SECONDS = 5e-8
_MERGED_SECONDS = 1e-8
_MERGE_SECONDS = 8e-5 if _IN_C else 1e-3
_MERGED_COLUMNS = 10
_MERGES = 5
_MOST_MERGES = 4000
# other costs of a column: its name, its pattern, its place among the best pairs
_COLUMN_SECONDS, _COLUMN_BYTES = 8e-6, 700
# room for columns at the first merge, as a multiple of their number; a listed pair, also in the
# lists of both columns; a merge and its features; a pair of tags for suggestions, and the maximum
# number of such tags
_FIRST_ROOM = 1.25
_TESTED_BYTES = 28
_MERGE_BYTES = 8000
_TAG_PAIR_BYTES, _MOST_TAGS = 60, 1000

LARGEST_MATRIX = 1 << 28
"""Maximum bytes of a matrix of counts that grows with merges. Larger ones become lists of pairs."""

LISTED_BYTES = 2 * _ONE_BYTES
"""Bytes of a one if lists of rows are merged in place, which takes twice their size."""

# Sampled columns for the estimate of the number of pairs that meet.
_SAMPLE = 64

# Making a packed table below this size takes less time than a choice.
_SMALL_BYTES = 1 << 24


@dataclass(frozen=True)
class CostEstimate:
    """The approximate memory and time of a fit, which takes more if it makes many features."""

    n_bytes: int
    seconds: float

    def __str__(self) -> str:
        seconds, memory = max(self.seconds, 1), byte_text(max(self.n_bytes, 10**6))
        time = f"{seconds:.0f} s"
        for unit, name in ((60, "minutes"), (3600, "hours")):
            if seconds >= 2 * unit:
                time = f"{seconds / unit:.0f} {name}"
        return f"about {time} and {memory} of memory, more if many features are made"


@dataclass(frozen=True)
class Size:
    """The size of data, as known before counting.

    ``n_meetings`` is the sum over rows of the squared number of ones. ``n_common_pairs`` estimates
    the number of pairs of columns with a common row; it is 0 before a survey.
    """

    n_rows: int
    n_columns: int
    n_ones: int
    n_meetings: int
    n_common_pairs: int

    def estimate_cost(
        self, kind: Kind, *, in_parts: bool = False, in_merges: bool = False
    ) -> CostEstimate:
        """Estimate the cost of a fit with one kind of layout.

        If pairs are merged together, the time is that of the first iteration. ``in_parts``: memory
        holds only counts, not rows.
        """
        n_rows, m, n_pairs = self.n_rows, self.n_columns, self.n_common_pairs
        if kind == "dense":
            n_pairs = m**2 // 2
            rows = _LINES * m * line_bytes(n_rows) + _ROW_BYTES * n_rows
            # pairs that are merged together are counted with their conjunctions
            counts = (4 if in_merges else _MATRIX_BYTES) * m**2
            seconds = m**2 * (n_rows / BIT_PAIRS_A_SECOND + _CELL_SECONDS)
            seconds += _PACK_SECONDS * n_rows * m
        else:
            rows, counts = _ONE_BYTES * self.n_ones, _MET_BYTES * n_pairs
            seconds = _MEETING_SECONDS * self.n_meetings + _MET_SECONDS * n_pairs
            seconds += _ONE_SECONDS * self.n_ones + _ROW_SECONDS * n_rows
        if in_merges:
            n_merges = min(_MERGES * m, _MOST_MERGES)
            if kind == "sparse":
                counts = _TESTED_BYTES * n_pairs
            if 4 * m**2 <= LARGEST_MATRIX // 4:
                # the matrix has room for more columns
                counts += int(4 * (_FIRST_ROOM * m) ** 2)
            counts += _COLUMN_BYTES * m + _MERGE_BYTES * n_merges
            counts += _TAG_PAIR_BYTES * min(m, _MOST_TAGS) ** 2
            merge = _MERGE_SECONDS + min(merge_seconds(n_rows, m, self.n_ones))
            seconds += _TEST_SECONDS * n_pairs + _COLUMN_SECONDS * m + n_merges * merge
        return CostEstimate(counts if in_parts else rows + counts, seconds)


Sum = Callable[[Callable[[Any], Any]], Any]
"""Sums the counts of a function in each part of the rows."""


def survey_rows(total: Sum, n_columns: int) -> tuple[Size, Counts]:
    """Return the size of columns as if no pair shared a row, and the supports."""
    (n_rows, n_meetings), supports = total(_meetings_and_supports)
    return Size(int(n_rows), n_columns, int(supports.sum()), int(n_meetings), 0), supports


def survey_size(total: Sum, n_columns: int) -> Size:
    """Return the size of columns, with an estimate of the number of pairs that share rows."""
    size, supports = survey_rows(total, n_columns)
    # evenly from the rare to the common
    sample = np.argsort(supports, kind="stable")[:: max(1, n_columns // _SAMPLE)]
    met = total(partial(_share_rows, sample)).nnz - np.count_nonzero(supports[sample])
    n_common_pairs = int(met * n_columns / max(len(sample), 1)) // 2
    # each pair that meets has at least one meeting
    return replace(size, n_common_pairs=min(n_common_pairs, (size.n_meetings - size.n_ones) // 2))


def _meetings_and_supports(part: Any) -> tuple[Counts, Counts]:
    lengths = part.row_lengths()
    return np.array([part.n_rows, (lengths * lengths).sum()], np.int64), part.supports()


def merge_seconds(n_rows: int, n_columns: int, n_ones: int) -> tuple[float, float]:
    """Estimate the time to count a merge in bits and in lists of rows.

    A merge counts one new column with all columns: all of their bits, or the ones in the rows of a
    column with average support.
    """
    of_bits = _MERGED_COLUMNS * n_columns * n_rows / BIT_PAIRS_A_SECOND
    return of_bits, _MERGED_SECONDS * n_ones / max(n_columns, 1) * n_ones / max(n_rows, 1)


def is_sparse(n_ones: int, n_rows: int, n_columns: int) -> bool:
    """Return True if lists of rows, at 4 bytes per one, take much less than one bit per cell."""
    packed = n_columns * line_bytes(n_rows)
    return packed > _SMALL_BYTES and 4 * n_ones < packed


def fits(n_bytes: int, memory: int | None = None) -> bool:
    """Return True if there is enough memory. Small amounts are not checked."""
    if memory is not None:
        return n_bytes <= memory
    return n_bytes <= _SMALL_BYTES or n_bytes <= available_bytes()


def choose_storage(
    size: Size,
    kind: StorageKind,
    survey: Callable[[], Size] | None = None,
    memory: int | None = None,
) -> Kind:
    """Choose the requested layout for a fit, or the fastest one that fits in memory.

    ``survey`` returns the size with ``n_common_pairs``, and is called only if that matters. With
    ``memory``, rows are in parts, and their counts may take this number of bytes. Memory that is
    too small raises InputError.
    """
    in_parts = memory is not None
    if kind == "auto":
        bits = size.estimate_cost("dense", in_parts=in_parts)
        least = size.estimate_cost("sparse", in_parts=in_parts)
        if bits.seconds <= least.seconds and fits(bits.n_bytes, memory):
            return "dense"  # however few pairs meet
    size = size if survey is None else survey()
    kinds: tuple[Kind, ...] = ("dense", "sparse") if kind == "auto" else (kind,)
    needs = {one: size.estimate_cost(one, in_parts=in_parts) for one in kinds}
    fitting = [one for one in kinds if fits(needs[one].n_bytes, memory)]
    if fitting:
        return min(fitting, key=lambda one: needs[one].seconds)
    n_bytes, cheapest = min((needs[one].n_bytes, one) for one in kinds)
    if memory is not None:
        raise counts_too_large(size.n_columns, n_bytes, memory)
    available, of_lists = available_bytes(), size.estimate_cost("sparse").n_bytes
    advice = "leave out rare columns, or spread the rows over machines with Dask"
    if cheapest == "dense" and of_lists <= available:
        advice = f"storage='sparse' takes {byte_text(of_lists)}"
    raise InputError(
        f"{size.n_rows} rows and {size.n_columns} columns with {size.n_ones} ones need about "
        f"{byte_text(n_bytes)} of memory (storage={cheapest!r}), but only "
        f"{byte_text(available)} is available: {advice}"
    )


def check_counts(n_columns: int, pair_bytes: int) -> None:
    """Refuse to count all pairs of columns if two copies of the counts do not fit in memory."""
    n_bytes = 2 * pair_bytes * n_columns**2
    if not fits(n_bytes):
        raise counts_too_large(n_columns, n_bytes, available_bytes())


def counts_too_large(n_columns: int, n_bytes: int, memory: int) -> InputError:
    """Return the error for counts of all pairs that do not fit in memory."""
    return InputError(
        f"the counts of {n_columns} columns need {byte_text(n_bytes)} of memory, but only "
        f"{byte_text(memory)} is left: allow more memory, leave out rare columns, or limit the "
        f"features with max_iter or max_length"
    )


def check_packed_size(n_rows: int, n_columns: int) -> None:
    """Refuse columns that do not fit in memory as packed bits."""
    n_bytes = n_columns * line_bytes(n_rows)
    if not fits(n_bytes):
        raise InputError(
            f"{n_rows} rows and {n_columns} columns need {byte_text(n_bytes)} of memory, but only "
            f"{byte_text(available_bytes())} is available: use fewer columns or rows"
        )


def _share_rows(sample: Any, part: Any) -> Any:
    return part.sharing_rows(sample)
