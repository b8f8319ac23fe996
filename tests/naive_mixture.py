"""Groups of rows from the definition: one loop per row, group and field; shares no code."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

Row = Sequence[object]
"""True, False, or None where a cell is missing."""
Field = Sequence[int]
"""The columns of a field: one of a tag, several of a variable."""
Outcome = tuple[int, ...] | str | None
Group = tuple[float, list[dict[object, float]]]
"""Its share, and for each field the probability of each outcome."""


def outcomes_of(field: Field) -> list[object]:
    """Return what a field can be: none, one of the columns, several."""
    return ["none", *field, *(["several"] if len(field) > 1 else [])]


def outcome(row: Row, field: Field) -> object:
    """Return what a field is in a row; None if that is unknown."""
    true = [k for k in field if row[k] is True]
    if len(true) > 1:
        return "several"
    if true:
        return true[0]
    return None if any(row[k] is None for k in field) else "none"


def probability(row: Row, fields: Sequence[Field], group: Group) -> float:
    """Return the probability of a row and of a group together."""
    share, tables = group
    value = share
    for field, table in zip(fields, tables, strict=True):
        found = outcome(row, field)
        if found is None:
            continue
        value *= table[found]
        if found == "several":
            sets = sum(1 for k in range(2, len(field) + 1) for _ in combinations(field, k))
            value /= sets
    return value


def members(row: Row, fields: Sequence[Field], groups: Sequence[Group]) -> list[float]:
    """Return the probability of each group given a row."""
    joint = [probability(row, fields, group) for group in groups]
    return [value / sum(joint) for value in joint]


def average(rows: Sequence[Row], weights: Sequence[float], fields: Sequence[Field]) -> list[dict]:
    """Return the shares of outcomes in all rows, with half a row more for each."""
    tables = []
    for field in fields:
        counts: dict[object, float] = dict.fromkeys(outcomes_of(field), 0.5)
        for row, weight in zip(rows, weights, strict=True):
            found = outcome(row, field)
            if found is not None:
                counts[found] += weight
        total = sum(counts.values())
        tables.append({each: value / total for each, value in counts.items()})
    return tables


def step(
    rows: Sequence[Row], weights: Sequence[float], fields: Sequence[Field], groups: Sequence[Group]
) -> tuple[list[Group], float]:
    """Return the groups after one iteration, and the log-likelihood before it."""
    prior = average(rows, weights, fields)
    given = [members(row, fields, groups) for row in rows]
    likelihood = sum(
        weight * math.log(sum(probability(row, fields, group) for group in groups))
        for row, weight in zip(rows, weights, strict=True)
    )
    after: list[Group] = []
    for k in range(len(groups)):
        size = sum(weight * each[k] for weight, each in zip(weights, given, strict=True))
        tables = []
        for field, average_field in zip(fields, prior, strict=True):
            # one row like the average
            counts = dict(average_field)
            for row, weight, each in zip(rows, weights, given, strict=True):
                found = outcome(row, field)
                if found is not None:
                    counts[found] += weight * each[k]
            total = sum(counts.values())
            tables.append({name: value / total for name, value in counts.items()})
        after.append(((size + 1) / (sum(weights) + len(groups)), tables))
    return after, likelihood
