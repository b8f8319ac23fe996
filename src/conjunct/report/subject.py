"""What a report is about: a fitted model, and the rows it is shown on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunct.binarize.cleaning import cleaned
from conjunct.binarize.table import BooleanTable
from conjunct.errors import InputError
from conjunct.estimators.base import FeatureConstructor
from conjunct.estimators.container_reading import AnyStore
from conjunct.estimators.containers import column_names, is_baskets
from conjunct.estimators.lossless import LosslessConstructor
from conjunct.expressions import Expression
from conjunct.reading import label
from conjunct.stores import BitStore, Counts, PartialStore, SparseStore
from conjunct.stores.packing import Bits, unpack


@dataclass(frozen=True, eq=False)
class Subject:
    """``primitives`` and ``features`` are packed columns; rows may have no names."""

    model: FeatureConstructor
    primitives: AnyStore
    features: AnyStore
    table: BooleanTable
    row_names: tuple[str, ...] | None
    _texts: dict[tuple[Expression, int], str] = field(default_factory=dict)

    @classmethod
    def of(cls, model: FeatureConstructor, X: Any) -> Subject:
        if not isinstance(model, FeatureConstructor):
            raise InputError(
                f"a report needs a fitted UFC, UFCPath, UFringe or Fringe, "
                f"not {type(model).__name__}"
            )
        check_is_fitted(model, "feature_set_")
        data = prepared(model, X)
        primitives = model._store(data)
        names = model.feature_set_.lineage.primitives
        table = (
            data.aligned(names)
            if isinstance(data, BooleanTable)
            else BooleanTable(
                names, true_bits(primitives), primitives.n_rows, known_bits(primitives)
            )
        )
        features = model.feature_set_.evaluate(primitives)
        return cls(model, primitives, features, table, row_names(X))

    @property
    def n_rows(self) -> int:
        return self.primitives.n_rows

    @property
    def by_pattern(self) -> bool:
        """Whether features are read by their patterns: the model was made by bits."""
        return self.model._by_pattern

    @cached_property
    def primitive_bits(self) -> Bits:
        """Where the columns of the data are true, packed once for all sections."""
        return true_bits(self.primitives)

    @cached_property
    def feature_bits(self) -> Bits:
        """Where the features are true, packed once for all sections."""
        return true_bits(self.features)

    @cached_property
    def is_training(self) -> bool:
        """Whether these are the rows that the model was fitted on, as far as counts tell."""
        fitted = self.model.feature_set_
        supports = tuple(self.features.supports().tolist())
        return self.n_rows == fitted.n_rows and supports == fitted.supports

    def name(self, number: int, longest: int = 120) -> str:
        """What a feature of the lineage is called: its pattern where that is read, or formula."""
        return (
            self.model._label(number, longest) if self.by_pattern else self.formula(number, longest)
        )

    def rows_of(self, number: int) -> NDArray[np.intp]:
        """The rows in which a feature of the lineage is true."""
        fitted = self.model.feature_set_
        if number in fitted.features:
            line = self.feature_bits[fitted.features.index(number)]
        else:
            line = true_bits(fitted.evaluate(self.primitives, [number]))[0]
        return np.flatnonzero(unpack(line[None, :], self.n_rows)[:, 0])

    def chunks_of(self, rows: Sequence[int]) -> list[list[tuple[str, ...]]]:
        """The tags of some rows as chunks; of a model that has any."""
        if not rows or not isinstance(self.model, LosslessConstructor):
            return [[] for _ in rows]
        at = np.array(rows)
        true = self.primitive_bits[:, at // 8] >> (at % 8).astype(np.uint8) & 1
        every = self.model._every_feature
        columns = every.evaluate(BitStore.from_table(true.T.astype(np.bool_)))
        patterns = every.patterns
        return [
            sorted((patterns[k] for k in np.flatnonzero(row)), key=lambda p: (-len(p), p))
            for row in unpack(columns.bits, len(rows))
        ]

    def formula(self, number: int, longest: int = 120) -> str:
        """A feature of the lineage as text of bounded length."""
        return self.written(self.model.feature_set_.lineage.expression(number), longest)

    def written(self, expression: Expression, longest: int = 120) -> str:
        """A formula as text; equal ones, of which solutions have many, are written alike."""
        key = expression, longest
        if key not in self._texts:
            self._texts[key] = label(expression, self.model.style, longest)
        return self._texts[key]

    def row_name(self, row: int) -> str:
        """What a row is called; rows are counted from 1, as people do."""
        return f"row {row + 1}" if self.row_names is None else self.row_names[row]


def true_bits(store: AnyStore) -> Bits:
    """Where the columns of a store are true, packed."""
    if isinstance(store, SparseStore):
        return store.to_bits().bits
    return store.true.bits if isinstance(store, PartialStore) else store.bits


def known_bits(store: AnyStore) -> Bits | None:
    """Where the columns of a store are known, packed; None if everywhere."""
    return store.known.bits if isinstance(store, PartialStore) else None


def known_rows(store: AnyStore) -> Counts:
    """Number of rows in which each column is known."""
    if isinstance(store, PartialStore):
        return store.observed()
    return np.full(store.n_columns, store.n_rows)


def prepared(model: FeatureConstructor, X: Any) -> Any:
    """Raw data made Boolean, and tags cleaned, as they were for the model."""
    wanted = model.preparation_
    if isinstance(X, BooleanTable) or (wanted.binarizer is None and wanted.cleaner is None):
        return X
    if wanted.cleaner is not None and is_baskets(X):
        return [[wanted.cleaner.clean(str(tag)) for tag in basket] for basket in X]
    names = column_names(X)
    if names is None or set(model.feature_set_.lineage.primitives) == set(names):
        return X
    if wanted.cleaner is not None:
        return cleaned(BooleanTable.from_frame(X), wanted.cleaner)
    return BooleanTable.from_frame(X, wanted.binarizer)


def row_names(X: Any) -> tuple[str, ...] | None:
    """The ids of a table, or an index that is more than a count."""
    if isinstance(X, BooleanTable):
        return None if X.ids is None else X.ids.values
    if is_baskets(X):
        return None
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    index: Sequence[Any] | None = None
    if isinstance(frame, nw.DataFrame):
        index = nw.maybe_get_index(frame)
    if index is None or list(index) == list(range(len(index))):
        return None
    return tuple(map(str, index))
