"""Expressions as text: for people, for LaTeX, and in one canonical form that orders them."""

from __future__ import annotations

import re
from typing import NamedTuple, get_args

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
    Style,
)

OPERATORS = '∧∨¬&|~()"\\'
"""Characters that mean something in a formula, and so cannot stand in a name without quotes."""

CONSTANTS = {"⊤": True, "true": True, "⊥": False, "false": False}
"""Words for always and never: a name that is one of them is quoted."""

COUNT = re.compile(r"(at least|exactly) ([0-9]{1,9}) of \{")
"""How a count begins; ``}`` ends it. A name that begins so is quoted."""

SEPARATORS = ",{}"
"""Characters that cannot stand in a name without quotes inside the braces of a count."""

MAX_LITERALS = 10_000_000
"""A formula of more literals is not written out: its nodes may be few, its text would not fit."""

_LONGEST_CACHED = 10_000

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # In the default encoding these three print as other characters.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # pdflatex knows these in math mode only, and names of numeric columns use them.
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
    r"""Write a formula out, in the order it was built, with nested conjunctions flattened.

    A conjunction inside a disjunction stands in parentheses, as the other way round, so that
    nobody needs to know which binds closer. What a count counts stands in braces.

    Parameters
    ----------
    expression : Expression
    style : {"unicode", "ascii", "latex"}
        The operators: ``∧ ∨ ¬``, ``& | ~``, or ``\wedge \vee \overline`` for use in math
        mode. ASCII is about operators; names keep their letters.

    Returns
    -------
    str
        In the first two styles `parse` reads it back. Names that could be misread are quoted.

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
    _refuse_endless(expression)
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
            bare = _name(item.name, SEPARATORS if braces else "")
            written.append(_latex_name(item.name) if style == "latex" else bare)
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
            pending.extend(_joined(item, notation))
    return "".join(written)


def count_words(node: Counted) -> str:
    """What stands before the braces of a count."""
    return f"{'at least' if isinstance(node, AtLeast) else 'exactly'} {node.number} of "


def _joined(node: Expression, notation: _Notation) -> list[Expression | str]:
    """The operands of a connective with what stands between them, last one first."""
    inner, operator = (
        (And, notation.disjunction) if isinstance(node, Or) else (Or, notation.conjunction)
    )
    pieces: list[Expression | str] = []
    for operand in reversed(node._children):
        if pieces:
            pieces.append(operator)
        pieces.extend((")", operand, "(") if isinstance(operand, inner) else (operand,))
    return pieces


def canonical_text(expression: Expression) -> str:
    """Text that equal expressions share, used to break ties.

    Raw names, ``~`` for not, nested conjunctions and disjunctions flattened, operands in
    code-point order of their own canonical texts. Names are not quoted, so it orders expressions
    but does not identify them: ``Primitive("a & b")`` reads like ``And(a, b)``.

    Examples
    --------
    >>> a, b, c = map(Primitive, "abc")
    >>> canonical_text(And(~(c & b), And(b, a)))
    'a & b & ~(b & c)'
    """
    if expression._canonical is not None:
        return expression._canonical
    _refuse_endless(expression)
    text = _sorted_text(expression)
    if len(text) <= _LONGEST_CACHED:
        object.__setattr__(expression, "_canonical", text)
    return text


class _Group(NamedTuple):
    """A conjunction, disjunction or count being written."""

    kind: type[Expression]
    before: str
    after: str
    pending: list[Expression]
    texts: list[str]


def _sorted_text(expression: Expression) -> str:
    # No memo of inner texts: each would be kept whole at every level of a deep formula.
    whole = Or if isinstance(expression, Or) else And
    groups = [_Group(whole, "", "", [expression], [])]
    while True:
        kind, before, after, pending, texts = groups[-1]
        if pending:
            node = pending.pop()
            bars = ""
            while isinstance(node, Not):
                node = node.operand
                bars += "~"
            if isinstance(node, Primitive):
                texts.append(bars + node.name)
            elif isinstance(node, Constant):
                texts.append(bars + ("true" if node.value else "false"))
            elif isinstance(node, Counted):
                opening = f"{bars}{count_words(node)}{{"
                groups.append(_Group(Counted, opening, "}", list(node.operands), []))
            elif bars or type(node) is not kind:
                groups.append(_Group(type(node), bars + "(", ")", list(node._children), []))
            else:
                pending.extend(node._children)
            continue
        groups.pop()
        between = ", " if kind is Counted else " | " if kind is Or else " & "
        text = before + between.join(sorted(texts)) + after
        if not groups:
            return text
        groups[-1].texts.append(text)


def _refuse_endless(expression: Expression) -> None:
    if expression.length > MAX_LITERALS:
        size = expression.length.bit_length() - 1
        raise InputError(
            f"the formula has about 2**{size} literals: too long to write out "
            f"(the limit is {MAX_LITERALS:,})"
        )


def render_conjunction(left: str, right: str, style: Style) -> str:
    """The text of a conjunction, given those of its two parts."""
    return left + _NOTATIONS[style].conjunction + right


def render_negation(text: str, style: Style, *, is_group: bool) -> str:
    """The text of a negation, given that of what is denied: a name, or a group of several."""
    notation = _NOTATIONS[style]
    if is_group:
        return notation.before_group + text + notation.after_group
    return notation.before_literal + text + notation.after_literal


def _name(name: str, also: str) -> str:
    """The name, in quotes if it could be misread: an operator, or one of ``also``, is in it."""
    bare = (
        name.isprintable()  # no controls, surrogates, bidi marks, or spaces other than " "
        and not any(character in OPERATORS or character in also for character in name)
        and not COUNT.match(name)
        and name not in CONSTANTS
        and name.strip(" ") == name != ""
        and "  " not in name
    )
    return name if bare else quoted(name)


def quoted(name: str) -> str:
    return '"' + "".join(map(_escaped, name)) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _latex_name(name: str) -> str:
    # Text in math mode, not \mathit: there a hyphen would be a minus and a space vanish.
    # Typesetting sets names apart from operators; quotes are for what cannot be seen.
    visible = name.isprintable() and name != "" and not re.search(r'["\\]', name)
    return r"\textit{" + (name if visible else quoted(name)).translate(_LATEX_TABLE) + "}"
