"""Where a tree ends: scikit-learn's parameters, checked and turned into numbers of rows."""

from __future__ import annotations

import math
from typing import Any

from conjunct.parameters import at_least, check, check_whole, is_number, is_whole
from conjunct.trees import Limits


def limits_of(estimator: Any, n_rows: int) -> Limits:
    """The limits that an estimator's parameters stand for."""
    check_whole("max_depth", estimator.max_depth, 1, optional=True)
    check_whole("max_leaf_nodes", estimator.max_leaf_nodes, 2, optional=True)
    decrease = estimator.min_impurity_decrease
    check(
        is_number(decrease) and at_least(decrease, 0),
        "min_impurity_decrease",
        decrease,
        "a number, at least 0",
    )
    return Limits(
        max_depth=estimator.max_depth,
        min_samples_split=_rows("min_samples_split", estimator.min_samples_split, 2, n_rows),
        min_samples_leaf=_rows("min_samples_leaf", estimator.min_samples_leaf, 1, n_rows),
        min_impurity_decrease=float(decrease),
        max_leaf_nodes=estimator.max_leaf_nodes,
    )


def _rows(name: str, value: Any, least: int, n_rows: int) -> int:
    """A number of rows, given as such or as a share of all rows."""
    is_share = is_number(value) and not is_whole(value) and 0 < value < 1
    check(
        is_share or (is_whole(value) and value >= least),
        name,
        value,
        f"a whole number, at least {least}, or a share of the rows between 0 and 1",
    )
    return max(least, math.ceil(value * n_rows)) if is_share else int(value)
