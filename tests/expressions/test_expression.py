"""Equality, hashing, measures and evaluation, judged by nested tuples."""

import copy
import itertools
import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_formulas
from conjunct.expressions import And, AtLeast, Constant, Exactly, Expression, Not, Or, Primitive
from expressions.strategies import (
    Formula,
    build,
    canonical,
    doubled,
    flat_operands,
    formulas,
    ladder,
    names,
    negated,
)

DEEP = 30_000
a, b, c, d = map(Primitive, "abcd")


def regrouped(formula: Formula, draw: st.DataObject) -> Formula:
    """The same formula with its connectives shuffled and nested another way."""
    if formula[0] in ("name", "constant"):
        return formula
    if formula[0] == "not":
        return ("not", regrouped(formula[1], draw))
    if formula[0] in ("at least", "exactly"):
        kind, number, *operands = formula
        shuffled = draw.draw(st.permutations([regrouped(part, draw) for part in operands]))
        return (kind, number, *shuffled)
    parts = [regrouped(part, draw) for part in flat_operands(formula)]
    parts = draw.draw(st.permutations(parts))
    while len(parts) > 2 and draw.draw(st.booleans()):
        cut = draw.draw(st.integers(2, len(parts) - 1))
        parts = [*parts[cut:], (formula[0], *parts[:cut])]
    return (formula[0], *parts)


@given(formulas(st.sampled_from("ab")), formulas(st.sampled_from("ab")))
def test_equal_exactly_when_the_nested_multisets_are(one: Formula, other: Formula) -> None:
    assert (build(one) == build(other)) is (canonical(one) == canonical(other))


@given(formulas(), st.data())
def test_order_and_nesting_do_not_matter(formula: Formula, data: st.DataObject) -> None:
    other = regrouped(formula, data)
    assert canonical(other) == canonical(formula)
    assert build(other) == build(formula)
    assert hash(build(other)) == hash(build(formula))
    assert build(other).digest == build(formula).digest


def test_all_small_formulas_are_told_apart() -> None:
    # 4 literals, 10 pairs of them, 12 new negations, 20 triples and 35 quadruples.
    assert count_small(("name", "a"), ("name", "b"), "and") == 4 + 10 + 12 + 20 + 35
    assert count_small(("name", "a"), ("constant", True), "or") == 4 + 10 + 12 + 20 + 35


def count_small(one: Formula, other: Formula, kind: str) -> int:
    small: list[Formula] = [one, other]
    small += [("not", f) for f in small]
    small += [(kind, f, g) for f, g in itertools.product(small, repeat=2)]
    small += [("not", f) for f in small]
    small += [(kind, f, g) for f, g in itertools.product(small[:20], repeat=2)]
    assert len(set(map(build, small))) == len(set(map(canonical, small)))
    return len(set(map(canonical, small)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (And(a, a), a),
        (Or(a, a), a),
        (Or(a, b), And(a, b)),
        (Or(a, b), Not(And(Not(a), Not(b)))),
        (Or(a, And(b, c)), And(Or(a, b), Or(a, c))),
        (Or(And(a, b), c), And(a, Or(b, c))),
        (And(Or(a, b), Or(c, d)), Or(And(a, b), And(c, d))),
        (Constant(True), Constant(False)),
        (Constant(True), Not(Constant(False))),
        (Constant(True), Primitive("true")),
        (And(a, Constant(True)), a),
        (And(a, a, b), And(a, b)),
        (And(a, a, b), And(a, b, b)),
        (Not(Not(a)), a),
        (Not(And(a, b)), And(Not(a), Not(b))),
        (And(a, Not(And(b, c))), And(a, b, Not(c))),
        (And(a, And(b, Not(c))), And(a, Not(And(b, c)))),
        (Primitive("\ud83d\ude00"), Primitive("\U0001f600")),
        (Primitive("\ud800"), Primitive("\udc00")),
        (Primitive("\ud800"), Primitive("?")),
        (Primitive("é"), Primitive("e\u0301")),
        (Primitive("a & b"), And(a, b)),
        (Primitive("~a"), Not(a)),
        (AtLeast(1, [a, b]), Or(a, b)),
        (AtLeast(2, [a, b]), And(a, b)),
        (AtLeast(2, [a, b]), AtLeast(1, [a, b])),
        (AtLeast(2, [a, b]), Exactly(2, [a, b])),
        (AtLeast(2, [a, a, b]), AtLeast(2, [a, b, b])),
        (AtLeast(2, [a, b, AtLeast(1, [c, d])]), AtLeast(2, [a, b, c, d])),
        (Primitive("at least 1 of {a, b}"), AtLeast(1, [a, b])),
    ],
)
def test_structure_not_logic(one: Expression, other: Expression) -> None:
    assert one != other
    assert len({one, other}) == 2


def test_not_equal_to_other_types() -> None:
    assert a != "a"
    assert Primitive("a").__eq__("a") is NotImplemented


def test_works_as_a_dict_key() -> None:
    support = {And(a, And(b, c)): 3}
    assert support[And(c, b, a)] == 3
    assert And(a, b) not in support


def test_digest_is_the_same_in_every_process() -> None:
    assert a.digest == 0xD43B098A35022F6817D0130E7C6C31A0
    assert And(a, Not(b)).digest == 0x379AF701336593274E4D2C97504F5932
    code = "from conjunct.expressions import parse; e = parse('a & ~b'); print(e.digest, hash(e))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == f"{And(a, Not(b)).digest} {hash(And(a, Not(b)))}\n"


def naive_literals(formula: Formula) -> list[Formula]:
    if formula[0] == "constant":
        return []
    if formula[0] == "name" or (formula[0] == "not" and formula[1][0] == "name"):
        return [formula]
    parts = formula[2:] if formula[0] in ("at least", "exactly") else formula[1:]
    return [literal for part in parts for literal in naive_literals(part)]


@given(formulas())
def test_literals_length_and_primitives(formula: Formula) -> None:
    literals = naive_literals(formula)
    expression = build(formula)
    assert expression.length == len(literals)
    assert expression.literals == frozenset(map(build, literals))
    assert expression.primitives == {f[1] if f[0] == "name" else f[1][1] for f in literals}


@given(formulas(st.sampled_from("abc")), st.tuples(st.booleans(), st.booleans(), st.booleans()))
def test_evaluate(formula: Formula, truths: tuple[bool, bool, bool]) -> None:
    values = dict(zip("abc", truths, strict=True))
    assert build(formula).evaluate(values) is naive_formulas.value(formula, values)


def test_literals_as_the_paper_prints_them() -> None:
    assert Not(And(a, Not(b))).literals == {a, Not(b)}
    assert And(a, Not(a)).literals == {a, Not(a)}
    assert Not(Not(a)).literals == {Not(a)}
    assert a.literals == {a}
    assert And(a, b, a).length == 3
    assert Or(a, Not(b), Constant(True)).literals == {a, Not(b)}
    assert Constant(False).length == 0


def test_evaluate_names_the_missing_primitive() -> None:
    with pytest.raises(KeyError, match="'b'"):
        And(a, b).evaluate({"a": False})


def test_operands_stay_as_built() -> None:
    inner = And(a, b)
    outer = And(inner, c)
    assert outer.operands == (inner, c)
    assert outer.operands[0] is inner
    assert (Not(inner).operand, a.name) == (inner, "a")


def test_operators() -> None:
    assert a & ~b == And(a, Not(b))
    assert (a & b & c).operands == (And(a, b), c)
    assert a | ~b & c == Or(a, And(Not(b), c))
    with pytest.raises(TypeError, match="unsupported operand"):
        a & "b"  # type: ignore[operator]
    with pytest.raises(TypeError, match="unsupported operand"):
        a | True  # type: ignore[operator]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: And(), ValueError, "And takes at least two operands, got 0"),
        (lambda: And(a), ValueError, "And takes at least two operands, got 1"),
        (lambda: And([a, b]), TypeError, "operand 1 of And must be an Expression, not 'list'"),
        (lambda: And(a, "b"), TypeError, "operand 2 of And must be an Expression, not 'str'"),
        (lambda: Or(a), ValueError, "Or takes at least two operands, got 1"),
        (lambda: Or(a, 1), TypeError, "operand 2 of Or must be an Expression, not 'int'"),
        (lambda: Constant(1), TypeError, "the value of a Constant must be a bool, not 'int'"),
        (lambda: Not("a"), TypeError, "the operand of Not must be an Expression, not 'str'"),
        (lambda: Primitive(3), TypeError, "the name of a Primitive must be a str, not 'int'"),
        (
            lambda: Expression(),
            TypeError,
            "Expression is abstract: build a Primitive, a Not, an And or an Or",
        ),
    ],
)
def test_refusals(make, error, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error) as refusal:
        make()
    assert str(refusal.value) == message


@pytest.mark.parametrize(
    ("expression", "attribute"),
    [
        (a, "name"),
        (Not(a), "operand"),
        (And(a, b), "operands"),
        (Or(a, b), "operands"),
        (a, "_digest"),
        (a, "colour"),
    ],
)
def test_immutable(expression: Expression, attribute: str) -> None:
    before = expression.digest
    with pytest.raises(AttributeError, match=f"immutable: cannot set '{attribute}'"):
        setattr(expression, attribute, b)
    with pytest.raises(AttributeError, match=f"immutable: cannot delete '{attribute}'"):
        delattr(expression, attribute)
    assert expression.digest == before


def test_names_lose_their_subclass() -> None:
    class Tag(str):
        def __str__(self) -> str:
            return "something else"

    assert type(Primitive(Tag("sky")).name) is str
    assert Primitive(Tag("sky")) == Primitive("sky")


@given(formulas())
def test_pickle_keeps_order_and_nesting(formula: Formula) -> None:
    expression = build(formula)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(expression, protocol))
        assert again == expression
        assert type(again) is type(expression)
        assert again.text() == expression.text()


def test_copies_are_the_thing_itself() -> None:
    expression = And(a, Not(b))
    assert copy.copy(expression) is expression
    assert copy.deepcopy([expression])[0] is expression


@given(names)
def test_any_string_is_a_name(name: str) -> None:
    assert Primitive(name).name == name
    assert Primitive(name).primitives == {name}


def test_two_hundred_doublings() -> None:
    expression = doubled(And(a, Not(b)), 200)
    assert expression.length == 2**201
    assert expression == doubled(And(Not(b), a), 200)
    assert expression != doubled(And(Not(b), a), 199)
    # Modulo 2**128 the sums of both sides would be 0.
    assert doubled(a, 200) != doubled(b, 200)
    assert expression.literals == {a, Not(b)}
    assert expression.evaluate({"a": True, "b": False}) is True
    assert expression.evaluate({"a": True, "b": True}) is False
    again = pickle.loads(pickle.dumps(expression))
    assert again == expression
    assert again.operands[0] is again.operands[1]
    assert repr(expression) == "<And of about 2**201 literals>"


def test_sums_of_nested_conjunctions_are_those_of_the_flat_one() -> None:
    nested = And(doubled(a, 10), And(b, doubled(a, 3)))
    assert nested == And(b, *[a] * (2**10 + 2**3))


@pytest.mark.parametrize(
    ("make", "length", "literals"),
    [
        (lambda: negated(a, DEEP), 1, {Not(a)}),
        (lambda: ladder(20_000), 20_001, {Primitive("x"), a}),
    ],
)
def test_deep_nesting(make, length, literals) -> None:  # type: ignore[no-untyped-def]
    expression, twin = make(), make()
    assert expression == twin
    assert hash(expression) == hash(twin)
    assert expression != Not(twin)
    assert expression.length == length
    assert expression.literals == literals
    assert expression.evaluate({"a": True, "x": True}) is True
    assert pickle.loads(pickle.dumps(expression)) == expression
