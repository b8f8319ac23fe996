"""Technical tables of a page: the features, the merges and the iterations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from markupsafe import Markup

from conjunct.explain import (
    ancestry_roots,
    count,
    decimal,
    describe_pattern,
    english,
    evidence_of_tags,
    probability,
    shorten,
    takes_one_pair,
)
from conjunct.features import Merge
from conjunct.paper import Stability
from conjunct.plots import Ancestry, draw_ancestry, draw_boxes
from conjunct.report import limits, page
from conjunct.report.model_on_rows import ModelOnRows

_TEXT_LENGTH = 300


@dataclass(frozen=True)
class FeatureLine:
    """One feature; ``rows`` are those shown in which it is true.

    ``name`` is its tags, or its formula; ``built`` its formula as it was made; ``merge`` what
    decided for it; ``comes_back`` in which share of runs on changed data it was made again.
    """

    number: int
    name: str
    pattern: str
    simplified: str
    built: str
    words: str
    rows: int
    share: float
    length: int
    iteration: int
    parents: tuple[str, ...]
    primitives: tuple[int, ...]
    merge: Merge | None
    evidence: float | None
    comes_back: float | None

    @property
    def comparison(self) -> str:
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

    @property
    def max_share(self) -> float:
        return max((line.share for line in self.lines), default=0.0)

    @property
    def columns(self) -> list[int]:
        """The columns that the lines are about."""
        return sorted({column for line in self.lines for column in line.primitives})

    @cached_property
    def has_merges(self) -> bool:
        return any(line.merge for line in self.lines)

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
    bits_of = evidence_of_tags(fitted)

    def rank(line: tuple[int, int, int]) -> tuple[bool, float, int]:
        number, support, _ = line
        bits = bits_of.get(frozenset(pattern(number)), 0.0) if shown.by_pattern else 0.0
        return not fitted.iteration(number), -bits, -support

    ranked = sorted(zip(fitted.features, supports, known, strict=True), key=rank)
    origins = fitted.origins()
    shares = () if stability is None else stability.shares_of(shown.model)
    comes_back = dict(zip(fitted.features, shares, strict=stability is not None))
    lines = []
    n_characters = 0
    for number, support, n_rows in ranked[: limits.TABLE_ROWS]:
        expression, shorter = fitted.lineage.expression(number), shown.short_form(number)
        built = shown.write(expression, _TEXT_LENGTH)
        # a formula that is cut is written out as long as all of them are not too long
        is_cut = built.endswith("…") or expression.length > limits.WORDED
        if is_cut and expression.length <= limits.FORMULA and n_characters < limits.FORMULAS:
            built = expression.text(shown.model.formula_style)
            n_characters += len(built)
        simplified = shown.write(shorter, _TEXT_LENGTH)
        tags = shorten(describe_pattern(fitted, number), _TEXT_LENGTH) if fitted.merges else ""
        # a feature by its pattern is about the tags it has, and not about all that it denies
        about = pattern(number) if shown.by_pattern else expression.primitives
        lines.append(
            FeatureLine(
                number=number,
                name=tags if shown.by_pattern and tags else simplified,
                pattern=tags,
                simplified=simplified,
                built=built,
                words=english(shorter)[:_TEXT_LENGTH] if shorter.length <= limits.WORDED else "",
                rows=support,
                share=support / max(1, n_rows),
                length=expression.length,
                iteration=fitted.iteration(number),
                parents=tuple(shown.name(parent) for parent in fitted.parents(number)),
                primitives=tuple(sorted(shown.position[name] for name in about)),
                merge=origins.get(number),
                evidence=bits_of.get(frozenset(pattern(number))),
                comes_back=comes_back.get(number),
            )
        )
    return FeatureTable(tuple(lines), len(ranked))


def feature_data(shown: ModelOnRows, line: FeatureLine) -> dict[str, Any]:
    """Return what the script sorts by, and what a feature shows when it is opened."""
    merge = line.merge
    values = (merge.r, merge.p_value, merge.p_adjusted, merge.threshold) if merge else ()
    known = [None if math.isnan(value) else value for value in values] or [None] * 4
    # a cut text is no shorter way to say what follows it
    simplified = "" if line.simplified.endswith("…") and shown.by_pattern else line.simplified
    facts = [
        ("Tags", line.pattern),
        ("In words", "" if shown.by_pattern else line.words),
        ("In these rows" if shown.simplifies_on_rows else "Simplified", simplified),
        ("As built", line.built),
        ("Made from", " · ".join(line.parents)),
    ]
    said = {line.name}
    kept = []
    for head, text in facts:
        if text and text not in said:
            said.add(text)
            kept.append([head, text])
    data: dict[str, Any] = {
        "n": line.number,
        "with": line.primitives,
        "tag": not line.iteration,
        "sort": [line.rows, line.length, line.iteration, *known, line.evidence, line.comes_back],
        "facts": kept,
    }
    # the rows of chunks are listed in the vocabulary
    if not shown.by_pattern:
        rows = shown.sample(shown.rows_of(line.number), limits.DETAIL_ROWS)
        data |= {"rows": [shown.row_label(row) for row in rows], "of": line.rows}
    return data


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


@dataclass(frozen=True)
class AncestryPicture:
    """A drawing; ``kept`` columns are features and parents of none."""

    drawn: Ancestry
    picture: Markup
    kept: int


def picture_ancestry(shown: ModelOnRows) -> AncestryPicture | None:
    """Draw how columns became features, without columns that were kept as they are."""
    model, fitted = shown.model, shown.model.feature_set_
    roots = ancestry_roots(fitted, by_pattern=shown.by_pattern)
    if not roots:
        return None
    drawn, origins = draw_ancestry(model, roots, limits.GRAPH_NODES), fitted.origins()
    step = "merge" if takes_one_pair(model) else "iteration"
    names, attributes = {}, {}
    for k, number in enumerate(box.number for box in drawn.boxes):
        names[number] = model.label_feature(number, _TEXT_LENGTH, whole=True)
        remarks = ["a column of the data"]
        if iteration := fitted.iteration(number):
            remarks = [f"{'joined' if shown.by_pattern else 'made'} in {step} {iteration}"]
        if number in origins:
            remarks.append(f"r = {decimal(origins[number].r, 2)}")
            if shown.by_pattern:
                remarks.append(f"gain {decimal(origins[number].saved, 1)} bits")
        if number in shown.lineage_supports:
            remarks.append(count(shown.lineage_supports[number], "row"))
        remark = ", ".join(remarks)
        attributes[number] = {
            "role": "button",
            "tabindex": -1 if k else 0,
            "data-formula": names[number],
            "data-remark": remark,
            "aria-label": f"{names[number]}, {remark}",
        }
    kept = sum(not fitted.iteration(number) and number not in names for number in fitted.features)
    return AncestryPicture(drawn, page.draw(draw_boxes(drawn, names, attributes)), kept)
