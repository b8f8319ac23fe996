"""At least m of N and exactly k of N: what they mean, what they are, what is obvious about them."""

import copy
import itertools
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_formulas
from conjunct import InputError, parse
from conjunct.expressions import (
    And,
    AtLeast,
    Constant,
    Count,
    Exactly,
    Expression,
    Not,
    Or,
    Primitive,
    canonical_text,
    in_form,
)
from expressions.strategies import build

a, b, c, d = map(Primitive, "abcd")
WIDE = [Primitive(f"x{k}") for k in range(30)]


@st.composite
def counts(draw):  # type: ignore[no-untyped-def]
    """A count of up to six literals over four names, as nested tuples."""
    name = st.tuples(st.just("name"), st.sampled_from("abcd"))
    literals = draw(st.lists(name | st.tuples(st.just("not"), name), min_size=2, max_size=6))
    kind = draw(st.sampled_from(["at least", "exactly"]))
    return (kind, draw(st.integers(kind == "at least", len(literals))), *literals)


@given(counts())
def test_truth_table(formula) -> None:  # type: ignore[no-untyped-def]
    expression = build(formula)
    for values in naive_formulas.assignments(naive_formulas.names(formula)):
        assert expression.evaluate(values) is naive_formulas.value(formula, values)


@given(counts())
def test_simplified_says_the_same_in_no_more_literals(formula) -> None:  # type: ignore[no-untyped-def]
    expression = build(formula)
    for form in ("nested", "dnf", "simplified"):
        other = in_form(expression, form)
        assert form != "simplified" or other.length <= expression.length
        for values in naive_formulas.assignments("abcd"):
            assert other.evaluate(values) is naive_formulas.value(formula, values)


@given(counts())
def test_text_and_back_and_pickle(formula) -> None:  # type: ignore[no-untyped-def]
    expression = build(formula)
    assert parse(expression.text()) == parse(expression.text("ascii")) == expression
    assert pickle.loads(pickle.dumps(expression)) == copy.deepcopy(expression) == expression
    assert expression.length == len(formula) - 2
    assert expression.primitives == naive_formulas.names(formula)


@pytest.mark.parametrize(
    ("expression", "simple"),
    [
        (AtLeast(1, WIDE), Or(*WIDE)),
        (AtLeast(30, WIDE), And(*WIDE)),
        (Exactly(30, WIDE), And(*WIDE)),
        (Exactly(0, WIDE), And(*map(Not, WIDE))),
        (Not(AtLeast(1, WIDE)), And(*map(Not, WIDE))),
        (AtLeast(2, [*WIDE, a, ~a]), Or(*WIDE)),
        (AtLeast(2, [Constant(True), Constant(False), *WIDE]), Or(*WIDE)),
        (AtLeast(1, [a, ~a]), Constant(True)),
        (AtLeast(2, [a, ~a]), Constant(False)),
        (Exactly(0, [a, ~a, *WIDE]), Constant(False)),
        (And(AtLeast(2, WIDE), Not(AtLeast(2, WIDE[::-1]))), Constant(False)),
        (And(a, AtLeast(2, WIDE), AtLeast(2, WIDE[::-1])), And(a, AtLeast(2, WIDE))),
        (AtLeast(2, [a, b, a & b]), And(a, b)),
        (Not(Not(AtLeast(2, [a, b, c]))), AtLeast(2, [a, b, c])),
        (Or(And(a, AtLeast(2, [b, c, d])), AtLeast(3, [b, c, d])), None),
    ],
)
def test_what_is_obvious_is_simplified(expression: Expression, simple: Expression | None) -> None:
    found = expression.simplify()
    if simple is None:
        assert found.length <= expression.length
    else:
        assert found == simple


def test_a_count_is_not_spelled_out_where_that_is_longer() -> None:
    majority = AtLeast(3, map(Primitive, "abcde"))
    assert majority.simplify() == majority
    assert (majority & Primitive("f") & Primitive("f")).simplify() == majority & Primitive("f")
    assert str(AtLeast(2, [c, a, b]).to_dnf()) == "(c ∧ a) ∨ (c ∧ b) ∨ (a ∧ b)"


def test_disjunctive_form_of_many_primitives() -> None:
    found = AtLeast(2, WIDE).to_dnf()
    assert isinstance(found, Or)
    assert len(found.operands) == 30 * 29 // 2
    assert {operand.length for operand in found.operands} == {2}
    with pytest.raises(InputError, match="more than 4,096 terms"):
        AtLeast(15, WIDE).to_dnf()


def test_comparisons_of_a_count() -> None:
    count = Count([a, b, ~c])
    made = {
        (lambda n: n == 2): count == 2,
        (lambda n: n != 2): count != 2,
        (lambda n: n >= 2): count >= 2,
        (lambda n: n > 1): count > 1,
        (lambda n: n < 2): count < 2,
        (lambda n: n <= 1): count <= 1,
    }
    for values in naive_formulas.assignments("abc"):
        n_true = values["a"] + values["b"] + (not values["c"])
        for asked, expression in made.items():
            assert expression.evaluate(values) is asked(n_true)
    assert (count == 2) == Exactly(2, [~c, b, a])
    assert (count >= 2) == AtLeast(2, [a, b, ~c])
    with pytest.raises(TypeError, match="unhashable"):
        hash(count)
    assert repr(count) == "Count([parse('a'), parse('b'), parse('~c')])"


def test_order_does_not_matter_and_nothing_else_is_equal() -> None:
    for operands in itertools.permutations([a, ~b, c & d]):
        assert AtLeast(2, operands) == AtLeast(2, [a, ~b, c & d])
        assert canonical_text(AtLeast(2, operands)) == "at least 2 of {(c & d), a, ~b}"
    assert AtLeast(2, [a, a, b]) != AtLeast(2, [a, b])
    assert AtLeast(2, [a, a, b]).evaluate({"a": True, "b": False})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AtLeast(0, [a, b]), "the number of AtLeast must be from 1 to 2, .*; got 0"),
        (lambda: AtLeast(3, [a, b]), "the number of AtLeast must be from 1 to 2, .*; got 3"),
        (lambda: Exactly(-1, [a, b]), "the number of Exactly must be from 0 to 2, .*; got -1"),
        (lambda: AtLeast(1, [a]), "AtLeast takes at least two operands, got 1"),
        (lambda: AtLeast(True, [a, b]), "the number of AtLeast must be an int, not 'bool'"),
        (lambda: AtLeast("2", [a, b]), "the number of AtLeast must be an int, not 'str'"),
        (lambda: Exactly(1, [a, "b"]), "operand 2 of Exactly must be an Expression, not 'str'"),
        (lambda: Count([a]), "Exactly takes at least two operands, got 1"),
    ],
)
def test_what_is_refused(make, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises((TypeError, ValueError), match=message):
        make()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("at least 5 of {a, b}", "column 1: the number of AtLeast must be from 1 to 2"),
        ("a & exactly 1 of {b}", "column 5: Exactly takes at least two operands, got 1"),
        ("at least 1 of {a b, c", "column 22: .*',' or the '}' of column 1, found the end"),
        ("at least 1 of {a {, c}", "column 18: braces inside braces are allowed only"),
        ("at least 1 of {(a, b), c}", r"column 18: .*the '\)' of column 16, found ','"),
        ("at least 1 of {a, }", r"column 19: expected a name, .* found '}'"),
        ("at least 1 of {a, b} c", "column 22: .* or the end, found 'c'"),
    ],
)
def test_texts_that_are_no_counts(text: str, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        parse(text)


def test_braces_and_commas_are_part_of_a_name_elsewhere() -> None:
    assert parse("red, blue & {x}") == And(Primitive("red, blue"), Primitive("{x}"))
    assert parse("at least 2 of a") == Primitive("at least 2 of a")
    assert str(AtLeast(1, [Primitive("red, blue"), a])) == 'at least 1 of {"red, blue", a}'
    assert str(Primitive("at least 2 of {a, b}")) == '"at least 2 of {a, b}"'
