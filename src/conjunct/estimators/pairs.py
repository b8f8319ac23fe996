"""The pairs that uFC would look at first, as a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from conjunct.counting import Tally
from conjunct.data import Backend, BooleanData, as_table, container_of
from conjunct.estimators.ufc import UFC
from conjunct.features import Lineage
from conjunct.ufc import CRITERIA, Criterion, Ledger, Stage


def correlated_pairs(
    X: Any,
    criterion: str | float | Criterion = "evidence",
    *,
    backend: Backend | None = None,
    **options: Any,
) -> Any:
    """The pairs of columns that may be joined, the best first (§3.2).

    Parameters
    ----------
    X : array, data frame, sparse matrix or list of baskets
        Boolean or 0/1 values.
    criterion : "evidence", "bits", "risk", float or a criterion, default="evidence"
        As in :class:`UFC`.
    backend : {"pandas", "polars", "pyarrow", "dict"}, optional
        What kind of table. By default the kind of ``X`` if it is one, and pandas otherwise.
    **options
        Other parameters of :class:`UFC` that decide how ``X`` is read: ``binarize``, ``missing``,
        ``store`` and ``n_jobs``.

    Returns
    -------
    data frame
        ``left``, ``right``, ``joint`` (rows with both), ``r``, ``p_value``, ``p_adjusted`` and
        ``score``, which orders the pairs: their evidence, the bits that joining one would save, or
        the measure.

    Examples
    --------
    >>> from conjunct import correlated_pairs
    >>> baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
    >>> correlated_pairs(baskets, backend="dict")["joint"]
    [40]
    """
    reader = UFC(criterion, **options)
    reader._check_parameters()
    rule = CRITERIA.checked(criterion)
    container = container_of(X)
    data = BooleanData.read(container, reader._rules(), counts=True)
    store, names = data.columns, data.names
    tally = Tally.of(store)
    stage = Stage(0, tuple(range(store.n_columns)), tally)
    known = tally.counts.observed
    # indicators are not looked at
    ledger = Ledger(Lineage(names), tally.counts.supports, known, store.n_rows, lambda: 0)
    pairs = rule.candidates(stage, ledger, rule.judge(lambda: tally.counts, "batch"))
    pairs = pairs.take(np.lexsort((pairs.right, pairs.left, -pairs.joint, -pairs.score)))
    columns: dict[str, list[Any]] = {
        "left": [names[k] for k in pairs.left.tolist()],
        "right": [names[k] for k in pairs.right.tolist()],
        "joint": pairs.joint.tolist(),
        "r": pairs.r.tolist(),
        "p_value": pairs.p_value.tolist(),
        "p_adjusted": pairs.p_adjusted.tolist(),
        "score": pairs.score.tolist(),
    }
    return as_table(columns, backend or container.backend or "pandas")
