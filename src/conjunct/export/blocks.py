"""Long chains of conjunctions in blocks of blocks, so that formulas are shallow.

What is left of a common tag after many merges, a ∧ ¬b ∧ ¬c ∧ …, is one conjunction within the next,
as deep as there were merges. In blocks it is the conjunction of a few, each of a few: as deep as a
number has digits. Conjunctions that begin alike share their blocks.

Formulas that deny each other in turn, d ∧ ¬(c ∧ ¬(b ∧ ¬a)), are such chains too: without their
negations, d ∧ (¬c ∨ (b ∧ ¬a)). Each link makes (x ∧ q) ∨ p of the value x before it, and so does
what several links make together. Kleene's logic has the laws that this takes: it is distributive,
and a negated conjunction is the disjunction of what is negated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from conjunct.expressions import And, Constant, Counted, Expression, Not, Or, nodes


class _Link(NamedTuple):
    """Makes (x ∧ ``limit``) ∨ ``more`` of x; what is None is left out."""

    more: Expression | None
    limit: Expression | None


class _Chain(NamedTuple):
    """Links one after the other. Blocks of 1, ``width``, ``width``², … end where these divide
    the length."""

    length: int
    blocks: tuple[_Link, ...]
    """The blocks that end here."""
    before: tuple[_Chain | None, ...]
    """What comes before each of them."""
    whole: Expression


class _Spine(NamedTuple):
    """A formula as a chain, or as what a chain is not."""

    chain: _Chain
    is_denied: bool


class _Blocks:
    def __init__(self, width: int, *, turns: bool) -> None:
        self._width, self._turns = width, turns
        self._spines: dict[Expression, _Spine] = {}
        self._first: dict[Expression, Expression] = {}
        self.made: dict[Expression, Expression] = {}

    def add(self, node: Expression) -> None:
        """A formula whose operands were added before."""
        if node in self._spines:
            return
        if isinstance(node, And | Or):
            self._spines[node] = spine = self._spine(node)
            whole = spine.chain.whole
            self.made[node] = self._denied(whole) if spine.is_denied else whole
        elif isinstance(node, Not):
            self.made[node] = self._denied(self.made[node.operand])
        elif isinstance(node, Counted):
            operands = [self.made[operand] for operand in node.operands]
            self.made[node] = self._only(type(node)(node.number, operands))
        else:
            self.made[node] = self._only(node)

    def _only(self, expression: Expression) -> Expression:
        # equal conjunctions may be nested otherwise, and one way is enough
        return self._first.setdefault(expression, expression)

    def _denied(self, expression: Expression) -> Expression:
        if isinstance(expression, Not):
            return expression.operand
        return self._only(Not(expression))

    def _spine(self, node: And | Or) -> _Spine:
        """The longest chain among the operands, and the others as its next links."""
        kind, operands = type(node), list(node.operands)
        known = [(k, spine) for k, x in enumerate(operands) if (spine := self._known(x, kind))]
        if known:
            k, (chain, is_denied) = max(known, key=lambda one: one[1].chain.length)
        else:
            k, is_denied = 0, False
            chain = self._longer(None, _Link(self.made[operands[0]], None))
        is_and = (kind is And) is not is_denied
        for operand in (*operands[:k], *operands[k + 1 :]):
            value = self.made[operand]
            value = self._denied(value) if is_denied else value
            chain = self._longer(chain, _Link(None, value) if is_and else _Link(value, None))
        return _Spine(chain, is_denied)

    def _known(self, operand: Expression, kind: type[And | Or]) -> _Spine | None:
        """The chain of an operand, if it can be made longer."""
        if not self._turns:
            return self._spines.get(operand) if type(operand) is kind else None
        if isinstance(operand, Not):
            spine = self._spines.get(operand.operand)
            return spine and spine._replace(is_denied=not spine.is_denied)
        return self._spines.get(operand)

    def _longer(self, chain: _Chain | None, link: _Link) -> _Chain:
        length = 1 if chain is None else chain.length + 1
        blocks, before = [link], [chain]
        while length % self._width ** len(blocks) == 0:
            row, start = _row_of_blocks(before[-1], len(blocks))
            row.append(blocks[-1])
            blocks.append(self._block(row))
            before.append(start)
        row, start = _row_of_blocks(before[-1], len(blocks))
        whole = self._after(None if start is None else start.whole, [*row, blocks[-1]])
        return _Chain(length, tuple(blocks), tuple(before), whole)

    def _block(self, row: Sequence[_Link]) -> _Link:
        """What links make together."""
        limits = [link.limit for link in row if link.limit is not None]
        has_more = any(link.more is not None for link in row)
        return _Link(
            self._after(None, row) if has_more else None,
            self._joined(And, limits) if limits else None,
        )

    def _after(self, value: Expression | None, row: Sequence[_Link]) -> Expression:
        """What links make of a value, one after the other; None is false."""
        held: list[Expression] = [] if value is None else [value]
        kind: type[And | Or] = And
        for link in row:
            for joins, operand in ((And, link.limit), (Or, link.more)):
                if operand is None or (joins is And and not held):
                    continue
                if joins is not kind and len(held) > 1:
                    held = [self._joined(kind, held)]
                kind = joins
                held.append(operand)
        return self._joined(kind, held) if held else Constant(False)

    def _joined(self, kind: type[And | Or], operands: Sequence[Expression]) -> Expression:
        return self._only(kind(*operands)) if len(operands) > 1 else operands[0]


def in_blocks(
    features: Sequence[Expression], width: int, *, turns: bool = False
) -> list[Expression]:
    """The same formulas, in which conjunctions and disjunctions have at most ``width`` operands.

    With ``turns``, those that deny each other in turn are put into blocks too.
    """
    blocks = _Blocks(width, turns=turns)
    for node in nodes(*features):
        blocks.add(node)
    return [blocks.made[feature] for feature in features]


def _row_of_blocks(chain: _Chain | None, n_sizes: int) -> tuple[list[_Link], _Chain | None]:
    """The last blocks of the largest of so many sizes, and what comes before them."""
    found: list[_Link] = []
    while chain is not None and len(chain.blocks) == n_sizes:
        found.append(chain.blocks[-1])
        chain = chain.before[-1]
    return found[::-1], chain
