"""What marks groups of rows, counted by hand."""

import numpy as np
import pytest

from conjunct.explain import GroupCounts, Mark, find_marks, name_groups

PATTERNS = [("fork",), ("car",), ("never",)]
# 60 rows with a fork and 40 without; 10 of each have a car, in as many rows as it is known
COUNTS = GroupCounts(
    np.array([[60, 10, 0], [0, 10, 0]]),
    np.array([[60, 60, 60], [40, 40, 40]]),
)


def test_marks_are_counted_inside_and_outside():
    first, second = find_marks(COUNTS, PATTERNS, {})
    assert [(mark.tags, mark.rows, mark.rows_outside) for mark in first] == [(("fork",), 60, 0)]
    assert [(mark.tags, mark.rows, mark.rows_outside) for mark in second] == [(("fork",), 0, 60)]
    assert (first[0].share, first[0].share_outside, first[0].is_absent) == (1.0, 0.0, False)
    assert (second[0].share, second[0].share_outside, second[0].is_absent) == (0.0, 1.0, True)


def test_what_is_known_only_inside_is_no_mark():
    counts = GroupCounts(np.array([[50], [0]]), np.array([[60], [0]]))
    assert find_marks(counts, [("fork",)], {}, priced=False) == [[], []]


def mark(*tags, is_absent=False):
    return Mark(tags, " + ".join(tags), 5, 1, 0.5, 0.1, 10.0, is_absent)


@pytest.mark.parametrize(
    ("marks", "names"),
    [
        ([[mark("a")], [mark("a")], [mark("a")]], ["a", "a [2]", "a [3]"]),
        ([[]], ["all rows"]),
        ([[], [mark("b")]], ["other rows", "b"]),
        ([[mark("a", is_absent=True), mark("b")]], ["b"]),
        ([[mark("a", is_absent=True), mark("b", is_absent=True)]], ["no a, no b"]),
        ([[mark(sign) for sign in "abcd"]], ["a, b, c"]),
        ([[mark("a", "b"), mark("a"), mark("c")]], ["a + b, c"]),
    ],
)
def test_names_are_of_the_strongest_marks(marks, names):
    assert name_groups(marks) == names


TABLEWARE = [("fork",), ("knife",), ("fork", "knife")]


def tags_of_marks(inside, outside):
    """The tags of the marks of two groups of 100 rows each, by rows inside and outside."""
    counts = GroupCounts(np.array([inside, outside]), np.full((2, 3), 100))
    return [[mark.tags for mark in marks] for marks in find_marks(counts, TABLEWARE, {})]


def test_a_chunk_is_a_mark_only_where_it_says_more_than_each_of_its_tags():
    first, _ = tags_of_marks([60, 60, 50], [30, 30, 0])
    assert first == [("fork", "knife"), ("fork",), ("knife",)]
    first, _ = tags_of_marks([80, 60, 55], [10, 30, 8])
    assert first == [("fork",), ("knife",)]


def test_that_a_chunk_is_rarer_is_no_mark():
    _, second = tags_of_marks([60, 60, 50], [30, 30, 0])
    assert second == [("fork",), ("knife",)]
