"""Hypothesis strategies, and slow, obvious meanings of an expression.

A formula is drawn as plain nested tuples, ("name", "sky"), ("constant", True), ("not", f),
("and", f, g, ...), ("or", f, g, ...), ("at least", 2, f, g, ...), ("exactly", 2, f, g, ...), and
built from them, so that no oracle asks the code under
test what an expression is.
"""

from collections import Counter
from typing import Any, TypeAlias

from hypothesis import strategies as st

from conjunct.expressions import And, AtLeast, Constant, Exactly, Expression, Not, Or, Primitive

Formula: TypeAlias = tuple[Any, ...]

NASTY_NAMES = [
    "", " ", "  ", " a", "a ", "a  b", "a\tb", "a\nb", "a\r\nb", "\x00", "\x1f", "\x7f",
    "¬", "∧", "∨", "&", "|", "~", "⊤", "⊥", "true", "false", "True", "a|b",
    "(", ")", "()", "a & b", "~a", "¬(a ∧ b)", "age in [30, 45)",
    '"', '"a"', "\\", "\\n", "\\u0041", '\\"', "'", "don't", "a\u00a0b", "\u2028", "\u2003a",
    "\u200f", "\u202eabc\u202c", "\u2066", "\ufeff", "\ud800", "\udfff", "\ud83d\ude00", "😀",
    "a, b", "{", "}", "at least 2 of {a, b}", "exactly 0 of {", "at least 2 of", "exactly 1 of a",
    "\U000e0001", "\U0010ffff", "\u0301", "e\u0301", "é", "$x_1^2$", "100%", "{a}", "#1",
]  # fmt: skip

# st.text() alone leaves lone surrogates out.
names = st.sampled_from(["a", "b", "c"]) | st.sampled_from(NASTY_NAMES) | st.text(
    st.characters(exclude_categories=()), max_size=8
)  # fmt: skip


def formulas(names: st.SearchStrategy[str] = names) -> st.SearchStrategy[Formula]:
    return st.recursive(
        st.tuples(st.just("name"), names) | st.tuples(st.just("constant"), st.booleans()),
        lambda inner: (
            st.tuples(st.just("not"), inner)
            | st.tuples(
                st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=4)
            ).map(lambda drawn: (drawn[0], *drawn[1]))
            | st.lists(inner, min_size=2, max_size=5).flatmap(_counts)
        ),
        max_leaves=12,
    )


def _counts(operands: list[Formula]) -> st.SearchStrategy[Formula]:
    n = len(operands)
    at_least = st.tuples(st.just("at least"), st.integers(1, n))
    exactly = st.tuples(st.just("exactly"), st.integers(0, n))
    return (at_least | exactly).map(lambda drawn: (*drawn, *operands))


def build(formula: Formula) -> Expression:
    kind, *parts = formula
    if kind == "name":
        return Primitive(parts[0])
    if kind == "not":
        return Not(build(parts[0]))
    if kind == "constant":
        return Constant(parts[0])
    if kind in ("at least", "exactly"):
        number, *operands = parts
        return (AtLeast if kind == "at least" else Exactly)(number, map(build, operands))
    return (And if kind == "and" else Or)(*map(build, parts))


def flat_operands(formula: Formula) -> list[Formula]:
    """Operands of a connective, with those of the same kind inside it taken out."""
    flat = []
    for part in formula[1:]:
        flat += flat_operands(part) if part[0] == formula[0] else [part]
    return flat


def canonical(formula: Formula) -> Any:
    """Nested multisets: two formulas are equal exactly when these are."""
    if formula[0] in ("name", "constant"):
        return formula
    if formula[0] == "not":
        return ("not", canonical(formula[1]))
    if formula[0] in ("at least", "exactly"):
        kind, number, *operands = formula
        return (kind, number, frozenset(Counter(map(canonical, operands)).items()))
    return (formula[0], frozenset(Counter(map(canonical, flat_operands(formula))).items()))


def doubled(expression: Expression, times: int) -> Expression:
    for _ in range(times):
        expression = And(expression, expression)
    return expression


def negated(expression: Expression, times: int) -> Expression:
    for _ in range(times):
        expression = Not(expression)
    return expression


def ladder(height: int) -> Expression:
    """¬(… ¬(¬(x ∧ a) ∧ a) … ∧ a): negations and conjunctions nested in turn."""
    step = Primitive("a")
    expression: Expression = Primitive("x")
    for _ in range(height):
        expression = Not(And(expression, step))
    return expression
