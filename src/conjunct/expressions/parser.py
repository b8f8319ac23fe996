"""Text back to expressions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from conjunct.errors import InputError
from conjunct.expressions.expression import (
    And,
    AtLeast,
    Constant,
    Exactly,
    Expression,
    Not,
    Or,
    Primitive,
)
from conjunct.expressions.text import CONSTANTS, COUNT, SEPARATORS

# Possessive repeats: an unclosed quote is given up at once instead of tried at every length.
_TOKEN = re.compile(
    r"""
      (?P<and>    [∧&])
    | (?P<or>     [∨|])
    | (?P<not>    [¬~])
    | (?P<open>   \()
    | (?P<close>  \))
    | (?P<quoted> " (?: [^"\\]++ | \\. )*+ " )
    | (?P<bare>   [^∧∨¬&|~()"\\]++ )
    """,
    re.VERBOSE | re.DOTALL,
)
# inside the braces of a count
_COUNTED_TOKEN = re.compile(
    r"(?P<next> , ) | (?P<end> \} ) | "
    + _TOKEN.pattern.replace(r"(?P<bare>   [^", rf"(?P<bare>   [^{SEPARATORS}"),
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_SIMPLE_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "r": "\r", "t": "\t"}
_SPACE = re.compile(r"\s*")
_UNCLEAR_SPACE = re.compile(r"\s\s|[^\S ]")

_OPERAND = "a name, '¬', '~' or '('"
_OPERATOR = "'∧', '&', '∨', '|'"


class ExpressionSyntaxError(InputError):
    """The text is not a formula. `column` counts characters from 1."""

    def __init__(self, problem: str, column: int) -> None:
        super().__init__(problem, column)
        self.problem = problem
        self.column = column

    def __str__(self) -> str:
        return f"column {self.column}: {self.problem}"


class _Token(NamedTuple):
    kind: str
    content: str
    column: int


@dataclass(slots=True)
class _Group:
    """What has been read of one pair of parentheses or braces, or of the whole text."""

    column: int
    count: re.Match[str] | None = None
    counted: list[Expression] = field(default_factory=list)
    negations: int = 0
    operands: list[Expression] = field(default_factory=list)
    alternatives: list[Expression] = field(default_factory=list)

    def add(self, operand: Expression) -> None:
        for _ in range(self.negations):
            operand = Not(operand)
        self.negations = 0
        self.operands.append(operand)

    def end_alternative(self) -> None:
        self.alternatives.append(_joined(And, self.operands))
        self.operands = []

    def expression(self) -> Expression:
        self.end_alternative()
        whole, self.alternatives = _joined(Or, self.alternatives), []
        return whole

    def end_counted(self) -> None:
        self.counted.append(self.expression())

    def count_expression(self, count: re.Match[str]) -> Expression:
        kind = AtLeast if count[1] == "at least" else Exactly
        try:
            return kind(int(count[2]), self.counted)
        except ValueError as error:
            raise ExpressionSyntaxError(str(error), self.column) from None


def parse(text: str) -> Expression:
    r"""Read a formula, as `render` writes it in its Unicode and ASCII styles.

    Operators may be mixed: ``∧`` or ``&``, ``∨`` or ``|``, ``¬`` or ``~``, and parentheses;
    ``∧`` binds closer than ``∨``. ``⊤`` or ``true`` and ``⊥`` or ``false`` are constants, and
    ``at least 2 of {a, ¬b, c}`` and ``exactly 2 of {a, ¬b, c}`` are counts. A name
    stands bare, with single spaces inside, or in double quotes with the escapes ``\"``, ``\\``,
    ``\n``, ``\r``, ``\t``, ``\uXXXX`` and ``\UXXXXXXXX``; in braces, one with a comma or a brace
    needs quotes.

    Raises
    ------
    ExpressionSyntaxError
        With the column and what was expected there.

    Examples
    --------
    >>> parse("traffic light & ¬(tree ∧ ~forest)").length
    3
    >>> parse('"R&D" & sky').primitives == {"R&D", "sky"}
    True
    """
    if not isinstance(text, str):
        raise TypeError(f"parse takes a str, not {type(text).__name__!r}")
    groups = [_Group(column=0)]
    operand_next = True
    for token in _tokens(text):
        group = groups[-1]
        if operand_next and token.kind == "name":
            group.add(Primitive(token.content))
            operand_next = False
        elif operand_next and token.kind == "constant":
            group.add(Constant(CONSTANTS[token.content]))
            operand_next = False
        elif operand_next and token.kind == "not":
            group.negations += 1
        elif operand_next and token.kind == "open":
            groups.append(_Group(token.column))
        elif operand_next and token.kind == "count":
            groups.append(_Group(token.column, COUNT.match(token.content)))
        elif not operand_next and token.kind == "next" and group.count:
            group.end_counted()
            operand_next = True
        elif not operand_next and token.kind == "end" and group.count:
            group.end_counted()
            groups.pop()
            groups[-1].add(group.count_expression(group.count))
        elif not operand_next and token.kind in ("and", "or"):
            if token.kind == "or":
                group.end_alternative()
            operand_next = True
        elif not operand_next and token.kind == "close" and len(groups) > 1 and not group.count:
            groups.pop()
            groups[-1].add(group.expression())
        else:
            raise _unexpected(ascii(token.content), token.column, groups, operand_next)
    if operand_next or len(groups) > 1:
        raise _unexpected("the end", len(text) + 1, groups, operand_next)
    return groups[0].expression()


def _joined(kind: type[And] | type[Or], operands: list[Expression]) -> Expression:
    return kind(*operands) if len(operands) > 1 else operands[0]


def _unexpected(
    found: str, column: int, groups: list[_Group], operand_next: bool
) -> ExpressionSyntaxError:
    if operand_next:
        expected = _OPERAND
    elif groups[-1].count:
        expected = f"{_OPERATOR}, ',' or the '}}' of column {groups[-1].column}"
    elif len(groups) > 1:
        expected = f"{_OPERATOR} or the ')' of column {groups[-1].column}"
    else:
        expected = f"{_OPERATOR} or the end"
    return ExpressionSyntaxError(f"expected {expected}, found {found}", column)


def _tokens(text: str) -> Iterator[_Token]:
    position = braces = 0
    while position < len(text):
        space = _SPACE.match(text, position)
        if count := COUNT.match(text, space.end() if space else position):
            yield _Token("count", count.group(), count.start() + 1)
            braces += 1
            position = count.end()
            continue
        match = (_COUNTED_TOKEN if braces else _TOKEN).match(text, position)
        column = position + 1
        if match is None:
            raise _no_token(text[position], column)
        kind, content = str(match.lastgroup), match.group()
        braces -= kind == "end"
        if kind == "quoted":
            yield _Token("name", _unescape(content[1:-1], column + 1), column)
        elif kind != "bare":
            yield _Token(kind, content, column)
        elif name := content.strip():
            column += len(content) - len(content.lstrip())
            _check_spaces(name, column)
            yield _Token("constant" if name in CONSTANTS else "name", name, column)
        position = match.end()


def _no_token(character: str, column: int) -> ExpressionSyntaxError:
    if character == '"':
        return ExpressionSyntaxError("expected a closing '\"' for the quote opened here", column)
    what = "a backslash" if character == "\\" else "inside braces, a brace"
    return ExpressionSyntaxError(f"{what} is allowed in a quoted name only", column)


def _check_spaces(name: str, column: int) -> None:
    # Not collapsed in silence: the column the user means may have just these spaces.
    if unclear := _UNCLEAR_SPACE.search(name):
        problem = "expected single spaces in a bare name; put the name in double quotes"
        raise ExpressionSyntaxError(problem, column + unclear.start())


def _unescape(content: str, column: int) -> str:
    def character(escape: re.Match[str]) -> str:
        short, long, simple = escape.groups()
        if simple in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[simple]
        if simple is None and (code := int(short or long, 16)) <= 0x10FFFF:
            return chr(code)
        raise ExpressionSyntaxError(
            r"expected one of the escapes \" \\ \n \r \t \uXXXX \UXXXXXXXX",
            column + escape.start(),
        )

    return _ESCAPE.sub(character, content)
