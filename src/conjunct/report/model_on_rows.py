"""Hold the model and the rows of a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunct.columns import Columns
from conjunct.data import BooleanData, BooleanDataContainer, container_of, prepare
from conjunct.errors import InputError
from conjunct.estimators import FeatureConstructor
from conjunct.explain import (
    Summary,
    describe_pattern,
    label,
    row_sets,
    shorten,
    supports_of_lineage,
)
from conjunct.expressions import Expression, in_form, simplify_on

# A truth table doubles with each primitive: in larger formulas, only common parts are factored out.
_FEW_PRIMITIVES = 12
_ROW_NAME_LENGTH = 60
_SIMPLIFIED = 60  # literals of the longest formula that is simplified
_CELLS = 5 * 10**6  # of the primitives of the largest formula that is simplified on rows


@dataclass(frozen=True, eq=False)
class ModelOnRows:
    """A fitted model and the rows to show: ``primitives`` and ``features`` are their columns."""

    model: FeatureConstructor
    primitives: Columns
    features: Columns
    table: BooleanData
    row_names: tuple[str, ...] | None
    _texts: dict[tuple[Expression, int], str] = field(default_factory=dict)
    _short_forms: dict[int, Expression] = field(default_factory=dict)

    @classmethod
    def of(cls, model: FeatureConstructor, X: Any) -> ModelOnRows:
        if not isinstance(model, FeatureConstructor):
            raise InputError(
                f"a report needs a fitted UFC, UFCPath, UFringe, Fringe, CAT, ID2of3 or XofN, "
                f"not {type(model).__name__}"
            )
        check_is_fitted(model, "feature_set_")
        names = model.feature_set_.lineage.primitives
        data = prepare(model.preparation_, names, X)
        if isinstance(data, BooleanDataContainer):
            data = data.data
        primitives = model.read_columns(data)
        table = (
            data.align(names) if isinstance(data, BooleanData) else BooleanData(names, primitives)
        )
        features = model.feature_set_.evaluate(primitives)
        # rows are named by the ids of a table, or by an index that is not only a count
        container, row_names = container_of(X), None
        if container.ids is not None:
            row_names = tuple(container.ids.values)
        elif container.index is not None:
            index = list(container.index)
            row_names = None if index == list(range(len(index))) else tuple(map(str, index))
        return cls(model, primitives, features, table, row_names)

    @property
    def n_rows(self) -> int:
        return self.primitives.n_rows

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.model.feature_set_.lineage.primitives

    @cached_property
    def position(self) -> dict[str, int]:
        """The position of each column by name."""
        return {name: k for k, name in enumerate(self.names)}

    @cached_property
    def _filled(self) -> Columns:
        """The columns, with missing cells as false."""
        return self.primitives.fill_missing()

    @cached_property
    def summary(self) -> Summary:
        return Summary(self.model)

    @cached_property
    def by_pattern(self) -> bool:
        """True if features are named by their tags."""
        return self.model.has_tag_names

    @cached_property
    def is_training(self) -> bool:
        """True if the rows are the training data, judged by counts."""
        fitted = self.model.feature_set_
        supports = tuple(self.features.supports().tolist())
        return self.n_rows == fitted.n_rows and supports == fitted.supports

    @cached_property
    def simplifies_on_rows(self) -> bool:
        """True if formulas may ignore combinations that do not occur in these rows."""
        return self.is_training and self.model.feature_set_.known is None

    @cached_property
    def lineage_supports(self) -> dict[int | None, int]:
        """The rows of each feature of the lineage; with missing cells, among the rows shown."""
        fitted = self.model.feature_set_
        supports = supports_of_lineage(fitted)
        if supports is not None:
            return supports
        everything = range(len(fitted.lineage))
        counts = fitted.evaluate(self.primitives, everything).supports()
        return dict(zip(everything, counts.tolist(), strict=True))

    def name(self, number: int, longest: int = 120) -> str:
        """Return the name of a feature of the lineage: its tags or its formula."""
        if not self.by_pattern:
            return self.formula(number, longest)
        return shorten(describe_pattern(self.model.feature_set_, number), longest)

    def formula(self, number: int, longest: int = 120) -> str:
        """Return the formula of a feature of the lineage, cut to a length."""
        return self.write(self.model.feature_set_.lineage.expression(number), longest)

    def write(self, expression: Expression, longest: int = 120) -> str:
        """Return a formula as text, cached because solutions share most formulas."""
        key = expression, longest
        if key not in self._texts:
            self._texts[key] = label(expression, self.model.formula_style, longest)
        return self._texts[key]

    def short_form(self, number: int) -> Expression:
        """Return a shorter formula, equivalent on the training rows if shown, otherwise always."""
        if number not in self._short_forms:
            short = built = self.model.feature_set_.lineage.expression(number)
            names = built.primitives
            if 2 < built.length <= (_FEW_PRIMITIVES if self.by_pattern else _SIMPLIFIED):
                if self.simplifies_on_rows and len(names) * self.n_rows <= _CELLS:
                    rows = row_sets(self.model.feature_set_, self.primitives, names)
                    short = simplify_on(built, rows, self.n_rows)
                else:
                    few = len(names) <= _FEW_PRIMITIVES
                    short = in_form(built, "simplified" if few else "nested")
            self._short_forms[number] = short
        return self._short_forms[number]

    def row_label(self, row: int) -> str:
        """Return the name of a row, or its number from 1."""
        name = f"row {row + 1}" if self.row_names is None else self.row_names[row]
        return shorten(name, _ROW_NAME_LENGTH)

    def rows_of(self, number: int) -> NDArray[np.intp]:
        """Return the rows of a feature of the lineage."""
        fitted = self.model.feature_set_
        store, k = self.features, self._feature_position.get(number)
        if k is None:
            store, k = fitted.evaluate(self.primitives, [number]), 0
        return store.true_rows(k).astype(np.intp)

    @cached_property
    def _feature_position(self) -> dict[int, int]:
        return {number: k for k, number in enumerate(self.model.feature_set_.features)}

    def rows_with(self, positions: Sequence[int]) -> NDArray[np.intp]:
        """Return the rows in which all of these columns are true."""
        if len(positions) == 1:
            return self._filled.true_rows(positions[0]).astype(np.intp)
        bits = self._filled.select(positions).to_bits().bits
        both = np.bitwise_and.reduce(bits, axis=0).view(np.uint8)
        return np.flatnonzero(np.unpackbits(both, bitorder="little")[: self.n_rows])

    def rows_with_tags(self, tags: Iterable[str]) -> NDArray[np.intp]:
        """Return the rows that have all of these tags."""
        return self.rows_with([self.position[tag] for tag in tags])

    def true_columns(self, rows: Sequence[int]) -> list[list[int]]:
        """Return the true columns of each of these rows."""
        some, places = np.unique(np.array(rows, np.intp), return_inverse=True)
        columns = self._filled.take_rows(some)
        found: list[list[int]] = [[] for _ in some]
        for k in range(columns.n_columns):
            for row in columns.true_rows(k).tolist():
                found[row].append(k)
        return [found[place] for place in places.tolist()]

    @staticmethod
    def sample(rows: NDArray[np.intp], limit: int) -> list[int]:
        """Return at most ``limit`` rows, spread evenly."""
        if len(rows) > limit:
            rows = rows[np.linspace(0, len(rows) - 1, limit).round().astype(np.intp)]
        return [int(row) for row in rows]
