"""Formulas in words, as exact lines."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conjunct.explain import english
from conjunct.expressions import And, Primitive, parse
from expressions.strategies import Formula, build, formulas
from naive_sentences import NAMES, meaning, truth_table


@pytest.mark.parametrize(
    ("formula", "line"),
    [
        ("sky", "sky"),
        ("~sky", "no sky"),
        ("panorama & sky", "panorama with sky"),
        ("panorama & sky & ~building", "panorama with sky and no building"),
        ("panorama & ~building", "panorama without building"),
        ("panorama & ~building & ~road", "panorama with neither building nor road"),
        ("a panorama & sky & tree & ~road & ~car",
         "a panorama with sky and tree, and neither road nor car"),
        ("~sky & ~building", "neither sky nor building"),
        ("~sky & ~building & ~road", "none of sky, building and road"),
        ("F1 & F3 & ~F7", "F1 and F3 without F7"),
        ("x0 & ~x1 & ~x12", "x0 with neither x1 nor x12"),
        ("colour = red", "colour is red"),
        ("~colour = red", "colour is not red"),
        ('"age in [30, 45)" & ~owner = yes', "age is in [30, 45) and owner is not yes"),
        ("~age ≥ 30 & size < 4 & ~size > 2",
         "age is below 30 and size is below 4 and size is at most 2"),
        ("~colour is missing", "colour is not missing"),
        ("sky & colour = red", "sky, where colour is red"),
        ("~(a & b)", "not both a and b"),
        ("~(a & b & c)", "not all of a, b and c"),
        ("~(a & ~b)", "not (a without b)"),
        ("a | b | ~c", "a, b or no c"),
        ("~sky | tree", "tree or no sky"),
        ("building & ~window & (~sky | tree)", "building without window; tree or no sky"),
        ("~a | ~b", "no a or no b"),
        ("panorama & ~road & ~car & ~sign", "panorama with none of road, car and sign"),
        ("~(sky & colour = red)", "not (sky, where colour is red)"),
        ("colour = black or white", 'colour is "black or white"'),
        ("(a & b) | ~c", "either (a with b) or no c"),
        ("tree & ~(groups & road) & (road | ~person)",
         "tree; not both groups and road; road or no person"),
        ("building & ((~road & ~person) | (~groups & road))",
         "building; either (neither road nor person) or (road without groups)"),
        ("at least 2 of {bicycle, backpack, handbag}",
         "at least 2 of bicycle, backpack and handbag"),
        ("exactly 1 of {a, ~b, colour = red}", "exactly 1 of a, (no b) and (colour is red)"),
        ("~at least 2 of {a, b & c, d}", "fewer than 2 of a, (b with c) and d"),
        ("sky & ~exactly 1 of {a, b, c}", "sky; not exactly 1 of a, b and c"),
        ("exactly 1 of {a, b} | ~c", "either (exactly 1 of a and b) or no c"),
        ("at least 1 of {a, exactly 2 of x}", 'at least 1 of a and "exactly 2 of x"'),
        ("true", "every row"),
        ("false", "no row"),
        ('salt and pepper & "no, thanks"', '"salt and pepper" with "no, thanks"'),
        ('"" & "a\\nb"', '"" with "a\\nb"'),
        # names that read like words of a sentence are quoted in any case
        ("No sky & tree", '"No sky" with tree'),
        ("NOT x & ~Either way", '"NOT x" without "Either way"'),
        ("At least 2 of x & y", '"At least 2 of x" with y'),
        ("x = 1", "x is 1"),
        ("x is 1", '"x is 1"'),
        ("x IS 1 & y", '"x IS 1" with y'),
    ],
)  # fmt: skip
def test_lines(formula: str, line: str) -> None:
    assert english(parse(formula)) == line


@given(formulas())
def test_always_one_printable_line_that_names_every_primitive(formula: Formula) -> None:
    line = english(build(formula))
    assert line
    assert line.isprintable()


def test_too_long_for_a_line() -> None:
    line = english(And(*[Primitive("a")] * 1001))
    assert line == "a formula of 1,001 literals, too long for one line"


@given(formulas(st.sampled_from(NAMES)))
@example(("or", ("not", ("name", "ant")), ("name", "bee")))
@example(
    ("and", ("name", "ant"), ("name", "bee"), ("not", ("name", "cat")), ("not", ("name", "F1")))
)
def test_a_sentence_is_true_exactly_where_its_formula_is(formula: Formula) -> None:
    assert truth_table(meaning(english(build(formula)))) == truth_table(formula)
