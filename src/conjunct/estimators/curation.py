"""Work with a fitted model: suggestions, relations, and whether it still fits new rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import msgspec
from sklearn.utils.validation import check_is_fitted

from conjunct import files
from conjunct.counting import RowSample, Store, Tally
from conjunct.errors import ConjunctWarning, InputError, ModelFileError
from conjunct.estimators.invertible import InvertibleConstructor
from conjunct.features import (
    CodeCounts,
    FeatureSet,
    Suggester,
    Suggestion,
    TagCounts,
    bits_of_rows,
)
from conjunct.parameters import check, is_number, whole

if TYPE_CHECKING:
    from conjunct.explain import Relation


class CuratingConstructor(InvertibleConstructor):
    """Base of UFC: what is missing from rows, what is doubtful, what implies what.

    A fit keeps the joint counts of its most frequent tags and a sample of its rows. The
    regressions are solved when they are first asked for, or when the model is saved; a model file
    holds the counts and no rows.
    """

    # what a fit keeps; a model that was cut out of a path has none
    _tag_counts: TagCounts | None = None
    _sampled_rows: RowSample | None = None
    _suggester: Suggester | None = None

    def suggest(
        self, X: Any, k: int = 5, *, min_score: float = 0.0, X_train: Any = None
    ) -> list[list[Suggestion]]:
        """Return the tags that each row probably lacks, given its other tags.

        Parameters
        ----------
        X : array, data frame, sparse matrix or list of baskets
            Rows with the columns of the model.
        k : int, default=5
            Maximum number of suggestions per row.
        min_score : float, default=0
            Leave out suggestions with a lower score.
        X_train : array, data frame, sparse matrix, list of baskets or collection, optional
            Rows to learn from instead of those of ``fit``: their 5,000 most frequent tags. A
            fitted model keeps the counts of its 1,000 most frequent tags.

        Returns
        -------
        list of list of Suggestion
            For each row the tags with the highest scores, ``(tag, score, because)``. ``score`` is
            a probability: of rows whose other tags give 0.8, about 80% have the tag. ``because``
            are up to three tags of the row that speak most for it. A row that has a value of a
            variable gets no other value of it.

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
        return suggester.suggest(columns, k, min_score)

    def doubtful(self, X: Any, k: int = 5, *, X_train: Any = None) -> list[list[Suggestion]]:
        """Return the tags of each row that its other tags speak against.

        Parameters
        ----------
        X, X_train
            As in ``suggest``.
        k : int, default=5
            Maximum number of tags per row.

        Returns
        -------
        list of list of Suggestion
            For each row its tags that are less probable there than in all rows, ``(tag, score,
            because)``, the least probable first. A row is judged as if it had not been counted.
            ``because`` are up to three tags of the row that speak most against it.

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
        return suggester.doubt(self.read_columns(X).select(suggester.counts.places), k)

    def relations(self, X: Any = None) -> list[Relation]:
        """Return which tags imply others, say the same, avoid each other or are alike.

        Parameters
        ----------
        X : array, data frame, sparse matrix, list of baskets or collection, optional
            Rows to count instead of those of ``fit``: their 5,000 most frequent tags. A fitted
            model keeps the counts of its 1,000 most frequent tags.

        Returns
        -------
        list of Relation
            ``(kind, left, right, rows, evidence, sentence)``, most evidence first. ``"implies"``:
            at least 95% of the rows with the left tag have the right one; implications that
            follow from others are left out. ``"same"``: a correlation of 0.98 or more.
            ``"avoid"``: together in at most half of the rows that chance would give. ``"alike"``:
            the same, but they occur with the same other tags, as synonyms do.

        Examples
        --------
        >>> from conjunct import UFC
        >>> baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
        >>> UFC().fit(baskets).relations()[0].sentence
        'cascade implies water: all of the 40 rows with cascade also have water'
        """
        check_is_fitted(self)
        counts = self._tag_counts if X is None else self._count_tags(self._read_store(X))
        if counts is None:
            raise InputError("this model keeps no joint counts: give X, the rows to count")
        _warn_of_limit(counts)
        from conjunct.explain import find_relations

        return find_relations(counts)

    def _model_file(self) -> files.ModelFile:
        model = super()._model_file()
        if self._tag_counts is None:
            return model
        return msgspec.structs.replace(model, suggestions=self._learn().record())

    @classmethod
    def _from_model_file(cls, model: files.ModelFile, path: str) -> Self:
        fitted = super()._from_model_file(model, path)
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
        """Count new rows for the present features, and check that the features still compress.

        No feature is added or dropped: if they no longer pay, ``fit`` again on all rows. The
        counts are kept, saved with the model and used by ``score``; what the model reports about
        its training does not change. Counting in parts gives the same as counting at once.

        Parameters
        ----------
        X : array, data frame, sparse matrix, list of baskets, stream or collection of Dask
            Rows that were not counted before, with the columns of the model.

        Returns
        -------
        DriftCheck
            ``n_rows``, ``supports``, ``bits``, ``baseline_bits``, ``score``, ``pays``; its text
            is one sentence.

        Examples
        --------
        >>> from conjunct import UFC
        >>> model = UFC().fit([["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60)
        >>> drift = model.check_drift([["water", "cascade"]] * 8 + [["sky"]] * 9)
        >>> drift.pays, round(drift.bits), round(drift.baseline_bits)
        (True, 22, 35)
        """
        check_is_fitted(self)
        fitted, known = self.feature_set_, self._code_counts()
        store = self._read_store(X)
        counts = fitted.with_code_counts(store).known_counts()
        drift = DriftCheck._from_counts(fitted, known, counts, int(store.n_rows))
        self.new_rows_ = files.NewRows.after(self.new_rows_, drift.n_rows, counts)
        return drift

    def learn_suggestions(self, X_train: Any = None) -> Suggester:
        """Return what predicts tags, learned from the rows of ``fit`` or from others."""
        check_is_fitted(self)
        if X_train is not None:
            store = self._read_store(X_train)
            counts = self._count_tags(store)
            suggester = Suggester.learn(counts, counts.sample(store))
        else:
            suggester = self._learn()
        _warn_of_limit(suggester.counts)
        return suggester

    def _learn(self) -> Suggester:
        """Solve the regressions of what the fit kept, once."""
        if self._suggester is None:
            if self._tag_counts is None or self._sampled_rows is None:
                raise InputError("this model keeps no joint counts: give X_train, the rows to use")
            self._suggester = Suggester.learn(self._tag_counts, self._sampled_rows)
        return self._suggester

    @property
    def keeps_counts(self) -> bool:
        """Return True if the model can suggest without other rows."""
        return self._tag_counts is not None


def _warn_of_limit(counts: TagCounts) -> None:
    if len(counts.tags) < counts.n_tags:
        warnings.warn(
            f"only the {len(counts.tags):,} most frequent of {counts.n_tags:,} tags are used",
            ConjunctWarning,
            stacklevel=4,
        )


@dataclass(frozen=True)
class DriftCheck:
    """The compression of new rows by the features of a model.

    ``supports`` are those of ``features_`` in the new rows. ``bits`` describe these rows by the
    features and ``baseline_bits`` by the columns and variables alone, both with the codes of all
    earlier rows, as in ``score``; the cost of the features themselves is not included. ``before``
    is the first as a share of the second in the earlier rows.

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
        """Return the bits by the features as a share of those by the columns."""
        return self.bits / self.baseline_bits if self.baseline_bits else 1.0

    @property
    def pays(self) -> bool:
        """Return True if the features describe the new rows in fewer bits than the columns."""
        return self.bits < self.baseline_bits

    def __str__(self) -> str:
        rows = f"{self.n_rows:,} new {'row takes' if self.n_rows == 1 else 'rows take'}"
        facts = (
            f"with them, {rows} {self.share:.0%} of the bits that the columns alone take "
            f"({self.bits:,.0f} of {self.baseline_bits:,.0f}; {self.before:.0%} before)"
        )
        if self.pays:
            return f"The chunks still help: {facts}."
        return f"The chunks do not help on these rows: {facts}. Fit again to learn from them."

    @classmethod
    def _from_counts(
        cls, fitted: FeatureSet, known: CodeCounts, new: CodeCounts, n_rows: int
    ) -> DriftCheck:
        """Compare the code of new rows with that of all rows before them, given their counts."""
        places = fitted.row_code.places[: len(fitted.features)]
        before = bits_of_rows(known.features, known.features)
        # 0 where no cell was known
        before_by_columns = bits_of_rows(known.columns, known.columns)
        return cls(
            n_rows,
            tuple((new.features[1] + new.features[3])[places].tolist()),
            bits_of_rows(new.features, known.features),
            bits_of_rows(new.columns, known.columns),
            before / before_by_columns if before_by_columns else 1.0,
        )
