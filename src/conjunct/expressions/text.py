"""Expressions as text, their canonical order, and parsing.

The canonical order breaks ties between pairs. It is the order of canonical texts, which are the
same for equal expressions. Because these texts may be longer than a book, `compare_canonical`
compares formulas part by part. It skips shared nodes and opens a part only where the two differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cmp_to_key
from typing import Any, NamedTuple, get_args

from conjunct.errors import InputError
from conjunct.expressions.expression import (
    And,
    AtLeast,
    Constant,
    Counted,
    Exactly,
    Expression,
    Not,
    Or,
    Primitive,
    Style,
    all_of,
    any_of,
)

OPERATORS = '∧∨¬&|~()"\\'
"""Characters with a meaning in formulas. Names with one of them are quoted."""

CONSTANTS = {"⊤": True, "true": True, "⊥": False, "false": False}
"""The constants. Names that equal one of them are quoted."""

COUNT = re.compile(r"(at least|exactly) ([0-9]{1,9}) of \{")
"""The beginning of a count, which ends with ``}``. Names that begin like this are quoted."""

SEPARATORS = ",{}"
"""Characters with a meaning in the braces of a count. Names with one of them are quoted there."""

MAX_LITERALS = 10_000_000
"""Formulas with more literals are refused, because their text would not fit into memory."""

CHUNKS_BETWEEN = " · "
"""The separator between the chunks of a row."""

_TAGS_BETWEEN = " + "
_REST = " (rest)"

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # In the default encoding, these three print as other characters.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # pdflatex supports these only in math mode, and names of numeric columns contain them.
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "∧": r"$\wedge$",
    "∨": r"$\vee$",
    "¬": r"$\neg$",
    "⊤": r"$\top$",
    "⊥": r"$\bot$",
    "∈": r"$\in$",
    "∞": r"$\infty$",
} | {special: "\\" + special for special in "#$%&_{} "}
_LATEX_TABLE = str.maketrans(_LATEX)


class _Notation(NamedTuple):
    conjunction: str
    disjunction: str
    true: str
    false: str
    before_literal: str
    after_literal: str
    before_group: str
    after_group: str
    before_count: str = "{}{{"
    after_count: str = "}"


_NOTATIONS: dict[Style, _Notation] = {
    "unicode": _Notation(" ∧ ", " ∨ ", "⊤", "⊥", "¬", "", "¬(", ")"),
    "ascii": _Notation(" & ", " | ", "true", "false", "~", "", "~(", ")"),
    "latex": _Notation(
        r" \wedge ",
        r" \vee ",
        r"\top",
        r"\bot",
        r"\overline{",
        "}",
        r"\overline{",
        "}",
        r"\textrm{{{}}}\{{",
        r"\}",
    ),
}


def render(expression: Expression, style: Style = "unicode") -> str:
    r"""Render a formula in its original order, with nested conjunctions flattened.

    Conjunctions in disjunctions, and disjunctions in conjunctions, have parentheses, so readers
    need no precedence rules. The operands of a count are in braces.

    Parameters
    ----------
    expression : Expression
    style : {"unicode", "ascii", "latex"}
        The operators: ``∧ ∨ ¬``, ``& | ~``, or ``\wedge \vee \overline`` for math mode. Names
        keep their letters in all styles.

    Returns
    -------
    str
        A text that `parse` can read, except in LaTeX. Ambiguous names are quoted.

    Raises
    ------
    InputError
        If the formula has more than `MAX_LITERALS` literals.

    Examples
    --------
    >>> tree, forest = Primitive("tree"), Primitive("R&D (north)")
    >>> render(~(tree & ~forest))
    '¬(tree ∧ ¬"R&D (north)")'
    >>> render(AtLeast(2, [tree, ~forest, Primitive("red, blue")]))
    'at least 2 of {tree, ¬"R&D (north)", "red, blue"}'
    >>> print(render(~tree & forest, "latex"))
    \overline{\textit{tree}} \wedge \textit{R\&D\ (north)}
    """
    if style not in _NOTATIONS:
        styles = ", ".join(map(repr, get_args(Style)))
        raise InputError(f"unknown style {style!r}: choose one of {styles}")
    check_writable(expression)
    notation = _NOTATIONS[style]
    written: list[str] = []
    braces = 0
    pending: list[Expression | str] = [expression]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            written.append(item)
            braces -= item == notation.after_count
        elif isinstance(item, Primitive):
            if style == "latex":
                written.append(_latex_name(item.name))
            else:
                written.append(_quote_if_unclear(item.name, SEPARATORS if braces else ""))
        elif isinstance(item, Not):
            grouped = isinstance(item.operand, And | Or | Counted)
            written.append(notation.before_group if grouped else notation.before_literal)
            pending.append(notation.after_group if grouped else notation.after_literal)
            pending.append(item.operand)
        elif isinstance(item, Constant):
            written.append(notation.true if item.value else notation.false)
        elif isinstance(item, Counted):
            braces += 1
            written.append(notation.before_count.format(count_words(item)))
            pending.append(notation.after_count)
            last, *others = reversed(item.operands)
            pending.append(last)
            for operand in others:
                pending += (", ", operand)
        else:
            inner, operator = (
                (And, notation.disjunction) if isinstance(item, Or) else (Or, notation.conjunction)
            )
            pieces: list[Expression | str] = []  # last one first
            for operand in reversed(item.children):
                if pieces:
                    pieces.append(operator)
                pieces.extend((")", operand, "(") if isinstance(operand, inner) else (operand,))
            pending.extend(pieces)
    return "".join(written)


def count_words(node: Counted) -> str:
    """Return the words before the braces of a count."""
    return f"{'at least' if isinstance(node, AtLeast) else 'exactly'} {node.number} of "


def check_writable(expression: Expression) -> None:
    """Refuse a formula with more than `MAX_LITERALS` literals."""
    if expression.length > MAX_LITERALS:
        size = expression.length.bit_length() - 1
        raise InputError(
            f"the formula has about 2**{size} literals, too long to write out: the limit is "
            f"{MAX_LITERALS:,}"
        )


def render_conjunction(left: str, right: str, style: Style) -> str:
    """Render a conjunction, given the texts of its two parts."""
    return left + _NOTATIONS[style].conjunction + right


def render_negation(text: str, style: Style, *, is_group: bool) -> str:
    """Render a negation, given the text of its operand: a name, or a group."""
    notation = _NOTATIONS[style]
    if is_group:
        return notation.before_group + text + notation.after_group
    return notation.before_literal + text + notation.after_literal


def _quote_if_unclear(name: str, special: str) -> str:
    """Quote a name that could be misread, such as one with an operator or ``special`` character."""
    is_clear = (
        name.isprintable()  # no controls, surrogates, bidi marks, or spaces other than " "
        and not any(character in OPERATORS or character in special for character in name)
        and not COUNT.match(name)
        and name not in CONSTANTS
        and name.strip(" ") == name != ""
        and "  " not in name
    )
    return name if is_clear else _quote(name)


def _quote(name: str) -> str:
    return '"' + "".join(map(_escape, name)) + '"'


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _latex_name(name: str) -> str:
    # \textit rather than \mathit, which turns a hyphen into a minus and drops spaces.
    # Typesetting distinguishes names from operators, so only invisible characters need quotes.
    is_visible = name.isprintable() and name != "" and not re.search(r'["\\]', name)
    return r"\textit{" + (name if is_visible else _quote(name)).translate(_LATEX_TABLE) + "}"


def pattern_text(pattern: Sequence[str], *, is_rest: bool = False, keep_order: bool = False) -> str:
    """Render a pattern: the primitives that a feature asserts, without those that it denies.

    ``is_rest`` marks a feature if larger chunks contain some of its rows. Ambiguous names are
    quoted, so different patterns have different texts. ``parse`` cannot read patterns, because they
    omit the denied primitives.

    Examples
    --------
    >>> pattern_text(["chair", "dining table"])
    'chair + dining table'
    >>> pattern_text(["person"], is_rest=True)
    'person (rest)'
    >>> pattern_text(["C + +", "book"])
    '"C + +" + book'
    >>> pattern_text(["F10", "F2"])
    'F2 + F10'
    """
    texts = []
    for name in pattern if keep_order else sorted(pattern, key=natural_order):
        is_odd = not name or name != name.strip() or not name.isprintable() or name.startswith('"')
        has_mark = _TAGS_BETWEEN.strip() in name or CHUNKS_BETWEEN.strip() in name
        is_quoted = is_odd or has_mark or name.endswith(_REST.strip())
        texts.append(_quote(name) if is_quoted else name)
    return _TAGS_BETWEEN.join(texts) + _REST * is_rest


def natural_order(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that orders whole numbers in names by value: F2 before F10."""
    keys = []
    for digits, text in re.findall(r"([0-9]+)|([^0-9]+)", name):
        number = digits.lstrip("0")
        keys.append((0, len(number), number) if digits else (1, 0, text))
    return (*keys, (-1, 0, name))


def parse_pattern(text: str) -> tuple[str, ...]:
    """Parse the tags of a pattern in the format of ``pattern_text``, in any order.

    Examples
    --------
    >>> parse_pattern('dining table + "C + +"')
    ('dining table', 'C + +')
    """
    tags = []
    for quoted, bare in _TAG.findall(text):
        if quoted or bare.strip():
            tags.append(_unescape(quoted[1:-1], 1) if quoted else bare.strip())
    return tuple(tags)


_Piece = Expression | str


def canonical_text(expression: Expression) -> str:
    """Return the text that equal expressions share, used to break ties.

    Nested conjunctions and disjunctions are flattened, and operands are in code-point order of
    their canonical texts. Because names are not quoted, different expressions may share a text:
    ``Primitive("a & b")`` and ``And(a, b)``.

    Examples
    --------
    >>> a, b, c = map(Primitive, "abc")
    >>> canonical_text(And(~(c & b), And(b, a)))
    'a & b & ~(b & c)'
    """
    check_writable(expression)
    _sort_operands(expression)
    texts: list[str] = []
    pending: list[_Piece] = [expression]
    while pending:
        piece = pending.pop()
        if isinstance(piece, str):
            texts.append(piece)
        else:
            pending += reversed(_open(piece))
    return "".join(texts)


def compare_canonical(left: Expression, right: Expression) -> int:
    """Return −1, 0 or 1 to order two expressions by canonical text, then by digest.

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
"""The key for ``sorted(..., key=canonical_key)``."""


def _sort_operands(root: Expression) -> None:
    """Cache the sorted operands of connectives, which are flattened, and of counts."""
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
        if unsorted:  # operands first, because a comparison needs them sorted
            pending += unsorted
            continue
        pending.pop()
        if isinstance(node, And | Or | Counted) and node._sorted is None:
            object.__setattr__(node, "_sorted", tuple(sorted(parts, key=_as_operand)))


def _compare_operands(left: Expression, right: Expression) -> int:
    return _compare_pieces(_enclose(left)[::-1], _enclose(right)[::-1])


_as_operand = cmp_to_key(_compare_operands)


def _flatten(connective: And | Or) -> list[Expression]:
    """List the operands, replacing operands of the same kind by their own operands."""
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


def _compare_pieces(ours: list[_Piece], theirs: list[_Piece]) -> int:
    # unread pieces of each text, in reverse order
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


def _open(node: Any) -> list[_Piece]:
    """List the pieces of a node's canonical text, one level deep."""
    if isinstance(node, Primitive):
        return [node.name] if node.name else []
    if isinstance(node, Not):
        return ["~", *_enclose(node.operand)]
    if isinstance(node, Constant):
        return ["true" if node.value else "false"]
    between = ", " if isinstance(node, Counted) else " | " if isinstance(node, Or) else " & "
    pieces: list[_Piece] = []
    for operand in node._sorted or ():  # sorted before any comparison
        pieces += [between, *_enclose(operand)]
    return [count_words(node) + "{", *pieces[1:], "}"] if isinstance(node, Counted) else pieces[1:]


def _enclose(operand: Expression) -> list[_Piece]:
    """List the pieces of an operand, with connectives in parentheses."""
    return ["(", operand, ")"] if isinstance(operand, And | Or) else [operand]


# Possessive repeats fail at once for an unclosed quote instead of trying every length.
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
# a tag up to the next separator
_TAG = re.compile(r'\s*+(?:("(?:[^"\\]|\\.)*")|(.+?))\s*(?:\s\+\s|$)', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_SIMPLE_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "r": "\r", "t": "\t"}
_SPACE = re.compile(r"\s*")
_UNCLEAR_SPACE = re.compile(r"\s\s|[^\S ]")

_OPERAND = "a name, '¬', '~' or '('"
_OPERATOR = "'∧', '&', '∨', '|'"


class ExpressionSyntaxError(InputError):
    """A text is not a formula. `column` counts characters from 1.

    Examples
    --------
    >>> from conjunct.expressions import ExpressionSyntaxError, parse
    >>> try:
    ...     parse("sky & & sea")
    ... except ExpressionSyntaxError as error:
    ...     print(error)
    column 7: expected a name, '¬', '~' or '(', found '&'
    """

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
    """A pair of parentheses or braces, or the whole text, as read so far."""

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
        self.alternatives.append(all_of(self.operands))
        self.operands = []

    def end_expression(self) -> Expression:
        self.end_alternative()
        whole, self.alternatives = any_of(self.alternatives), []
        return whole

    def end_count(self, count: re.Match[str]) -> Expression:
        self.counted.append(self.end_expression())
        kind = AtLeast if count[1] == "at least" else Exactly
        try:
            return kind(int(count[2]), self.counted)
        except ValueError as error:
            raise ExpressionSyntaxError(str(error), self.column) from None


def parse(text: str) -> Expression:
    r"""Parse a formula in the Unicode or ASCII style of `render`.

    Operators may be mixed: ``∧`` or ``&``, ``∨`` or ``|``, ``¬`` or ``~``, and parentheses;
    ``∧`` has precedence over ``∨``. Constants are ``⊤`` or ``true`` and ``⊥`` or ``false``. Counts
    are ``at least 2 of {a, ¬b, c}`` and ``exactly 2 of {a, ¬b, c}``. Names are bare, with single
    spaces inside, or in double quotes, with the escapes ``\"``, ``\\``, ``\n``, ``\r``, ``\t``,
    ``\uXXXX`` and ``\UXXXXXXXX``. In braces, names with a comma or brace need quotes.

    Raises
    ------
    ExpressionSyntaxError
        If the text is not a formula; names the column and the expected token.

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
    for token in _split_tokens(text):
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
            group.counted.append(group.end_expression())
            operand_next = True
        elif not operand_next and token.kind == "end" and group.count:
            groups.pop()
            groups[-1].add(group.end_count(group.count))
        elif not operand_next and token.kind in ("and", "or"):
            if token.kind == "or":
                group.end_alternative()
            operand_next = True
        elif not operand_next and token.kind == "close" and len(groups) > 1 and not group.count:
            groups.pop()
            groups[-1].add(group.end_expression())
        else:
            raise _unexpected_token(ascii(token.content), token.column, groups, operand_next)
    if operand_next or len(groups) > 1:
        raise _unexpected_token("the end", len(text) + 1, groups, operand_next)
    return groups[0].end_expression()


def _unexpected_token(
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


def _split_tokens(text: str) -> Iterator[_Token]:
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
        if match is None and text[position] == '"':
            problem = "expected a closing '\"' for the quote opened here"
            raise ExpressionSyntaxError(problem, column)
        if match is None:
            what = "backslashes" if text[position] == "\\" else "braces inside braces"
            raise ExpressionSyntaxError(f"{what} are allowed only in quoted names", column)
        kind, content = str(match.lastgroup), match.group()
        braces -= kind == "end"
        if kind == "quoted":
            yield _Token("name", _unescape(content[1:-1], column + 1), column)
        elif kind != "bare":
            yield _Token(kind, content, column)
        elif name := content.strip():
            column += len(content) - len(content.lstrip())
            # An error, because the column may really have these spaces.
            if unclear := _UNCLEAR_SPACE.search(name):
                problem = "bare names may have only single spaces: use double quotes"
                raise ExpressionSyntaxError(problem, column + unclear.start())
            yield _Token("constant" if name in CONSTANTS else "name", name, column)
        position = match.end()


def _unescape(content: str, column: int) -> str:
    def replace(escape: re.Match[str]) -> str:
        short, long, simple = escape.groups()
        if simple in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[simple]
        if simple is None and (code := int(short or long, 16)) <= 0x10FFFF:
            return chr(code)
        raise ExpressionSyntaxError(
            r"expected one of the escapes \" \\ \n \r \t \uXXXX \UXXXXXXXX",
            column + escape.start(),
        )

    return _ESCAPE.sub(replace, content)
