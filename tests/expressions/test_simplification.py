"""Simplified formulas against truth tables made the slow way, and against the shortest ones."""

import itertools
import random
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_formulas
from conjunct import UFC, Risk, datasets
from conjunct.errors import InputError
from conjunct.expressions import (
    And,
    AtLeast,
    Constant,
    Exactly,
    Expression,
    Not,
    Or,
    Primitive,
    parse,
)
from conjunct.expressions.simplify import FORMS, in_form, simplify_on
from expressions.strategies import Formula, build, doubled, formulas, ladder

a, b, c, d = map(Primitive, "abcd")

PAPER = parse(
    "~(sky & building) & tree & building & ~forest & ~(~sky & building & groups & road)"
    " & ~(sky & ~building & ~panorama) & ~(~(~groups & road) & person) & ~sky & ~(groups & road)"
)


def unbuilt(expression: Expression) -> Formula:
    if isinstance(expression, Primitive):
        return ("name", expression.name)
    if isinstance(expression, Constant):
        return ("constant", expression.value)
    if isinstance(expression, Not):
        return ("not", unbuilt(expression.operand))
    if isinstance(expression, AtLeast | Exactly):
        kind = "at least" if isinstance(expression, AtLeast) else "exactly"
        return (kind, expression.number, *map(unbuilt, expression.operands))
    assert isinstance(expression, And | Or)
    kind = "and" if isinstance(expression, And) else "or"
    return (kind, *map(unbuilt, expression.operands))


def columns(names: list[str]) -> dict[str, np.ndarray]:
    """All assignments of the names, one a row."""
    rows = np.arange(2 ** len(names))
    return {name: (rows >> k & 1).astype(bool) for k, name in enumerate(names)}


def column(expression: Expression, table: dict[str, np.ndarray]) -> np.ndarray:
    if isinstance(expression, Primitive):
        return table[expression.name]
    if isinstance(expression, Constant):
        return np.full(len(next(iter(table.values()))), expression.value)
    if isinstance(expression, Not):
        return ~column(expression.operand, table)
    if isinstance(expression, AtLeast | Exactly):
        n_true = np.sum([column(operand, table) for operand in expression.operands], axis=0)
        same = n_true == expression.number
        return same if isinstance(expression, Exactly) else same | (n_true > expression.number)
    assert isinstance(expression, And | Or)
    join = np.logical_and if isinstance(expression, And) else np.logical_or
    return join.reduce([column(operand, table) for operand in expression.operands])


def essential(expression: Expression) -> int:
    """Number of primitives on which the truth value depends: no formula can be shorter."""
    names = sorted(expression.primitives)
    table = columns(names)
    values = column(expression, table)
    flipped = (np.arange(len(values)) ^ (1 << k) for k in range(len(names)))
    return sum(bool((values != values[rows]).any()) for rows in flipped)


few_names = formulas(st.sampled_from("abcde"))


@given(few_names)
def test_every_form_is_equivalent_and_none_is_longer(formula: Formula) -> None:
    expression = build(formula)
    for form in FORMS:
        other = in_form(expression, form)
        assert naive_formulas.equivalent(formula, unbuilt(other))
        assert other.primitives <= expression.primitives
    short = expression.simplify()
    assert short.length <= min(in_form(expression, form).length for form in FORMS)
    assert short.simplify().length == short.length


@given(formulas())
def test_names_do_not_matter(formula: Formula) -> None:
    expression = build(formula)
    assert naive_formulas.names(unbuilt(expression.simplify())) <= naive_formulas.names(formula)
    assert parse(expression.simplify().text()) == expression.simplify()


@given(few_names)
def test_dnf_is_one_and_nothing_can_be_left_out(formula: Formula) -> None:
    dnf = build(formula).to_dnf()
    terms = dnf.operands if isinstance(dnf, Or) else (dnf,)
    literals = [term.operands if isinstance(term, And) else (term,) for term in terms]
    if isinstance(dnf, Constant):
        return
    for term in literals:
        assert all(isinstance(x, Primitive) or isinstance(x.operand, Primitive) for x in term)
    for k, term in enumerate(literals):
        others = [*literals[:k], *literals[k + 1 :]]
        assert not naive_formulas.equivalent(formula, sum_of(others))
        for literal in term:
            weaker = [x for x in term if x != literal]
            assert not naive_formulas.equivalent(formula, sum_of([*others, weaker]))


def sum_of(terms: list[list[Expression]]) -> Formula:
    products = [("and", ("constant", True), *map(unbuilt, term)) for term in terms]
    return ("or", ("constant", False), *products)


def test_all_functions_of_three_variables_are_as_short_as_can_be() -> None:
    shortest = naive_formulas.fewest_literals(3)
    assert len(shortest) == 256
    rows = list(itertools.product([False, True], repeat=3))
    for function, fewest in shortest.items():
        terms = [
            And(*(x if truth else Not(x) for x, truth in zip((a, b, c), row, strict=True)))
            for row, holds in zip(rows, function, strict=True)
            if holds
        ]
        short = Or(Constant(False), *terms, Constant(False)).simplify()
        assert short.length == fewest, short


@pytest.mark.parametrize(
    ("text", "simplified"),
    [
        ("a & ~(a & b)", "a & ~b"),
        ("~(a & b) & ~(a & ~b)", "~a"),
        ("a & ~a", "false"),
        ("~(a & ~a)", "true"),
        ("~~a", "a"),
        ("a & b & ~(a & b & ~c)", "a & b & c"),
        ("(a & b) | (a & c)", "a & (b | c)"),
        ("~a | ~b | ~c | ~a", "~(a & b & c)"),
        ("c & (~a | ~b | ~a)", "c & ~(a & b)"),
        ("water & forest & grass & water & person", "water & forest & grass & person"),
        ("(a | b) & (a | c) & (d | b) & (d | c)", "(a & d) | (b & c)"),
        ("b & a", "b & a"),
    ],
)
def test_examples(text: str, simplified: str) -> None:
    assert parse(text).simplify().text("ascii") == simplified


def test_the_feature_the_paper_calls_too_complex() -> None:
    wanted = parse("~sky & building & tree & ~forest & ((~road & ~person) | (~groups & road))")
    short = PAPER.simplify()
    assert naive_formulas.equivalent(unbuilt(PAPER), unbuilt(wanted))
    assert naive_formulas.equivalent(unbuilt(PAPER), unbuilt(short))
    assert (PAPER.length, short.length, wanted.length) == (18, 8, 8)
    assert str(short) == "¬sky ∧ building ∧ tree ∧ ¬forest ∧ ¬(groups ∧ road) ∧ (road ∨ ¬person)"
    assert len(str(short)) < len(str(wanted))
    assert str(PAPER.to_dnf()) == (
        "(¬sky ∧ building ∧ tree ∧ ¬forest ∧ ¬groups ∧ road)"
        " ∨ (¬sky ∧ building ∧ tree ∧ ¬forest ∧ ¬road ∧ ¬person)"
    )


def test_unknown_form() -> None:
    with pytest.raises(InputError, match=r"^unknown form 'cnf': choose one of 'built', 'nested', "):
        in_form(a, "cnf")  # type: ignore[arg-type]


def rows_of(dataset: datasets.BooleanDataset) -> dict[str, int]:
    return {
        name: sum(1 << k for k in np.flatnonzero(values).tolist())
        for name, values in zip(dataset.feature_names, dataset.values.T, strict=True)
    }


RUNS = {
    "spect": UFC(0.218, max_iter=4),
    "coco_street": UFC(Risk(prune=False), max_iter=5),
}


def features(name: str) -> tuple[Expression, ...]:
    dataset = datasets.load(name)
    fitted = RUNS[name].fit(dataset.values)
    lineage = fitted.feature_set_.lineage.rename(dataset.feature_names)
    return lineage.expressions(fitted.feature_set_.features)


@pytest.mark.parametrize(
    ("name", "built", "simplified", "shortest"),
    # `shortest`: the primitives that each formula depends on, added up
    [("spect", 546, 314, 314), ("coco_street", 594, 454, 446)],
)
def test_real_features(name: str, built: int, simplified: int, shortest: int) -> None:
    made = features(name)
    short = [feature.simplify() for feature in made]
    assert max(len(feature.primitives) for feature in made) <= 16
    for one, other in zip(made, short, strict=True):
        table = columns(sorted(one.primitives))
        assert (column(one, table) == column(other, table)).all()
    assert sum(feature.length for feature in made) == built
    assert sum(feature.length for feature in short) == simplified
    assert sum(map(essential, made)) == shortest


@pytest.mark.parametrize("name", RUNS)
def test_real_features_given_the_data_are_less_than_half_as_long(name: str) -> None:
    made, data = features(name), datasets.load(name)
    table = dict(zip(data.feature_names, data.values.T, strict=True))
    given_rows = [simplify_on(feature, rows_of(data), len(data.values)) for feature in made]
    for one, other in zip(made, given_rows, strict=True):
        assert (column(one, table) == column(other, table)).all()
        assert other.length <= one.simplify().length
    assert sum(x.length for x in given_rows) <= sum(x.length for x in made) / 2


@given(few_names, st.lists(st.tuples(*[st.booleans()] * 5), min_size=1, max_size=12))
def test_given_rows(formula: Formula, rows: list[tuple[bool, ...]]) -> None:
    bits = {
        name: sum(row[k] << position for position, row in enumerate(rows))
        for k, name in enumerate("abcde")
    }
    short = simplify_on(build(formula), bits, len(rows))
    for row in rows:
        values = dict(zip("abcde", row, strict=True))
        assert naive_formulas.value(formula, values) == short.evaluate(values)
    assert short.length <= build(formula).simplify().length


def test_given_rows_beyond_a_truth_table() -> None:
    names = [f"v{k}" for k in range(30)]
    expression = And(*map(Primitive, names))
    bits = {name: 0b0111 if name != "v3" else 0b0011 for name in names}
    assert simplify_on(expression, bits, 4) == Primitive("v3")


def random_formula(n_names: int, n_steps: int, seed: int) -> Expression:
    rng = random.Random(seed)
    pool: list[Expression] = [Primitive(f"v{k}") for k in range(n_names)]
    rng.shuffle(pool)
    while len(pool) > 1 or n_steps > 0:
        n_steps -= 1
        one, other = pool.pop(rng.randrange(len(pool))), rng.choice(pool)
        if rng.random() < 0.7 and other in pool and n_steps <= 0:
            pool.remove(other)
        pool.append(Not(And(one, Not(other))) if rng.random() < 0.5 else And(Not(one), other))
    return pool[0]


@pytest.mark.parametrize("n_names", [17, 22, 26])
@pytest.mark.parametrize("seed", range(8))
def test_beyond_sixteen_primitives_on_random_assignments(seed: int, n_names: int) -> None:
    expression = random_formula(n_names, 40, seed)
    rng = np.random.default_rng(seed)
    names = [f"v{k}" for k in range(n_names)]
    table = {name: rng.random(20_000) < rng.choice([0.1, 0.5, 0.9]) for name in names}
    expected = column(expression, table)
    assert len(expression.primitives) == n_names
    for form in ("nested", "simplified", "dnf"):
        other = in_form(expression, form)
        assert (column(other, table) == expected).all()
    assert expression.simplify().length <= expression.length


def test_beyond_a_truth_table_repetition_still_goes() -> None:
    groups = [Primitive(f"v{k}") for k in range(40)]
    formula = And(*(Not(And(x, a)) for x in groups), a, And(*(Not(x) for x in groups)))
    assert formula.simplify() == And(a, *(Not(x) for x in groups))
    assert Not(And(*groups, *groups)).simplify() == Not(And(*groups))


def test_a_form_that_would_be_endless_is_refused() -> None:
    pairs = [Or(Primitive(f"v{2 * k}"), Primitive(f"v{2 * k + 1}")) for k in range(14)]
    with pytest.raises(InputError, match="more than 4,096 terms: ask for the nested"):
        And(*pairs).to_dnf()
    assert And(*pairs).simplify() == And(*pairs)
    assert And(*pairs[:8]).to_dnf().length == 8 * 2**8


@pytest.mark.timeout(120)
def test_large_formulas_take_bounded_time() -> None:
    started = time.perf_counter()
    assert doubled(And(a, Not(b)), 200).simplify() == And(a, Not(b))
    assert ladder(20_000).simplify() == Not(And(a, Not(And(a, Primitive("x"))))).simplify()
    chain: Expression = a
    for k in range(20_000):
        chain = And(chain, Primitive(str(k % 5_000)))
    assert chain.simplify().length == 5_001
    deep: Expression = a
    for k in range(20_000):
        deep = Not(And(deep, Primitive(str(k % 40))))
    assert deep.simplify().length <= deep.length
    assert time.perf_counter() - started < 60


def test_features_of_many_iterations_become_readable() -> None:
    spect = datasets.load_spect()
    fitted = UFC(0.02, max_iter=12, feature_names="formula").fit(spect.values)
    longest = sorted(fitted.features_, key=lambda feature: feature.length)[-3:]
    rng = np.random.default_rng(0)
    table = {f"x{k}": rng.random(20_000) < 0.5 for k in range(22)}
    table = {
        name: np.concatenate([table[name], spect.values[:, k]]) for k, name in enumerate(table)
    }
    for feature in longest:
        short = feature.simplify()
        assert len(feature.primitives) == 22
        assert (column(short, table) == column(feature, table)).all()
        assert short.length < feature.length / 10
