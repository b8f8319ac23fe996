"""A fitted model as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from conjunct.binarize.rules import BooleanRule
from conjunct.cli.terminal import ascii_only, console, showable

if TYPE_CHECKING:
    from conjunct.binarize.preparation import Preparation
    from conjunct.binarize.table import BooleanTable
    from conjunct.construction.indicators import Indicators
    from conjunct.estimators.base import FeatureConstructor
    from conjunct.expressions import Expression, Style
    from conjunct.io.streaming import Stream
    from conjunct.reading import Formulas

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_BAR_WIDTH = 10
_LONGEST = 240
_LEAST_ROOM = 20
_BESIDE_PARENTS = 54
_COLUMNS_TOLD = 20


@dataclass(frozen=True)
class Constructed:
    """One constructed feature, as much of it as a table shows."""

    formula: str
    parents: tuple[str, ...]
    support: int
    frequency: float
    length: int
    iteration: int
    r: float | None


def feature_table(
    model: FeatureConstructor, limit: int | None = None, formulas: Formulas | None = None
) -> Table:
    """The constructed features, the most common ones first; in another form, if one is given."""
    replaced = bool(model.feature_set_.merges)  # otherwise no correlation made a feature
    headings = ("feature", ">support", "", ">length", ">iter", *([">r"] if replaced else []))
    table = plain_table(*headings)
    for feature in constructed(model, formulas)[:limit]:
        table.add_row(
            _with_origin(feature),
            str(feature.support),
            Text(bar(feature.frequency), "cyan"),
            str(feature.length),
            str(feature.iteration),
            *([f"{feature.r:.2f}"] if feature.r is not None else []),
        )
    return table


def data_tables(table: BooleanTable | Stream) -> tuple[Table, Table | None]:
    """What was read in numbers, and what was made of columns that are not Boolean."""
    from conjunct.binarize.summary import DataSummary
    from conjunct.io.streaming import Stream
    from conjunct.stores.memory import byte_text

    if isinstance(table, Stream):
        return _stream_table(table), preparation_table(table.preparation)
    summary = DataSummary.of(table)
    counts = [f"{number} {kind}" for kind, number in summary.columns.items()]
    rows = plain_table("data", "")
    rows.add_row("rows", f"{summary.n_rows} ({summary.n_distinct_rows} distinct)")
    rows.add_row("columns", ", ".join(counts))
    rows.add_row("features", str(summary.n_features))
    if summary.dropped:
        told = [f"{dropped.column} ({dropped.reason})" for dropped in summary.dropped]
        rows.add_row("left out", cell(listed(told)))
    if summary.constant:
        rows.add_row("constant", cell(listed(summary.constant)))
    rows.add_row("missing", f"{summary.n_missing} cells")
    rows.add_row("density", f"{summary.density:.3f}")
    rows.add_row("memory", byte_text(summary.n_bytes))
    return rows, preparation_table(table.preparation)


def _stream_table(stream: Stream) -> Table:
    rows = plain_table("data", "")
    rows.add_row("files", str(len(stream.rows)))
    rows.add_row("rows", str(stream.n_rows))
    rows.add_row("features", str(len(stream.names)))
    rows.add_row("counted", "on Dask" if stream.on_dask else "from disk")
    return rows


def preparation_table(preparation: Preparation) -> Table | None:
    """What is done to each raw column, if anything is."""
    made: dict[str, list[str]] = {}
    if preparation.cleaner is not None:
        merged = preparation.cleaner.merges()
        made = {merge.tag: [f"called {merge.into}"] for merge in merged}
    elif preparation.binarizer is not None:
        for rule in preparation.binarizer.rules_:
            if not isinstance(rule, BooleanRule):
                made.setdefault(rule.column, []).append(rule.describe())
    if not made:
        return None
    table = plain_table("column", "made Boolean" if preparation.binarizer else "cleaned", wrapped=1)
    for column, told in list(made.items())[:_COLUMNS_TOLD]:
        table.add_row(cell(shortened(column)), cell("; ".join(told)))
    if len(made) > _COLUMNS_TOLD:
        table.add_row("…", f"and {len(made) - _COLUMNS_TOLD} more")
    return table


def constructed(model: FeatureConstructor, formulas: Formulas | None = None) -> list[Constructed]:
    """All features but primitives, the most common ones first."""
    fitted = model.feature_set_
    origins = fitted.origins()
    expressions = formulas.expressions if formulas else fitted.expressions
    features = [
        Constructed(
            written(expression, model.style),
            _parents(model, number),
            support,
            frequency,
            expression.length,
            fitted.iteration(number),
            origins[number].r if number in origins else None,
        )
        for expression, number, support, frequency in zip(
            expressions, fitted.features, fitted.supports, fitted.frequencies, strict=True
        )
        if fitted.iteration(number)
    ]
    return sorted(features, key=lambda feature: -feature.support)


def _parents(model: FeatureConstructor, number: int) -> tuple[str, ...]:
    """The two features that one was made from, unless its formula says it: they are columns."""
    fitted = model.feature_set_
    parents = fitted.parents(number)
    if all(parent < len(fitted.lineage.primitives) for parent in parents):
        return ()
    return tuple(formula(model, parent) for parent in parents)


def _with_origin(feature: Constructed) -> RenderableType:
    """The formula and, on one line below it, what it was made from."""
    if not feature.parents:
        return cell(feature.formula)
    left, right = feature.parents
    room = max(_LEAST_ROOM, console().width - _BESIDE_PARENTS)
    # each gets half, and what the other leaves
    half = room // 2
    parents = (
        shortened(left, max(half, room - len(right))),
        shortened(right, max(half, room - len(left))),
    )
    words = showable(f"  from {' + '.join(parents)}")
    return Group(cell(feature.formula), Text(words, "dim", no_wrap=True, overflow="ellipsis"))


def kept(model: FeatureConstructor) -> list[str]:
    """The primitives that are features still."""
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


def score_table(lines: Iterable[tuple[str, Indicators]]) -> Table:
    """Indicators, one labelled line each."""
    table = plain_table("", ">features", ">length", ">OI", ">C0", ">RMS")
    for label, line in lines:
        scores = map(_score, (line.oi, line.c0, line.rms))
        table.add_row(label, str(line.n_features), f"{line.length:.2f}", *scores)
    return table


def before_and_after(model: FeatureConstructor) -> Table:
    return score_table([("before", model.history_[0]), ("after", model.history_[-1])])


def plain_table(*headings: str, wrapped: int = 0) -> Table:
    """A table with a line under its headings; ``>`` before a heading sets its column right.

    Where the terminal is too narrow, the column at position ``wrapped`` runs over several lines.
    """
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    for position, heading in enumerate(headings):
        right = heading.startswith(">")
        table.add_column(
            showable(heading.lstrip(">")),
            justify="right" if right else "left",
            no_wrap=position != wrapped,
            overflow="fold",
        )
    return table


def bar(share: float) -> str:
    """A share of 1 as a bar of blocks; the smallest one is visible if the share is not 0."""
    if ascii_only():
        return "#" * (max(1, round(share * _BAR_WIDTH)) if share else 0)
    eighths = max(1, round(share * _BAR_WIDTH * 8)) if share else 0
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def shortened(text: str, longest: int = _LONGEST) -> str:
    """A text cut to what a table can show."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def listed(names: Sequence[str], at_most: int = 10) -> str:
    """Names in a row, the first few of many."""
    shown = ", ".join(map(shortened, names[:at_most]))
    more = len(names) - at_most
    return f"{shown} and {more} more" if more > 0 else shown


def _score(value: float) -> str:
    return "-" if isnan(value) else f"{value:.3f}"


def cell(text: str) -> Text:
    """Text from data, which may look like markup or hold what terminals obey."""
    return Text(showable(text))
