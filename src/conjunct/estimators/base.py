"""What every feature constructor shares: containers, names, rules, files."""

from __future__ import annotations

import math
import os
import sys
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from conjunct.construction.feature_set import FeatureSet
from conjunct.construction.stopping import Indicators
from conjunct.errors import InputError, ModelFileError
from conjunct.estimators import containers
from conjunct.estimators.reading import BooleanEstimator, told_apart
from conjunct.estimators.tables import Backend, as_table
from conjunct.expressions import Expression, Style
from conjunct.io.model import ModelFile, model_file, read_model, write_model
from conjunct.stores import BitStore
from conjunct.stores.packing import unpack


class FeatureConstructor(TransformerMixin, BooleanEstimator):
    """Base of the estimators whose features are conjunctions of the columns they were given.

    A subclass says how features are made, in ``_construct``; all the rest is here.
    """

    # parameters that belong to a session, not to a model
    _unsaved: ClassVar[tuple[str, ...]] = ("callback",)

    style: Style
    callback: Callable[[Indicators], object] | None
    verbose: int

    feature_set_: FeatureSet
    history_: tuple[Indicators, ...]
    threshold_: float

    @abstractmethod
    def _construct(self, store: BitStore, names: Sequence[str]) -> None:
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
        self._construct(self._read_to_fit(X), self._primitive_names())
        return self

    def _fit_store(self, store: BitStore, names: Sequence[str] | None) -> Self:
        """As ``fit``, on columns that are packed already; ``None``: they have no names."""
        self.n_features_in_ = store.n_columns
        if names is not None:
            self.feature_names_in_ = np.array(names, object)
        self._construct(store, self._primitive_names())
        return self

    def transform(self, X: Any) -> Any:
        """The constructed features of the rows of ``X``, in a container of the same kind.

        Rows may hold combinations of values that were never seen in ``fit``.
        """
        check_is_fitted(self)
        data = self._checked_as_fitted(X)
        store = self._read(data)
        bits = self.feature_set_.evaluate(store.bits)
        return containers.write_like(data, bits, store.n_rows, self._column_names())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The formulas, as text; equal texts are told apart by ``[2]``, ``[3]`` … after them.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names for the columns of a model that was fitted without any; otherwise they must be
            the names it was fitted with.
        """
        check_is_fitted(self)
        if input_features is None:
            return np.array(self._column_names(), object)
        lineage = self.feature_set_.lineage.renamed(self._names_for(input_features))
        expressions = lineage.expressions(self.feature_set_.features)
        return np.array(told_apart([e.text(self.style) for e in expressions]), object)

    @property
    def features_(self) -> tuple[Expression, ...]:
        """The constructed features."""
        check_is_fitted(self)
        return self.feature_set_.expressions

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
        store = self._read(self._checked_as_fitted(X))
        bits = self.feature_set_.evaluate(store.bits)
        position = self.feature_set_.position(feature)
        return np.flatnonzero(unpack(bits[[position]], store.n_rows)[:, 0])

    def get_rules(self, backend: Backend | None = None) -> Any:
        """A table of the features: what they are, how common, and why they were made.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "dict"}, optional
            What kind of table. By default the kind the model was fitted on, and pandas otherwise.

        Returns
        -------
        data frame
            ``rule``, ``support`` (rows), ``frequency`` (share of rows), ``length`` (literals),
            ``iteration`` (0 for a primitive), ``parents`` (the two features it came from),
            ``r`` and ``p_value`` of those (NaN where no correlation made the feature).
        """
        check_is_fitted(self)
        return as_table(self._rule_columns(), backend or self._backend or "pandas")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as JSON (docs/model-file.md). The file is whole or absent."""
        check_is_fitted(self)
        write_model(path, self._model_file())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that ``save`` wrote."""
        return cls._from_model_file(read_model(path), str(path))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _texts(self) -> list[str]:
        return [expression.text(self.style) for expression in self.features_]

    def _column_names(self) -> list[str]:
        return told_apart(self._texts())

    def _watch(self, indicators: Indicators) -> None:
        if self.verbose:
            sys.stdout.write(
                f"iteration {indicators.iteration}: {indicators.n_features} features, "
                f"length {indicators.length:.2f}, OI {indicators.oi:.3f}, "
                f"C0 {indicators.c0:.3f}, RMS {indicators.rms:.3f}\n"
            )
        if self.callback is not None:
            self.callback(indicators)

    def _rule_columns(self) -> dict[str, list[Any]]:
        fitted = self.feature_set_
        origins = fitted.origins()
        merges = [origins.get(number) for number in fitted.features]
        return {
            "rule": self._texts(),
            "support": list(fitted.supports),
            "frequency": [support / fitted.n_rows for support in fitted.supports],
            "length": [expression.length for expression in fitted.expressions],
            "iteration": [fitted.iteration(number) for number in fitted.features],
            "parents": [
                [e.text(self.style) for e in fitted.lineage.expressions(fitted.parents(number))]
                for number in fitted.features
            ],
            "r": [merge.r if merge else math.nan for merge in merges],
            "p_value": [merge.p_value if merge else math.nan for merge in merges],
        }

    def _model_file(self) -> ModelFile:
        parameters = self.get_params(deep=False)
        for name in self._unsaved:
            del parameters[name]
        return model_file(
            type(self).__name__,
            parameters,
            self.feature_set_,
            self.history_,
            threshold=getattr(self, "threshold_", None),
            named=hasattr(self, "feature_names_in_"),
        )

    @classmethod
    def _from_model_file(cls, model: ModelFile, path: str) -> Self:
        if model.kind != cls.__name__:
            raise ModelFileError(f"{path}: a model of kind {model.kind!r}, not {cls.__name__!r}")
        try:
            fitted = cls(**model.parameters)
            fitted._check_parameters()
            fitted.feature_set_ = model.feature_set()
        except (TypeError, InputError) as error:
            raise ModelFileError(f"{path}: {error}") from None
        fitted.history_ = model.indicators()
        if model.threshold is not None:
            fitted.threshold_ = model.threshold
        fitted.n_features_in_ = len(model.primitives)
        if model.named:
            fitted.feature_names_in_ = np.array(model.primitives, object)
        return fitted
