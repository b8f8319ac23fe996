"""A fitted model as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from conjunct.cli.terminal import ascii_only

if TYPE_CHECKING:
    from conjunct.construction.stopping import Indicators
    from conjunct.estimators.base import FeatureConstructor

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_BAR_WIDTH = 10
_LONGEST = 240


def feature_table(model: FeatureConstructor, limit: int | None = None) -> Table:
    """The constructed features, the most common ones first."""
    table = plain_table("feature", ">support", "", ">length", ">iter", ">r")
    for rule in constructed(model)[:limit]:
        table.add_row(
            _cell(shortened(rule["rule"])),
            str(rule["support"]),
            _cell(bar(rule["frequency"])),
            str(rule["length"]),
            str(rule["iteration"]),
            f"{rule['r']:.2f}",
        )
    return table


def constructed(model: FeatureConstructor) -> list[dict[str, Any]]:
    """The rules of all features but primitives, the most common ones first."""
    rules = [rule for rule in rules_of(model) if rule["iteration"]]
    return sorted(rules, key=lambda rule: -rule["support"])


def kept(model: FeatureConstructor) -> list[str]:
    """The primitives that are features still."""
    return [rule["rule"] for rule in rules_of(model) if not rule["iteration"]]


def rules_of(model: FeatureConstructor) -> list[dict[str, Any]]:
    columns = model.get_rules("dict")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


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
            heading.lstrip(">"),
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


def shortened(text: str) -> str:
    """A formula cut to what a table can show."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def listed(names: Sequence[str], at_most: int = 10) -> str:
    """Names in a row, the first few of many."""
    shown = ", ".join(map(shortened, names[:at_most]))
    more = len(names) - at_most
    return f"{shown} and {more} more" if more > 0 else shown


def _score(value: float) -> str:
    return "-" if isnan(value) else f"{value:.3f}"


def _cell(text: str) -> Text:
    # Text, not str: a name may look like markup
    return Text(text)
