"""A formula as a line of plain English."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from conjunct.expressions import (
    And,
    AtLeast,
    Constant,
    Counted,
    Expression,
    Not,
    Or,
    Primitive,
    render,
)

MAX_LITERALS = 100
"""A formula of more literals is not a line any more."""

# what a binarizer calls its columns: what it says of which column, and the opposite
_STATEMENT = re.compile(r"(?P<what>.*\S) (?P<sign>=|≠|!=|≤|<=|≥|>=|<|>|in|is) (?P<value>\S.*)")
_SAID = {
    "=": ("is", "is not"),
    "is": ("is", "is not"),
    "≠": ("is not", "is"),
    "!=": ("is not", "is"),
    "in": ("is in", "is not in"),
    "≤": ("is at most", "is above"),
    "<=": ("is at most", "is above"),
    "≥": ("is at least", "is below"),
    ">=": ("is at least", "is below"),
    "<": ("is below", "is at least"),
    ">": ("is above", "is at most"),
}
_CODE = re.compile(r"[A-Za-z]{0,3}[ _.-]?\d+")
# a name that holds one of these could be taken for a part of the sentence
_WORD = r"\b(?:and|or|nor|no|not|none|with|without|either|neither|both|all|where|every|row)\b"
_WORD = rf"{_WORD}|\b(?:at least|exactly|fewer than) \d+ of\b"
_WORDS = re.compile(rf"{_WORD}|[,;()\"]")
# of what a column is said to be, as in [30, 45), the signs are its own
_VALUE_WORDS = re.compile(rf"{_WORD}|[;\"]")


def english(expression: Expression) -> str:
    """Say in words what a formula asks for.

    Parameters
    ----------
    expression : Expression
        Best simplified: a shorter formula is a shorter line.

    Returns
    -------
    str
        One line that is true exactly where the formula is. Names such as ``colour = red`` become
        statements; codes such as ``F7`` are listed; of other names the first is described by the
        rest. "No" denies the one name after it, ``;`` stands between things that all hold. Names
        that could be mistaken for words of the sentence are in quotes.

    Examples
    --------
    >>> from conjunct import parse
    >>> english(parse("panorama & sky & ~building"))
    'panorama with sky and no building'
    >>> english(parse("F1 & F3 & ~F7"))
    'F1 and F3 without F7'
    >>> english(parse('colour = red & ~"age in [30, 45)"'))
    'colour is red and age is not in [30, 45)'
    >>> english(parse("tree & ~(groups & road) & (road | ~person)"))
    'tree; not both groups and road; road or no person'
    >>> english(parse("tree & at least 2 of {bicycle, backpack, ~car}"))
    'tree; at least 2 of bicycle, backpack and (no car)'
    """
    if expression.length > MAX_LITERALS:
        return f"a formula of {expression.length:,} literals, too long for a line"
    return _said(expression)


def _said(expression: Expression) -> str:
    if isinstance(expression, Constant):
        return "every row" if expression.value else "no row"
    if isinstance(expression, Or):
        return _alternatives(expression)
    if isinstance(expression, Counted):
        return f"{'at least' if isinstance(expression, AtLeast) else 'exactly'} {_of(expression)}"
    if isinstance(expression, Not) and not isinstance(expression.operand, Primitive):
        return _denied(expression.operand)
    operands = _flat(expression, And)
    groups = [_said(operand) for operand in operands if not _is_literal(operand)]
    literals = _sorted_out([operand for operand in operands if _is_literal(operand)])
    return "; ".join([*([_listed(literals)] if any(literals) else []), *groups])


class _Literals(NamedTuple):
    present: list[str]
    absent: list[str]
    statements: list[str]


def _sorted_out(literals: Sequence[Expression]) -> _Literals:
    found = _Literals([], [], [])
    for literal in literals:
        negated = isinstance(literal, Not)
        name = _name(literal)
        if statement := _STATEMENT.fullmatch(name):
            verb = _SAID[statement["sign"]][negated]
            what, value = _shown(statement["what"]), statement["value"]
            said = _quoted(value) if _VALUE_WORDS.search(value) else _printable(value)
            found.statements.append(f"{what} {verb} {said}")
        else:
            (found.absent if negated else found.present).append(_shown(name))
    return found


def _listed(literals: _Literals) -> str:
    present, absent, statements = literals
    said = " and ".join(statements)
    if not present and not absent:
        return said
    described = _described(present, absent)
    return f"{described}, where {said}" if said else described


def _described(present: Sequence[str], absent: Sequence[str]) -> str:
    if not present:
        return _none_of(absent)
    head, *rest = present
    if all(_CODE.fullmatch(name) for name in (*present, *absent)):
        head, rest = _series(present, "and"), []
    if not rest:
        if len(absent) > 1:
            return f"{head} with {_none_of(absent)}"
        return f"{head} without {absent[0]}" if absent else head
    with_rest = f"{head} with {_series(rest, 'and')}"
    if not absent:
        return with_rest
    comma = "," if len(rest) > 1 else ""
    return f"{with_rest}{comma} and {_none_of(absent)}"


def _none_of(names: Sequence[str]) -> str:
    """All of them denied. "No a or b" would leave open whether b is."""
    if len(names) == 1:
        return f"no {names[0]}"
    if len(names) == 2:
        return f"neither {names[0]} nor {names[1]}"
    return f"none of {_series(names, 'and')}"


def _alternatives(expression: Or) -> str:
    operands = _flat(expression, Or)
    # what is denied comes last, for "no" before an "or" seems to deny what follows too
    operands.sort(key=lambda operand: isinstance(operand, Not) and _is_literal(operand))
    if all(map(_is_literal, operands)):
        return _series(list(map(_said, operands)), "or")
    each = (
        _said(operand) if _is_literal(operand) else f"({_said(operand)})" for operand in operands
    )
    return "either " + " or ".join(each)


def _denied(operand: Expression) -> str:
    members = _flat(operand, And)
    if isinstance(operand, And) and all(map(_is_plain, members)):
        said = [_said(member) for member in members]
        return f"not {'both' if len(said) == 2 else 'all of'} {_series(said, 'and')}"
    if isinstance(operand, Counted):
        return f"{'fewer than' if isinstance(operand, AtLeast) else 'not exactly'} {_of(operand)}"
    return f"not ({_said(operand)})"


def _of(expression: Counted) -> str:
    """What is counted; all but names in parentheses, for "no" would seem to deny the rest too."""
    said = [_said(x) if _is_plain(x) else f"({_said(x)})" for x in expression.operands]
    return f"{expression.number} of {_series(said, 'and')}"


def _series(words: Sequence[str], last: str) -> str:
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _flat(expression: Expression, kind: type[And] | type[Or]) -> list[Expression]:
    if not isinstance(expression, kind):
        return [expression]
    return [part for operand in expression.operands for part in _flat(operand, kind)]


def _is_literal(expression: Expression) -> bool:
    return isinstance(expression.operand if isinstance(expression, Not) else expression, Primitive)


def _is_plain(expression: Expression) -> bool:
    """Whether it is a name that is no statement."""
    return isinstance(expression, Primitive) and not _STATEMENT.fullmatch(expression.name)


def _name(literal: Expression) -> str:
    primitive = literal.operand if isinstance(literal, Not) else literal
    return primitive.name if isinstance(primitive, Primitive) else ""


def _shown(name: str) -> str:
    return _quoted(name) if _WORDS.search(name) else _printable(name)


def _printable(name: str) -> str:
    return name if name.isprintable() and name.strip() == name != "" else _quoted(name)


def _quoted(name: str) -> str:
    text = render(Primitive(name))
    return text if text.startswith('"') else f'"{text}"'
