"""Long conjunctions in blocks of blocks, so that formulas are shallow.

What is left of a common tag after many merges, a ∧ ¬b ∧ ¬c ∧ …, is one conjunction within the next,
as deep as there were merges. In blocks it is the conjunction of a few, each of a few: as deep as a
number has digits. Conjunctions that begin alike share their blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from conjunct.expressions import And, Counted, Expression, Not, Or, nodes


class _Chain(NamedTuple):
    """Operands one after the other. Blocks of 1, ``width``, ``width``², … end where these divide
    the length."""

    length: int
    blocks: tuple[Expression, ...]
    """The blocks that end here."""
    before: tuple[_Chain | None, ...]
    """What comes before each of them."""
    whole: Expression


def in_blocks(features: Sequence[Expression], width: int) -> list[Expression]:
    """The same formulas, in which conjunctions and disjunctions have at most ``width`` operands."""
    made: dict[Expression, Expression] = {}
    chains: dict[Expression, _Chain] = {}

    def only(expression: Expression) -> Expression:
        # equal conjunctions may be nested otherwise, and one way is enough
        return made.setdefault(expression, expression)

    def longer(chain: _Chain | None, operand: Expression, kind: type[And | Or]) -> _Chain:
        length = 1 if chain is None else chain.length + 1
        blocks, before = [operand], [chain]
        while length % width ** len(blocks) == 0:
            parts, start = _row_of_blocks(before[-1], len(blocks))
            blocks.append(only(kind(*parts, blocks[-1])))
            before.append(start)
        parts, start = _row_of_blocks(before[-1], len(blocks))
        parts = [*([] if start is None else [start.whole]), *parts, blocks[-1]]
        whole = only(kind(*parts)) if len(parts) > 1 else parts[0]
        return _Chain(length, tuple(blocks), tuple(before), whole)

    for node in nodes(*features):
        children = [made[child] for child in node._children]
        if node in chains:
            continue
        if isinstance(node, And | Or):
            kind, operands = type(node), list(node.operands)
            longest = max(
                (child for child in operands if type(child) is kind),
                key=lambda child: chains[child].length,
                default=operands[0],
            )
            operands.remove(longest)
            chain = chains[longest] if type(longest) is kind else longer(None, made[longest], kind)
            for operand in operands:
                chain = longer(chain, made[operand], kind)
            made[node], chains[node] = chain.whole, chain
        elif isinstance(node, Not):
            only(Not(*children))
        elif isinstance(node, Counted):
            only(type(node)(node.number, children))
        else:
            only(node)
    return [made[feature] for feature in features]


def _row_of_blocks(chain: _Chain | None, n_sizes: int) -> tuple[list[Expression], _Chain | None]:
    """The last blocks of the largest of so many sizes, and what comes before them."""
    found: list[Expression] = []
    while chain is not None and len(chain.blocks) == n_sizes:
        found.append(chain.blocks[-1])
        chain = chain.before[-1]
    return found[::-1], chain
