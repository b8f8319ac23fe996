"""Numbers and tables of a page: the data, the features, the merges, and the steps of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from math import isnan
from typing import Any

import numpy as np

from conjunct.data import DataSummary
from conjunct.explain import (
    MEANINGS,
    count,
    data_facts,
    decimal,
    english,
    joined_chunks,
    prepared_columns,
    probability,
    shortened,
    shown_pattern,
    takes_one_pair,
)
from conjunct.expressions import pattern_text
from conjunct.features import Merge
from conjunct.paper import Stability
from conjunct.report import limits
from conjunct.report.model_on_rows import ModelOnRows


@dataclass(frozen=True)
class Figure:
    """A number that stands out, what it is, what it was before, and what it means."""

    value: str
    name: str
    before: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class Bar:
    name: str
    support: int
    share: float


@dataclass(frozen=True)
class Overview:
    """``facts`` are (name, value); ``prepared`` says what was done to each raw column or tag."""

    figures: tuple[Figure, ...]
    facts: tuple[tuple[str, str], ...]
    columns: tuple[Bar, ...]
    n_columns: int
    row_sizes: tuple[Bar, ...]
    prepared: tuple[tuple[str, str], ...]
    is_cleaned: bool


def summarize_data(shown: ModelOnRows) -> Overview:
    """Return the data and the outcome at a glance."""
    summary = DataSummary.of(shown.table)
    supports = shown.primitives.supports()
    shares = supports / np.maximum(1, shown.primitives.count_known())
    common = np.argsort(-supports, kind="stable")[: limits.COLUMNS].tolist()
    return Overview(
        _figures(shown),
        tuple(data_facts(summary, shown.model.feature_set_)),
        tuple(Bar(shown.formula(k), int(supports[k]), float(shares[k])) for k in common),
        summary.n_features,
        _row_sizes(shown),
        tuple(prepared_columns(shown.model.preparation_).items()),
        shown.model.preparation_.cleaner is not None,
    )


def _figures(shown: ModelOnRows) -> tuple[Figure, ...]:
    first, last = shown.model.history_[0], shown.model.history_[-1]
    n_features = len(shown.model.feature_set_.features)
    lengths = decimal(last.length, 2), decimal(first.length, 2)
    return (
        Figure(count(shown.n_rows), "rows"),
        Figure(count(n_features), "features", count(first.n_features)),
        Figure(count(len(shown.summary.constructed)), "of them constructed"),
        Figure(decimal(last.oi), "overlap (OI)", decimal(first.oi), MEANINGS["OI"]),
        Figure(decimal(last.c0), "complexity (C0)", decimal(first.c0), MEANINGS["C0"]),
        Figure(lengths[0], "literals a feature", lengths[1]),
    )


def _row_sizes(shown: ModelOnRows) -> tuple[Bar, ...]:
    """Count the rows by their number of true columns."""
    sizes = np.zeros(shown.n_rows, np.int64)
    for k in range(shown.primitives.n_columns):
        sizes[shown.primitives.true_rows(k)] += 1
    counts = np.bincount(sizes)
    width = -(-len(counts) // 24)  # at most 24 bars
    bars = []
    for start in range(0, len(counts), width):
        number = int(counts[start : start + width].sum())
        name = str(start) if width == 1 else f"{start}–{start + width - 1}"
        bars.append(Bar(name, number, number / shown.n_rows))
    return tuple(bars)


_SHORT = 60  # literals of a formula that is also written in words
_TEXT_LENGTH = 400


@dataclass(frozen=True)
class FeatureLine:
    """One feature. ``primitives`` are positions of columns; ``support`` is on the rows shown.

    ``exact`` is the whole formula where ``built`` is cut; ``evidence`` that of its tags;
    ``merge`` what decided for it; ``comes_back`` in which share of runs on changed data it was
    made again.
    """

    number: int
    pattern: str
    built: str
    simplified: str
    words: str
    support: int
    share: float
    length: int
    simplified_length: int
    iteration: int
    parents: tuple[str, ...]
    primitives: tuple[int, ...]
    merge: Merge | None
    evidence: float | None
    exact: str = ""
    comes_back: float | None = None

    @property
    def held_against(self) -> str:
        """The comparison that decided, as text."""
        if self.merge is None:
            return ""
        if self.merge.compared == "p_value":
            return f"p ≤ {probability(self.merge.threshold)}"
        return f"{'r ≥' if self.merge.compared == 'r' else '>'} {decimal(self.merge.threshold)}"


@dataclass(frozen=True)
class FeatureTable:
    lines: tuple[FeatureLine, ...]
    n_features: int
    max_share: float

    @property
    def columns(self) -> list[int]:
        """The columns that the lines are about."""
        return sorted({column for line in self.lines for column in line.primitives})

    @cached_property
    def has_merges(self) -> bool:
        return any(line.merge for line in self.lines)

    @cached_property
    def has_patterns(self) -> bool:
        return any(line.pattern for line in self.lines)

    @cached_property
    def has_corrections(self) -> bool:
        """True if adjusted p-values differ from the p-values."""
        merges = [line.merge for line in self.lines if line.merge]
        return any(merge.p_value != merge.p_adjusted for merge in merges)


def tabulate_features(shown: ModelOnRows, stability: Stability | None = None) -> FeatureTable:
    """Return constructed features, the strongest or most common first, then kept columns."""
    fitted = shown.model.feature_set_
    pattern = fitted.lineage.pattern
    supports = shown.features.supports().tolist()
    known = shown.features.count_known().tolist()
    joined = reversed(joined_chunks(fitted))
    bits_of = {pattern(one.merge.both or 0): one.evidence for one in joined}

    def rank(line: tuple[int, int, int]) -> tuple[bool, float, int]:
        number, support, _ = line
        bits = bits_of.get(pattern(number), 0.0) if shown.by_pattern else 0.0
        return not fitted.iteration(number), -bits, -support

    ranked = sorted(zip(fitted.features, supports, known, strict=True), key=rank)
    origins = fitted.origins()
    shares = () if stability is None else stability.shares_of(shown.model)
    comes_back = dict(zip(fitted.features, shares, strict=stability is not None))
    position = {name: k for k, name in enumerate(fitted.lineage.primitives)}
    lines = []
    n_literals = 0
    for number, support, n_rows in ranked[: limits.TABLE_ROWS]:
        merge, bits = origins.get(number), bits_of.get(pattern(number))
        line = _make_line(shown, number, support, support / max(1, n_rows), position, merge, bits)
        is_cut = line.built.endswith("…") or line.length > _SHORT
        if is_cut and line.length <= min(limits.FORMULA, limits.FORMULAS - n_literals):
            n_literals += line.length
            exact = fitted.lineage.expression(number).text(shown.model.style)
            line = replace(line, exact=exact)
        lines.append(replace(line, comes_back=comes_back.get(number)))
    max_share = max((line.share for line in lines), default=0.0)
    return FeatureTable(tuple(lines), len(ranked), max_share)


def _make_line(
    shown: ModelOnRows,
    number: int,
    support: int,
    share: float,
    position: dict[str, int],
    merge: Merge | None,
    evidence: float | None,
) -> FeatureLine:
    fitted = shown.model.feature_set_
    built = fitted.lineage.expression(number)
    shorter = shown.short_form(number)
    # a feature by its pattern is about the tags it has, and not about all that it denies
    about = fitted.lineage.pattern(number) if shown.by_pattern else built.primitives
    return FeatureLine(
        number=number,
        pattern=shortened(shown_pattern(fitted, number), _TEXT_LENGTH) if fitted.merges else "",
        built=shown.write(built, _TEXT_LENGTH),
        simplified=shown.write(shorter, _TEXT_LENGTH),
        words=english(shorter)[:_TEXT_LENGTH] if shorter.length <= _SHORT else "",
        support=support,
        share=share,
        length=built.length,
        simplified_length=shorter.length,
        iteration=fitted.iteration(number),
        parents=tuple(shown.name(parent) for parent in fitted.parents(number)),
        primitives=tuple(sorted(position[name] for name in about)),
        merge=merge,
        evidence=evidence,
    )


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


def draw_merges(shown: ModelOnRows) -> tuple[MergePicture, ...]:
    """Draw the strongest merges, or those that gained most, in their order."""
    every = shown.model.feature_set_.merges
    supports = shown.lineage_supports

    def rank(k: int) -> tuple[float, int]:
        return -(every[k].saved if shown.by_pattern else every[k].r), k

    chosen = sorted(sorted(range(len(every)), key=rank)[: limits.MERGES])
    return tuple(_draw_merge(shown, supports, every[k]) for k in chosen)


def _draw_merge(shown: ModelOnRows, supports: dict[int | None, int], merge: Merge) -> MergePicture:
    both = supports.get(merge.both, 0)
    left_only = supports.get(merge.left_only, 0)
    right_only = supports.get(merge.right_only, 0)
    scale = _WIDTH / max(1, left_only + both + right_only)
    left_width = round((left_only + both) * scale, 1)
    right_start = round(left_only * scale, 1)

    def conjunction(kind: str, number: int | None, support: int, start: float) -> Conjunction:
        name = "empty, dropped" if number is None else shown.name(number)
        return Conjunction(kind, name, support, start, round(support * scale, 1))

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
            conjunction("left", merge.left_only, left_only, 0.0),
            conjunction("both", merge.both, both, right_start),
            conjunction("right", merge.right_only, right_only, left_width),
        ),
    )


@dataclass(frozen=True)
class CourseLine:
    """``gain`` is what the merges brought less what they cost, and ``total`` all of it so far."""

    iteration: int
    joined: str
    n_features: int
    gain: float
    total: float


def list_iterations(shown: ModelOnRows) -> tuple[CourseLine, ...]:
    """Return a line per iteration, the unchanged columns first; of many, the first ones."""
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


_NAME_LENGTH = 60


@dataclass(frozen=True)
class Steps:
    """A run as plain values. A prefix of its merges is a vocabulary too, exactly.

    ``data`` holds for the script: ``names``, in their order, and ``supports`` by number; ``steps``,
    the merges of each iteration as ``[left, right, both, left only, right only]`` (-1 where empty);
    ``sizes`` and ``bits`` after each; the ``rows`` of the map by their columns; the patterns
    ``coloured``.
    """

    n_steps: int
    n_left_out: int
    unit: str
    n_rows: int
    data: dict[str, Any]


def list_steps(shown: ModelOnRows) -> Steps | None:
    """Return a run that replaced pairs step by step; ``None`` if it replaced none."""
    fitted = shown.model.feature_set_
    if not fitted.merges:
        return None
    by_step: dict[int, list[list[int]]] = {}
    for merge in fitted.merges[: limits.STEPS]:
        numbers = merge.left, merge.right, merge.both, merge.left_only, merge.right_only
        by_step.setdefault(merge.iteration, []).append([-1 if n is None else n for n in numbers])
    rows = _sample_rows(shown)
    columns = shown.true_columns(rows)
    supports = shown.lineage_supports
    touched = sorted({number for some in by_step.values() for one in some for number in one} - {-1})
    known = sorted({*touched, *(k for some in columns for k in some)})
    history = shown.model.history_[: 1 + len(by_step)]
    primitives = fitted.lineage.primitives
    data = {
        "names": [
            [k, shortened(pattern_text([name]), _NAME_LENGTH)]
            for name, k in sorted((primitives[k], k) for k in known if k < len(primitives))
        ],
        "supports": [[k, supports[k]] for k in known],
        "steps": list(by_step.values()),
        "sizes": [line.n_features for line in history],
        "evidence": [] if isnan(history[0].evidence) else [round(k.evidence) for k in history],
        "rows": [[shown.row_label(row), some] for row, some in zip(rows, columns, strict=True)],
        "coloured": _patterns_with_colour(shown),
    }
    unit = "merge" if takes_one_pair(shown.model) else "iteration"
    left_out = max(0, len(fitted.merges) - limits.STEPS)
    return Steps(len(by_step), left_out, unit, len(rows), data)


def _sample_rows(shown: ModelOnRows) -> list[int]:
    """Return rows spread evenly over all of them, few enough for a page."""
    cells = int(shown.primitives.supports().sum())
    wide = limits.MAP_CELLS * shown.n_rows // max(1, cells)
    n = max(1, min(shown.n_rows, limits.MAP_ROWS, wide))
    return [int(row) for row in np.linspace(0, shown.n_rows - 1, n).round()]


def _patterns_with_colour(shown: ModelOnRows) -> list[list[int]]:
    """Return the patterns that get a colour: the strongest, or the most common."""
    position = {name: k for k, name in enumerate(shown.model.feature_set_.lineage.primitives)}
    found = shown.summary.chunks if shown.by_pattern else shown.summary.constructed
    patterns: dict[tuple[str, ...], None] = {}
    for one in found:
        if len(one.pattern) > 1:
            patterns[one.pattern] = None
        if len(patterns) == limits.COLOURS:
            break
    return [[position[name] for name in some] for some in patterns]
