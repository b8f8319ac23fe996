"""The data and the outcome at a glance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conjunct.binarize.rules import BooleanRule
from conjunct.binarize.summary import DataSummary
from conjunct.report import limits
from conjunct.report.numbers import count, decimal, share, size
from conjunct.report.subject import Subject, known_rows
from conjunct.stores.packing import unpack

_NAMES_TOLD = 12


@dataclass(frozen=True)
class Figure:
    """A number that stands out, what it is, and what it was before."""

    value: str
    name: str
    before: str = ""


@dataclass(frozen=True)
class Bar:
    name: str
    support: int
    share: float


@dataclass(frozen=True)
class Overview:
    """``facts`` are (name, value); ``prepared`` says what was done to each raw column."""

    figures: tuple[Figure, ...]
    facts: tuple[tuple[str, str], ...]
    columns: tuple[Bar, ...]
    n_columns: int
    row_sizes: tuple[Bar, ...]
    prepared: tuple[tuple[str, str], ...]


def overview(subject: Subject) -> Overview:
    summary = DataSummary.of(subject.table)
    return Overview(
        _figures(subject),
        tuple(_facts(summary)),
        _columns(subject),
        summary.n_features,
        _row_sizes(subject),
        tuple(_prepared(subject)),
    )


def _figures(subject: Subject) -> tuple[Figure, ...]:
    history = subject.model.history_
    first, last = history[0], history[-1]
    made = sum(
        map(bool, map(subject.model.feature_set_.iteration, subject.model.feature_set_.features))
    )
    return (
        Figure(count(subject.n_rows), "rows"),
        Figure(
            count(len(subject.model.feature_set_.features)), "features", f"{first.n_features:,}"
        ),
        Figure(count(made), "of them constructed"),
        Figure(decimal(last.oi), "overlap (OI)", decimal(first.oi)),
        Figure(decimal(last.c0), "complexity (C0)", decimal(first.c0)),
        Figure(decimal(last.length, 2), "literals a feature", decimal(first.length, 2)),
    )


def _facts(summary: DataSummary) -> list[tuple[str, str]]:
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in summary.columns.items())
    facts = [
        ("rows", f"{summary.n_rows:,}, {summary.n_distinct_rows:,} distinct"),
        ("columns", kinds),
        ("Boolean features of them", count(summary.n_features)),
        ("cells that are true", share(summary.density)),
        ("missing cells", count(summary.n_missing)),
    ]
    if summary.constant:
        facts.append(("constant, never paired", _listed(summary.constant)))
    if summary.dropped:
        told = [f"{dropped.column} ({dropped.reason})" for dropped in summary.dropped]
        facts.append(("left out", _listed(told)))
    if summary.rare:
        told = [f"{column} ({number})" for column, number in summary.rare.items()]
        facts.append(("rare words", _listed(told)))
    facts.append(("memory, packed", size(summary.n_bytes)))
    return facts


def _listed(names: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(name[: limits.NAME_LENGTH] for name in names[:_NAMES_TOLD])
    more = len(names) - _NAMES_TOLD
    return f"{shown} and {more:,} more" if more > 0 else shown


def _columns(subject: Subject) -> tuple[Bar, ...]:
    supports = subject.primitives.supports()
    shares = supports / np.maximum(1, known_rows(subject.primitives))
    order = np.argsort(-supports, kind="stable")[: limits.COLUMNS].tolist()
    return tuple(Bar(subject.formula(k), int(supports[k]), float(shares[k])) for k in order)


def _row_sizes(subject: Subject) -> tuple[Bar, ...]:
    """How many rows have how many columns true."""
    sizes = np.zeros(subject.n_rows, np.int64)
    for line in subject.primitive_bits:
        sizes += unpack(line[None, :], subject.n_rows)[:, 0]
    counts = np.bincount(sizes)
    width = -(-len(counts) // 24)  # at most 24 bars
    bars = []
    for start in range(0, len(counts), width):
        number = int(counts[start : start + width].sum())
        name = str(start) if width == 1 else f"{start}–{start + width - 1}"
        bars.append(Bar(name, number, number / subject.n_rows))
    return tuple(bars)


def _prepared(subject: Subject) -> list[tuple[str, str]]:
    preparation = subject.model.preparation_
    if preparation.cleaner is not None:
        return [(merge.tag, f"called {merge.into}") for merge in preparation.cleaner.merges()]
    if preparation.binarizer is None:
        return []
    made: dict[str, list[str]] = {}
    for rule in preparation.binarizer.rules_:
        if not isinstance(rule, BooleanRule):
            made.setdefault(rule.column, []).append(rule.describe())
    return [(column, "; ".join(told)) for column, told in made.items()]
