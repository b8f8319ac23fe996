"""The course of a run: what was joined, and merges as rectangles as in the paper's figure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from conjunct.explain import count
from conjunct.features import Merge
from conjunct.report import limits
from conjunct.report.model_on_rows import ModelOnRows

_WIDTH = 260.0  # of both rectangles together


@dataclass(frozen=True)
class Conjunction:
    """One of the three conjunctions: its name and rows; ``start`` and ``width`` in the drawing."""

    kind: str
    name: str
    support: int
    start: float
    width: float


@dataclass(frozen=True)
class MergePicture:
    """Widths are proportional to rows; ``parts`` from left to right."""

    merge: Merge
    left: str
    right: str
    left_support: int
    right_support: int
    left_width: float
    right_start: float
    right_width: float
    parts: tuple[Conjunction, ...]


def merges(shown: ModelOnRows) -> tuple[MergePicture, ...]:
    """The strongest links, or those that saved most, in the order in which they were replaced."""
    every = shown.model.feature_set_.merges
    supports = shown.lineage_supports

    def rank(k: int) -> tuple[float, int]:
        return -(every[k].saved if shown.by_pattern else every[k].r), k

    drawn = sorted(sorted(range(len(every)), key=rank)[: limits.MERGES])
    return tuple(_picture(shown, supports, every[k]) for k in drawn)


def _picture(shown: ModelOnRows, supports: dict[int | None, int], merge: Merge) -> MergePicture:
    both = supports.get(merge.both, 0)
    left_only = supports.get(merge.left_only, 0)
    right_only = supports.get(merge.right_only, 0)
    scale = _WIDTH / max(1, left_only + both + right_only)
    left_width = round((left_only + both) * scale, 1)
    right_start = round(left_only * scale, 1)
    return MergePicture(
        merge,
        shown.name(merge.left),
        shown.name(merge.right),
        left_only + both,
        right_only + both,
        left_width,
        right_start,
        round((right_only + both) * scale, 1),
        (
            _conjunction(shown, "left", merge.left_only, left_only, 0.0, scale),
            _conjunction(shown, "both", merge.both, both, right_start, scale),
            _conjunction(shown, "right", merge.right_only, right_only, left_width, scale),
        ),
    )


def _conjunction(
    shown: ModelOnRows, kind: str, number: int | None, support: int, start: float, scale: float
) -> Conjunction:
    name = "empty, dropped" if number is None else shown.name(number)
    return Conjunction(kind, name, support, start, round(support * scale, 1))


@dataclass(frozen=True)
class CourseLine:
    """``gain`` is what the merges brought less what they cost, and ``total`` all of it so far."""

    iteration: int
    joined: str
    n_features: int
    gain: float
    total: float


def course(shown: ModelOnRows) -> tuple[CourseLine, ...]:
    """One line an iteration, the columns as they are first; the first ones of many."""
    model = shown.model
    groups = groupby(model.feature_set_.merges, key=lambda merge: merge.iteration)
    by_iteration = {iteration: list(some) for iteration, some in groups}
    lines, total = [], 0.0
    for line in model.history_[: limits.COURSE]:
        some = by_iteration.get(line.iteration, [])
        joined = count(len(some), "pair") if some else "columns as they are"
        if len(some) == 1:
            joined = f"{shown.name(some[0].left, 60)} with {shown.name(some[0].right, 60)}"
        gain = sum(merge.saved for merge in some)
        total += gain
        lines.append(CourseLine(line.iteration, joined, line.n_features, gain, total))
    return tuple(lines)
