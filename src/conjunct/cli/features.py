"""The features of a model as a table for the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from conjunct.cli.rendering import bar, cell, plain_table, shortened
from conjunct.cli.terminal import console, showable
from conjunct.construction.criteria import CRITERIA
from conjunct.estimators.lossless import LosslessConstructor
from conjunct.expressions.pattern import pattern_text

if TYPE_CHECKING:
    from conjunct.estimators.base import FeatureConstructor
    from conjunct.expressions import Expression, Style
    from conjunct.reading import Formulas

_LONGEST = 240
_LEAST_ROOM = 20
_BESIDE_PARENTS = 54


@dataclass(frozen=True)
class Constructed:
    """One constructed feature, as much of it as tables and words tell."""

    number: int
    expression: Expression
    pattern: str
    support: int
    frequency: float
    # bits, where several tags were joined
    saved: float | None


def is_about_chunks(model: FeatureConstructor) -> bool:
    """Whether the rule that made the features looks for tags that belong together."""
    rule = CRITERIA.made(getattr(model, "criterion", None))
    return rule is not None and rule.counts_tags


def found_chunks(model: FeatureConstructor) -> list[Constructed]:
    """The chunks as they were joined, the ones that saved most bits first.

    Larger chunks may have taken rows from them since.
    """
    lineage = model.feature_set_.lineage
    chunks = [
        Constructed(
            merge.both,
            lineage.expression(merge.both),
            pattern_text(lineage.pattern(merge.both)),
            merge.joint,
            merge.joint / merge.n_rows,
            merge.saved,
        )
        for merge in model.feature_set_.merges
        if merge.both is not None and merge.saved > 0
    ]
    return sorted(chunks, key=lambda chunk: -(chunk.saved or 0.0))


def constructed(model: FeatureConstructor, formulas: Formulas | None = None) -> list[Constructed]:
    """All features but columns: those whose joining saved most first, then the most common."""
    fitted = model.feature_set_
    pattern = fitted.lineage.pattern
    joined = {pattern(merge.both): merge.saved for merge in fitted.merges if merge.both is not None}
    features = [
        Constructed(
            number,
            formulas.expressions[k] if formulas else fitted.lineage.expression(number),
            fitted.pattern_texts[k],
            fitted.supports[k],
            fitted.frequencies[k],
            joined.get(pattern(number)),
        )
        for k, number in enumerate(fitted.features)
        if fitted.iteration(number)
    ]
    return sorted(features, key=lambda f: (f.saved is None, -(f.saved or 0.0), -f.support))


def feature_table(
    model: FeatureConstructor,
    features: list[Constructed],
    *,
    heading: str = "feature",
    formulas: bool = False,
) -> Table:
    """Features by what they assert, with their exact formulas if wanted.

    Where features are added and nothing is replaced, they are their formulas.
    """
    if not isinstance(model, LosslessConstructor):
        return _formula_table(model, features)
    origins = model.feature_set_.origins()
    table = plain_table(heading, ">rows", "", ">bits saved", *_more(formulas, ">length", ">r"))
    for feature in features:
        name: RenderableType = cell(shortened(feature.pattern))
        if formulas:
            formula_ = Text(showable(_written(model, feature)), "dim")
            name = Group(name, Padding(formula_, (0, 0, 0, 2)))
        table.add_row(
            name,
            str(feature.support),
            Text(bar(feature.frequency), "cyan"),
            "" if feature.saved is None else f"{feature.saved:,.0f}",
            *_more(formulas, str(feature.expression.length), f"{origins[feature.number].r:.2f}"),
        )
    return table


def _more(wanted: bool, *cells: str) -> tuple[str, ...]:
    return cells if wanted else ()


def _formula_table(model: FeatureConstructor, features: list[Constructed]) -> Table:
    fitted = model.feature_set_
    table = plain_table("feature", ">rows", "", ">length", ">iter")
    for feature in features:
        table.add_row(
            _with_origin(model, feature),
            str(feature.support),
            Text(bar(feature.frequency), "cyan"),
            str(feature.expression.length),
            str(fitted.iteration(feature.number)),
        )
    return table


def kept(model: FeatureConstructor) -> list[str]:
    """The columns that are features still."""
    fitted = model.feature_set_
    n_primitives = len(fitted.lineage.primitives)
    return [formula(model, number) for number in fitted.features if number < n_primitives]


def formula(model: FeatureConstructor, number: int) -> str:
    """A feature as text that fits into a table."""
    return written(model.feature_set_.lineage.expression(number), model.style)


def written(expression: Expression, style: Style) -> str:
    """A formula as text that fits into a table; one of a million literals is not written out."""
    if expression.length > _LONGEST:
        return f"(a formula of {expression.length:,} literals)"
    return shortened(expression.text(style))


def _written(model: FeatureConstructor, feature: Constructed) -> str:
    return written(feature.expression, model.style)


def _with_origin(model: FeatureConstructor, feature: Constructed) -> RenderableType:
    """The formula and, on one line below it, what it was made from unless the formula says it."""
    fitted = model.feature_set_
    text = cell(_written(model, feature))
    parents = fitted.parents(feature.number)
    if all(parent < len(fitted.lineage.primitives) for parent in parents):
        return text
    left, right = (formula(model, parent) for parent in parents)
    room = max(_LEAST_ROOM, console().width - _BESIDE_PARENTS)
    # each gets half, and what the other leaves
    half = room // 2
    shown = (
        shortened(left, max(half, room - len(right))),
        shortened(right, max(half, room - len(left))),
    )
    words = showable(f"  from {' and '.join(shown)}")
    return Group(text, Text(words, "dim", no_wrap=True, overflow="ellipsis"))
