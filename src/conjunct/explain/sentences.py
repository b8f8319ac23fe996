"""Write formulas as lines of plain English, and numbers, names and formulas as short texts."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from conjunct.expressions import (
    And,
    AtLeast,
    Constant,
    Counted,
    Expression,
    Not,
    Or,
    Primitive,
    Style,
    render,
)

MAX_LITERALS = 100
"""A formula with more literals is not put into words, and a label gives only its length."""

_LONGEST = 80
_MOST_LITERALS = 1_000  # a longer formula is not written out
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# names of columns that a binarizer makes, and for each sign its verb and the opposite verb
_STATEMENT = re.compile(
    r"(?P<what>.*\S) (?P<sign>=|≠|!=|≤|<=|≥|>=|<|>|in|is(?= missing$)) (?P<value>\S.*)"
)
_VERBS = {
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
# a name with one of these words could be mistaken for part of the sentence
_WORD = (
    r"\b(?:and|or|nor|no|not|none|with|without|either|neither|both|all|where|every|rows?|is|also|have)"
    r"\b|\b(?:at least|exactly|fewer than) \d+ of\b"
)
_WORDS = re.compile(rf"{_WORD}|[,;()\"]", re.IGNORECASE)
# brackets and commas are part of a value such as [30, 45)
_VALUE_WORDS = re.compile(rf"{_WORD}|[;\"]", re.IGNORECASE)


def label(expression: Expression, style: Style = "unicode", longest: int = _LONGEST) -> str:
    """Write a formula in at most ``longest`` characters."""
    if expression.length > MAX_LITERALS:
        return f"a formula of {expression.length:,} literals"
    return shorten(expression.text(style), longest)


def formula_text(expression: Expression, style: Style) -> str:
    """Write a formula in full, or only its length if it is too long to read."""
    if expression.length > _MOST_LITERALS:
        return f"(a formula of {expression.length:,} literals)"
    return expression.text(style)


def shorten(text: str, longest: int = _LONGEST) -> str:
    """Truncate a long text, with an ellipsis at the end."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def join_names(names: Sequence[str], at_most: int, longest: int) -> str:
    """Join at most the first ``at_most`` names with commas: ``a, b and 3 more``."""
    shown = ", ".join(shorten(name, longest) for name in names[:at_most])
    more = len(names) - at_most
    return f"{shown} and {more:,} more" if more > 0 else shown


def count(number: int, noun: str = "", plural: str = "") -> str:
    """Write a number with its noun: ``1,234 rows``; ``1 row``."""
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def decimal(value: float, digits: int = 3) -> str:
    """Write ``0.432``, or a dash for NaN."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def format_share(part: float) -> str:
    """Write a share as a percentage: ``12%``, ``0.03%``; 100% means all, 0% means none."""
    percent = 100 * part
    if 99.5 <= percent < 100:
        return f"{percent:.1f}%" if percent < 99.95 else "over 99.9%"
    if percent == 0 or percent >= 10:
        return f"{percent:.0f}%"
    return f"{percent:.1f}%" if percent >= 0.1 else f"{percent:.1g}%"


def probability(p: float) -> str:
    """Write ``0.012`` or ``3.1 × 10⁻⁵``, or a dash for NaN."""
    if math.isnan(p):
        return "–"
    if p == 0:
        return "< 10⁻³⁰⁰"
    if p >= 0.001:
        return f"{p:.2g}"
    mantissa, exponent = f"{p:.1e}".split("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPTS)}"


def quote_tags(tags: Sequence[str]) -> str:
    """List tags in a sentence; names that look like words of the sentence are in quotes.

    Examples
    --------
    >>> quote_tags(["fork", "sex = male", "At least 2 of x"])
    'fork, sex = male and "At least 2 of x"'
    """
    return _series([_quote_tag(tag) for tag in tags], "and")


def _quote_tag(tag: str) -> str:
    statement = _STATEMENT.fullmatch(tag)
    if statement is None:
        return _show(tag)
    what, sign, value = statement.groups()
    # a single word after a sign is always its value
    is_unclear = _VALUE_WORDS.search(value) and not value.isalnum()
    return f"{_show(what)} {sign} {_quote(value) if is_unclear else _printable(value)}"


def english(expression: Expression) -> str:
    """Put a formula into words, in one line. Simplified formulas give shorter lines.

    The line is true in exactly the same rows. Names such as ``colour = red`` become statements,
    and codes such as ``F7`` become a list; otherwise the other names describe the first one. "No"
    denies only the next name, and ``;`` means "and". Names that look like words of the sentence are
    in quotes.

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
        return f"a formula of {expression.length:,} literals, too long for one line"
    return _phrase(expression)


def _phrase(expression: Expression) -> str:
    if isinstance(expression, Constant):
        return "every row" if expression.value else "no row"
    if isinstance(expression, Or):
        return _list_alternatives(expression)
    if isinstance(expression, Counted):
        number = "at least" if isinstance(expression, AtLeast) else "exactly"
        return f"{number} {_list_operands(expression)}"
    if isinstance(expression, Not) and not isinstance(expression.operand, Primitive):
        return _deny(expression.operand)
    groups: list[str] = []
    statements: list[str] = []
    names: dict[bool, list[str]] = {False: [], True: []}
    for operand in _flat(expression, And):
        negated = isinstance(operand, Not)
        primitive = operand.operand if isinstance(operand, Not) else operand
        if not isinstance(primitive, Primitive):
            groups.append(_phrase(operand))
        elif statement := _STATEMENT.fullmatch(primitive.name):
            verb = _VERBS[statement["sign"]][negated]
            what, value = _show(statement["what"]), statement["value"]
            is_word = statement["sign"] != "is" and value == "missing"
            is_unclear = is_word or _VALUE_WORDS.search(value)
            value = _quote(value) if is_unclear else _printable(value)
            statements.append(f"{what} {verb} {value}")
        else:
            names[negated].append(_show(primitive.name))
    words = " and ".join(statements)
    if names[False] or names[True]:
        named = _join_names(names[False], names[True])
        words = f"{named}, where {words}" if words else named
    return "; ".join([words, *groups] if words else groups)


def _join_names(present: Sequence[str], absent: Sequence[str]) -> str:
    if not present:
        return _deny_all(absent)
    head, *rest = present
    if all(_CODE.fullmatch(name) for name in (*present, *absent)):
        head, rest = _series(present, "and"), []
    if not rest:
        if len(absent) > 1:
            return f"{head} with {_deny_all(absent)}"
        return f"{head} without {absent[0]}" if absent else head
    with_rest = f"{head} with {_series(rest, 'and')}"
    if not absent:
        return with_rest
    comma = "," if len(rest) > 1 else ""
    return f"{with_rest}{comma} and {_deny_all(absent)}"


def _deny_all(names: Sequence[str]) -> str:
    """Deny all names. "No a or b" would not clearly deny b."""
    if len(names) == 1:
        return f"no {names[0]}"
    if len(names) == 2:
        return f"neither {names[0]} nor {names[1]}"
    return f"none of {_series(names, 'and')}"


def _list_alternatives(expression: Or) -> str:
    operands = _flat(expression, Or)
    # negations come last: "no" before an "or" would seem to deny everything after it
    operands.sort(key=lambda operand: isinstance(operand, Not) and _is_literal(operand))
    if all(map(_is_literal, operands)):
        return _series(list(map(_phrase, operands)), "or")
    each = (
        _phrase(operand) if _is_literal(operand) else f"({_phrase(operand)})"
        for operand in operands
    )
    return "either " + " or ".join(each)


def _deny(operand: Expression) -> str:
    members = _flat(operand, And)
    if isinstance(operand, And) and all(map(_is_plain, members)):
        names = [_phrase(member) for member in members]
        return f"not {'both' if len(names) == 2 else 'all of'} {_series(names, 'and')}"
    if isinstance(operand, Counted):
        number = "fewer than" if isinstance(operand, AtLeast) else "not exactly"
        return f"{number} {_list_operands(operand)}"
    return f"not ({_phrase(operand)})"


def _list_operands(expression: Counted) -> str:
    """List the operands, with parentheses around all but names to limit what "no" denies."""
    operands = [_phrase(x) if _is_plain(x) else f"({_phrase(x)})" for x in expression.operands]
    return f"{expression.number} of {_series(operands, 'and')}"


def _series(words: Sequence[str], last: str) -> str:
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _flat(expression: Expression, kind: type[And] | type[Or]) -> list[Expression]:
    if not isinstance(expression, kind):
        return [expression]
    return [part for operand in expression.operands for part in _flat(operand, kind)]


def _is_literal(expression: Expression) -> bool:
    return isinstance(expression.operand if isinstance(expression, Not) else expression, Primitive)


def _is_plain(expression: Expression) -> bool:
    """Check that an expression is a name, and not a statement."""
    return isinstance(expression, Primitive) and not _STATEMENT.fullmatch(expression.name)


def _show(name: str) -> str:
    return _quote(name) if _WORDS.search(name) else _printable(name)


def _printable(name: str) -> str:
    return name if name.isprintable() and name.strip() == name != "" else _quote(name)


def _quote(name: str) -> str:
    text = render(Primitive(name))
    return text if text.startswith('"') else f'"{text}"'
