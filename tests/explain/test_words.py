"""Numbers and names in words, at the ends of their ranges."""

import math

import pytest

from conjunct.explain import count, decimal, format_share, probability
from conjunct.explain.sentences import (
    english,
    formula_text,
    join_names,
    label,
    quote_tags,
    shorten,
)
from conjunct.expressions import And, Primitive, parse


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (0, "0%"),
        (0.00004, "0.004%"),
        (0.00096, "0.1%"),
        (0.001, "0.1%"),
        (0.0994, "9.9%"),
        (0.1, "10%"),
        (0.994, "99%"),
        (0.995, "99.5%"),
        (0.9994, "99.9%"),
        (0.9996, "over 99.9%"),
        (1, "100%"),
    ],
)
def test_shares(part, text):
    assert format_share(part) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (math.nan, "–"),
        (0, "< 10⁻³⁰⁰"),
        (0.001, "0.001"),
        (0.00099, "9.9 × 10⁻⁴"),
        (1.26e-12, "1.3 × 10⁻¹²"),
        (0.5, "0.5"),
        (1, "1"),
    ],
)
def test_probabilities(p, text):
    assert probability(p) == text


def test_numbers_and_nouns():
    assert count(1, "row") == "1 row"
    assert count(0, "row") == "0 rows"
    assert count(1234, "category", "categories") == "1,234 categories"
    assert count(1, "category", "categories") == "1 category"
    assert count(12345) == "12,345"
    assert decimal(0.43249) == "0.432"
    assert decimal(1.005, 1) == "1.0"
    assert decimal(math.nan) == "–"


def test_texts_are_cut_where_they_are_longer():
    assert shorten("abcd", 4) == "abcd"
    assert shorten("abcde", 4) == "abc…"
    assert shorten("a" * 81) == "a" * 79 + "…"
    assert shorten("a" * 80) == "a" * 80
    assert join_names(["a", "b"], 2, 9) == "a, b"
    assert join_names(["a", "b", "c"], 2, 9) == "a, b and 1 more"
    assert join_names(["abc", "b", *"c" * 2000], 1, 2) == "a… and 2,001 more"
    assert join_names([], 2, 9) == ""


def test_long_formulas_are_counted_instead_of_written():
    names = [Primitive("a")] * 100
    assert label(And(*names)).startswith("a ∧ ")
    assert len(label(And(*names))) == 80
    assert label(And(*names, names[0])) == "a formula of 101 literals"
    assert english(And(*names)) == f"a with {', '.join('a' * 98)} and a"
    assert english(And(*names, names[0])) == "a formula of 101 literals, too long for one line"
    many = And(*names * 10)
    assert formula_text(many, "ascii") == " & ".join(["a"] * 1000)
    assert formula_text(And(many, names[0]), "ascii") == "(a formula of 1,001 literals)"
    assert label(parse("~(a & b)"), "ascii", 7) == "~(a & …"


def test_names_that_sound_like_words_are_quoted():
    assert quote_tags(["a"]) == "a"
    assert quote_tags(["a", "b", "c"]) == "a, b and c"
    assert quote_tags(["no fork", " x", "tab\t"]) == r'"no fork", " x" and "tab\t"'
    # a value of one word is a value, whatever the word
    assert quote_tags(["sex = no", "sex = not sure", "x and y = 1"]) == (
        'sex = no, sex = "not sure" and "x and y" = 1'
    )


@pytest.mark.parametrize(
    ("formula", "line"),
    [
        ('"size = missing"', 'size is "missing"'),
        ('"size is missing"', "size is missing"),
        ('"size = no"', 'size is "no"'),
        ('"size = a (b), c"', "size is a (b), c"),
        ('"size = x\\ty"', 'size is "x\\ty"'),
        ('" size"', '" size"'),
        ("F1 & F2 & F3", "F1, F2 and F3"),
        ("F1 & a & ~F3", "F1 with a and no F3"),
        ("a & ~F3 & ~b & F1", "a with F1 and neither F3 nor b"),
        ("~a & ~b & x = 1", "neither a nor b, where x is 1"),
        ("~(a | b)", "not (a or b)"),
        ("~(a & x = 1)", "not (a, where x is 1)"),
        ("(a | b) & (c | d)", "a or b; c or d"),
        ("(a & (b & c)) | d", "either (a with b and c) or d"),
        ("((a | b) | ~c) | d", "a, b, d or no c"),
        ("~exactly 2 of {a, b, ~(c & d)}", "not exactly 2 of a, b and (not both c and d)"),
        ("x ≠ 1 & ~y ≠ 2", "x is not 1 and y is 2"),
        ("~x <= 1 & ~y >= 2 & z != 3", "x is above 1 and y is below 2 and z is not 3"),
    ],
)
def test_lines(formula, line):
    assert english(parse(formula)) == line
