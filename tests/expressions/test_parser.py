"""Reading back what is written, whatever the names; and saying where a text is wrong."""

import pickle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conjunct.errors import InputError
from conjunct.expressions import (
    And,
    Constant,
    Expression,
    ExpressionSyntaxError,
    Not,
    Or,
    Primitive,
    parse,
    render,
)
from expressions.strategies import NASTY_NAMES, Formula, build, formulas, ladder, names, negated

DEEP = 30_000
a, b, c = map(Primitive, "abc")
sky, light = Primitive("sky"), Primitive("traffic light")


@given(formulas())
def test_parse_reads_what_render_writes(formula: Formula) -> None:
    expression = build(formula)
    assert parse(render(expression, "unicode")) == expression
    assert parse(render(expression, "ascii")) == expression


@given(st.text(st.characters(exclude_categories=())) | names)
def test_every_name_comes_back(name: str) -> None:
    assert parse(render(Primitive(name))).primitives == {name}
    assert parse(f"sky&~{render(Primitive(name), 'ascii')}") == And(sky, Not(Primitive(name)))


def test_every_character_comes_back() -> None:
    characters = list(map(chr, range(0x11_0000)))
    bare = "".join(x for x in characters if x.isprintable() and x not in ' ∧∨¬&|~()"\\')
    assert render(Primitive(bare)) == bare
    assert parse(bare) == Primitive(bare)
    for start in range(0, 0x11_0000, 0x1000):
        name = "".join(characters[start : start + 0x1000])
        assert parse(render(Primitive(name))) == Primitive(name)


@pytest.mark.parametrize("name", NASTY_NAMES)
def test_nasty_names_come_back_from_the_middle(name: str) -> None:
    nasty = Primitive(name)
    expression = Not(And(nasty, Not(nasty), a))
    assert parse(render(expression)) == expression
    assert parse(render(expression, "ascii")) == expression


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("sky", sky),
        ("  traffic light\n", light),
        ("traffic light & ~sky", And(light, Not(sky))),
        ("traffic light∧¬sky", And(light, Not(sky))),
        ("a & b ∧ c", And(a, b, c)),
        ("(a & b) & c", And(a, b, c)),
        ("a & (b)", And(a, b)),
        ("((a))", a),
        ("~ ( a\t& ¬b )", Not(And(a, Not(b)))),
        ("¬~a", Not(Not(a))),
        ("~(~a)", Not(Not(a))),
        ("~a & b", And(Not(a), b)),
        ("a &\n b", And(a, b)),
        ("a & a", And(a, a)),
        ("a | b ∨ c", Or(a, b, c)),
        ("a & b | c", Or(And(a, b), c)),
        ("a | b & c", Or(a, And(b, c))),
        ("a & (b | c)", And(a, Or(b, c))),
        ("~a|~(b|c)", Or(Not(a), Not(Or(b, c)))),
        ("true", Constant(True)),
        (" ⊥ ∨ ¬false", Or(Constant(False), Not(Constant(False)))),
        ("⊤ & a", And(Constant(True), a)),
        ('"true" & "⊥"', And(Primitive("true"), Primitive("⊥"))),
        ("True | true story", Or(Primitive("True"), Primitive("true story"))),
        ('"a"', a),
        ('""', Primitive("")),
        ('" a"&"(b)"', And(Primitive(" a"), Primitive("(b)"))),
        ('"\\u0041\\U0001f600\\"\\\\\\n\\r\\t"', Primitive('A\U0001f600"\\\n\r\t')),
        ('"\\ud83d\\ude00"', Primitive("\ud83d\ude00")),
        ('"raw\nline"', Primitive("raw\nline")),
        ("don't", Primitive("don't")),
        ("!a", Primitive("!a")),
    ],
)
def test_accepted(text: str, expression: Expression) -> None:
    assert parse(text) == expression


OPERAND = "expected a name, '¬', '~' or '('"
OPERATOR = "expected '∧', '&', '∨', '|' or the end"
SPACES = "bare names may have only single spaces: use double quotes"
ESCAPE = r"expected one of the escapes \" \\ \n \r \t \uXXXX \UXXXXXXXX"
BACKSLASH = "backslashes are allowed only in quoted names"
QUOTE = "expected a closing '\"' for the quote opened here"


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("", 1, f"{OPERAND}, found the end"),
        ("  ", 3, f"{OPERAND}, found the end"),
        ("a &", 4, f"{OPERAND}, found the end"),
        ("a & ", 5, f"{OPERAND}, found the end"),
        ("~", 2, f"{OPERAND}, found the end"),
        ("& a", 1, f"{OPERAND}, found '&'"),
        ("a && b", 4, f"{OPERAND}, found '&'"),
        ("a ∧ ∧ b", 5, f"{OPERAND}, found '\\u2227'"),
        ("()", 2, f"{OPERAND}, found ')'"),
        ("a & ~)", 6, f"{OPERAND}, found ')'"),
        ("a |", 4, f"{OPERAND}, found the end"),
        ("a | | b", 5, f"{OPERAND}, found '|'"),
        ("a & | b", 5, f"{OPERAND}, found '|'"),
        ("| a", 1, f"{OPERAND}, found '|'"),
        ("(a |)", 5, f"{OPERAND}, found ')'"),
        ("a (true)", 3, f"{OPERATOR}, found '('"),
        ("a)", 2, f"{OPERATOR}, found ')'"),
        ("a ~b", 3, f"{OPERATOR}, found '~'"),
        ("a (b)", 3, f"{OPERATOR}, found '('"),
        ('a "b"', 3, f"{OPERATOR}, found 'b'"),
        ('"a" b', 5, f"{OPERATOR}, found 'b'"),
        ("(a & b", 7, "expected '∧', '&', '∨', '|' or the ')' of column 1, found the end"),
        ("a & (b ~c)", 8, "expected '∧', '&', '∨', '|' or the ')' of column 5, found '~'"),
        ("((a) & b", 9, "expected '∧', '&', '∨', '|' or the ')' of column 1, found the end"),
        ("a  b", 2, SPACES),
        ("sky & a\tb", 8, SPACES),
        ("  a\nb", 4, SPACES),
        ("a\u00a0b", 2, SPACES),
        ('sky & "abc', 7, QUOTE),
        ('"abc\\"', 1, QUOTE),
        ('"abc\\', 1, QUOTE),
        ("a\\b", 2, BACKSLASH),
        ('a & "b\\x"', 7, ESCAPE),
        ('"\\u12g4"', 2, ESCAPE),
        ('"ab\\U00110000"', 4, ESCAPE),
        ('"\\ud83d\\u"', 8, ESCAPE),
    ],
)
def test_errors_say_where_and_what(text: str, column: int, problem: str) -> None:
    with pytest.raises(ExpressionSyntaxError) as refusal:
        parse(text)
    assert str(refusal.value) == f"column {column}: {problem}"
    assert refusal.value.column == column
    assert isinstance(refusal.value, InputError)
    assert isinstance(refusal.value, ValueError)


def test_the_error_travels_between_processes() -> None:
    with pytest.raises(ExpressionSyntaxError) as refusal:
        parse("a)")
    again = pickle.loads(pickle.dumps(refusal.value))
    assert (str(again), again.column) == (str(refusal.value), 2)


def test_only_text_is_parsed() -> None:
    with pytest.raises(TypeError, match=r"^parse takes a str, not 'bytes'$"):
        parse(b"sky")  # type: ignore[arg-type]


@given(st.text(st.sampled_from('ab ∧&∨|¬~⊤()"\\un0\n'), max_size=12))
@example('"\\u')
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        expression = parse(text)
    except ExpressionSyntaxError as raised:
        error = raised
    else:
        assert parse(render(expression)) == expression
        return
    assert 1 <= error.column <= len(text) + 1
    assert str(error).isprintable()


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_deep_and_long_texts() -> None:
    assert parse("~" * DEEP + "a") == negated(a, DEEP)
    assert parse("(" * DEEP + "a" + ")" * DEEP) == a
    assert parse(render(ladder(20_000))) == ladder(20_000)
    assert parse("(" * 20_000 + "a" + " & b)" * 20_000) == And(a, *[b] * 20_000)
    assert parse(" & ".join("a" * DEEP)).length == DEEP
    assert parse(" | ".join("a" * DEEP)).length == DEEP
    assert parse("(a | " * 20_000 + "b" + ")" * 20_000) == Or(*[a] * 20_000, b)
    with pytest.raises(ExpressionSyntaxError, match=f"^column {DEEP + 2}: .* of column {DEEP}, "):
        parse("(" * DEEP + "a")
    with pytest.raises(ExpressionSyntaxError, match=r"^column 1: expected a closing"):
        parse('"' + "\\n" * DEEP)
