"""Formulas that say the same in fewer literals.

Up to `MAX_VARIABLES` primitives everything is judged on the truth table: the formula and its
negation as irredundant sums of products, both factored, and the formula as it was built, each
without what its surroundings make redundant; the shortest wins. Beyond that, rules that hold
whatever the values, and the truth table of each part that is small enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

from conjunct.errors import InputError
from conjunct.expressions.arranging import arranged, complement, cost
from conjunct.expressions.cubes import (
    MAX_TERMS,
    TooManyTermsError,
    irredundant_cubes,
    multiplied_out,
)
from conjunct.expressions.expression import Counted, Expression, Not, Or, Primitive, nodes
from conjunct.expressions.factoring import all_of, any_of, factored, spelled_out, sum_of_products
from conjunct.expressions.pruning import Cases, pruned
from conjunct.expressions.reduction import reduced
from conjunct.expressions.truth import MAX_VARIABLES, all_cases, occurring, truth_table, variable

Form: TypeAlias = Literal["built", "nested", "dnf", "simplified"]
FORMS: tuple[Form, ...] = get_args(Form)

# Pruning looks at each literal in turn, and at all cases for each: at most this many together.
_MOST_PRUNED = 256 << 16
# Formulas of more primitives are divided into parts of at most this many, by their nodes.
_PART_VARIABLES = 16
_MOST_DIVIDED = 500


def in_form(expression: Expression, form: Form) -> Expression:
    """The formula in one of four equivalent forms.

    Parameters
    ----------
    expression : Expression
    form : {"built", "nested", "dnf", "simplified"}
        As it was constructed; with common parts taken out; as a disjunction of conjunctions; or
        the shortest that is known.

    Examples
    --------
    >>> from conjunct import parse
    >>> for form in FORMS:
    ...     print(in_form(parse("~(sky & tree) & (road | ~forest) & ~(tree & sky)"), form))
    ¬(sky ∧ tree) ∧ (road ∨ ¬forest) ∧ ¬(tree ∧ sky)
    ¬(sky ∧ tree) ∧ (road ∨ ¬forest)
    (¬sky ∧ road) ∨ (¬sky ∧ ¬forest) ∨ (¬tree ∧ road) ∨ (¬tree ∧ ¬forest)
    ¬(sky ∧ tree) ∧ (road ∨ ¬forest)
    """
    if form not in FORMS:
        raise InputError(f"unknown form {form!r}: choose one of {', '.join(map(repr, FORMS))}")
    if form == "built":
        return expression
    if form == "dnf":
        return disjunctive(expression)
    return nested(expression) if form == "nested" else simplified(expression)


def simplified(expression: Expression) -> Expression:
    """The shortest equivalent formula that is known; never longer than the formula itself.

    Time is bounded: a truth table has at most 4 million cases, sums of more than `MAX_TERMS`
    products are given up, and the rules for larger formulas stop after a given amount of work.
    """
    return _simplified(expression, None)


def simplified_on(expression: Expression, columns: Mapping[str, int], n_rows: int) -> Expression:
    """A short formula that agrees with this one on given rows, and perhaps not on others.

    Combinations of its primitives that occur in no row do not matter.

    Parameters
    ----------
    expression : Expression
    columns : mapping of str to int
        For each primitive of the formula the rows in which it is true: bit ``k`` is row ``k``.
    n_rows : int

    Examples
    --------
    >>> from conjunct import parse
    >>> rows = {"water": 0b0111, "cascade": 0b0011}  # no cascade without water
    >>> print(simplified_on(parse("water & cascade"), rows, 4))
    cascade
    """
    everywhere = all_cases(n_rows)
    return _simplified(expression, Cases(columns, everywhere, everywhere))


def nested(expression: Expression) -> Expression:
    """The irredundant sum of products of the formula, or of its negation, factored."""
    built, names = _reduced(expression)
    if len(names) > MAX_VARIABLES:
        return arranged(_divided(built), names)
    forms = [form for table in _tables(built, names, None) for form in _factored_forms(table)]
    return _best([arranged(form, names) for form in forms or [built]])


def disjunctive(expression: Expression) -> Expression:
    """A disjunction of conjunctions of literals.

    Up to `MAX_VARIABLES` primitives no term and no literal can be left out. Beyond, the formula
    is multiplied out and terms that imply another one go.

    Raises
    ------
    InputError
        Where there are more than `MAX_TERMS` terms.
    """
    built, names = _reduced(expression)
    try:
        if len(names) > MAX_VARIABLES:
            sums = [sum_of_products(multiplied_out(reduced(spelled_out(built)), names), names)]
        else:
            sums = [
                sum_of_products(irredundant_cubes(t.lower, t.upper, len(names)), t.names)
                for t in _tables(built, names, None)
            ]
    except TooManyTermsError:
        raise InputError(
            f"the disjunctive normal form has more than {MAX_TERMS:,} terms: "
            "ask for the nested or the simplified form"
        ) from None
    return arranged(_best(sums), names, keep_terms=True)


def _simplified(expression: Expression, rows: Cases | None) -> Expression:
    built, names = _reduced(expression)
    candidates = [built]
    if rows:
        candidates += [_pruned(simplified(built), rows)]
    if len(names) <= MAX_VARIABLES:
        tables = _tables(built, names, rows)
        candidates += [_pruned(built, tables[0].cases)]
        for table in tables:
            candidates += [_pruned(form, table.cases) for form in _factored_forms(table)]
    else:
        divided = _divided(built)
        candidates += [_pruned(divided, rows) if rows else divided]
    return _best([expression, *(arranged(candidate, names) for candidate in candidates)])


class _Table(NamedTuple):
    """The truth tables a formula must lie between, over the primitives in some order."""

    names: Sequence[str]
    lower: int
    upper: int
    cases: Cases


def _tables(built: Expression, names: Sequence[str], rows: Cases | None) -> list[_Table]:
    """The same for two orders of the primitives: which cover is found depends on it."""
    n = len(names)
    everywhere = all_cases(1 << n)
    tables = []
    for order in (names, names[::-1]) if n <= _PART_VARIABLES else (names,):
        columns = {name: variable(k, n) for k, name in enumerate(order)}
        care = everywhere
        if rows:
            care = occurring([rows.columns[name] for name in order], rows.everywhere)
        true = truth_table(built, order)
        cases = Cases(columns, everywhere, care)
        tables.append(_Table(order, true & care, true | everywhere ^ care, cases))
    return tables


def _factored_forms(table: _Table) -> Iterator[Expression]:
    """The function factored, and its negation factored and negated, unless they are too long."""
    names, lower, upper, cases = table
    outside = (cases.everywhere ^ upper, cases.everywhere ^ lower)
    for (one, other), negated in (((lower, upper), False), (outside, True)):
        try:
            form = factored(irredundant_cubes(one, other, len(names)), names)
        except TooManyTermsError:
            continue
        yield complement(form) if negated else form


def _pruned(expression: Expression, cases: Cases) -> Expression:
    work = expression.length * cases.everywhere.bit_length()
    return pruned(expression, cases) if work <= _MOST_PRUNED else expression


def _divided(built: Expression) -> Expression:
    """A formula of many primitives, each part of few of them simplified by itself.

    Operands are put together as long as their primitives fit one truth table, those that share
    most first, so that what one says need not be said by the other.
    """
    order = nodes(built)
    if len(order) > _MOST_DIVIDED:
        return built
    form: dict[int, Expression] = {}
    names: dict[int, frozenset[str]] = {}
    for node in order:
        digest = node.digest
        own = {node.name} if isinstance(node, Primitive) else ()
        names[digest] = frozenset(own).union(*(names[x.digest] for x in node._children))
        if len(names[digest]) <= _PART_VARIABLES or isinstance(node, Counted):
            form[digest] = node
        elif isinstance(node, Not):
            form[digest] = Not(form[node.operand.digest])
        else:
            join = any_of if isinstance(node, Or) else all_of
            operands = [(form[x.digest], names[x.digest]) for x in node._children]
            form[digest] = join([_whole(join(group)) for group in _groups(operands)])
    return form[built.digest]


def _whole(expression: Expression) -> Expression:
    return simplified(expression) if len(expression.primitives) <= _PART_VARIABLES else expression


def _groups(operands: Sequence[tuple[Expression, frozenset[str]]]) -> list[list[Expression]]:
    groups: list[tuple[list[Expression], frozenset[str]]] = []
    for operand, names in sorted(operands, key=lambda pair: -len(pair[1])):
        fitting = [
            k for k, (_, taken) in enumerate(groups) if len(taken | names) <= _PART_VARIABLES
        ]
        related = max(fitting, key=lambda k: len(groups[k][1] & names), default=None)
        if related is None or not groups[related][1] & names:
            groups.append(([operand], names))
        else:
            members, taken = groups[related]
            groups[related] = ([*members, operand], taken | names)
    return [members for members, _ in groups]


def _reduced(expression: Expression) -> tuple[Expression, list[str]]:
    """A first, cheap simplification, and its primitives in the order of the formula given."""
    built = reduced(expression)
    kept = built.primitives
    names = (node.name for node in nodes(expression) if isinstance(node, Primitive))
    return built, [name for name in dict.fromkeys(names) if name in kept]


def _best(candidates: Sequence[Expression]) -> Expression:
    """The shortest, then that with the fewest signs; the first of equals."""
    shortest = min(candidate.length for candidate in candidates)
    return min((c for c in candidates if c.length == shortest), key=cost)
