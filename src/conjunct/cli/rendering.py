"""Tables for the terminal: of what was read, and of the numbers of the paper."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from conjunct.cli.terminal import ascii_only, showable

if TYPE_CHECKING:
    from conjunct.data import BooleanData, Preparation
    from conjunct.files import Stream
    from conjunct.ufc import Indicators

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_BAR_WIDTH = 10
LONGEST = 240
"""Characters of a name or formula in a table."""
_COLUMNS_TOLD = 20


def data_tables(table: BooleanData | Stream) -> tuple[Table, Table | None]:
    """What was read in numbers, and what was made of columns that are not Boolean."""
    from conjunct.data import DataSummary
    from conjunct.explain import count, data_facts
    from conjunct.files import Stream

    facts = (
        [
            ("files", count(len(table.rows))),
            ("rows", count(table.n_rows)),
            ("features", count(len(table.names))),
            ("counted", "from disk" if table.engine == "disk" else f"on {table.engine.title()}"),
        ]
        if isinstance(table, Stream)
        else data_facts(DataSummary.of(table))
    )
    rows = plain_table("data", "")
    for name, value in facts:
        rows.add_row(name, cell(value))
    return rows, preparation_table(table.preparation)


def preparation_table(preparation: Preparation) -> Table | None:
    """What is done to each raw column, if anything is."""
    from conjunct.explain import prepared_columns, shortened

    made = prepared_columns(preparation)
    if not made:
        return None
    table = plain_table("column", "made Boolean" if preparation.binarizer else "cleaned", wrapped=1)
    for column, told in list(made.items())[:_COLUMNS_TOLD]:
        table.add_row(cell(shortened(column, LONGEST)), cell(told))
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


def _score(value: float) -> str:
    return "-" if isnan(value) else f"{value:.3f}"


def cell(text: str) -> Text:
    """Text from data, which may look like markup or hold what terminals obey."""
    return Text(showable(text))
