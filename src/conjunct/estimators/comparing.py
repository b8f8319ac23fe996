"""Compare two data sets, and describe groups of rows, by the tags and chunks of a model."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Set
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_is_fitted

from conjunct import explain
from conjunct.data import Backend, is_missing
from conjunct.errors import ConjunctWarning, InputError
from conjunct.estimators.invertible import InvertibleConstructor
from conjunct.features import FeatureSet
from conjunct.parameters import one_of, risk_level, whole
from conjunct.ufc import CORRECTIONS

# with more, labels are names of rows rather than groups, and their counts would fill the memory
_MOST_TESTS = 20_000_000


def compare(
    model: InvertibleConstructor,
    X: Any,
    Y: Any,
    *,
    alpha: float | None = 0.05,
    correction: str | None = "holm",
    backend: Backend | None = None,
) -> Any:
    """Return a table of tags and chunks that are more common in one data set than in the other.

    A row has a chunk if it has all its tags. The smallest p-values come first; a chunk that holds
    all tags of an earlier one is left out, and so is the other of two values. Each is tested once:
    Fisher's exact test, two-sided (twice the smaller of the two one-sided p-values). The test
    assumes that the rows of ``X`` and
    ``Y`` are independent: none may be in both. What is true in every row or in none is not tested,
    nor what is too rare to reach ``alpha`` even if all of its rows were in one data set. A warning
    names a tag that is true in all rows of one and in none of the other: if the two were made from
    it, the result is circular.

    Parameters
    ----------
    model : UFC or UFCPath
        A fitted model, preferably of the rows of both: one fitted on ``X`` only knows the chunks
        there.
    X, Y : array, data frame, sparse matrix or list of baskets
        Rows with the columns of the model. A row in which a chunk is missing is not counted for
        it.
    alpha : float or None, default=0.05
        Only what has an adjusted p-value of at most this; ``None``: all tags and chunks.
    correction : {"bonferroni", "holm", "bh", "by"} or None, default="holm"
        The correction for the number of tests.
    backend : {"pandas", "polars", "pyarrow", "dict"}, optional
        Kind of table. By default the kind the model was fitted on, and pandas otherwise.

    Returns
    -------
    data frame
        ``pattern`` (the tags), ``more_common_in`` (``"X"``, ``"Y"``, or empty where shares are
        equal), ``share_x`` and ``share_y`` (of the rows in which it is known), ``difference``
        (``share_y - share_x``), ``ratio`` (``share_y / share_x``), ``rows_x`` and ``rows_y`` (with
        all the tags), ``n_x`` and ``n_y`` (in which that is known), ``p_value`` and
        ``p_adjusted``.

    Examples
    --------
    >>> from conjunct import UFC, compare
    >>> before = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
    >>> after = [["water", "cascade"]] * 10 + [["water"]] * 50 + [["sky"]] * 60
    >>> found = compare(UFC().fit(before), before, after, backend="dict")
    >>> list(zip(found["pattern"], found["more_common_in"], found["rows_x"], found["rows_y"]))
    [('cascade', 'X', 40, 10)]
    """
    fitted = _check_and_get_features(model, alpha, correction)
    parts = [fitted.evaluate_tag_sets(model.read_columns(data)) for data in (X, Y)]
    counts = explain.GroupCounts.of_parts(*parts)
    _warn_if_circular(fitted, counts, "in which data set")
    table = explain.rank_differences(
        fitted.tag_sets, counts, alpha, correction, explain.other_values(fitted)
    )
    return model.make_table(table, backend)


def describe_groups(
    model: InvertibleConstructor,
    X: Any,
    labels: Any,
    *,
    top: int | None = 5,
    alpha: float | None = 0.05,
    correction: str | None = "holm",
    backend: Backend | None = None,
) -> Any:
    """Return a table of tags and chunks that are more common in a group than in all other rows.

    A row has a chunk if it has all its tags. The groups may be classes, or clusters of any
    algorithm that did not use the columns of the model; if it did, groups differ in them by
    construction, and a warning names tags that equal the groups. Each tag and chunk is tested in
    each group: Fisher's exact test, one-sided. What is true in every row or in none is not tested,
    nor in a group where it could not reach ``alpha`` even if all of its rows were there.

    Parameters
    ----------
    model, X, backend
        As in `compare`.
    labels : array, series or list
        The group of each row: numbers, text or anything that can be the key of a dict. Rows with
        a missing label are left out, with a warning.
    top : int or None, default=5
        Maximum number of tags and chunks per group. A chunk that holds all tags of an earlier one
        of the group is left out.
    alpha : float or None, default=0.05
        Only what has an adjusted p-value of at most this; ``None``: all that are more common.
    correction : {"bonferroni", "holm", "bh", "by"} or None, default="holm"
        The correction for the number of tests, over all groups, tags and chunks.

    Returns
    -------
    data frame
        ``group`` (the largest first; as text, where labels are not all text or all numbers),
        ``pattern`` (the smallest p-value first), ``share`` and ``share_outside`` (of the rows in
        which it is known), ``lift`` (``share`` over that of all rows), ``rows`` and
        ``rows_outside`` (with all the tags), ``n`` and ``n_outside`` (in which that is known),
        ``p_value`` and ``p_adjusted``.

    Examples
    --------
    >>> from conjunct import UFC, describe_groups
    >>> rows = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
    >>> labels = ["wet"] * 50 + ["dry"] * 70
    >>> found = describe_groups(UFC().fit(rows), rows, labels, backend="dict")
    >>> list(zip(found["group"], found["pattern"], found["share"]))[:2]
    [('dry', 'sky', 0.8571428571428571), ('wet', 'water', 1.0)]
    """
    fitted = _check_and_get_features(model, alpha, correction)
    whole(1, optional=True).check("top", top)
    columns = model.read_columns(X)
    label_of_row = _as_list(labels)
    if len(label_of_row) != columns.n_rows:
        raise InputError(
            f"there are {len(label_of_row):,} labels and {columns.n_rows:,} rows: give one per row"
        )
    sizes = _count_labels(label_of_row)
    if len(sizes) * len(fitted.tag_sets) > _MOST_TESTS:
        raise InputError(
            f"there are {len(sizes):,} different labels and {len(fitted.tag_sets):,} tags and "
            f"chunks, too many to test each with each: are the labels names of rows?"
        )
    names = _name_groups(list(sizes))
    order = sorted(names, key=lambda label: (-sizes[label], str(names[label])))
    number = {label: k for k, label in enumerate(order)}
    groups = np.array(
        [-1 if is_missing(label) else number[label] for label in label_of_row], np.intp
    )
    every = fitted.evaluate_tag_sets(columns)
    counts = explain.GroupCounts.of_groups(every, groups, len(order))
    _warn_if_circular(fitted, counts, "in which group")
    group_names = [names[label] for label in order]
    table = explain.rank_group_features(
        fitted.tag_sets, group_names, counts, alpha, correction, top
    )
    return model.make_table(table, backend)


def _check_and_get_features(model: Any, alpha: float | None, correction: str | None) -> FeatureSet:
    if not isinstance(model, InvertibleConstructor):
        raise InputError(f"model must be a fitted UFC or UFCPath; got {type(model).__name__}")
    check_is_fitted(model)
    risk_level(optional=True).check("alpha", alpha)
    one_of(CORRECTIONS, optional=True).check("correction", correction)
    return model.feature_set_


def _warn_if_circular(fitted: FeatureSet, counts: explain.GroupCounts, where: str) -> None:
    """Warn if tags say exactly where a row belongs: groups made from them differ in them."""
    names = fitted.lineage.primitives
    of_tags = explain.GroupCounts(counts.true[:, : len(names)], counts.known[:, : len(names)])
    if copies := of_tags.copies_of_groups():
        tags = explain.join_names([names[k] for k in copies], 3, 40)
        warnings.warn(
            f"{tags}: that alone says {where} a row is. If the groups were made from it, the "
            f"result is circular: fit the model without it",
            ConjunctWarning,
            stacklevel=3,
        )


def _as_list(labels: Any) -> list[Any]:
    wrong = InputError(f"labels must be one label per row; got a {type(labels).__name__}")
    if isinstance(labels, str | bytes | Mapping | Set) or hasattr(labels, "columns"):
        raise wrong
    series = nw.from_native(labels, allow_series=True, pass_through=True)
    if isinstance(series, nw.Series):
        return list(series.to_list())
    try:
        values = list(labels.tolist() if hasattr(labels, "tolist") else labels)
    except TypeError:
        raise wrong from None
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def _count_labels(labels: list[Any]) -> Counter[Any]:
    """Count the rows of each group, and warn of rows without a label."""
    try:
        sizes = Counter(label for label in labels if not is_missing(label))
    except (TypeError, ValueError):
        raise InputError("each label must be one value, such as a number or a text") from None
    if len(sizes) < 2:
        raise InputError(
            "all rows have the same label: groups are compared with each other"
            if sizes
            else "every label is missing"
        )
    n_missing = len(labels) - sizes.total()
    if n_missing:
        rows = "row has no label and is" if n_missing == 1 else "rows have no label and are"
        warnings.warn(f"{n_missing:,} {rows} left out", ConjunctWarning, stacklevel=3)
    return sizes


def _name_groups(labels: list[Any]) -> dict[Any, Any]:
    """Map labels to names that a column of any table can hold: of one type, and distinct."""
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and kinds <= {str, int, float, bool}:
        return dict(zip(labels, labels, strict=True))
    texts = [str(label) for label in labels]
    if len(set(texts)) < len(texts):
        texts = [repr(label) for label in labels]
    return dict(zip(labels, texts, strict=True))
