"""The data and the outcome at a glance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conjunct.data import DataSummary
from conjunct.explain import MEANINGS, count, data_facts, decimal, prepared_columns
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


def overview(shown: ModelOnRows) -> Overview:
    summary = DataSummary.of(shown.table)
    return Overview(
        _figures(shown),
        tuple(data_facts(summary, shown.model.feature_set_)),
        _columns(shown),
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


def _columns(shown: ModelOnRows) -> tuple[Bar, ...]:
    supports = shown.primitives.supports()
    shares = supports / np.maximum(1, shown.primitives.count_known())
    order = np.argsort(-supports, kind="stable")[: limits.COLUMNS].tolist()
    return tuple(Bar(shown.formula(k), int(supports[k]), float(shares[k])) for k in order)


def _row_sizes(shown: ModelOnRows) -> tuple[Bar, ...]:
    """How many rows have how many columns true."""
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
