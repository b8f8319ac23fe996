"""A fitted model applied to rows: suggestions, relations, drift and comparisons."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import msgspec
import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunct import explain, files
from conjunct.columns import CostEstimate
from conjunct.counting import RowSample, Store, TagCounts, Tally
from conjunct.data import Backend, is_missing
from conjunct.errors import ConjunctWarning, InputError, ModelFileError
from conjunct.estimators.invertible import InvertibleConstructor
from conjunct.features import FeatureSet, Suggester, Suggestion, bits_of_rows
from conjunct.parameters import check, is_number, one_of, risk_level, whole
from conjunct.ufc import CORRECTIONS, without_garbage_collection

if TYPE_CHECKING:
    from conjunct.explain import Relation


class CuratingConstructor(InvertibleConstructor):
    """Base of UFC: suggestions, doubtful tags, relations and drift.

    A fit keeps the joint counts of the most frequent tags and a sample of rows. The regressions
    are solved on first use or when the model is saved. A model file holds counts, but no rows.
    """

    # called with the estimated cost before a fit
    on_cost_estimate: Callable[[CostEstimate], object] | None = None
    # data that a fit keeps; a model taken from a path has none
    _tag_counts: TagCounts | None = None
    _sampled_rows: RowSample | None = None
    _suggester: Suggester | None = None

    def suggest(
        self, X: Any, k: int = 5, *, min_score: float = 0.0, X_train: Any = None
    ) -> list[list[Suggestion]]:
        """Return the tags that are probably missing from each row, given its other tags.

        Parameters
        ----------
        X : array, data frame, sparse matrix or list of baskets
            Rows with the columns of the model.
        k : int, default=5
            Maximum number of suggestions per row.
        min_score : float, default=0
            Minimum score of a suggestion.
        X_train : array, data frame, sparse matrix, list of baskets or Dask collection, optional
            Rows to learn from instead of those of ``fit``, using their 5,000 most frequent tags.
            A fitted model keeps the counts of its 1,000 most frequent tags.

        Returns
        -------
        list of list of Suggestion
            For each row, the tags with the highest scores: ``(tag, score, because)``. ``score``
            is a calibrated probability: about 80% of rows with a score of 0.8 have the tag.
            ``because`` lists up to three tags of the row that support it most. If a row has a
            value of a variable, no other value is suggested.

        Examples
        --------
        >>> from conjunct import UFC
        >>> baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
        >>> [[found]] = UFC().fit(baskets).suggest([["cascade"]], k=1)
        >>> found.tag, round(found.score, 2), found.because
        ('water', 1.0, ('cascade',))
        """
        whole(1).check("k", k)
        is_right = is_number(min_score) and 0 <= min_score <= 1
        check(is_right, "min_score", min_score, "a number from 0 to 1")
        suggester = self.learn_suggestions(X_train)
        columns = self.read_columns(X).select(suggester.counts.places)
        with without_garbage_collection():
            return suggester.suggest(columns, k, min_score)

    def doubtful(self, X: Any, k: int = 5, *, X_train: Any = None) -> list[list[Suggestion]]:
        """Return the tags of each row that its other tags contradict.

        Parameters
        ----------
        X, X_train
            As in ``suggest``.
        k : int, default=5
            Maximum number of tags per row.

        Returns
        -------
        list of list of Suggestion
            For each row, its tags that are less probable there than in all rows: ``(tag, score,
            because)``, least probable first. The row itself is not counted. ``because`` lists up
            to three tags of the row that contradict the tag most.

        Examples
        --------
        >>> from conjunct import UFC
        >>> baskets = [["water", "cascade"]] * 40 + [["sky", "sun"]] * 60
        >>> [found] = UFC().fit(baskets).doubtful([["sky", "sun", "water"]])
        >>> [(one.tag, one.because) for one in found]
        [('water', ('sky', 'sun'))]
        """
        whole(1).check("k", k)
        suggester = self.learn_suggestions(X_train)
        columns = self.read_columns(X).select(suggester.counts.places)
        with without_garbage_collection():
            return suggester.doubt(columns, k)

    def relations(self, X: Any = None) -> list[Relation]:
        """Return relations between tags: implication, equality, avoidance and similarity.

        Parameters
        ----------
        X : array, data frame, sparse matrix, list of baskets or Dask collection, optional
            Rows to count instead of those of ``fit``, using their 5,000 most frequent tags. A
            fitted model keeps the counts of its 1,000 most frequent tags.

        Returns
        -------
        list of Relation
            ``(kind, left, right, rows, evidence, sentence)``, most evidence first. ``"implies"``:
            at least 95% of the rows with the left tag have the right one, except for implications
            that follow from others. ``"same"``: a correlation of at least 0.98. ``"avoid"``:
            together in at most half of the rows expected by chance. ``"alike"``: tags that avoid
            each other, but occur with the same other tags, as synonyms do.

        Examples
        --------
        >>> from conjunct import UFC
        >>> baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
        >>> UFC().fit(baskets).relations()[0].sentence
        'cascade implies water: all 40 rows with cascade also have water'
        """
        check_is_fitted(self)
        counts = self._tag_counts if X is None else self._count_tags(self._read_store(X))
        if counts is None:
            raise InputError("this model has no joint counts: pass rows as X")
        _warn_of_limit(counts)
        return explain.find_relations(counts)

    def _model_file(self) -> files.ModelFile:
        model = super()._model_file()
        if self._tag_counts is None:
            return model
        return msgspec.structs.replace(model, suggestions=self._learn().record())

    @classmethod
    def from_model_file(cls, model: files.ModelFile, path: str) -> Self:
        fitted = super().from_model_file(model, path)
        if model.suggestions is None:
            return fitted
        try:
            fitted._suggester = Suggester.from_record(model.suggestions, fitted.feature_set_)
        except InputError as error:
            raise ModelFileError(f"{path}: damaged model file: {error}") from None
        fitted._tag_counts = fitted._suggester.counts
        return fitted

    def _count_tags(self, store: Store) -> TagCounts:
        fitted = self.feature_set_
        return TagCounts.of(fitted.lineage.primitives, Tally.of(store).counts, fitted.variables)

    def check_drift(self, X: Any) -> DriftCheck:
        """Count new rows, and check that the features still compress the data.

        The features do not change: if they no longer help, ``fit`` again on all rows. The counts
        are kept, saved with the model and used by ``score``, but facts about the training data do
        not change. Rows may be counted in several calls, with the same result.

        Parameters
        ----------
        X : array, data frame, sparse matrix, list of baskets, stream or Dask collection
            New rows with the columns of the model.

        Returns
        -------
        DriftCheck
            ``n_rows``, ``supports``, ``bits``, ``baseline_bits``, ``score`` and ``pays``, with a
            summary as its text.

        Examples
        --------
        >>> from conjunct import UFC
        >>> model = UFC().fit([["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60)
        >>> drift = model.check_drift([["water", "cascade"]] * 8 + [["sky"]] * 9)
        >>> drift.pays, round(drift.bits), round(drift.baseline_bits)
        (True, 22, 35)
        """
        fitted, known = self.feature_set_, self._code_counts()
        store = self._read_store(X)
        new = fitted.with_code_counts(store).known_counts()
        places = fitted.row_code.places[: len(fitted.features)]
        # 0 if no cell was known
        before_by_columns = bits_of_rows(known.columns, known.columns)
        before = bits_of_rows(known.features, known.features)
        self.new_rows_ = files.NewRows.after(self.new_rows_, int(store.n_rows), new)
        return DriftCheck(
            int(store.n_rows),
            tuple((new.features[1] + new.features[3])[places].tolist()),
            bits_of_rows(new.features, known.features),
            bits_of_rows(new.columns, known.columns),
            before / before_by_columns if before_by_columns else 1.0,
        )

    def learn_suggestions(self, X_train: Any = None) -> Suggester:
        """Return the predictor of tags, learned from the rows of ``fit`` or from ``X_train``."""
        check_is_fitted(self)
        if X_train is None:
            suggester = self._learn()
        else:
            store = self._read_store(X_train)
            counts = self._count_tags(store)
            suggester = Suggester.learn(counts, counts.sample(store))
        _warn_of_limit(suggester.counts)
        return suggester

    def _learn(self) -> Suggester:
        """Solve the regressions of the fit, once."""
        if self._suggester is None:
            if self._tag_counts is None or self._sampled_rows is None:
                raise InputError("this model has no joint counts: pass rows as X_train")
            self._suggester = Suggester.learn(self._tag_counts, self._sampled_rows)
        return self._suggester

    @property
    def keeps_counts(self) -> bool:
        """Return True if the model can make suggestions without other rows."""
        return self._tag_counts is not None


def _warn_of_limit(counts: TagCounts) -> None:
    if len(counts.tags) < counts.n_tags:
        warnings.warn(
            f"using only the {len(counts.tags):,} most frequent of {counts.n_tags:,} tags",
            ConjunctWarning,
            stacklevel=4,
        )


@dataclass(frozen=True)
class DriftCheck:
    """The compression of new rows by the features of a model.

    ``supports`` counts the new rows with each of ``features_``. ``bits`` describe the new rows by
    the features, and ``baseline_bits`` by columns and variables alone. Both use the codes of
    earlier rows, as in ``score``, without the cost of the features. ``before`` is ``share`` in
    the earlier rows.

    Examples
    --------
    >>> from conjunct import UFC
    >>> rows = [["fork", "knife"]] * 40 + [["cup"]] * 60
    >>> check = UFC().fit(rows).check_drift(rows[:50])
    >>> check.pays
    True
    """

    n_rows: int
    supports: tuple[int, ...]
    bits: float
    baseline_bits: float
    before: float

    @property
    def score(self) -> float:
        """Return minus the mean bits per row."""
        return -self.bits / self.n_rows

    @property
    def share(self) -> float:
        """Return ``bits`` as a share of ``baseline_bits``."""
        return self.bits / self.baseline_bits if self.baseline_bits else 1.0

    @property
    def pays(self) -> bool:
        """Return True if the features describe the new rows in fewer bits than the columns do."""
        return self.bits < self.baseline_bits

    def __str__(self) -> str:
        rows = f"{self.n_rows:,} new {'row takes' if self.n_rows == 1 else 'rows take'}"
        facts = (
            f"with them, {rows} {self.share:.0%} of the bits that the columns alone take "
            f"({self.bits:,.0f} of {self.baseline_bits:,.0f}; {self.before:.0%} before)"
        )
        if self.pays:
            return f"The chunks still help: {facts}."
        return f"The chunks do not help on these rows: {facts}. Fit again on these rows."


# with more, labels are probably row ids, and their counts would fill the memory
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

    A row has a chunk if it has all its tags. The smallest p-values come first. A chunk that
    contains all tags of an earlier one is left out, and so is the second value of a two-valued
    variable. Each tag and chunk has one two-sided Fisher's exact test (twice the smaller
    one-sided p-value), which assumes independent rows: no row may be in both ``X`` and ``Y``.
    Constant tags, and tags too rare to reach ``alpha``, are not tested. A warning names tags that
    are true in all rows of one data set and in none of the other: if the data sets were split by
    such a tag, the result is circular.

    Parameters
    ----------
    model : UFC or UFCPath
        A fitted model, preferably of both data sets: a model of ``X`` knows only chunks in ``X``.
    X, Y : array, data frame, sparse matrix or list of baskets
        Rows with the columns of the model. Rows in which missing cells hide a chunk are not
        counted for it.
    alpha : float or None, default=0.05
        Maximum adjusted p-value; ``None``: all tags and chunks.
    correction : {"bonferroni", "holm", "bh", "by"} or None, default="holm"
        Correction for multiple tests.
    backend : {"pandas", "polars", "pyarrow", "dict"}, optional
        Kind of table; by default the kind the model was fitted on, otherwise pandas.

    Returns
    -------
    data frame
        ``pattern`` (the tags), ``more_common_in`` (``"X"``, ``"Y"``, or empty for equal shares),
        ``share_x`` and ``share_y`` (of the rows without missing cells), ``difference``
        (``share_y - share_x``), ``ratio`` (``share_y / share_x``), ``rows_x`` and ``rows_y``
        (with all the tags), ``n_x`` and ``n_y`` (without missing cells), ``p_value`` and
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
    _warn_if_circular(fitted, counts, "the data set")
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

    A row has a chunk if it has all its tags. Groups may be classes, or clusters from any algorithm
    that did not use the columns of the model. Otherwise groups differ in these columns by
    construction; a warning names tags that equal the groups. Each tag and chunk has a one-sided
    Fisher's exact test in each group, unless it is constant or too rare to reach ``alpha``.

    Parameters
    ----------
    model, X, backend
        As in `compare`.
    labels : array, series or list
        The group of each row: numbers, text or other dict keys. Rows with a missing label are
        left out, with a warning.
    top : int or None, default=5
        Maximum number of tags and chunks per group. A chunk that contains all tags of an earlier
        one of the group is left out.
    alpha, correction
        As in `compare`, over all groups, tags and chunks; ``None``: all that are more common.

    Returns
    -------
    data frame
        ``group`` (largest first; labels of mixed types become text), ``pattern`` (smallest
        p-value first), ``share`` and ``share_outside`` (of the rows without missing cells),
        ``lift`` (``share`` divided by the share in all rows), ``rows`` and ``rows_outside`` (with
        all the tags), ``n`` and ``n_outside`` (without missing cells), ``p_value`` and
        ``p_adjusted``.

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
    names, groups = _read_labels(labels, columns.n_rows, len(fitted.tag_sets))
    every = fitted.evaluate_tag_sets(columns)
    counts = explain.GroupCounts.of_groups(every, groups, len(names))
    _warn_if_circular(fitted, counts, "the group")
    table = explain.rank_group_features(fitted.tag_sets, names, counts, alpha, correction, top)
    return model.make_table(table, backend)


def _check_and_get_features(model: Any, alpha: float | None, correction: str | None) -> FeatureSet:
    if not isinstance(model, InvertibleConstructor):
        raise InputError(f"model must be a fitted UFC or UFCPath; got {type(model).__name__}")
    check_is_fitted(model)
    risk_level(optional=True).check("alpha", alpha)
    one_of(CORRECTIONS, optional=True).check("correction", correction)
    return model.feature_set_


def _warn_if_circular(fitted: FeatureSet, counts: explain.GroupCounts, what: str) -> None:
    """Warn if tags determine the groups, because groups made from tags differ in them."""
    names = fitted.lineage.primitives
    of_tags = explain.GroupCounts(counts.true[:, : len(names)], counts.known[:, : len(names)])
    if copies := of_tags.copies_of_groups():
        tags = explain.join_names([names[k] for k in copies], 3, 40)
        verb, it = ("determines", "it") if len(copies) == 1 else ("determine", "them")
        warnings.warn(
            f"{tags} alone {verb} {what} of a row. If the groups were made from {it}, the "
            f"result is circular: fit the model without {it}",
            ConjunctWarning,
            stacklevel=3,
        )


def _read_labels(labels: Any, n_rows: int, n_patterns: int) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the names of the groups, largest first, and the group of each row, or -1."""
    values = None
    if not (isinstance(labels, str | bytes | Mapping | Set) or hasattr(labels, "columns")):
        series = nw.from_native(labels, allow_series=True, pass_through=True)
        with suppress(TypeError):
            listed = labels.tolist() if hasattr(labels, "tolist") else labels
            listed = series.to_list() if isinstance(series, nw.Series) else listed
            values = [one.item() if isinstance(one, np.generic) else one for one in listed]
    if values is None:
        raise InputError(f"labels must contain one label per row; got a {type(labels).__name__}")
    if len(values) != n_rows:
        raise InputError(f"there are {len(values):,} labels for {n_rows:,} rows: pass one per row")
    try:
        sizes = Counter(label for label in values if not is_missing(label))
    except (TypeError, ValueError):
        raise InputError("each label must be a single value, such as a number or text") from None
    if len(sizes) < 2:
        raise InputError(
            "all rows have the same label: there must be at least 2 groups to compare"
            if sizes
            else "all labels are missing"
        )
    if n_missing := n_rows - sizes.total():
        rows = "1 row" if n_missing == 1 else f"{n_missing:,} rows"
        warnings.warn(f"leaving out {rows} without a label", ConjunctWarning, stacklevel=3)
    if len(sizes) * n_patterns > _MOST_TESTS:
        raise InputError(
            f"{len(sizes):,} different labels are too many to test with {n_patterns:,} tags and "
            f"chunks: are the labels row ids?"
        )
    # distinct names of one type, as any table can hold
    names: dict[Any, Any] = {label: label for label in sizes}
    kinds = {*map(type, sizes)}
    if len(kinds) > 1 or not kinds <= {str, int, float, bool}:
        is_distinct = len({*map(str, sizes)}) == len(sizes)
        names = {label: str(label) if is_distinct else repr(label) for label in sizes}
    order = sorted(names, key=lambda label: (-sizes[label], str(names[label])))
    number = {label: k for k, label in enumerate(order)}
    groups = [-1 if is_missing(label) else number[label] for label in values]
    return [names[label] for label in order], np.array(groups, np.intp)
