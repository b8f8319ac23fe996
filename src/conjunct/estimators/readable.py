"""What a fitted estimator offers to its readers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from conjunct import explain
from conjunct.columns import Columns, PackedColumns
from conjunct.expressions import Expression, Style, pattern_text
from conjunct.features import FeatureSet

if TYPE_CHECKING:
    from conjunct.explain import Explanation, Formulas, GraphFormat, Neighbour
    from conjunct.expressions import Form


class Readable:
    """Mixin of FeatureConstructor: formulas in other forms, and aids for reading them."""

    style: Style
    feature_set_: FeatureSet
    # the columns of data like that of ``fit``, which BooleanEstimator reads
    _read: Callable[[Any], Columns]

    @abstractmethod
    def _complete(self, X: Any, what: str) -> PackedColumns:
        """The same, where no cell is missing."""

    @abstractmethod
    def _names_of(self, fitted: FeatureSet) -> list[str]:
        """What features are called, all differently."""

    @property
    def _by_pattern(self) -> bool:
        """Whether features are read by their patterns, for formulas may be too long to read."""
        return False

    def _label(self, number: int, longest: int, *, whole: bool = False) -> str:
        """What a feature of the lineage is called in pictures and tables.

        ``whole``: its pattern stands for all that has it, and nothing marks what is left.
        """
        if self._by_pattern and whole:
            pattern = pattern_text(self.feature_set_.lineage.pattern(number))
            return explain.shortened(pattern, longest)
        if self._by_pattern:
            return explain.shortened(explain.shown_pattern(self.feature_set_, number), longest)
        return explain.label(self.feature_set_.lineage.expression(number), self.style, longest)

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
        store = None if given is None else self._complete(given, "given")
        return explain.formulas_of(self.feature_set_, form, store)

    def explain(self, feature: int | str | Expression, X: Any = None) -> Explanation:
        """A feature in plain words: pattern, formula, English, support, origin, primitives.

        ``feature`` is a position in ``features_``, a formula, or the text of it or of its
        pattern. With data ``X``, training rows or others, its rows are contrasted with the
        others, and a shorter formula that holds on these rows comes first (``on_rows``), the
        exact one behind it.
        """
        check_is_fitted(self)
        store = None if X is None else self._read(X)
        return explain.explanation(self.feature_set_, self._number(feature), self.style, store)

    def ancestry(self, feature: int | str | Expression, format: GraphFormat = "text") -> str:
        """What a feature was made from, as indented text, a Mermaid chart or a Graphviz graph."""
        check_is_fitted(self)
        return explain.ancestry(self.feature_set_, self._number(feature), format, self.style)

    def nearest(
        self, feature: int | str | Expression, X: Any = None, *, n: int = 5
    ) -> list[Neighbour]:
        """The features most like one: by the correlation of their columns on ``X``, or without
        data by the primitives they share."""
        check_is_fitted(self)
        fitted, number = self.feature_set_, self._number(feature)
        texts = self._names_of(fitted)
        if X is None:
            return explain.nearest_by_primitives(fitted, number, texts, n)
        return explain.nearest_by_columns(fitted, number, self._read(X), texts, n)

    def _number(self, feature: int | str | Expression) -> int:
        fitted = self.feature_set_
        return (fitted.features + fitted.suppressed)[fitted.position(feature)]
