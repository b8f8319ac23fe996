"""What a report is about: a fitted model, and the rows it is shown on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunct.columns import Columns
from conjunct.data import BooleanData, container_of, prepared
from conjunct.errors import InputError
from conjunct.estimators import FeatureConstructor, LosslessConstructor, row_chunks
from conjunct.explain import Summary, label, shortened, shown_pattern, supports_of_lineage
from conjunct.expressions import Expression, in_form, simplified_on

# A truth table doubles with each primitive: beyond, only common parts are taken out.
_FEW_PRIMITIVES = 12
_SIMPLIFIED = 60  # literals; nothing longer is simplified
_CELLS = 5 * 10**6  # of the primitives of one formula, where it is simplified on rows


@dataclass(frozen=True, eq=False)
class ModelOnRows:
    """``primitives`` and ``features`` are packed columns; rows may have no names."""

    model: FeatureConstructor
    primitives: Columns
    features: Columns
    table: BooleanData
    row_names: tuple[str, ...] | None
    _texts: dict[tuple[Expression, int], str] = field(default_factory=dict)
    _short_forms: dict[int, Expression] = field(default_factory=dict)
    _row_sets: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, model: FeatureConstructor, X: Any) -> ModelOnRows:
        if not isinstance(model, FeatureConstructor):
            raise InputError(
                f"a report needs a fitted UFC, UFCPath, UFringe, Fringe, CAT, ID2of3 or XofN, "
                f"not {type(model).__name__}"
            )
        check_is_fitted(model, "feature_set_")
        names = model.feature_set_.lineage.primitives
        data = prepared(model.preparation_, names, X)
        primitives = model._read(data)
        table = (
            data.aligned(names) if isinstance(data, BooleanData) else BooleanData(names, primitives)
        )
        features = model.feature_set_.evaluate(primitives)
        return cls(model, primitives, features, table, row_names(X))

    @property
    def n_rows(self) -> int:
        return self.primitives.n_rows

    @cached_property
    def summary(self) -> Summary:
        """What is said of the model, here as everywhere."""
        return Summary(self.model)

    @cached_property
    def by_pattern(self) -> bool:
        """Whether features are read by their patterns: the model was made by bits."""
        return self.model._by_pattern

    @cached_property
    def is_training(self) -> bool:
        """Whether these are the rows that the model was fitted on, as far as counts tell."""
        fitted = self.model.feature_set_
        supports = tuple(self.features.supports().tolist())
        return self.n_rows == fitted.n_rows and supports == fitted.supports

    @cached_property
    def lineage_supports(self) -> dict[int | None, int]:
        """Rows of every feature that ever was, by its number.

        Where cells are missing, they are counted on the rows shown.
        """
        fitted = self.model.feature_set_
        supports = supports_of_lineage(fitted)
        if supports is not None:
            return supports
        everything = range(len(fitted.lineage))
        counts = fitted.evaluate(self.primitives, everything).supports()
        return dict(zip(everything, counts.tolist(), strict=True))

    def name(self, number: int, longest: int = 120) -> str:
        """What a feature of the lineage is called: its pattern where that is read, or formula."""
        if not self.by_pattern:
            return self.formula(number, longest)
        return shortened(shown_pattern(self.model.feature_set_, number), longest)

    @cached_property
    def simplifies_on_rows(self) -> bool:
        """Whether formulas may leave out what never occurs: these are the rows of ``fit``."""
        return self.is_training and self.model.feature_set_.known is None

    def short_form(self, number: int) -> Expression:
        """A formula in fewer literals that is true in the same rows, found in no time.

        On the rows of ``fit`` it is true where the feature is; on others always, whatever they
        hold.
        """
        if number not in self._short_forms:
            self._short_forms[number] = self._shortened(number)
        return self._short_forms[number]

    def _shortened(self, number: int) -> Expression:
        built = self.model.feature_set_.lineage.expression(number)
        names = built.primitives
        if not 2 < built.length <= _SIMPLIFIED:
            return built
        if self.simplifies_on_rows and len(names) * self.n_rows <= _CELLS:
            return simplified_on(
                built, {name: self._rows_with(name) for name in names}, self.n_rows
            )
        few = len(names) <= _FEW_PRIMITIVES
        return in_form(built, "simplified" if few else "nested")

    def _rows_with(self, name: str) -> int:
        if name not in self._row_sets:
            bits = self.primitives.select([self._position[name]]).to_bits().bits
            self._row_sets[name] = int.from_bytes(bits.tobytes(), "little")
        return self._row_sets[name]

    @cached_property
    def _position(self) -> dict[str, int]:
        names = self.model.feature_set_.lineage.primitives
        return {name: k for k, name in enumerate(names)}

    @cached_property
    def _feature_position(self) -> dict[int, int]:
        return {number: k for k, number in enumerate(self.model.feature_set_.features)}

    def rows_of(self, number: int) -> NDArray[np.intp]:
        """The rows in which a feature of the lineage is true."""
        fitted = self.model.feature_set_
        if number in self._feature_position:
            rows = self.features.true_rows(self._feature_position[number])
        else:
            rows = fitted.evaluate(self.primitives, [number]).true_rows(0)
        return rows.astype(np.intp)

    def chunks_of(self, rows: Sequence[int]) -> list[list[tuple[str, ...]]]:
        """The tags of some rows as chunks; of a model that has any."""
        if not rows or not isinstance(self.model, LosslessConstructor):
            return [[] for _ in rows]
        some, places = np.unique(rows, return_inverse=True)
        columns = self.primitives.filled().take_rows(some)
        chunks = row_chunks(self.model._every_feature, columns).lists()
        return [chunks[place] for place in places.tolist()]

    def true_columns(self, rows: Sequence[int]) -> list[list[int]]:
        """The columns that are true in each of some rows."""
        some, places = np.unique(rows, return_inverse=True)
        columns = self.primitives.filled().take_rows(some)
        found: list[list[int]] = [[] for _ in some]
        for k in range(columns.n_columns):
            for row in columns.true_rows(k).tolist():
                found[row].append(k)
        return [found[place] for place in places.tolist()]

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


def row_names(X: Any) -> tuple[str, ...] | None:
    """The ids of a table, or an index that is more than a count."""
    container = container_of(X)
    if container.ids is not None:
        return tuple(container.ids.values)
    index = container.index
    if index is None or list(index) == list(range(len(index))):
        return None
    return tuple(map(str, index))
