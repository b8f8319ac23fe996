"""Groups of rows in words: what marks each, its name, and rows to look at."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conjunct.explain.comparing import GroupCounts
from conjunct.explain.sentences import count, format_share
from conjunct.expressions import pattern_text
from conjunct.ufc import evidence

Integers = NDArray[np.int64]

# marks of a group that are kept, and those that name it
_MOST_MARKS = 20
_IN_NAME = 3


@dataclass(frozen=True)
class Mark:
    """A tag, or a chunk, that is much more common in a group than outside it, or much rarer.

    Attributes
    ----------
    tags : tuple of str
        The tag, or the tags of the chunk.
    text : str
        The tags as text.
    rows, rows_outside : int
        Rows with all of the tags, in the group and outside.
    share, share_outside : float
        Those rows as a share of the rows in which that is known, in the group and outside.
    evidence : float
        Bits by which all rows speak for a difference rather than for chance.
    is_absent : bool
        True if it is rarer in the group.
    """

    tags: tuple[str, ...]
    text: str
    rows: int
    rows_outside: int
    share: float
    share_outside: float
    evidence: float
    is_absent: bool = False

    @property
    def sentence(self) -> str:
        """The contrast in words."""
        inside, outside = format_share(self.share), format_share(self.share_outside)
        return f"{self.text}: {inside} of this group, {outside} of the rows outside it"


@dataclass(frozen=True)
class RowGroup:
    """A group of rows that are alike.

    Attributes
    ----------
    name : str
        The tags and chunks that mark it most.
    rows : int
        Training rows for which it is the most probable group.
    share : float
        Those as a share of all training rows.
    marks : tuple of Mark
        The strongest differences from the rows outside it, at most 20, most evidence first.
    typical : tuple of int
        Positions of the most probable training rows of the group.
    borderline : tuple of int
        Positions of the training rows that are nearly as probable in another group.
    """

    name: str
    rows: int
    share: float
    marks: tuple[Mark, ...]
    typical: tuple[int, ...] = ()
    borderline: tuple[int, ...] = ()

    @property
    def sentence(self) -> str:
        """The size and the strongest mark, in words."""
        size = f"{count(self.rows, 'row')} ({format_share(self.share)})"
        return "; ".join([size, *(mark.sentence for mark in self.list_marks(1))])

    def list_marks(self, number: int) -> list[Mark]:
        """Return the strongest marks, those that are more common first, each tag in one."""
        return choose_marks(sorted(self.marks, key=lambda mark: mark.is_absent), number)


def find_marks(
    counts: GroupCounts,
    patterns: Sequence[tuple[str, ...]],
    variables: Mapping[str, str],
    *,
    priced: bool = True,
) -> list[list[Mark]]:
    """Return the marks of each group, most evidence first.

    A mark must bring more evidence than its price: a number, ½·log₂ n, and naming one group and
    one of the patterns; any evidence will do if not ``priced``. A chunk is a mark if it brings
    more than each of its tags. Where a value of a variable is more common, the others are rarer,
    which is not said again; ``variables`` has the variables of tags.
    """
    n_groups, n_patterns = counts.true.shape
    every, true = counts.known.sum(0), counts.true.sum(0)
    # a table per group and pattern, of rows with the tags and of rows without
    present = evidence(every, counts.known, true, counts.true)
    absent = evidence(every, counts.known, every - true, counts.known - counts.true)
    price = math.log2(max(n_groups * n_patterns, 1)) + 0.5 * np.log2(np.maximum(every, 1))
    found: list[list[Mark]] = []
    for k in range(n_groups):
        bits = np.maximum(present[k], absent[k])
        inside = np.flatnonzero(
            (bits > price * priced) & (counts.known[k] > 0) & (counts.known[k] < every)
        )
        best = {patterns[j]: float(bits[j]) for j in inside.tolist() if len(patterns[j]) == 1}
        marks = []
        for j in inside.tolist():
            pattern, outside = patterns[j], int(true[j] - counts.true[k, j])
            is_absent = bool(absent[k, j] > present[k, j])
            if len(pattern) > 1 and (
                is_absent or any(best.get((tag,), 0.0) >= bits[j] for tag in pattern)
            ):
                continue
            marks.append(
                Mark(
                    pattern,
                    pattern_text(pattern),
                    int(counts.true[k, j]),
                    outside,
                    float(counts.true[k, j] / counts.known[k, j]),
                    float(outside / (every[j] - counts.known[k, j])),
                    float(bits[j]),
                    is_absent,
                )
            )
        marks.sort(key=lambda mark: (-mark.evidence, mark.tags))
        common = {variables.get(mark.tags[0]) for mark in marks if not mark.is_absent} - {None}
        found.append(
            [
                mark
                for mark in marks
                if not (mark.is_absent and variables.get(mark.tags[0]) in common)
            ][:_MOST_MARKS]
        )
    return found


def choose_marks(marks: Iterable[Mark], number: int) -> list[Mark]:
    """Return the first marks that have a tag of their own."""
    chosen: list[Mark] = []
    for mark in marks:
        if len(chosen) < number and not {*mark.tags} <= {t for each in chosen for t in each.tags}:
            chosen.append(mark)
    return chosen


def name_groups(marks: Sequence[Sequence[Mark]]) -> list[str]:
    """Return a distinct name for each group, from its strongest marks.

    If none is more common in the group, those are named that are rarer.
    """
    names: list[str] = []
    for own in marks:
        common = choose_marks((mark for mark in own if not mark.is_absent), _IN_NAME)
        texts = [mark.text for mark in common] or [f"no {mark.text}" for mark in own[:_IN_NAME]]
        name = ", ".join(texts) or ("all rows" if len(marks) == 1 else "other rows")
        numbered = (f"{name} [{number}]" for number in itertools.count(2))
        names.append(next(each for each in itertools.chain([name], numbered) if each not in names))
    return names
