"""Equivalent formulas with fewer literals.

Up to `MAX_VARIABLES` primitives, simplification uses the truth table. Candidates are the original
formula, and the factored irredundant sums of products of the formula and of its negation, all
without redundant parts. The shortest wins. Larger formulas are simplified by logical rules, and
by the truth tables of parts that are small enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias, get_args

from conjunct.errors import InputError
from conjunct.expressions.expression import (
    And,
    AtLeast,
    Constant,
    Counted,
    Expression,
    Not,
    Or,
    Primitive,
    all_of,
    any_of,
    nodes,
)
from conjunct.expressions.truth import (
    MAX_TERMS,
    MAX_VARIABLES,
    TooManyTermsError,
    all_cases,
    combine_columns,
    factor,
    irredundant_cubes,
    multiply_out,
    occurrence_table,
    sum_of_products,
    truth_table,
    variable_table,
)

Form: TypeAlias = Literal["built", "nested", "dnf", "simplified"]
FORMS: tuple[Form, ...] = get_args(Form)

MAX_WORK = 1_000_000
"""Maximum number of operands for the rules, which takes about a second."""

# Pruning checks all cases for each literal: at most this many in total.
_MOST_PRUNED = 256 << 16
# Formulas of more primitives are divided into parts of at most this many.
_PART_VARIABLES = 16
_MOST_DIVIDED = 500  # nodes
_LONGEST_ARRANGED = 5_000  # literals


def in_form(expression: Expression, form: Form) -> Expression:
    """Return a formula as built, factored, as a DNF, or the shortest found.

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
        return to_dnf(expression)
    if form == "simplified":
        return simplify(expression)
    # factor the irredundant sum of products of the formula, or of its negation
    built, names = _reduce(expression)
    if len(names) > MAX_VARIABLES:
        return _arrange(_simplify_parts(built), names)
    forms = [form for table in _make_tables(built, names, None) for form in _factor_table(table)]
    return _best([_arrange(form, names) for form in forms or [built]])


def simplify(expression: Expression, rows: _Cases | None = None) -> Expression:
    """Return the shortest equivalent formula found, which is never longer than the original.

    With ``rows``, it only needs to agree on these rows. Time is bounded by the sizes of truth
    tables (4 million cases) and sums (`MAX_TERMS` products), and by `MAX_WORK` for the rules.
    """
    built, names = _reduce(expression)
    candidates = [built]
    if rows:
        candidates += [_prune(simplify(built), rows)]
    if len(names) <= MAX_VARIABLES:
        tables = _make_tables(built, names, rows)
        candidates += [_prune(built, tables[0].cases)]
        for table in tables:
            candidates += [_prune(form, table.cases) for form in _factor_table(table)]
    else:
        parts = _simplify_parts(built)
        candidates += [_prune(parts, rows) if rows else parts]
    different = dict.fromkeys(candidates)
    return _best([expression, *(_arrange(candidate, names) for candidate in different)])


def simplify_on(expression: Expression, columns: Mapping[str, int], n_rows: int) -> Expression:
    """Return a short formula that agrees with this one on the given rows, but maybe not on others.

    ``columns`` holds, for each primitive, the rows in which it is true: bit ``k`` is row ``k``.

    >>> from conjunct import parse
    >>> rows = {"water": 0b0111, "cascade": 0b0011}  # no cascade without water
    >>> print(simplify_on(parse("water & cascade"), rows, 4))
    cascade
    """
    everywhere = all_cases(n_rows)
    return simplify(expression, _Cases(columns, everywhere, everywhere))


def to_dnf(expression: Expression) -> Expression:
    """Return an equivalent disjunction of conjunctions of literals.

    Up to `MAX_VARIABLES` primitives, no term or literal is redundant. Larger formulas are
    multiplied out, without terms that imply another. More than `MAX_TERMS` terms raise an
    `InputError`.
    """
    built, names = _reduce(expression)
    try:
        if len(names) > MAX_VARIABLES:
            cubes = multiply_out(_apply_rules(_expand_counts(built)), names)
            sums = [sum_of_products(cubes, names)]
        else:
            sums = [
                sum_of_products(irredundant_cubes(t.lower, t.upper, len(names)), t.names)
                for t in _make_tables(built, names, None)
            ]
    except TooManyTermsError:
        raise InputError(
            f"the disjunctive normal form has more than {MAX_TERMS:,} terms: "
            "ask for the nested or the simplified form"
        ) from None
    return _arrange(_best(sums), names, keep_terms=True)


@dataclass(frozen=True)
class _Cases:
    """Columns of the primitives and of "true", and the cases in which formulas must agree."""

    columns: Mapping[str, int]
    everywhere: int
    care: int
    _known: dict[int, int] = field(default_factory=dict)

    def column(self, expression: Expression) -> int:
        """Compute the column of a formula, and of each of its parts once."""
        known = self._known
        if expression.digest not in known:
            for node in nodes(expression):
                if node.digest in known:
                    continue
                if isinstance(node, Primitive):
                    known[node.digest] = self.columns[node.name]
                else:
                    operands = [known[child.digest] for child in node.children]
                    known[node.digest] = combine_columns(node, operands, self.everywhere)
        return known[expression.digest]


class _Table(NamedTuple):
    """Lower and upper truth tables of a formula, for an order of the primitives."""

    names: Sequence[str]
    lower: int
    upper: int
    cases: _Cases


def _make_tables(built: Expression, names: Sequence[str], rows: _Cases | None) -> list[_Table]:
    """Make tables for two orders of the primitives, because covers depend on the order."""
    n = len(names)
    everywhere = all_cases(1 << n)
    tables = []
    for order in (names, names[::-1]) if n <= _PART_VARIABLES else (names,):
        columns = {name: variable_table(k, n) for k, name in enumerate(order)}
        care = everywhere
        if rows:
            care = occurrence_table([rows.columns[name] for name in order], rows.everywhere)
        true = truth_table(built, order)
        cases = _Cases(columns, everywhere, care)
        tables.append(_Table(order, true & care, true | everywhere ^ care, cases))
    return tables


def _factor_table(table: _Table) -> Iterator[Expression]:
    """Yield the factored function and the negated factored negation, unless they are too long."""
    names, lower, upper, cases = table
    outside = (cases.everywhere ^ upper, cases.everywhere ^ lower)
    for (one, other), negated in (((lower, upper), False), (outside, True)):
        try:
            form = factor(irredundant_cubes(one, other, len(names)), names)
        except TooManyTermsError:
            continue
        yield _negate(form) if negated else form


def _simplify_parts(built: Expression) -> Expression:
    """Simplify a formula of many primitives in parts with few primitives.

    Operands form a part if their primitives fit into one truth table. Those that share the most
    primitives come first, to remove repetitions.
    """
    order = nodes(built)
    if len(order) > _MOST_DIVIDED:
        return built
    form: dict[int, Expression] = {}
    names: dict[int, frozenset[str]] = {}
    for node in order:
        digest = node.digest
        name = [node.name] if isinstance(node, Primitive) else []
        names[digest] = frozenset(name).union(*(names[x.digest] for x in node.children))
        if len(names[digest]) <= _PART_VARIABLES or isinstance(node, Counted):
            form[digest] = node
        elif isinstance(node, Not):
            form[digest] = Not(form[node.operand.digest])
        else:
            join = any_of if isinstance(node, Or) else all_of
            groups: list[tuple[list[Expression], frozenset[str]]] = []
            for child in sorted(node.children, key=lambda child: -len(names[child.digest])):
                operand, own = form[child.digest], names[child.digest]
                fitting = [
                    k for k, (_, its) in enumerate(groups) if len(its | own) <= _PART_VARIABLES
                ]
                related = max(fitting, key=lambda k: len(groups[k][1] & own), default=None)
                if related is None or not groups[related][1] & own:
                    groups.append(([operand], own))
                else:
                    members, its = groups[related]
                    groups[related] = ([*members, operand], its | own)
            parts = [join(members) for members, _ in groups]
            form[digest] = join(
                [simplify(x) if len(x.primitives) <= _PART_VARIABLES else x for x in parts]
            )
    return form[built.digest]


def _reduce(expression: Expression) -> tuple[Expression, list[str]]:
    """Apply the rules, and list the remaining primitives in the order of the original formula."""
    built = _apply_rules(expression)
    kept = built.primitives
    names = (node.name for node in nodes(expression) if isinstance(node, Primitive))
    return built, [name for name in dict.fromkeys(names) if name in kept]


def _best(candidates: Sequence[Expression]) -> Expression:
    """Return the shortest formula; ties go to fewer counts, then shorter text, then the first."""
    shortest = min(candidate.length for candidate in candidates)
    best = [candidate for candidate in candidates if candidate.length == shortest]
    if shortest > _LONGEST_ARRANGED:
        return best[0]

    def cost(expression: Expression) -> tuple[int, int]:
        return sum(isinstance(x, Counted) for x in nodes(expression)), len(expression.text())

    return min(best, key=cost)


Part: TypeAlias = int
"""The number of a primitive, conjunction or count; its complement (``~number``) is the negation."""

_TRUE: Part = 0
_FALSE: Part = ~_TRUE


class _TooMuchWorkError(Exception):
    """A formula is too large for the rules."""


def _apply_rules(expression: Expression) -> Expression:
    """Shorten a formula of any size by logical rules, without its truth table.

    A conjunction is a set: repetitions are dropped, a contradiction makes it false, and operands
    lose redundant parts: ``building ∧ ¬(sky ∧ building)`` is ``building ∧ ¬sky``. "At least one"
    becomes a disjunction; "all" and "none" become conjunctions. Negations move to primitives and
    counts, and shared parts stay shared. More work than `MAX_WORK` leaves the formula unchanged.
    """
    parts = _Parts()
    of: dict[int, Part] = {}
    order = nodes(expression)
    uses = Counter(id(child) for node in order for child in node.children)
    # a conjunction that is used once, in another conjunction, is merged into it
    inner = {
        id(child)
        for node in order
        if isinstance(node, And)
        for child in node.operands
        if isinstance(child, And) and uses[id(child)] == 1
    }
    gathered: dict[int, list[Part]] = {}
    try:
        for node in order:
            chains = [gathered.pop(id(child)) for child in node.children if id(child) in gathered]
            operands = max(chains, key=len, default=[])
            for chain in chains:
                if chain is not operands:
                    operands.extend(chain)
            operands.extend(of[id(child)] for child in node.children if id(child) in of)
            if id(node) in inner:
                gathered[id(node)] = operands
                continue
            if isinstance(node, Primitive):
                of[id(node)] = parts.primitive(node)
            elif isinstance(node, Constant):
                of[id(node)] = _TRUE if node.value else _FALSE
            elif isinstance(node, Not):
                of[id(node)] = ~operands[0]
            elif isinstance(node, Or):
                of[id(node)] = ~parts.conjoin(~operand for operand in operands)
            elif isinstance(node, Counted):
                of[id(node)] = parts.count(type(node), node.number, operands)
            else:
                of[id(node)] = parts.conjoin(operands)
    except _TooMuchWorkError:
        return expression
    return parts.expression(of[id(expression)])


class _Parts:
    """Numbered primitives, conjunctions and counts; equal ones share a number."""

    def __init__(self) -> None:
        # ordered sets, empty for primitives and counts
        self._members: list[dict[Part, None]] = [{}]
        self._primitives: dict[Part, Primitive] = {}
        self._counts: dict[Part, tuple[type[Counted], int, list[Part]]] = {}
        self._numbers: dict[object, Part] = {}
        self._work = 0

    def primitive(self, node: Primitive) -> Part:
        number = self._number(node.name, {})
        self._primitives[number] = node
        return number

    def conjoin(self, operands: Iterable[Part]) -> Part:
        """Join operands with "and", applying the rules until nothing changes."""
        members = self._flatten(operands)
        while True:
            if any(~member in members for member in members):
                return _FALSE
            shorter = self._flatten(
                part for member in members for part in self._reduce_within(member, members)
            )
            if shorter.keys() == members.keys():
                return self._conjunction(members)
            members = shorter

    def count(self, kind: type[Counted], number: int, operands: Sequence[Part]) -> Part:
        """Count the operands, without those that are certain."""
        times = Counter(operands)
        number -= times.pop(_TRUE, 0)
        times.pop(_FALSE, None)
        for operand in [x for x in times if x >= 0 and ~x in times]:
            # one of a and ¬a is true
            pairs = min(times[operand], times[~operand])
            times -= Counter({operand: pairs, ~operand: pairs})
            number -= pairs
        uncertain = list(times.elements())
        self._work += len(uncertain)
        if number > len(uncertain) or (number < 0 and kind is not AtLeast):
            return _FALSE
        if number == len(uncertain):
            return self.conjoin(uncertain)
        if number <= 0:
            return _TRUE if kind is AtLeast else self.conjoin(~x for x in uncertain)
        if number == 1 and kind is AtLeast:
            return ~self.conjoin(~x for x in uncertain)
        part = self._number((kind, number, frozenset(times.items())), {})
        self._counts.setdefault(part, (kind, number, uncertain))
        return part

    def _flatten(self, operands: Iterable[Part]) -> dict[Part, None]:
        members: dict[Part, None] = {}
        for operand in operands:
            inner = self._members[operand] if operand >= 0 else None
            members.update(inner or {operand: None})
            self._work += 1 + len(inner or ())
            if self._work > MAX_WORK:
                raise _TooMuchWorkError
        members.pop(_TRUE, None)
        return members

    def _reduce_within(self, member: Part, members: dict[Part, None]) -> Iterable[Part]:
        """Simplify a member, given all others; return nothing if they imply it."""
        inner = self._members[~member] if member < 0 else {}
        self._work += len(inner)
        if not inner:
            return [member]
        if any(~part in members for part in inner):
            return []
        kept = {part: None for part in inner if part not in members}
        return [member] if len(kept) == len(inner) else [~self._conjunction(kept)]

    def _conjunction(self, members: dict[Part, None]) -> Part:
        if _FALSE in members:
            return _FALSE
        if len(members) < 2:
            return next(iter(members), _TRUE)
        return self._number(frozenset(members), members)

    def _number(self, key: object, members: dict[Part, None]) -> Part:
        if key not in self._numbers:
            self._numbers[key] = len(self._members)
            self._members.append(members)
        return self._numbers[key]

    def expression(self, part: Part) -> Expression:
        """Build the expression of a part, with negations only on primitives and counts."""
        built: dict[Part, Expression] = {_TRUE: Constant(True), _FALSE: Constant(False)}
        pending = [part]
        while pending:
            current = pending[-1]
            number = max(current, ~current)
            members = self._members[number]
            wanted = [member if current >= 0 else ~member for member in members]
            if number in self._counts:
                wanted = self._counts[number][2]
            missing = [member for member in wanted if member not in built]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            if current in built:
                continue
            if members:
                join = all_of if current >= 0 else any_of
                built[current] = join([built[member] for member in wanted])
                continue
            if number in self._counts:
                kind, least, _ = self._counts[number]
                positive: Expression = kind(least, [built[operand] for operand in wanted])
            else:
                positive = self._primitives[number]
            built[current] = positive if current >= 0 else Not(positive)
        return built[part]


def _expand_counts(expression: Expression) -> Expression:
    """Replace counts with conjunctions and disjunctions, which share parts.

    At least k of some operands are true if at least k of the rest are, or if the first and at
    least k − 1 of the rest are.
    """

    def at_least(operands: Sequence[Expression], number: int) -> Expression:
        found: list[Expression] = [Constant(True), *[Constant(False)] * number]
        for operand in reversed(operands):
            for k in range(number, 0, -1):
                found[k] = Or(found[k], And(operand, found[k - 1]))
        return found[number]

    built: dict[int, Expression] = {}
    for node in nodes(expression):
        operands = [built[child.digest] for child in node.children]
        if isinstance(node, Counted):
            enough = at_least(operands, node.number)
            if node.most < len(operands):
                enough = And(enough, Not(at_least(operands, node.most + 1)))
            built[node.digest] = enough
        elif isinstance(node, Not):
            built[node.digest] = Not(operands[0])
        else:
            built[node.digest] = type(node)(*operands) if isinstance(node, And | Or) else node
    return built[expression.digest]


def _prune(expression: Expression, cases: _Cases) -> Expression:
    """Drop operands that are redundant in all relevant cases, unless this takes too long.

    An operand of a conjunction matters only where all others are true, and one of a disjunction
    only where all others are false. If it is constant there, it is dropped; otherwise its own
    operands are pruned.
    """
    work = expression.length * cases.everywhere.bit_length()
    return _prune_where(expression, cases, cases.care) if work <= _MOST_PRUNED else expression


def _prune_where(expression: Expression, cases: _Cases, care: int) -> Expression:
    true = cases.column(expression) & care
    if not true:
        return Constant(False)
    if true == care:
        return Constant(True)
    if isinstance(expression, Not):
        return Not(_prune_where(expression.operand, cases, care))
    if not isinstance(expression, And | Or):
        return expression
    is_and = isinstance(expression, And)
    operands = list(expression.operands)
    columns = [cases.column(operand) for operand in operands]
    # longest first, because it is the best one to drop
    for k in sorted(range(len(operands)), key=lambda k: -operands[k].length):
        matters = care
        for other, its_column in enumerate(columns):
            if other != k:
                matters &= its_column if is_and else ~its_column
        operands[k] = _prune_where(operands[k], cases, matters)
        columns[k] = cases.column(operands[k])
    neutral = Constant(is_and)
    kept = [operand for operand in operands if operand != neutral]
    return all_of(kept) if is_and else any_of(kept)


def _negate(expression: Expression) -> Expression:
    """Negate a formula by negating its primitives and counts."""
    if isinstance(expression, Constant):
        return Constant(not expression.value)
    if isinstance(expression, Not):
        return expression.operand
    if isinstance(expression, Primitive | Counted):
        return Not(expression)
    join = any_of if isinstance(expression, And) else all_of
    return join([_negate(operand) for operand in expression.children])


def _arrange(
    expression: Expression, names: Sequence[str], *, keep_terms: bool = False
) -> Expression:
    """Sort operands in the order of ``names``, with literals before groups.

    A disjunction of mostly negated literals becomes the negation of a conjunction, which is easier
    to read, unless ``keep_terms`` is set.
    """
    if expression.length > _LONGEST_ARRANGED:
        return expression
    position = {name: index for index, name in enumerate(names)}
    ranks: dict[int, tuple[bool, list[int]]] = {}

    def rank(operand: Expression) -> tuple[bool, list[int]]:
        if operand.digest not in ranks:
            places = sorted(position[name] for name in operand.primitives)
            ranks[operand.digest] = operand.length > 1, places
        return ranks[operand.digest]

    built: dict[int, Expression] = {}
    for node in nodes(expression):
        operands = [built[child.digest] for child in node.children]
        if isinstance(node, And | Or):
            kind = type(node)
            flat: list[Expression] = []
            for operand in operands:
                flat.extend(operand.operands if isinstance(operand, kind) else (operand,))
            flat.sort(key=rank)
            negations = sum(isinstance(operand, Not) for operand in flat)
            is_denial = 2 * negations >= (4 if len(flat) == 2 else len(flat))
            is_plain = not any(operand.length > 1 for operand in flat)
            is_negated = kind is Or and not keep_terms and is_plain and is_denial
            built[node.digest] = Not(And(*map(_negate, flat))) if is_negated else kind(*flat)
        elif isinstance(node, Counted):
            built[node.digest] = type(node)(node.number, sorted(operands, key=rank))
        else:
            built[node.digest] = Not(operands[0]) if isinstance(node, Not) else node
    return built[expression.digest]
