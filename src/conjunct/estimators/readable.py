"""What a fitted estimator offers to its readers."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from sklearn.utils.validation import check_is_fitted

from conjunct.construction.feature_set import FeatureSet
from conjunct.expressions import Expression, Style
from conjunct.expressions.pattern import pattern_text
from conjunct.expressions.simplification import Form
from conjunct.reading import (
    Explanation,
    Formulas,
    GraphFormat,
    Neighbour,
    ancestry,
    explanation,
    formulas_of,
    label,
    nearest_by_columns,
    nearest_by_primitives,
    shortened,
    shown_pattern,
)
from conjunct.stores import BitStore


class Readable:
    """Mixin of FeatureConstructor: formulas in other forms, and aids for reading them."""

    style: Style
    feature_set_: FeatureSet

    @abstractmethod
    def _store(self, X: Any) -> Any:
        """The packed columns of data like that of ``fit``."""

    @abstractmethod
    def _complete_store(self, X: Any, what: str) -> BitStore:
        """The same, where no cell is missing."""

    @abstractmethod
    def _column_names(self) -> list[str]:
        """What ``transform`` calls the features."""

    @property
    def _by_pattern(self) -> bool:
        """Whether features are read by their patterns, for formulas may be too long to read."""
        return False

    def _label(self, number: int, longest: int, *, whole: bool = False) -> str:
        """What a feature of the lineage is called in pictures and tables.

        ``whole``: its pattern stands for all that has it, and nothing marks what is left.
        """
        if self._by_pattern and whole:
            return shortened(pattern_text(self.feature_set_.lineage.pattern(number)), longest)
        if self._by_pattern:
            return shortened(shown_pattern(self.feature_set_, number), longest)
        return label(self.feature_set_.lineage.expression(number), self.style, longest)

    def formulas(self, form: Form = "simplified", *, given: Any = None) -> Formulas:
        """The features in another form, with their mean length (C1) before and after.

        Parameters
        ----------
        form : {"built", "nested", "dnf", "simplified"}, default="simplified"
            As constructed; with common parts taken out; as a disjunction of conjunctions; or the
            shortest that is known.
        given : optional
            The training data. Combinations of primitives that never occur in it then do not
            matter, and the formulas are equivalent on the training data only: they are marked so,
            and ``transform`` never uses them.

        Returns
        -------
        Formulas
            ``expressions``, ``texts()``, ``equivalent``, ``length_before``, ``length_after``.

        Examples
        --------
        >>> from conjunct import UFC
        >>> baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
        >>> model = UFC(max_iter=1).fit(baskets)
        >>> model.formulas(given=baskets).texts()
        ['sky', 'cascade', '¬cascade ∧ water']
        """
        check_is_fitted(self)
        store = None if given is None else self._complete_store(given, "given")
        return formulas_of(self.feature_set_, form, store)

    def explain(self, feature: int | str | Expression, X: Any = None) -> Explanation:
        """A feature in plain words: pattern, formula, English, support, origin, primitives.

        ``feature`` is a position in ``features_``, a formula, or the text of it or of its
        pattern. With data ``X``, its
        rows are contrasted with the others.
        """
        check_is_fitted(self)
        store = None if X is None else self._store(X)
        return explanation(self.feature_set_, self._number(feature), self.style, store)

    def ancestry(self, feature: int | str | Expression, format: GraphFormat = "text") -> str:
        """What a feature was made from, as indented text, a Mermaid chart or a Graphviz graph."""
        check_is_fitted(self)
        return ancestry(self.feature_set_, self._number(feature), format, self.style)

    def nearest(
        self, feature: int | str | Expression, X: Any = None, *, n: int = 5
    ) -> list[Neighbour]:
        """The features most like one: by the correlation of their columns on ``X``, or without
        data by the primitives they share."""
        check_is_fitted(self)
        fitted, number, texts = self.feature_set_, self._number(feature), self._column_names()
        if X is None:
            return nearest_by_primitives(fitted, number, texts, n)
        return nearest_by_columns(fitted, number, self._store(X), texts, n)

    def _number(self, feature: int | str | Expression) -> int:
        fitted = self.feature_set_
        return (fitted.features + fitted.suppressed)[fitted.position(feature)]
