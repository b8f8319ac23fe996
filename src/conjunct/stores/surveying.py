"""What columns are like before they are counted, whether they are in one place or in parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from conjunct.stores.base import Positions
from conjunct.stores.counting import Counts
from conjunct.stores.sizing import Size

# Columns that tell how many others a column meets.
_SAMPLE = 256


class Surveyable(Protocol):
    """Columns that can be looked at before they are counted."""

    @property
    def n_rows(self) -> int: ...

    def supports(self) -> Counts: ...

    def lengths(self) -> Counts: ...

    def meets(self, columns: Positions) -> Any: ...


Look = Callable[[Any], Any]
"""What is seen of a part; such things add up over parts."""


def first_seen(total: Callable[[Look], Any], n_columns: int) -> tuple[Size, Counts]:
    """The size of columns but for the pairs that meet, and supports, of all parts together."""
    (n_rows, n_meetings), supports = total(first_look)
    return Size(int(n_rows), n_columns, int(supports.sum()), int(n_meetings), 0), supports


def surveyed(total: Callable[[Look], Any], n_columns: int) -> Size:
    """The size of columns, with a guess of how many pairs meet, from some columns."""
    size, supports = first_seen(total, n_columns)
    # evenly from the rare to the common
    sample = np.argsort(supports, kind="stable")[:: max(1, n_columns // _SAMPLE)]
    met = total(Meets(sample)).nnz - np.count_nonzero(supports[sample])
    return replace(size, n_met=int(met * n_columns / max(len(sample), 1)) // 2)


def first_look(part: Surveyable) -> tuple[Counts, Counts]:
    """Rows and meetings, and the supports of columns."""
    lengths = part.lengths()
    return np.array([part.n_rows, (lengths * lengths).sum()], np.int64), part.supports()


@dataclass(frozen=True)
class Meets:
    """With which columns some of them have a common row."""

    columns: Positions

    def __call__(self, part: Surveyable) -> Any:
        return part.meets(self.columns)
