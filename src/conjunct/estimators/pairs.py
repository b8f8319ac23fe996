"""The pairs that uFC would look at first, as a table."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from conjunct import association
from conjunct.estimators.tables import Backend, as_table
from conjunct.estimators.ufc import UFC


def correlated_pairs(
    X: Any,
    threshold: float | Literal["risk"] = "risk",
    *,
    backend: Backend | None = None,
    **options: Any,
) -> Any:
    """The pairs of columns that are correlated enough to be replaced, the strongest first (§3.2).

    Parameters
    ----------
    X : array, data frame, sparse matrix or list of baskets
        Boolean or 0/1 values.
    threshold : "risk" or float, default="risk"
        As in :class:`UFC`.
    backend : {"pandas", "polars", "pyarrow", "dict"}, optional
        What kind of table. By default the kind of ``X`` if it is one, and pandas otherwise.
    **options
        Other parameters of :class:`UFC` that decide on pairs: ``alpha``, ``prune``, ``measure``,
        ``test``, ``correction``, and ``binarize`` and ``n_jobs``.

    Returns
    -------
    data frame
        ``left``, ``right``, ``joint`` (rows with both), ``r``, ``p_value``, ``p_adjusted`` and
        ``score`` (the measure, which orders the pairs).

    Examples
    --------
    >>> from conjunct import correlated_pairs
    >>> baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
    >>> correlated_pairs(baskets, backend="dict")["joint"]
    [40]
    """
    reader = UFC(threshold, **options)
    reader._check_parameters()
    store = reader._read_to_fit(X)
    pairs = association.correlated_pairs(store.tally(), reader._criterion())
    pairs = pairs.take(np.lexsort((pairs.right, pairs.left, -pairs.joint, -pairs.score)))
    names = reader._primitive_names()
    columns: dict[str, list[Any]] = {
        "left": [names[k] for k in pairs.left.tolist()],
        "right": [names[k] for k in pairs.right.tolist()],
        "joint": pairs.joint.tolist(),
        "r": pairs.r.tolist(),
        "p_value": pairs.p_value.tolist(),
        "p_adjusted": pairs.p_adjusted.tolist(),
        "score": pairs.score.tolist(),
    }
    return as_table(columns, backend or reader._backend or "pandas")
