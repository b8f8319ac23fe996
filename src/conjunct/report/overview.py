"""The data at a glance: alerts, facts, and what was done to raw columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from conjunct.data import DataSummary
from conjunct.explain import column_preparations, data_facts, format_share, join_names, shorten
from conjunct.report import limits
from conjunct.report.model_on_rows import ModelOnRows

_MUCH_MISSING = 0.2
_NAMES = 6  # of the columns in one alert
# the numbers of a stop reason, which are for experts
_NUMBERS = re.compile(r", has [\d.,]+ bits of evidence and needs more than [\d.,]+\d")
_SETTING = re.compile(r"; criterion=\w+\([^()]*\) asks for less")
_CONSTANT = "every "  # the reasons why a constant column is left out begin with it


@dataclass(frozen=True)
class Overview:
    """``alerts`` and ``facts`` are (name, text); ``prepared``: how raw columns were made Boolean.

    ``ending`` is why the run ended, in plain words; ``row_sizes`` are (tags of a row, rows that
    have as many).
    """

    ending: str
    alerts: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    row_sizes: tuple[tuple[str, int], ...]
    prepared: tuple[tuple[str, str], ...]
    is_cleaned: bool


def summarize_data(shown: ModelOnRows) -> Overview:
    """Return the data at a glance."""
    summary, preparation = DataSummary.of(shown.table), shown.model.preparation_
    ending = _NUMBERS.sub(", is not clear enough", shown.summary.ending)
    return Overview(
        _SETTING.sub("", ending),
        tuple(_alerts(shown, summary)),
        tuple(data_facts(summary, shown.model.feature_set_)),
        _row_sizes(shown),
        tuple(column_preparations(preparation).items()),
        preparation.cleaner is not None,
    )


def _alerts(shown: ModelOnRows, data: DataSummary) -> Iterator[tuple[str, str]]:
    """Yield what a reader should know before the findings: copies, constants, gaps, ids."""
    if shown.summary.copies:
        yield "Copies", shown.summary.same_columns
    constant = [(d.column, d.reason) for d in data.dropped if d.reason.startswith(_CONSTANT)]
    supports = shown.primitives.supports().tolist()
    position = {name: k for k, name in enumerate(shown.names)}
    constant += [
        (name, "in all rows" if supports[position[name]] else "in no row") for name in data.constant
    ]
    if constant:
        yield "Constant", _list_columns(constant)
    missing: dict[str, int] = {}
    for name, known in zip(shown.names, shown.primitives.count_known().tolist(), strict=True):
        if known < (1 - _MUCH_MISSING) * shown.n_rows:
            column = shown.model.preparation_.source_of(name)
            missing[column] = max(missing.get(column, 0), shown.n_rows - known)
    gaps = sorted(missing.items(), key=lambda gap: -gap[1])
    if gaps:
        texts = [(name, f"{format_share(n / shown.n_rows)} of the cells") for name, n in gaps]
        yield "Much missing", _list_columns(texts)
    others = [(d.column, d.reason) for d in data.dropped if not d.reason.startswith(_CONSTANT)]
    if others:
        yield "Left out", _list_columns(others)


def _list_columns(columns: list[tuple[str, str]]) -> str:
    names = [f"{shorten(column, 60)} ({shorten(text, 60)})" for column, text in columns]
    return f"{join_names(names, _NAMES, limits.NAME_LENGTH)}."


def _row_sizes(shown: ModelOnRows) -> tuple[tuple[str, int], ...]:
    """Count the rows by their number of tags, in at most 24 steps."""
    sizes = np.zeros(shown.n_rows, np.int64)
    for k in range(shown.primitives.n_columns):
        sizes[shown.primitives.true_rows(k)] += 1
    counts = np.bincount(sizes)
    width = -(-len(counts) // 24)
    return tuple(
        (
            str(start) if width == 1 else f"{start}–{start + width - 1}",
            int(counts[start : start + width].sum()),
        )
        for start in range(0, len(counts), width)
    )
