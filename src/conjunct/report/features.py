"""Make the technical sections of a page: features, merges, iterations and ancestry."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from markupsafe import Markup

from conjunct.explain import (
    AncestryGraph,
    ancestry_graph,
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
from conjunct.plots import draw_boxes
from conjunct.report import page
from conjunct.report.model_on_rows import ModelOnRows

_TEXT_LENGTH = 300


@dataclass(frozen=True)
class FeatureLine:
    """A feature, named by its tags or its formula; ``data`` is for the script.

    ``recurrence`` is the share of runs on changed data in which it recurs.
    """

    name: str
    rows: int
    share: float
    length: int
    iteration: int
    merge: Merge | None
    evidence: float | None
    recurrence: float | None
    data: dict[str, Any]

    @property
    def comparison(self) -> str:
        """The comparison that decided about the merge, as text."""
        if self.merge is None:
            return ""
        if self.merge.compared == "p_value":
            return f"p ≤ {probability(self.merge.threshold)}"
        return f"{'r ≥' if self.merge.compared == 'r' else '>'} {decimal(self.merge.threshold)}"


def tabulate_features(shown: ModelOnRows, stability: Stability | None) -> list[FeatureLine]:
    """Return constructed features, strongest or most common first, then kept columns."""
    fitted = shown.model.feature_set_
    pattern, bits_of = fitted.lineage.pattern, evidence_of_tags(fitted)

    def rank(line: tuple[int, int, int]) -> tuple[bool, float, int]:
        number, support, _ = line
        bits = bits_of.get(frozenset(pattern(number)), 0.0) if shown.by_pattern else 0.0
        return not fitted.iteration(number), -bits, -support

    counts = shown.features.supports().tolist(), shown.features.count_known().tolist()
    ranked = sorted(zip(fitted.features, *counts, strict=True), key=rank)
    origins = fitted.origins()
    shares = () if stability is None else stability.shares_of(shown.model)
    recurrence = dict(zip(fitted.features, shares, strict=stability is not None))
    lines = []
    n_characters = 0
    for number, support, n_rows in ranked[: page.TABLE_ROWS]:
        expression, shorter = fitted.lineage.expression(number), shown.short_form(number)
        built = shown.write(expression, _TEXT_LENGTH)
        # formulas that would be cut are written out up to a total number of characters
        is_cut = built.endswith("…") or expression.length > page.WORDED
        if is_cut and expression.length <= page.FORMULA and n_characters < page.FORMULAS:
            built = expression.text(shown.model.formula_style)
            n_characters += len(built)
        simplified = shown.write(shorter, _TEXT_LENGTH)
        tags = shorten(describe_pattern(fitted, number), _TEXT_LENGTH) if fitted.merges else ""
        words = english(shorter)[:_TEXT_LENGTH] if shorter.length <= page.WORDED else ""
        name = tags if shown.by_pattern and tags else simplified
        # a simplified formula that is cut has no use before the whole formula
        is_cut_too = simplified.endswith("…") and shown.by_pattern
        heads = {name: ""}  # each text appears once
        for head, text in (
            ("Tags", tags),
            ("In words", "" if shown.by_pattern else words),
            (
                "In these rows" if shown.simplifies_on_rows else "Simplified",
                "" if is_cut_too else simplified,
            ),
            ("As built", built),
            ("Made from", " · ".join(map(shown.name, fitted.parents(number)))),
        ):
            if text:
                heads.setdefault(text, head)
        # a feature named by its tags is about these, and not about the tags it denies
        about = pattern(number) if shown.by_pattern else expression.primitives
        length, iteration = expression.length, fitted.iteration(number)
        merge = origins.get(number)
        evidence, recurs = bits_of.get(frozenset(pattern(number))), recurrence.get(number)
        values = (merge.r, merge.p_value, merge.p_adjusted, merge.threshold) if merge else ()
        known = [None if math.isnan(value) else value for value in values] or [None] * 4
        data: dict[str, Any] = {
            "n": number,
            "with": tuple(sorted(shown.position[name] for name in about)),
            "tag": not iteration,
            "sort": [support, length, iteration, *known, evidence, recurs],
            "facts": [[head, text] for text, head in heads.items() if head],
        }
        # the vocabulary lists the rows of chunks
        if not shown.by_pattern:
            rows = shown.sample(shown.rows_of(number), page.DETAIL_ROWS)
            data |= {"rows": [shown.row_label(row) for row in rows], "of": support}
        share = support / max(1, n_rows)
        lines.append(
            FeatureLine(name, support, share, length, iteration, merge, evidence, recurs, data)
        )
    return lines


_WIDTH = 260.0  # total width of both rectangles


@dataclass(frozen=True)
class MergePart:
    """A conjunction or a joined feature, at ``start`` in the drawing."""

    kind: str
    name: str
    support: int
    start: float
    width: float


@dataclass(frozen=True)
class MergePicture:
    """Two joined features and their conjunctions; widths are proportional to rows."""

    merge: Merge
    left: MergePart
    right: MergePart
    parts: list[MergePart]


def draw_merges(shown: ModelOnRows) -> list[MergePicture]:
    """Draw the strongest merges, or those with the largest gain, in order."""
    every = shown.model.feature_set_.merges

    def rank(k: int) -> tuple[float, int]:
        return -(every[k].saved if shown.by_pattern else every[k].r), k

    pictures = []
    for k in sorted(sorted(range(len(every)), key=rank)[: page.MERGES]):
        merge = every[k]
        conjunctions = merge.left_only, merge.both, merge.right_only
        supports = [shown.lineage_supports.get(number, 0) for number in conjunctions]
        scale = _WIDTH / max(1, sum(supports))
        parts = []
        for kind, number, first, last in (
            *zip(("left", "both", "right"), conjunctions, (0, 1, 2), (1, 2, 3), strict=True),
            ("left", merge.left, 0, 2),
            ("right", merge.right, 1, 3),
        ):
            name = "empty, dropped" if number is None else shown.name(number)
            start, rows = sum(supports[:first]), sum(supports[first:last])
            parts.append(
                MergePart(kind, name, rows, round(start * scale, 1), round(rows * scale, 1))
            )
        pictures.append(MergePicture(merge, parts[3], parts[4], parts[:3]))
    return pictures


def list_iterations(shown: ModelOnRows) -> list[tuple[int, str, int, float, float]]:
    """Return the number, pairs, features, gain and total gain of each iteration from 0."""
    groups = groupby(shown.model.feature_set_.merges, key=lambda merge: merge.iteration)
    by_iteration = {iteration: list(some) for iteration, some in groups}
    lines, total = [], 0.0
    for line in shown.model.history_[: page.COURSE]:
        some = by_iteration.get(line.iteration, [])
        joined = count(len(some), "pair") if some else "unchanged columns"
        if len(some) == 1:
            joined = f"{shown.name(some[0].left, 60)} with {shown.name(some[0].right, 60)}"
        gain = sum(merge.saved for merge in some)
        total += gain
        lines.append((line.iteration, joined, line.n_features, gain, total))
    return lines


def picture_ancestry(shown: ModelOnRows) -> tuple[AncestryGraph, Markup, int] | None:
    """Draw how columns became features, and count the unchanged columns that are not drawn."""
    model, fitted = shown.model, shown.model.feature_set_
    roots = ancestry_roots(fitted, by_pattern=shown.by_pattern)
    if not roots:
        return None
    drawn = ancestry_graph(fitted, roots, page.GRAPH_NODES, by_pattern=shown.by_pattern)
    origins = fitted.origins()
    step = "merge" if takes_one_pair(model) else "iteration"
    names, attributes = {}, {}
    for k, number in enumerate(node.number for node in drawn.nodes):
        names[number] = model.label_feature(number, _TEXT_LENGTH, whole=True)
        remarks = ["a column of the data"]
        if iteration := fitted.iteration(number):
            remarks = [f"{'joined' if shown.by_pattern else 'made'} in {step} {iteration}"]
        if number in origins:
            remarks.append(f"r = {decimal(origins[number].r, 2)}")
            if shown.by_pattern:
                remarks.append(f"gain {origins[number].saved:,.1f} bits")
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
    return drawn, page.draw(draw_boxes(drawn, names, attributes)), kept
