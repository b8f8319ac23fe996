"""Rare conjunctions, which are true in few rows but far more often than by chance.

Candidates are all pairs of primitives and the conjunctions that a model constructed. All of them
form one family of exact tests, because the normal test is not valid for rare columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conjunct.columns import Counts, PackedColumns
from conjunct.expressions import And, Expression, Style, canonical_key
from conjunct.features import FeatureSet
from conjunct.ufc.association import (
    adjust_p_values,
    count_tested_pairs,
    exact_p_value,
    lift,
    phi,
    significant,
)
from conjunct.ufc.criteria import PairFilter, correlated_pairs


def find_rare_conjunctions(
    store: PackedColumns,
    feature_set: FeatureSet,
    *,
    max_support: float,
    min_lift: float,
    alpha: float,
    correction: str | None,
    style: Style,
) -> dict[str, list[Any]]:
    """Return a table of the rare conjunctions in ``store``, largest lift first.

    ``store`` holds the primitives; ``status`` states whether a conjunction is a feature of the
    model.
    """
    n_rows = store.n_rows
    matrix = store.pair_counts()
    pairs = correlated_pairs(matrix, PairFilter(alpha=alpha, test="exact"))
    others, counts = _other_conjunctions(store, feature_set)
    of_pairs = pairs.counts.table[1:]
    left, right, both = (np.concatenate(columns) for columns in zip(of_pairs, counts, strict=True))
    p = np.concatenate([pairs.p_value, exact_p_value(n_rows, *counts)])
    family_size = count_tested_pairs(matrix, prune=False) + len(others)
    p_adjusted = adjust_p_values(p, family_size, correction)
    lifts, r = lift(n_rows, left, right, both), phi(n_rows, left, right, both)
    found = significant(p_adjusted, alpha) & (both / n_rows <= max_support) & (lifts >= min_lift)

    primitives = feature_set.lineage.expressions(range(store.n_columns))
    status = {
        **dict.fromkeys(feature_set.expressions, "feature"),
        **dict.fromkeys(feature_set.lineage.expressions(feature_set.suppressed), "suppressed"),
    }
    expressions: dict[int, Expression] = {}
    for k in np.flatnonzero(found).tolist():
        if k < len(pairs):
            expressions[k] = And(primitives[pairs.left[k]], primitives[pairs.right[k]])
        else:
            expressions[k] = feature_set.lineage.expression(others[k - len(pairs)])
    order = sorted(expressions, key=lambda k: (-lifts[k], p[k], canonical_key(expressions[k])))
    at = np.array(order, np.intp)
    return {
        "rule": [expressions[k].text(style) for k in order],
        "status": [status.get(expressions[k], "not a feature") for k in order],
        "support": both[at].tolist(),
        "frequency": (both[at] / n_rows).tolist(),
        "length": [expressions[k].length for k in order],
        "lift": lifts[at].tolist(),
        "r": r[at].tolist(),
        "p_value": p[at].tolist(),
        "p_adjusted": p_adjusted[at].tolist(),
        "family_size": [family_size] * len(order),
    }


def _other_conjunctions(
    store: PackedColumns, feature_set: FeatureSet
) -> tuple[list[int], tuple[Counts, Counts, Counts]]:
    """Return the model's conjunctions other than pairs of primitives, and their counts."""
    lineage = feature_set.lineage
    m = len(lineage.primitives)
    numbers, operands = [], []
    for number in feature_set.features + feature_set.suppressed:
        parts = lineage.operands(number)
        if parts is None or len(parts) != 2 or lineage.is_count(number):
            continue
        if not all(0 <= part < m for part in parts):
            numbers.append(number)
            operands.append(parts)

    def supports(literals: list[int]) -> Counts:
        counted = [literal if literal >= 0 else ~literal for literal in literals]
        counts = feature_set.evaluate(store, counted).supports()
        negated = np.array(literals, np.int64) < 0
        return np.where(negated, store.n_rows - counts, counts)

    left = supports([pair[0] for pair in operands])
    right = supports([pair[1] for pair in operands])
    return numbers, (left, right, supports(numbers))
