"""Tables for the terminal: of what was read, and of the numbers of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from conjunct.binarize.rules import BooleanRule
from conjunct.cli.terminal import ascii_only, showable

if TYPE_CHECKING:
    from conjunct.binarize.preparation import Preparation
    from conjunct.binarize.table import BooleanTable
    from conjunct.construction.indicators import Indicators
    from conjunct.estimators.base import FeatureConstructor
    from conjunct.io.streaming import Stream

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_BAR_WIDTH = 10
_LONGEST = 240
_COLUMNS_TOLD = 20


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
