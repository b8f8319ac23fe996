"""Texts of many formulas at once, their order, and columns of the tags that were joined."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_comparing
from conjunct.columns import PackedColumns, SparseColumns
from conjunct.errors import InputError
from conjunct.expressions import canonical_text
from conjunct.features.lineage import Lineage
from conjunct.ufc import Threshold
from runs import planned, ran
from tables import tables

names = st.lists(st.text(max_size=4), min_size=1, max_size=4, unique=True)


@given(names, st.data(), st.sampled_from(["unicode", "ascii", "latex"]))
def test_texts_are_those_of_the_expressions(primitives, data, style):
    lineage = Lineage(primitives)
    for _ in range(data.draw(st.integers(0, 6))):
        literal = st.integers(-len(lineage), len(lineage) - 1)
        lineage.conjoin(data.draw(literal), data.draw(literal))
    numbers = data.draw(st.lists(st.integers(0, len(lineage) - 1)))
    expected = [lineage.expression(number).text(style) for number in numbers]
    assert lineage.texts(numbers, style) == expected


@given(st.data())
def test_features_are_sorted_by_their_canonical_texts(data):
    names = data.draw(st.sampled_from(["abcdef", ["a", "b", "b & c", "c", "~d", "e"]]))
    lineage = Lineage(data.draw(st.permutations(names)))
    for _ in range(data.draw(st.integers(0, 12))):
        # texts of assertions are compared to their ends
        literal = st.integers(-2, len(lineage) - 1)
        lineage.conjoin(data.draw(literal), data.draw(literal))
    every = data.draw(st.permutations(range(len(lineage))))
    texts = [canonical_text(lineage.expression(number)) for number in lineage.by_text(every)]
    assert texts == sorted(texts)


@given(tables(max_columns=6), st.booleans(), st.sampled_from([PackedColumns, SparseColumns]))
def test_rows_that_have_all_tags_of_what_was_joined(table, prune, layout):
    names = "abcdef"[: table.shape[1]]
    columns = layout.from_table(table)
    made = ran(columns, names, planned(Threshold(0.1, prune=prune)), max_iter=3).feature_set
    assert made.tag_sets[: len(names)] == tuple((name,) for name in names)
    numbers = [[names.index(tag) for tag in tags] for tags in made.tag_sets]
    expected = naive_comparing.columns_with_all(table.T.tolist(), numbers)
    assert made.evaluate_tag_sets(columns).to_dense().T.tolist() == expected


def test_texts_that_memory_would_not_hold_are_refused():
    def doubled(n):
        lineage = Lineage(["a", "b"])
        number = lineage.conjoin(0, 1)
        for _ in range(n):
            number = lineage.conjoin(number, ~number)
        return lineage.texts([number])

    # numbers that nobody reads are left out
    for n in (49, 60):
        with pytest.raises(InputError, match="are too long to write out: use feature_names='tags'"):
            doubled(n)
    for n, literals in ((22, "8,388,608"), (48, "562,949,953,421,312")):
        with pytest.raises(InputError, match=f"{literals} literals together, too many to write"):
            doubled(n)
