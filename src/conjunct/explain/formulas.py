"""The formulas of a feature set in another form, and how much shorter they are."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from conjunct.columns import Columns, PackedColumns
from conjunct.errors import InputError
from conjunct.expressions import Expression, Form, Style, in_form, simplified_on
from conjunct.features import FeatureSet, mean_length

Equivalence = Literal["always", "on the training data"]


@dataclass(frozen=True)
class Formulas:
    """The features of a model, each in one form.

    Attributes
    ----------
    form : {"built", "nested", "dnf", "simplified"}
    equivalent : {"always", "on the training data"}
        Whether the formulas have the truth values of the features on every row there could be, or
        on the rows of the training data only. The latter are for reading, not for new rows.
    built, expressions : tuple of Expression
        The features as they were constructed, and in this form.
    """

    form: Form
    equivalent: Equivalence
    built: tuple[Expression, ...]
    expressions: tuple[Expression, ...]

    @property
    def length_before(self) -> float:
        """C1 of the features as constructed: literal occurrences per feature."""
        return mean_length(expression.length for expression in self.built)

    @property
    def length_after(self) -> float:
        """C1 of the formulas in this form."""
        return mean_length(expression.length for expression in self.expressions)

    def texts(self, style: Style = "unicode") -> list[str]:
        return [expression.text(style) for expression in self.expressions]


def formulas_of(
    feature_set: FeatureSet, form: Form, given: PackedColumns | None = None
) -> Formulas:
    """The features in one form; with training data, simplified for the combinations it holds."""
    built = feature_set.expressions
    if given is None:
        return Formulas(form, "always", built, tuple(in_form(x, form) for x in built))
    if form != "simplified":
        raise InputError(f"given data, a formula can be simplified, not {form!r}")
    _check_training_data(feature_set, given)
    columns = row_sets(feature_set, given, set(feature_set.lineage.primitives))
    shorter = tuple(simplified_on(x, columns, given.n_rows) for x in built)
    return Formulas(form, "on the training data", built, shorter)


def row_sets(
    feature_set: FeatureSet, primitives: Columns, names: Collection[str]
) -> dict[str, int]:
    """For each of some primitives the rows in which it is true: bit ``k`` is row ``k``."""
    places = [k for k, name in enumerate(feature_set.lineage.primitives) if name in names]
    lines = primitives.select(places).to_bits().bits
    return {
        feature_set.lineage.primitives[k]: int.from_bytes(line.tobytes(), "little")
        for k, line in zip(places, lines, strict=True)
    }


def _check_training_data(feature_set: FeatureSet, store: PackedColumns) -> None:
    """Other rows may hold other combinations, and the formulas would be wrong where it matters."""
    if store.n_rows == feature_set.n_rows:
        supports = feature_set.evaluate(store).supports()
        if tuple(supports.tolist()) == feature_set.supports:
            return
    raise InputError(
        "the data given are not the training data: they have other rows or other supports; "
        "give the rows that the model was fitted on"
    )
