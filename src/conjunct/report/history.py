"""The course of a run by bits: what was joined, and how long the description was after it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from conjunct.report.numbers import count
from conjunct.report.subject import Subject


@dataclass(frozen=True)
class CourseLine:
    """``share`` is the length of the description as a part of what it was at first."""

    iteration: int
    joined: str
    n_features: int
    saved: float
    bits: float
    share: float


def course(subject: Subject) -> tuple[CourseLine, ...]:
    """One line an iteration, the columns as they are first."""
    model = subject.model
    groups = groupby(model.feature_set_.merges, key=lambda merge: merge.iteration)
    merges = {iteration: list(some) for iteration, some in groups}
    lines = []
    for line in model.history_:
        some = merges.get(line.iteration, [])
        joined = count(len(some), "pair") if some else "columns as they are"
        if len(some) == 1:
            joined = f"{subject.name(some[0].left, 60)} with {subject.name(some[0].right, 60)}"
        saved = sum(merge.saved for merge in some)
        first = model.history_[0].bits
        share = line.bits / first if first else 1.0
        lines.append(CourseLine(line.iteration, joined, line.n_features, saved, line.bits, share))
    return tuple(lines)
