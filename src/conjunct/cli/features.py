"""The features of a model as a table for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from conjunct.cli.rendering import LONGEST, bar, cell, plain_table
from conjunct.cli.terminal import console, showable
from conjunct.explain import label, shortened

if TYPE_CHECKING:
    from conjunct.explain import Finding, Formulas, Summary

_LEAST_ROOM = 20
_BESIDE_PARENTS = 54


def feature_table(
    summary: Summary,
    features: Sequence[Finding],
    *,
    heading: str = "feature",
    with_formulas: bool = False,
    formulas: Formulas | None = None,
) -> Table:
    """Features by what they assert and, if wanted, by their formulas, which may be given.

    Chunks as they were joined say how much more often their parts go together than apart. Where
    features are added and nothing is replaced, they are their formulas.
    """
    fitted, style = summary.model.feature_set_, summary.model.style
    by_formula = not fitted.merges
    given = dict(zip(fitted.features, formulas.expressions, strict=True)) if formulas else {}
    origins = fitted.origins()
    if by_formula:
        table = plain_table("feature", ">rows", "", ">length", ">iter")
    else:
        more = (">length", ">r") if with_formulas else ()
        table = plain_table(heading, ">rows", "", ">evidence", *more)
    for feature in features:
        expression = given.get(feature.number, fitted.lineage.expression(feature.number))
        formula = label(expression, style, LONGEST)
        name: RenderableType = cell(shortened(feature.text, LONGEST))
        bits = "" if feature.evidence is None else f"{feature.evidence:,.0f}"
        numbers: tuple[str, ...] = (bits,)
        if by_formula:
            name = _with_origin(summary, feature.number, formula)
            numbers = str(expression.length), str(fitted.iteration(feature.number))
        elif with_formulas:
            name = Group(name, Padding(Text(showable(formula), "dim"), (0, 0, 0, 2)))
            numbers = bits, str(expression.length), f"{origins[feature.number].r:.2f}"
        if feature.contrast:
            name = Group(name, Padding(Text(showable(feature.contrast), "dim"), (0, 0, 0, 2)))
        table.add_row(name, str(feature.rows), Text(bar(feature.share), "cyan"), *numbers)
    return table


def _with_origin(summary: Summary, number: int, formula: str) -> RenderableType:
    """The formula and, on one line below it, what it was made from unless the formula says it."""
    fitted = summary.model.feature_set_
    parents = fitted.parents(number)
    if not any(map(fitted.iteration, parents)):
        return cell(formula)
    left, right = map(summary.formula, parents)
    room = max(_LEAST_ROOM, console().width - _BESIDE_PARENTS)
    # each gets half, and what the other leaves
    half = room // 2
    shown = (
        shortened(left, max(half, room - len(right))),
        shortened(right, max(half, room - len(left))),
    )
    words = showable(f"  from {' and '.join(shown)}")
    return Group(cell(formula), Text(words, "dim", no_wrap=True, overflow="ellipsis"))
