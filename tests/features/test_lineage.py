"""Texts of many formulas at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conjunct.errors import InputError
from conjunct.features.lineage import Lineage

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


def test_texts_that_memory_would_not_hold_are_refused():
    lineage = Lineage(["a", "b"])
    number = lineage.conjoin(0, 1)
    for _ in range(60):
        number = lineage.conjoin(number, ~number)
    with pytest.raises(InputError, match="too long to write out: use feature_names='tags'"):
        lineage.texts([number])
    lineage = Lineage(["a", "b"])
    number = lineage.conjoin(0, 1)
    for _ in range(22):
        number = lineage.conjoin(number, ~number)
    with pytest.raises(InputError, match="8,388,608 literals together, too many to write out"):
        lineage.texts([number])
