"""Rendering as exact strings, and the canonical text against a recursive one."""

import re

import pytest
from hypothesis import given

from conjunct.errors import InputError
from conjunct.expressions import (
    And,
    AtLeast,
    Constant,
    Exactly,
    Expression,
    Not,
    Or,
    Primitive,
    canonical_text,
    parse,
    render,
)
from conjunct.expressions.text import MAX_LITERALS
from expressions.strategies import (
    NASTY_NAMES,
    Formula,
    build,
    doubled,
    flat_operands,
    formulas,
    ladder,
    names,
    negated,
)

DEEP = 30_000
a, b, c, d = map(Primitive, "abcd")
sky, building, panorama = map(Primitive, ("sky", "building", "panorama"))
tree, forest = map(Primitive, ("tree", "forest"))
groups, road, interior = map(Primitive, ("groups", "road", "interior"))


@pytest.mark.parametrize(
    ("expression", "unicode", "ascii_", "latex"),
    [
        (sky, "sky", "sky", "sky"),
        (
            And(And(sky, Not(building)), panorama),
            "sky ∧ ¬building ∧ panorama",
            "sky & ~building & panorama",
            r"sky \wedge \overline{building} \wedge panorama",
        ),
        (
            Not(And(tree, Not(forest))),
            "¬(tree ∧ ¬forest)",
            "~(tree & ~forest)",
            r"\overline{tree \wedge \overline{forest}}",
        ),
        (
            And(Not(And(groups, Not(road))), interior),
            "¬(groups ∧ ¬road) ∧ interior",
            "~(groups & ~road) & interior",
            r"\overline{groups \wedge \overline{road}} \wedge interior",
        ),
        (
            And(Not(And(sky, building)), And(tree, Not(forest))),
            "¬(sky ∧ building) ∧ tree ∧ ¬forest",
            "~(sky & building) & tree & ~forest",
            r"\overline{sky \wedge building} \wedge tree \wedge \overline{forest}",
        ),
        (
            And(tree, Or(And(Not(road), sky), And(road, Or(groups, Not(sky))))),
            "tree ∧ ((¬road ∧ sky) ∨ (road ∧ (groups ∨ ¬sky)))",
            "tree & ((~road & sky) | (road & (groups | ~sky)))",
            r"tree \wedge ((\overline{road} \wedge sky) \vee "
            r"(road \wedge (groups \vee \overline{sky})))",
        ),
        (
            Or(Or(sky, tree), Not(Or(road, sky))),
            "sky ∨ tree ∨ ¬(road ∨ sky)",
            "sky | tree | ~(road | sky)",
            r"sky \vee tree \vee \overline{road \vee sky}",
        ),
        (
            Or(Constant(True), Not(Constant(False))),
            "⊤ ∨ ¬⊥",
            "true | ~false",
            r"\top \vee \overline{\bot}",
        ),
        (
            And(sky, Not(AtLeast(2, [tree, Not(road), And(groups, forest)]))),
            "sky ∧ ¬(at least 2 of {tree, ¬road, groups ∧ forest})",
            "sky & ~(at least 2 of {tree, ~road, groups & forest})",
            r"sky \wedge \overline{\textrm{at least 2 of }\{tree, \overline{road}, "
            r"groups \wedge forest\}}",
        ),
        (
            Exactly(0, [tree, road]),
            "exactly 0 of {tree, road}",
            "exactly 0 of {tree, road}",
            r"\textrm{exactly 0 of }\{tree, road\}",
        ),
        (Not(Not(sky)), "¬¬sky", "~~sky", r"\overline{\overline{sky}}"),
        (
            Not(Not(And(tree, sky, tree))),
            "¬¬(tree ∧ sky ∧ tree)",
            "~~(tree & sky & tree)",
            r"\overline{\overline{tree \wedge sky \wedge tree}}",
        ),
    ],
)
def test_styles(expression: Expression, unicode: str, ascii_: str, latex: str) -> None:
    assert expression.text() == str(expression) == render(expression) == unicode
    assert expression.text("ascii") == render(expression, "ascii") == ascii_
    # The paper sets names in math italics; \textit looks the same and takes any name.
    assert re.sub(r"\\textit{(\w+)}", r"\1", expression.text("latex")) == latex


def test_latex_is_exact() -> None:
    assert render(And(Not(And(groups, Not(road))), interior), "latex") == (
        r"\overline{\textit{groups} \wedge \overline{\textit{road}}} \wedge \textit{interior}"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *[
            (name, name)
            for name in (
                "sky", "traffic light", "colour = red", "age in [30, 45]", "age ≥ 30", "F22",
                "don't", "naïve", "雪", "t-shirt", "truest", "True", "100%", "x < 3", "😀",
                "!", "'",
            )
        ],
        ("", '""'),
        (" ", '" "'),
        ("a ", '"a "'),
        ("a  b", '"a  b"'),
        ("age in [30, 45)", '"age in [30, 45)"'),
        ("R&D", '"R&D"'),
        ("¬", '"¬"'),
        ("∧", '"∧"'),
        ("a|b", '"a|b"'),
        ("∨", '"∨"'),
        ("⊤", '"⊤"'),
        ("false", '"false"'),
        ('say "hi"', r'"say \"hi\""'),
        ("C:\\new", r'"C:\\new"'),
        ("a\nb\tc\rd", r'"a\nb\tc\rd"'),
        ("\x00\x7f", r'"\u0000\u007f"'),
        ("a\u00a0b", r'"a\u00a0b"'),
        ("\u202eabc", r'"\u202eabc"'),
        ("\ud83d\ude00", r'"\ud83d\ude00"'),
        ("\uffff", r'"\uffff"'),
        ("\U000e0001", r'"\U000e0001"'),
    ],
)  # fmt: skip
def test_names_are_quoted_only_where_they_could_be_misread(name: str, text: str) -> None:
    assert render(Primitive(name)) == text
    assert render(Primitive(name), "ascii") == text
    assert render(And(Not(Primitive(name)), sky)) == f"¬{text} ∧ sky"


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("traffic light", r"\textit{traffic\ light}"),
        ("t-shirt", r"\textit{t-shirt}"),
        ("R&D_50%", r"\textit{R\&D\_50\%}"),
        ("#{$x^2$}", r"\textit{\#\{\$x\textasciicircum{}2\$\}}"),
        ("age ≥ 30", r"\textit{age\ $\geq$\ 30}"),
        ("~x<y|z>", r"\textit{\textasciitilde{}x\textless{}y\textbar{}z\textgreater{}}"),
        ("a\\b", r'\textit{"a\textbackslash{}\textbackslash{}b"}'),
        ("a\nb", r'\textit{"a\textbackslash{}nb"}'),
        ("\ud800", r'\textit{"\textbackslash{}ud800"}'),
        ("", r'\textit{""}'),
    ],
)
def test_latex_names(name: str, latex: str) -> None:
    assert render(Primitive(name), "latex") == latex


def test_names_differ_in_every_style() -> None:
    assert len(set(NASTY_NAMES)) == len(NASTY_NAMES)
    for style in ("unicode", "ascii", "latex"):
        assert len({render(Primitive(name), style) for name in NASTY_NAMES}) == len(NASTY_NAMES)


@given(names)
def test_text_of_a_name_is_one_printable_line(name: str) -> None:
    for style in ("unicode", "ascii", "latex"):
        assert render(Primitive(name), style).isprintable()


@given(formulas())
def test_repr_builds_the_expression_again(formula: Formula) -> None:
    expression = build(formula)
    assert eval(repr(expression), {"parse": parse}) == expression


def test_repr() -> None:
    assert repr(sky & ~building) == "parse('sky & ~building')"


def test_unknown_style() -> None:
    message = "^unknown style 'html': choose one of 'unicode', 'ascii', 'latex'$"
    with pytest.raises(ValueError, match=message):
        render(sky, "html")  # type: ignore[arg-type]


def naive_canonical_text(formula: Formula) -> str:
    if formula[0] == "name":
        return str(formula[1])
    if formula[0] == "not":
        inner = naive_canonical_text(formula[1])
        return f"~({inner})" if formula[1][0] in ("and", "or") else f"~{inner}"
    if formula[0] == "constant":
        return "true" if formula[1] else "false"
    if formula[0] in ("at least", "exactly"):
        kind, number, *operands = formula
        return f"{kind} {number} of {{{', '.join(naive_sorted_texts(operands))}}}"
    texts = naive_sorted_texts(flat_operands(formula))
    return (" & " if formula[0] == "and" else " | ").join(texts)


def naive_sorted_texts(operands: list[Formula]) -> list[str]:
    return sorted(
        f"({naive_canonical_text(part)})"
        if part[0] in ("and", "or")
        else naive_canonical_text(part)
        for part in operands
    )


@given(formulas())
def test_canonical_text(formula: Formula) -> None:
    expression = build(formula)
    assert canonical_text(expression) == naive_canonical_text(formula)
    assert canonical_text(expression) == naive_canonical_text(formula), "operands are sorted now"


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (And(Not(And(d, c)), And(b, a)), "a & b & ~(c & d)"),
        (Not(Not(And(b, a))), "~~(a & b)"),
        (And(Primitive("é"), Primitive("z"), Primitive("Z")), "Z & z & é"),
        (And(Not(a), b, a), "a & b & ~a"),
        (Or(And(d, c), Or(b, a), Not(Or(d, c))), "(c & d) | a | b | ~(c | d)"),
        (And(Primitive("a b"), Primitive("R&D")), "R&D & a b"),
    ],
)
def test_canonical_examples(expression: Expression, text: str) -> None:
    assert canonical_text(expression) == text


def test_deep_nesting() -> None:
    assert render(negated(a, DEEP)) == "¬" * DEEP + "a"
    assert render(negated(And(a, b), DEEP), "ascii") == "~" * DEEP + "(a & b)"
    assert render(negated(a, DEEP), "latex") == (r"\overline{" * DEEP + r"\textit{a}" + "}" * DEEP)
    assert render(ladder(20_000)) == "¬(" * 20_000 + "x" + " ∧ a)" * 20_000
    assert canonical_text(negated(And(b, a), DEEP)) == "~" * DEEP + "(a & b)"
    assert canonical_text(ladder(3)) == "~(a & ~(a & ~(a & x)))"
    assert canonical_text(ladder(10_000)) == "~(a & " * 9_999 + "~(a & x" + ")" * 10_000


@pytest.mark.parametrize("grows", ["left", "right"])
def test_deep_conjunctions_flatten(grows: str) -> None:
    chain: Expression = b
    for _ in range(DEEP):
        chain = And(chain, a) if grows == "left" else And(a, chain)
    operands = ["b"] + ["a"] * DEEP if grows == "left" else ["a"] * DEEP + ["b"]
    assert render(chain) == " ∧ ".join(operands)
    assert canonical_text(chain) == " & ".join(sorted(operands))


def test_a_formula_too_long_for_text_is_refused_at_once() -> None:
    endless = doubled(a, 200)
    message = r"^the formula has about 2\*\*200 literals, too long to write out: the limit is "
    for write in (render, canonical_text):
        with pytest.raises(InputError, match=message):
            write(endless)
    assert MAX_LITERALS == 10_000_000
    assert str(endless) == "a"
    assert render(doubled(a, 10)) == " ∧ ".join("a" * 1024)
