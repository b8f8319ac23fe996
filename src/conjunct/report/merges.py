"""Replaced pairs as overlapping rectangles, as in the paper's figure of how uFC works."""

from __future__ import annotations

from dataclasses import dataclass

from conjunct.reading import supports_before
from conjunct.report import limits
from conjunct.report.subject import Subject

_WIDTH = 260.0  # of both rectangles together


@dataclass(frozen=True)
class Part:
    """One of the three conjunctions: its name and rows; ``start`` and ``width`` in the drawing."""

    kind: str
    name: str
    support: int
    start: float
    width: float


@dataclass(frozen=True)
class MergePicture:
    """Widths are proportional to rows; ``parts`` from left to right."""

    iteration: int
    r: float
    saved: float
    left: str
    right: str
    left_support: int
    right_support: int
    left_width: float
    right_start: float
    right_width: float
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Merges:
    pictures: tuple[MergePicture, ...]
    n_merges: int


def merges(subject: Subject) -> Merges:
    """The strongest links, or those that saved most, in the order in which they were replaced."""
    fitted = subject.model.feature_set_
    supports = supports_of_all(subject)
    by_bits, every = subject.by_pattern, fitted.merges
    ranked = sorted(
        range(len(every)), key=lambda k: (-(every[k].saved if by_bits else every[k].r), k)
    )
    shown = sorted(ranked[: limits.MERGES])
    return Merges(
        tuple(_picture(subject, supports, k) for k in shown),
        len(fitted.merges),
    )


def supports_of_all(subject: Subject) -> dict[int | None, int]:
    """Rows of every feature that ever was, by its number.

    Where cells are missing, they are counted on the rows shown.
    """
    fitted = subject.model.feature_set_
    supports = supports_before(fitted)
    if supports is not None:
        return supports
    everything = range(len(fitted.lineage))
    counts = fitted.evaluate(subject.primitives, everything).supports()
    return dict(zip(everything, counts.tolist(), strict=True))


def _picture(subject: Subject, supports: dict[int | None, int], k: int) -> MergePicture:
    merge = subject.model.feature_set_.merges[k]
    both = supports.get(merge.both, 0)
    left_only = supports.get(merge.left_only, 0)
    right_only = supports.get(merge.right_only, 0)
    scale = _WIDTH / max(1, left_only + both + right_only)
    left_width = round((left_only + both) * scale, 1)
    right_start = round(left_only * scale, 1)
    left, right = subject.name(merge.left), subject.name(merge.right)
    return MergePicture(
        merge.iteration,
        merge.r,
        merge.saved,
        left,
        right,
        left_only + both,
        right_only + both,
        left_width,
        right_start,
        round((right_only + both) * scale, 1),
        (
            _part(subject, "left", merge.left_only, left_only, 0.0, scale),
            _part(subject, "both", merge.both, both, right_start, scale),
            _part(subject, "right", merge.right_only, right_only, left_width, scale),
        ),
    )


def _part(
    subject: Subject, kind: str, number: int | None, support: int, start: float, scale: float
) -> Part:
    name = "empty, dropped" if number is None else subject.name(number)
    return Part(kind, name, support, start, round(support * scale, 1))
