"""What every feature constructor shares: containers, names, rules, files."""

from __future__ import annotations

import os
import sys
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from conjunct import explain, files, ufc
from conjunct.columns import Columns, PackedColumns
from conjunct.data import Backend, BooleanData, Container, InParts, as_table
from conjunct.errors import InputError, ModelFileError
from conjunct.estimators.base import BooleanEstimator, distinct_names
from conjunct.estimators.exportable import Exportable
from conjunct.estimators.in_parts import PartMaker, sendable
from conjunct.estimators.notebook import Features
from conjunct.estimators.readable import Readable
from conjunct.expressions import Expression, Style
from conjunct.features import FeatureSet
from conjunct.parameters import (
    check,
    check_choice,
    check_frequency,
    check_risk,
    is_number,
)
from conjunct.ufc import CORRECTIONS, Indicators, Rule

if TYPE_CHECKING:
    from conjunct.export import LazyColumns
    from conjunct.expressions import Form


class FeatureConstructor(Readable, Exportable, TransformerMixin, BooleanEstimator):
    """Base of the estimators whose features are conjunctions of the columns they were given.

    A subclass says how features are made, in ``_construct``; all the rest is here.
    """

    # parameters that belong to a session, not to a model
    _unsaved: ClassVar[tuple[str, ...]] = ("callback",)
    # whether features are added to the primitives, rather than put in the place of some
    _only_adds: ClassVar[bool] = False

    style: Style
    callback: Callable[[Indicators], object] | None
    verbose: int
    # only uFC suppresses
    min_support: float | None = None

    feature_set_: FeatureSet
    history_: tuple[Indicators, ...]
    threshold_: float | None
    outcome_: str

    @abstractmethod
    def _construct(self, store: Any, names: Sequence[str]) -> None:
        """Set ``feature_set_``, ``history_`` and, where there is one, ``threshold_``."""

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that cannot be used, by name."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Construct features from the rows of ``X``.

        Parameters
        ----------
        X : array, data frame, sparse matrix or list of baskets
            Boolean or 0/1 values, one individual a row.
        y : ignored
            Accepted for use in pipelines.

        Returns
        -------
        self
        """
        data = self._read_to_fit(X)
        self._construct(data.columns, data.names)
        return self

    def transform(self, X: Any) -> Any:
        """The constructed features of the rows of ``X``, in a container of the same kind.

        Rows may hold combinations of values that were never seen in ``fit``. A lazy table, of
        Polars, DuckDB, Ibis or Spark, and a collection of Dask give another, which is computed
        when it is used.
        """
        check_is_fitted(self)
        container = self._container(X)
        if container.lazy is not None:
            columns = self._lazy_columns(container, self._primitive_names())
            return self._made_features().evaluate(columns).named(self._column_names())
        if isinstance(container, InParts):
            make = sendable(self._made_features()).evaluate
            names = tuple(self._column_names())
            return PartMaker(self._like_fitted(), make, names).over(container)
        return self._features_of(container, self._read(container))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """What the columns of ``transform`` are called.

        Formulas as text, of which equal ones are told apart by ``[2]``, ``[3]`` … after them; or
        patterns, which are all different (``names="pattern"``).

        Parameters
        ----------
        input_features : sequence of str, optional
            Names for the columns of a model that was fitted without any; otherwise they must be
            the names it was fitted with.
        """
        check_is_fitted(self)
        primitives = None if input_features is None else self._names_for(input_features)
        return np.array(self._column_names(primitives), object)

    @property
    def features_(self) -> tuple[Expression, ...]:
        """The constructed features."""
        check_is_fitted(self)
        return Features(self.feature_set_.expressions)

    @property
    def suppressed_(self) -> tuple[Expression, ...]:
        """The features that ``min_support`` suppresses."""
        check_is_fitted(self)
        return Features(self.feature_set_.rare().expressions)

    @property
    def n_iter_(self) -> int:
        """Number of iterations behind the features."""
        check_is_fitted(self)
        return self.history_[-1].iteration

    def rows(self, feature: int | str | Expression, X: Any) -> NDArray[np.intp]:
        """Positions of the rows of ``X`` in which a feature is true.

        ``feature`` is a position in ``features_``, a formula, or its text.
        """
        check_is_fitted(self)
        column: Columns = self.feature_set_.evaluate(self._read(X), [self._number(feature)])
        return column.true_rows(0).astype(np.intp)

    def get_rules(
        self,
        backend: Backend | None = None,
        *,
        suppressed: bool = False,
        form: Form | None = None,
        given: Any = None,
    ) -> Any:
        """A table of the features: what they are, how common, and why they were made.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "dict"}, optional
            What kind of table. By default the kind the model was fitted on, and pandas otherwise.
        suppressed : bool, default=False
            List the features below ``min_support`` instead.
        form : {"built", "nested", "dnf", "simplified"}, optional
            Adds the rules in that form and their lengths, in columns called after it, and
            ``equivalent``: ``"always"`` or ``"on the training data"``.
        given : optional
            The training data, for ``form="simplified"``: see ``formulas``.

        Returns
        -------
        data frame
            ``pattern`` (the columns it asserts), ``rule`` (the formula; one of more than 10,000
            literals is not written out), ``support`` (rows), ``frequency`` (share of rows),
            ``length`` (literals), ``iteration`` (0 for a primitive), ``parents`` (the two
            features it came from), and what decided for those (missing where no pair made the
            feature): the bits ``saved``, the correlation ``r``, ``p_value``, ``p_adjusted`` for
            the pairs tested (``family_size``), the ``score`` that orders pairs, and the
            ``threshold`` with which one of these was ``compared``: ``"score"`` exceeds it,
            ``"r"`` reaches it, or ``"p_value"`` does not exceed it.
        """
        check_is_fitted(self)
        fitted = self.feature_set_.rare() if suppressed else self.feature_set_
        from conjunct.estimators.rule_table import formula_columns, rule_columns

        columns = rule_columns(fitted, self.style)
        if form is not None:
            store = None if given is None else self._complete(given, "given")
            columns |= formula_columns(explain.formulas_of(fitted, form, store), self.style)
        elif given is not None:
            raise InputError("given needs a form: ask for form='simplified'")
        return as_table(columns, backend or self._backend or "pandas")

    def nuggets(
        self,
        X: Any,
        *,
        max_support: float | None = None,
        min_lift: float = 5.0,
        alpha: float = 0.001,
        correction: str | None = "holm",
        backend: Backend | None = None,
    ) -> Any:
        """A table of the conjunctions that are rare in ``X``, yet too frequent for chance.

        Looks at all pairs of columns, and at all conjunctions of the model, suppressed or not.

        Parameters
        ----------
        X : array, data frame, sparse matrix or list of baskets
            The data of ``fit``, or other rows with the same columns.
        max_support : float, optional
            Share of rows up to which a conjunction is rare. By default ``min_support``, or 0.01.
        min_lift : float, default=5.0
            How many times as often as by chance its two parts must come together.
        alpha : float, default=0.001
            Level of the exact test, corrected for all conjunctions looked at.
        correction : {"bonferroni", "holm", "bh", "by"}, optional
            The correction.
        backend : {"pandas", "polars", "pyarrow", "dict"}, optional
            What kind of table, as in ``get_rules``.

        Returns
        -------
        data frame
            ``rule``, ``status`` (``"feature"``, ``"suppressed"`` or ``"not a feature"``),
            ``support``, ``frequency``, ``length``, ``lift``, ``r``, ``p_value``, ``p_adjusted``
            and ``family_size``; the largest lift first.
        """
        check_is_fitted(self)
        if max_support is None:
            max_support = 0.01 if self.min_support is None else self.min_support
        check_frequency("max_support", max_support)
        check(is_number(min_lift) and min_lift >= 1, "min_lift", min_lift, "a number, at least 1")
        check_risk("alpha", alpha)
        check_choice("correction", correction, CORRECTIONS, optional=True)
        store = self._complete(X, "nuggets")
        found = ufc.find_nuggets(
            store,
            self.feature_set_,
            max_support=max_support,
            min_lift=min_lift,
            alpha=alpha,
            correction=correction,
        )
        from conjunct.estimators.rule_table import nugget_columns

        columns = nugget_columns(found, store.n_rows, self.style)
        return as_table(columns, backend or self._backend or "pandas")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as JSON (docs/model-file.md). The file is whole or absent."""
        check_is_fitted(self)
        files.write_model(path, self._model_file())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that ``save`` wrote."""
        return cls._from_model_file(files.read_model(path), str(path))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _complete(self, X: Any, what: str) -> PackedColumns:
        """The columns of ``X`` for something that missing cells have no meaning for."""
        columns = self._read(X)
        if columns.has_missing:
            raise InputError(f"{what} needs data without missing cells: fill or drop them first")
        return columns.to_bits()

    def _made_features(self) -> FeatureSet:
        """The features that ``transform`` makes."""
        return self.feature_set_

    def _lazy_columns(self, container: Container, names: Sequence[str]) -> LazyColumns:
        """Columns of a lazy table; raw ones, where it has those and the model was made of them."""
        from conjunct.export import lazy_columns

        raw = self._raw() if tuple(names) == self._primitive_names() else None
        fill = self.missing == "false"
        return lazy_columns(container, names, cut=self.binarize, raw=raw, fill=fill)

    def _features_of(self, container: Container, columns: Columns) -> Any:
        """The features of columns that were read from a container, in one of its kind."""
        features = self._made_features().evaluate(columns)
        made = BooleanData(tuple(self._column_names()), features)
        return made.to(container, nullable=self.missing == "pairwise")

    def _column_names(self, primitives: tuple[str, ...] | None = None) -> list[str]:
        """What ``transform`` calls them, over primitives that may have other names."""
        made = self._made_features()
        return self._names_of(made if primitives is None else made.renamed(primitives))

    def _names_of(self, fitted: FeatureSet) -> list[str]:
        """What features are called, all differently."""
        return distinct_names(fitted.lineage.texts(fitted.features, self.style))

    def _watch(self, indicators: Indicators) -> None:
        if self.verbose:
            sys.stdout.write(
                f"iteration {indicators.iteration}: {indicators.n_features} features, "
                f"length {indicators.length:.2f}, OI {indicators.oi:.3f}, "
                f"C0 {indicators.c0:.3f}, RMS {indicators.rms:.3f}\n"
            )
        if self.callback is not None:
            self.callback(indicators)

    def _model_file(self) -> files.ModelFile:
        parameters = self.get_params(deep=False)
        for name in self._unsaved:
            del parameters[name]
        for name, value in parameters.items():
            if isinstance(value, Rule):
                parameters[name] = value.record()
            elif isinstance(value, Mapping):
                parameters[name] = {str(key): list(map(str, some)) for key, some in value.items()}
        return files.model_file(
            type(self).__name__,
            parameters,
            self.feature_set_,
            self.history_,
            threshold=getattr(self, "threshold_", None),
            named=hasattr(self, "feature_names_in_"),
            outcome=getattr(self, "outcome_", ""),
            preparation=self.preparation_,
            new_rows=getattr(self, "new_rows_", None),
        )

    @classmethod
    def _from_model_file(cls, model: files.ModelFile, path: str) -> Self:
        if model.kind != cls.__name__:
            raise ModelFileError(f"{path}: a model of kind {model.kind!r}, not {cls.__name__!r}")
        try:
            fitted = cls(**cls._read_parameters(model))
            fitted._check_parameters()
            fitted.feature_set_ = model.feature_set(only_adds=cls._only_adds)
            fitted.preparation_ = model.preparation()
            new_rows = model.counted_since(fitted.feature_set_)
        except (TypeError, InputError) as error:
            raise ModelFileError(f"{path}: {error}") from None
        fitted.history_ = model.indicators()
        if new_rows is not None:
            fitted.new_rows_ = new_rows
        if model.outcome:
            fitted.outcome_ = model.outcome
        if model.threshold is not None:
            fitted.threshold_ = model.threshold
        fitted.n_features_in_ = len(model.primitives)
        if model.named:
            fitted.feature_names_in_ = np.array(model.primitives, object)
        return fitted

    @classmethod
    def _read_parameters(cls, model: files.ModelFile) -> dict[str, Any]:
        """The parameters of a model file, as those of this class."""
        return dict(model.parameters)
