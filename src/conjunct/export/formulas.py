"""Provide all exports with checks of raw cells, a traversal of formulas, and steps of a statement.

A model of raw columns is exported with the checks behind its Boolean columns, so the export reads
raw tables like ``transform``.

A `Target` writes formulas in one language. Steps keep a statement short: if a later step uses a
part, the part is a column until its last use. More steps share more parts, but each step repeats
the columns that later steps need.

Long chains of conjunctions become nested blocks first, which makes formulas shallow. The rest of a
common tag after many merges, a ∧ ¬b ∧ ¬c ∧ …, is as deep as there were merges. In blocks of blocks
its depth is the logarithm of that number. Conjunctions with a common prefix share blocks.

Alternating negations, d ∧ ¬(c ∧ ¬(b ∧ ¬a)), are such chains too: they equal d ∧ (¬c ∨ (b ∧ ¬a)).
Each link turns a value x into (x ∧ q) ∨ p, and so does a sequence of links. This is valid in
Kleene's logic, which has the distributive laws and De Morgan's laws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol, TypeVar

from conjunct.data import (
    MONTHS,
    PAIRS,
    WEEKDAYS,
    BooleanRule,
    ColumnRule,
    DatePart,
    NumberRule,
    TagsRule,
)
from conjunct.errors import InputError
from conjunct.expressions import And, Constant, Counted, Expression, Not, Or, Primitive, nodes

NO = tuple(sorted(word for no, _ in PAIRS for word in no))
YES = tuple(sorted(word for _, yes in PAIRS for word in yes))

# maximum depths of conjunctions in a step that are tried; with the last, there is one step
WHOLE = 1 << 62
STRIDES = (1, 2, 3, 4, 6, 8, WHOLE)
# rough lengths of texts: a column has an old and a new name, a literal one name, and each pair of
# brackets indents the literal
_COLUMN, _LITERAL, _BRACKETS = 4, 2, 1
# Databases limit the depth of an expression (SQLite: 1,000), to which each literal may add. Some
# also take more than linear time to find common parts of long expressions.
_LONGEST_IN_ONE = 12
# operands of a block, and links of a block of alternating negations, which are put into blocks only
# if there would be more than a few steps
_BLOCK, _BLOCK_OF_TURNS, _FEW_STEPS = 8, 3, 8

T = TypeVar("T")


class Flag(NamedTuple):
    """A check that a cell is true: a Boolean, 0 or 1, or a word such as yes or no."""

    column: str


class OneOf(NamedTuple):
    """A check that a cell is one of some words, or one of some numbers in shortest spelling."""

    column: str
    words: tuple[str, ...]
    are_numbers: bool


class Interval(NamedTuple):
    """A check that a number, or a part of a date, is at least ``low`` and below ``high``."""

    column: str
    low: float | None
    high: float | None
    part: DatePart | None = None
    are_digits: bool = False


class PartOneOf(NamedTuple):
    """A check that a part of a date is one of some numbers. Months and weekdays start at 1."""

    column: str
    part: DatePart
    numbers: tuple[int, ...]
    are_digits: bool = False
    """True if dates are numbers such as 20241231."""


class HasTag(NamedTuple):
    """A check that a list has a tag. A row without a list has no tags.

    ``separator`` is the delimiter of tags in text, ``[]`` for text in brackets, None for lists.
    """

    column: str
    tag: str
    separator: str | None


Check = Flag | OneOf | Interval | PartOneOf | HasTag


def checks_of(rules: Sequence[ColumnRule]) -> dict[str, Check]:
    """Return the check behind each feature of a Binarizer.

    For a missing cell, all checks of the column are missing; for an unknown word, all are false.
    """
    return {
        name: check
        for rule in rules
        for name, check in zip(rule.names(), _checks(rule), strict=True)
    }


def _checks(rule: ColumnRule) -> Iterator[Check]:
    if isinstance(rule, BooleanRule):
        yield Flag(rule.column)
        return
    if isinstance(rule, TagsRule):
        yield from (HasTag(rule.column, tag, rule.separator) for tag in rule.values)
        return
    are_digits = rule.part is not None and rule.order == "digits"
    if isinstance(rule, NumberRule):
        if rule.part == "hour" and not all(edge.is_integer() for edge in rule.edges):
            raise InputError(
                f"column {rule.column!r} has a bin edge within an hour, which cannot be exported: "
                "use whole hours"
            )
        lows, highs = [None, *rule.edges], [*rule.edges, None]
        if rule.cumulative:
            lows, highs = [*rule.edges], [None] * len(rule.edges)
        for low, high in zip(lows, highs, strict=True):
            yield Interval(rule.column, low, high, rule.part, are_digits)
        return
    names = {"month": MONTHS, "weekday": WEEKDAYS}.get(rule.part or "")
    for group in [
        *((value,) for value in rule.values),
        *([] if rule.other is None else [rule.rare]),
    ]:
        if rule.part is None:
            yield OneOf(rule.column, tuple(group), rule.written != "words")
        else:
            numbers = tuple(names.index(word) + 1 if names else int(word) for word in group)
            yield PartOneOf(rule.column, rule.part, numbers, are_digits)


def refuse_lists(check: HasTag, where: str, known: Sequence[str | None]) -> None:
    """Refuse a column of lists with a separator that is not ``known``."""
    if check.separator in known:
        return
    what = "lists" if check.separator is None else "lists in brackets"
    raise InputError(
        f"column {check.column!r} holds {what}, which {where} cannot read: make the columns "
        "Boolean with a Binarizer, and fit on its output"
    )


class Target(Protocol[T]):
    """A language for formulas, in which missing cells follow Kleene's logic."""

    def primitive(self, name: str) -> T:
        """Write a primitive."""

    def constant(self, value: bool) -> T:
        """Write true or false."""

    def negate(self, value: T) -> T:
        """Write a negation."""

    def join(self, values: Sequence[T], *, is_or: bool) -> T:
        """Write a conjunction or a disjunction."""

    def count(self, values: Sequence[T], least: int, most: int) -> T:
        """Write the condition that ``least`` to ``most`` of the values are true."""


def write_node(node: Expression, operands: Sequence[T], target: Target[T]) -> T:
    """Write a formula from its written operands."""
    if isinstance(node, Primitive):
        return target.primitive(node.name)
    if isinstance(node, Constant):
        return target.constant(node.value)
    if isinstance(node, Not):
        return target.negate(operands[0])
    if isinstance(node, Counted):
        return target.count(operands, node.number, node.most)
    return target.join(operands, is_or=isinstance(node, Or))


def write_formula(
    formula: Expression, target: Target[T], column: Callable[[Expression], T | None]
) -> T:
    """Write a shallow formula recursively; ``column`` returns the parts that are columns."""
    known = column(formula)
    if known is not None:
        return known
    operands = [write_formula(child, target, column) for child in formula.children]
    return write_node(formula, operands, target)


def write_formulas(features: Iterable[Expression], target: Target[T]) -> list[T]:
    """Write formulas, with each shared part written once."""
    written: dict[Expression, T] = {}
    for feature in (features := list(features)):
        for node in nodes(feature):
            if node not in written:
                operands = [written[child] for child in node.children]
                written[node] = write_node(node, operands, target)
    return [written[feature] for feature in features]


class Plan(NamedTuple):
    """A plan of steps 0 to ``n_steps`` - 1, after which the features are computed."""

    features: Sequence[Expression]
    n_steps: int
    step: Mapping[Expression, int]
    """The step that computes each part; 0 for primitives."""
    last: Mapping[Expression, int]
    """For parts that are columns, the last step that uses them; ``n_steps`` for the features."""
    longest: int
    """Maximum number of literals of an expression."""
    widest: int
    """Maximum number of columns of a step."""
    written: int
    """Approximate length of all expressions."""
    size: int
    """Approximate length of the statement, without the names of the features."""

    @property
    def columns(self) -> list[Expression]:
        """All parts that are columns, beginning with the primitives by name."""
        return list(self.last)

    def columns_of(self, step: int) -> list[Expression]:
        """List the columns of a step: computed there or before, and used later."""
        return [part for part, last in self.last.items() if self.step[part] <= step < last]

    def is_column(self, part: Expression, step: int) -> bool:
        """Return True if an earlier step computes a part."""
        return self.step.get(part, step) < step


def best_plan(features: Iterable[Expression], most_columns: float) -> Plan:
    """Return the plan with the shortest statement."""
    as_given = list(features)
    plans = _make_plans(as_given)
    if plans[0].n_steps > 1:
        plans += _make_plans(put_into_blocks(as_given, _BLOCK))
    best = _choose_shortest(plans, most_columns)
    if best.n_steps > _FEW_STEPS:
        plans += _make_plans(put_into_blocks(as_given, _BLOCK_OF_TURNS, turns=True))
        best = _choose_shortest(plans, most_columns)
    return best


def is_shorter_inline(features: Iterable[Expression], most_columns: float) -> bool:
    """Return True if the statement is shortest without steps and has no long formula."""
    as_given = list(features)
    inline = _make_plan(as_given, _list_parts(as_given), WHOLE)
    if inline.longest > _LONGEST_IN_ONE:
        return False
    return inline.written <= _choose_shortest(_make_plans(as_given), most_columns).size


def _make_plans(features: Sequence[Expression]) -> list[Plan]:
    parts = _list_parts(features)
    return [_make_plan(features, parts, stride) for stride in STRIDES]


def _choose_shortest(plans: Sequence[Plan], most_columns: float) -> Plan:
    """Return the shortest plan that databases accept."""
    short = [plan for plan in plans if plan.longest <= _LONGEST_IN_ONE] or plans[:1]
    fitting = [plan for plan in short if plan.widest <= most_columns] or short
    return min(fitting, key=lambda plan: plan.size)


def _list_parts(features: Sequence[Expression]) -> list[Expression]:
    """List all parts except negations and constants, operands first."""
    found = (node for node in nodes(*features) if isinstance(node, Primitive | And | Or | Counted))
    return list(dict.fromkeys(found))


def _make_plan(features: Sequence[Expression], parts: Sequence[Expression], stride: int) -> Plan:
    """Make a plan whose steps nest at most ``stride`` conjunctions."""
    depth: dict[Expression, int] = {}
    for part in parts:
        below = (depth.get(_without_not(child), 0) for child in part.children)
        depth[part] = 0 if isinstance(part, Primitive) else 1 + max(below, default=0)
    step = {part: -(-depth[part] // stride) for part in parts}
    tops = [top for top in map(_without_not, features) if top in step]
    n_steps = max(1, max((step[top] for top in tops), default=0))
    last: dict[Expression, int] = {}
    literals: dict[Expression, int] = {}
    length: dict[Expression, int] = {}
    for part in parts:
        literals[part] = length[part] = 0
        for child in filter(step.__contains__, map(_without_not, part.children)):
            if step[child] < step[part]:
                last[child] = max(last.get(child, 0), step[part])
                literals[part] += 1
                length[part] += _LITERAL
            else:
                literals[part] += literals[child]
                length[part] += length[child] + _BRACKETS * literals[child]
    last |= {top: n_steps for top in tops if step[top] < n_steps}
    primitives = sorted((p for p in last if isinstance(p, Primitive)), key=lambda p: p.name)
    ordered = {part: last[part] for part in dict.fromkeys((*primitives, *last))}
    made = [part for part in (*ordered, *tops) if step[part]]
    longest = max((literals[part] for part in made), default=0)
    written = sum(length[part] for part in made)
    changes = [0] * (n_steps + 1)
    for part, end in ordered.items():
        changes[step[part]] += 1
        changes[end] -= 1
    widths = list(accumulate(changes))
    size = written + _COLUMN * sum(widths)
    return Plan(features, n_steps, step, ordered, longest, max(widths), written, size)


def _without_not(expression: Expression) -> Expression:
    while isinstance(expression, Not):
        expression = expression.operand
    return expression


class _Link(NamedTuple):
    """A step from x to (x ∧ ``limit``) ∨ ``more``, either of which may be None."""

    more: Expression | None
    limit: Expression | None


class _Chain(NamedTuple):
    """A sequence of links, in blocks of 1, ``width``, ``width``², … if these divide its length."""

    length: int
    blocks: tuple[_Link, ...]
    """The blocks that end here."""
    before: tuple[_Chain | None, ...]
    """The chain before each of them."""
    whole: Expression


_Spine = tuple[_Chain, bool]
"""A formula as a chain, and True if the formula is the negation of the chain."""


class _Blocks:
    """Put formulas into blocks, operands first; ``made`` maps each formula to its result."""

    def __init__(self, width: int, *, turns: bool) -> None:
        self._width, self._turns = width, turns
        self._spines: dict[Expression, _Spine] = {}
        self._first: dict[Expression, Expression] = {}
        self.made: dict[Expression, Expression] = {}

    def add(self, node: Expression) -> None:
        """Add a formula after its operands."""
        if node in self._spines:
            return
        if isinstance(node, And | Or):
            self._spines[node] = chain, is_denied = self._make_spine(node)
            self.made[node] = self._deny(chain.whole) if is_denied else chain.whole
        elif isinstance(node, Not):
            self.made[node] = self._deny(self.made[node.operand])
        elif isinstance(node, Counted):
            operands = [self.made[operand] for operand in node.operands]
            self.made[node] = self._share(type(node)(node.number, operands))
        else:
            self.made[node] = self._share(node)

    def _share(self, expression: Expression) -> Expression:
        # equal conjunctions may be nested in different ways: keep the first
        return self._first.setdefault(expression, expression)

    def _deny(self, expression: Expression) -> Expression:
        if isinstance(expression, Not):
            return expression.operand
        return self._share(Not(expression))

    def _make_spine(self, node: And | Or) -> _Spine:
        """Append all other operands as links to the longest chain among the operands."""
        kind, operands = type(node), list(node.operands)
        known: list[tuple[int, _Spine]] = []
        for k, operand in enumerate(operands):
            is_turn = self._turns and isinstance(operand, Not)
            spine = self._spines.get(operand.children[0] if is_turn else operand)
            if spine and (self._turns or type(operand) is kind):
                known.append((k, (spine[0], spine[1] is not is_turn)))
        if known:
            k, (chain, is_denied) = max(known, key=lambda one: one[1][0].length)
        else:
            k, is_denied = 0, False
            chain = self._append(None, _Link(self.made[operands[0]], None))
        is_and = (kind is And) is not is_denied
        for operand in (*operands[:k], *operands[k + 1 :]):
            value = self.made[operand]
            value = self._deny(value) if is_denied else value
            chain = self._append(chain, _Link(None, value) if is_and else _Link(value, None))
        return chain, is_denied

    def _append(self, chain: _Chain | None, link: _Link) -> _Chain:
        length = 1 if chain is None else chain.length + 1
        blocks, before = [link], [chain]
        while length % self._width ** len(blocks) == 0:
            row, start = _last_blocks(before[-1], len(blocks))
            row.append(blocks[-1])
            has_more = any(link.more is not None for link in row)
            limits = [link.limit for link in row if link.limit is not None]
            more = self._apply(None, row) if has_more else None
            blocks.append(_Link(more, self._join(And, limits) if limits else None))
            before.append(start)
        row, start = _last_blocks(before[-1], len(blocks))
        whole = self._apply(None if start is None else start.whole, [*row, blocks[-1]])
        return _Chain(length, tuple(blocks), tuple(before), whole)

    def _apply(self, value: Expression | None, row: Sequence[_Link]) -> Expression:
        """Apply links to a value in sequence; None is false."""
        held: list[Expression] = [] if value is None else [value]
        kind: type[And | Or] = And
        for link in row:
            for joins, operand in ((And, link.limit), (Or, link.more)):
                if operand is None or (joins is And and not held):
                    continue
                if joins is not kind and len(held) > 1:
                    held = [self._join(kind, held)]
                kind = joins
                held.append(operand)
        return self._join(kind, held) if held else Constant(False)

    def _join(self, kind: type[And | Or], operands: Sequence[Expression]) -> Expression:
        return self._share(kind(*operands)) if len(operands) > 1 else operands[0]


def put_into_blocks(
    features: Sequence[Expression], width: int, *, turns: bool = False
) -> list[Expression]:
    """Rewrite formulas: conjunctions and disjunctions then have at most ``width`` operands.

    With ``turns``, alternating negations are put into blocks too.
    """
    blocks = _Blocks(width, turns=turns)
    for node in nodes(*features):
        blocks.add(node)
    return [blocks.made[feature] for feature in features]


def _last_blocks(chain: _Chain | None, n_sizes: int) -> tuple[list[_Link], _Chain | None]:
    """Return the last blocks of the largest of ``n_sizes`` sizes, and the chain before them."""
    found: list[_Link] = []
    while chain is not None and len(chain.blocks) == n_sizes:
        found.append(chain.blocks[-1])
        chain = chain.before[-1]
    return found[::-1], chain
