"""Features that count literals: their columns in every layout, their texts, in the model file."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_formulas
from conjunct.columns import MaskedColumns, PackedColumns, SparseColumns
from conjunct.expressions import canonical_key
from conjunct.features.feature_set import FeatureSet
from conjunct.features.lineage import Lineage, Tally
from expressions.strategies import build
from tables import tables

NAMES = "abcdef"
small = tables(max_rows=20, max_columns=6)


def drawn_lineage(draw, names, n_made=4):
    """A lineage of conjunctions and counts, and each of its features as nested tuples."""
    lineage = Lineage(names)
    formulas = [("name", name) for name in names]

    def literal(x):
        return formulas[x] if x >= 0 else ("not", formulas[~x])

    for _ in range(n_made):
        every = st.integers(-len(formulas), len(formulas) - 1)
        literals = draw(st.lists(every, min_size=2, max_size=5, unique=True))
        kind = draw(st.sampled_from(["and", "at least", "exactly"]))
        if kind == "and":
            made, head = tuple(literals[:2]), ("and",)
        else:
            number = draw(st.integers(kind == "at least", len(literals)))
            made, head = Tally(tuple(literals), number, kind == "exactly"), (kind, number)
        known = len(lineage)
        if lineage.make(made) == known:
            operands = literals[:2] if kind == "and" else literals
            if head == ("at least", 1):
                head = ("or",)
            if head == ("at least", len(literals)):
                head = ("and",)
            formulas.append((*head, *map(literal, operands)))
    return lineage, formulas


@given(small, st.data())
def test_columns_in_every_layout(table, data):
    names = NAMES[: table.shape[1]]
    lineage, formulas = drawn_lineage(data.draw, names)
    gaps = data.draw(st.sampled_from([0, 2, 3]))
    missing = np.arange(table.size).reshape(table.shape) % gaps == 0 if gaps else table & False
    fitted = FeatureSet(lineage, tuple(range(len(lineage))), (), len(table), ())
    rows = [dict(zip(names, row, strict=True)) for row in table.tolist()]
    expected = [[naive_formulas.value(f, row) for f in formulas] for row in rows]
    for columns in (PackedColumns.from_table(table), SparseColumns.from_table(table)):
        assert fitted.evaluate(columns).to_dense().tolist() == expected
    known = PackedColumns.from_table(~missing)
    masked = MaskedColumns(PackedColumns.from_table(table & ~missing), known)
    gappy = [
        {name: None if gap else value for (name, value), gap in zip(row.items(), gaps, strict=True)}
        for row, gaps in zip(rows, missing.tolist(), strict=True)
    ]
    found = fitted.evaluate(masked).to_dense()
    actual = [[None if np.isnan(x) else bool(x) for x in row] for row in found.tolist()]
    assert actual == [[naive_formulas.kleene(f, row) for f in formulas] for row in gappy]


@given(st.data(), st.sampled_from(["unicode", "ascii", "latex"]))
def test_texts_lengths_and_renaming(data, style):
    lineage, formulas = drawn_lineage(data.draw, ["a", "b, c", "{d}"])
    expressions = [build(formula) for formula in formulas]
    numbers = range(len(lineage))
    assert list(lineage.expressions(numbers)) == expressions
    assert lineage.texts(numbers, style) == [e.text(style) for e in expressions]
    assert lineage.lengths(numbers) == [e.length for e in expressions]
    other = lineage.rename(["x", "y", "z"])
    assert other.made == lineage.made
    assert other.expression(len(other) - 1).primitives <= {"x", "y", "z"}
    assert lineage.by_text(numbers) == sorted(
        numbers, key=lambda k: canonical_key(lineage.expression(k))
    )


def test_a_count_asserts_nothing():
    lineage = Lineage("abc")
    number = lineage.make(Tally((0, 1, ~2), 2, False))
    assert lineage.make(Tally((0, 1, ~2), 2, False)) == number
    assert lineage.is_count(number)
    assert lineage.pattern(number) == ()
    assert not lineage.denies(number)
    assert lineage.operands(number) == (0, 1, ~2)
    assert lineage.pattern(lineage.conjoin(number, 0)) == ("a",)
    assert lineage.conjunctions == [(number, 0)]
    # all of them are a conjunction, which does
    assert lineage.pattern(lineage.make(Tally((0, 1, ~2), 3, False))) == ("a", "b")
    assert lineage.denies(len(lineage) - 1)
    lineage.forget_after(3)
    assert len(lineage) == 3


@pytest.mark.parametrize("style", ["unicode", "ascii"])
def test_names_that_could_be_misread_are_quoted_where_they_are_counted(style):
    lineage = Lineage(["red, blue", "sky"])
    number = lineage.make(Tally((0, ~1), 1, True))
    sign = "¬" if style == "unicode" else "~"
    expected = ["red, blue", f'exactly 1 of {{"red, blue", {sign}sky}}']
    assert lineage.texts([0, number], style) == expected
