"""The order of canonical texts, without writing them out.

Ties between pairs are broken by canonical text, and after many iterations a text may be longer
than a book. Two of them almost always share most of their parts, so they are compared part by
part: what is the same node is skipped whole, and a part is opened only where the two differ.
"""

from __future__ import annotations

from functools import cmp_to_key

from conjunct.expressions.expression import (
    And,
    Constant,
    Counted,
    Expression,
    Not,
    Or,
    Primitive,
)
from conjunct.expressions.text import count_words

Piece = Expression | str


def compare_canonical(left: Expression, right: Expression) -> int:
    """−1, 0 or 1 as the canonical text of ``left`` is smaller than, equal to or larger than that
    of ``right``; where names make two different formulas read alike, their digests decide.

    Examples
    --------
    >>> a, b, c = map(Primitive, "abc")
    >>> compare_canonical(b & a, ~c & a)
    -1
    """
    for expression in (left, right):
        _sort_operands(expression)
    return _compare(left, right) or (left.digest > right.digest) - (left.digest < right.digest)


canonical_key = cmp_to_key(compare_canonical)
"""For ``sorted(..., key=canonical_key)``."""


def _sort_operands(root: Expression) -> None:
    """Give connectives and counts their operands in canonical order, connectives flattened."""
    pending = [root]
    while pending:
        node = pending[-1]
        unsorted = [x for x in node._children if not _is_sorted(x)]
        if unsorted:  # operands first: what a comparison opens is sorted already
            pending += unsorted
            continue
        pending.pop()
        if isinstance(node, Counted) and node._sorted is None:
            object.__setattr__(node, "_sorted", tuple(sorted(node.operands, key=_as_operand)))
        if isinstance(node, And | Or) and node._sorted is None:
            flattened = [part for x in node.operands for part in _operands(x, type(node))]
            flattened.sort(key=_as_operand)
            object.__setattr__(node, "_sorted", tuple(flattened))


def _is_sorted(node: Expression) -> bool:
    while isinstance(node, Not):
        node = node.operand
    return not isinstance(node, And | Or | Counted) or node._sorted is not None


def _operands(expression: Expression, kind: type[And] | type[Or]) -> tuple[Expression, ...]:
    if isinstance(expression, kind) and expression._sorted is not None:
        return expression._sorted
    return (expression,)


def _compare(left: Expression, right: Expression) -> int:
    return _compare_pieces([left], [right])


def _compare_operands(left: Expression, right: Expression) -> int:
    return _compare_pieces(_enclosed(left)[::-1], _enclosed(right)[::-1])


def _compare_pieces(ours: list[Piece], theirs: list[Piece]) -> int:
    # what is left to read of each text, next piece last
    while ours and theirs:
        mine, other = ours.pop(), theirs.pop()
        if mine == other:
            continue
        if isinstance(mine, str) and isinstance(other, str):
            k = min(len(mine), len(other))
            if mine[:k] != other[:k]:
                return -1 if mine < other else 1
            ours += [mine[k:]] * (len(mine) > k)
            theirs += [other[k:]] * (len(other) > k)
        else:
            ours += [mine] if isinstance(mine, str) else reversed(_opened(mine))
            theirs += [other] if isinstance(other, str) else reversed(_opened(other))
    rest = ours or theirs
    if not any(not isinstance(piece, str) or piece for piece in rest):
        return 0
    return 1 if ours else -1


def _opened(node: Expression) -> list[Piece]:
    """The pieces a node's canonical text consists of, one level down."""
    if isinstance(node, Primitive):
        return [node.name] if node.name else []
    if isinstance(node, Not):
        return ["~", *_enclosed(node.operand)]
    if isinstance(node, Constant):
        return ["true" if node.value else "false"]
    if isinstance(node, Counted):
        listed: list[Piece] = []
        for operand in node._sorted or ():
            listed += [", ", *_enclosed(operand)]
        return [count_words(node) + "{", *listed[1:], "}"]
    kind, operator = (Or, " | ") if isinstance(node, Or) else (And, " & ")
    pieces: list[Piece] = []
    for operand in _operands(node, kind):
        pieces += [operator, *_enclosed(operand)]
    return pieces[1:]


def _enclosed(operand: Expression) -> list[Piece]:
    """An operand as it stands inside a larger formula: connectives in parentheses."""
    return ["(", operand, ")"] if isinstance(operand, And | Or) else [operand]


_as_operand = cmp_to_key(_compare_operands)
