"""The canonical order of expressions, which breaks ties between pairs.

It is the order of canonical texts, in which equal expressions are written the same. After many
iterations a text may be longer than a book, so `compare_canonical` compares two formulas part by
part. They almost always share most of their parts: a shared node is skipped whole, and a part is
opened only where the two differ.
"""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any

from conjunct.expressions.expression import (
    And,
    Constant,
    Counted,
    Expression,
    Not,
    Or,
    Primitive,
)
from conjunct.expressions.text import check_writable, count_words

Piece = Expression | str


def canonical_text(expression: Expression) -> str:
    """Write the text that equal expressions share, used to break ties.

    Raw names, ``~`` for not, nested conjunctions and disjunctions flattened, operands in
    code-point order of their own canonical texts. Names are not quoted, so it orders expressions
    but does not identify them: ``Primitive("a & b")`` reads like ``And(a, b)``.

    Examples
    --------
    >>> a, b, c = map(Primitive, "abc")
    >>> canonical_text(And(~(c & b), And(b, a)))
    'a & b & ~(b & c)'
    """
    check_writable(expression)
    _sort_operands(expression)
    texts: list[str] = []
    pending: list[Piece] = [expression]
    while pending:
        piece = pending.pop()
        if isinstance(piece, str):
            texts.append(piece)
        else:
            pending += reversed(_open(piece))
    return "".join(texts)


def compare_canonical(left: Expression, right: Expression) -> int:
    """Return −1, 0 or 1 as the canonical text of ``left`` is less than, equal to or greater than
    that of ``right``; if the names make two different formulas read alike, their digests decide.

    Examples
    --------
    >>> a, b, c = map(Primitive, "abc")
    >>> compare_canonical(b & a, ~c & a)
    -1
    """
    for expression in (left, right):
        _sort_operands(expression)
    by_text = _compare_pieces([left], [right])
    return by_text or (left.digest > right.digest) - (left.digest < right.digest)


canonical_key = cmp_to_key(compare_canonical)
"""For ``sorted(..., key=canonical_key)``."""


def _sort_operands(root: Expression) -> None:
    """Cache the operands of connectives and counts in canonical order, connectives flattened."""
    pending = [root]
    while pending:
        node = pending[-1]
        parts = _flatten(node) if isinstance(node, And | Or) else list(node.children)
        unsorted = []
        for part in parts:
            while isinstance(part, Not):
                part = part.operand
            if isinstance(part, And | Or | Counted) and part._sorted is None:
                unsorted.append(part)
        if unsorted:  # operands first: a comparison opens sorted ones only
            pending += unsorted
            continue
        pending.pop()
        if isinstance(node, And | Or | Counted) and node._sorted is None:
            object.__setattr__(node, "_sorted", tuple(sorted(parts, key=_as_operand)))


def _flatten(connective: And | Or) -> list[Expression]:
    """List the operands, and those of operands of the same kind in their place."""
    parts: list[Expression] = []
    pending: list[Expression] = [connective]
    while pending:
        node = pending.pop()
        if type(node) is not type(connective):
            parts.append(node)
        elif node._sorted is None:
            pending.extend(reversed(node.operands))
        else:
            parts.extend(node._sorted)
    return parts


def _compare_operands(left: Expression, right: Expression) -> int:
    return _compare_pieces(_enclose(left)[::-1], _enclose(right)[::-1])


def _compare_pieces(ours: list[Piece], theirs: list[Piece]) -> int:
    # the unread pieces of each text, next one last
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
            ours += [mine] if isinstance(mine, str) else reversed(_open(mine))
            theirs += [other] if isinstance(other, str) else reversed(_open(other))
    rest = ours or theirs
    if not any(not isinstance(piece, str) or piece for piece in rest):
        return 0
    return 1 if ours else -1


def _open(node: Any) -> list[Piece]:
    """List the pieces of a node's canonical text, one level down."""
    if isinstance(node, Primitive):
        return [node.name] if node.name else []
    if isinstance(node, Not):
        return ["~", *_enclose(node.operand)]
    if isinstance(node, Constant):
        return ["true" if node.value else "false"]
    between = ", " if isinstance(node, Counted) else " | " if isinstance(node, Or) else " & "
    pieces: list[Piece] = []
    for operand in node._sorted or ():  # they were sorted before any comparison
        pieces += [between, *_enclose(operand)]
    return [count_words(node) + "{", *pieces[1:], "}"] if isinstance(node, Counted) else pieces[1:]


def _enclose(operand: Expression) -> list[Piece]:
    """List the pieces of an operand inside a larger formula: connectives in parentheses."""
    return ["(", operand, ")"] if isinstance(operand, And | Or) else [operand]


_as_operand = cmp_to_key(_compare_operands)
