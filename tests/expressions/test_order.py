"""compare_canonical orders expressions as their canonical texts do, without writing them."""

from functools import reduce

import pytest
from hypothesis import given

from conjunct.expressions import And, Not, Primitive, canonical_key, canonical_text
from conjunct.expressions import compare_canonical as compare
from expressions.strategies import build, formulas

a, b, c = map(Primitive, "abc")


@given(formulas().map(build), formulas().map(build))
def test_agrees_with_the_written_texts(left, right):
    texts = canonical_text(left), canonical_text(right)
    expected = (texts[0] > texts[1]) - (texts[0] < texts[1])
    if expected == 0:
        expected = (left.digest > right.digest) - (left.digest < right.digest)
    assert compare(left, right) == expected
    assert compare(right, left) == -expected


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        (And(a, b), And(a, c)),
        (And(c, a), And(b, Primitive("aa"))),
        (a, And(a, b)),
        (Primitive(""), a),
        (Primitive("a &"), And(a, b)),
        (And(a, Not(And(b, c))), Not(a)),
        (Not(And(a, b)), Not(a)),
    ],
)
def test_stated_order(smaller, larger):
    assert canonical_text(smaller) < canonical_text(larger)
    assert compare(smaller, larger) == -1
    assert sorted([larger, smaller], key=canonical_key) == [smaller, larger]


def test_names_that_read_like_formulas_are_told_apart():
    one, other = Primitive("a & b"), And(a, b)
    assert canonical_text(one) == canonical_text(other)
    assert compare(one, other) == -compare(other, one) != 0


def test_formulas_too_long_to_write_are_compared_at_once():
    # 2^60 literals each; they differ in one leaf
    def deep(leaf):
        return reduce(lambda e, _: Not(And(Not(And(e, b)), Not(And(e, c)))), range(60), leaf)

    assert deep(a).length > 2**60
    assert compare(deep(a), deep(Primitive("a2"))) == -1
    assert compare(deep(a), deep(a)) == 0


def test_deep_nesting_does_not_recurse():
    def deep(leaf):
        return reduce(lambda e, _: Not(And(e, b)), range(20_000), leaf)

    assert compare(deep(a), deep(c)) != 0
