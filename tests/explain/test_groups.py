"""What marks groups of rows, counted by hand."""

import math

import numpy as np
import pytest
from scipy.stats import hypergeom

import naive_evidence
from conjunct.columns import MaskedColumns, PackedColumns, SparseColumns
from conjunct.explain import (
    GroupCounts,
    Mark,
    find_marks,
    format_share,
    name_groups,
    rank_differences,
    rank_group_features,
)

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
    first, _ = tags_of_marks([60, 60, 60], [30, 40, 30])
    assert first == [("fork",)]
    first, _ = tags_of_marks([80, 60, 55], [10, 30, 8])
    assert first == [("fork",), ("knife",)]


def test_that_a_chunk_is_rarer_is_no_mark():
    _, second = tags_of_marks([60, 60, 50], [30, 30, 0])
    assert second == [("fork",), ("knife",)]


def drawn_rows(seed, n_columns=6, n_rows=60):
    """Rows of two or three groups, with cells that are missing, and weights."""
    rng = np.random.default_rng(seed)
    n_groups = 2 + seed % 2
    groups = rng.integers(-1, n_groups, n_rows)
    table = rng.random((n_rows, n_columns)) < rng.random((n_groups + 1, n_columns))[groups]
    known = rng.random(table.shape) < (1, 0.8)[seed % 3 > 0]
    return groups, table, known, rng.integers(1, 4, n_rows), n_groups


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("is_weighted", [False, True])
def test_counts_of_groups_are_those_of_the_rows(seed, is_weighted):
    groups, table, known, weights, n_groups = drawn_rows(seed)
    columns = MaskedColumns(
        PackedColumns.from_table(table & known), PackedColumns.from_table(known)
    )
    if known.all():
        columns = SparseColumns.from_table(table)
    factor = weights if is_weighted else np.ones_like(weights)
    found = GroupCounts.of_groups(columns, groups, n_groups, weights if is_weighted else None)
    for k in range(n_groups):
        for j in range(table.shape[1]):
            own = groups == k
            assert found.true[k, j] == factor[own & known[:, j] & table[:, j]].sum()
            assert found.known[k, j] == factor[own & known[:, j]].sum()
    if known.all() and not is_weighted:
        parts = [PackedColumns.from_table(table[groups == k]) for k in range(n_groups)]
        for one, other in zip(GroupCounts.of_parts(*parts), found, strict=True):
            assert one.tolist() == other.tolist()


def drawn_counts(seed, **options):
    groups, table, known, _, n_groups = drawn_rows(seed, **options)
    own = groups[:, None] == np.arange(n_groups)
    true = own.T.astype(int) @ (table & known)
    return GroupCounts(true, own.T.astype(int) @ known)


def fisher(counts, k, j, true=None):
    """The probability of as many rows in a group by chance, and of all rows of the feature."""
    n, s = counts.known[:, j].sum(), counts.true[:, j].sum()
    n_own = counts.known[k, j]
    true = counts.true[k, j] if true is None else true
    return hypergeom(n, s, n_own).sf(true - 1)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("alpha", [None, 0.01, 0.2])
@pytest.mark.parametrize("sides", [1, 2])
def test_what_can_be_tested_and_its_p_values(seed, alpha, sides):
    counts = drawn_counts(seed, n_rows=14)
    tested = counts.testable(alpha, sides)
    expected, p = np.zeros_like(tested), []
    for k, j in np.ndindex(*tested.shape):
        n, s, own = counts.known[:, j].sum(), counts.true[:, j].sum(), counts.known[k, j]
        if 0 < s < n and 0 < own < n:
            least = sides * fisher(counts, k, j, min(s, own))
            expected[k, j] = alpha is None or least <= alpha * (1 + 1e-9)
        if expected[k, j]:
            p.append(fisher(counts, k, j))
    assert tested.tolist() == expected.tolist()
    assert counts.p_values(tested, counts.true.sum(0)) == pytest.approx(p)


@pytest.mark.parametrize(
    ("true", "known", "copies"),
    [
        ([[5, 2], [0, 2]], [[5, 5], [4, 4]], [0]),
        ([[2, 0], [2, 4]], [[5, 5], [4, 4]], [1]),
        ([[2, 5, 0], [2, 0, 4]], [[5, 5, 5], [4, 4, 4]], [1, 2]),
        ([[5, 0], [1, 3]], [[5, 5], [4, 4]], []),
        ([[1, 0], [0, 4]], [[1, 1], [4, 4]], [0, 1]),
        ([[0, 0], [0, 0]], [[0, 5], [4, 4]], []),
        ([[5, 0, 0], [0, 4, 0], [0, 0, 3]], np.full((3, 3), [[5], [4], [3]]), [0, 1, 2]),
        ([[5, 0, 1], [0, 4, 0], [0, 0, 3]], np.full((3, 3), [[5], [4], [3]]), []),
    ],
)
def test_features_that_equal_groups(true, known, copies):
    assert GroupCounts(np.array(true), np.array(known)).copies_of_groups() == copies


TAGS = [("a",), ("b",), ("c",), ("a", "b"), ("b", "c"), ("d",)]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("priced", [False, True])
@pytest.mark.parametrize("variables", [{}, {"a": "v", "c": "v", "d": "w"}])
def test_marks_are_those_of_the_definition(seed, priced, variables):
    counts = drawn_counts(seed, n_rows=150)
    n_groups = len(counts.true)
    for k, marks in enumerate(find_marks(counts, TAGS, variables, priced=priced)):
        bits, rarer = {}, {}
        for j, tags in enumerate(TAGS):
            n, s, own, c = (
                int(x)
                for x in (
                    counts.known[:, j].sum(),
                    counts.true[:, j].sum(),
                    counts.known[k, j],
                    counts.true[k, j],
                )
            )
            present = naive_evidence.evidence(n, own, s, c)
            absent = naive_evidence.evidence(n, own, n - s, own - c)
            price = math.log2(n_groups * len(TAGS)) + 0.5 * math.log2(n) if priced else 0
            if 0 < own < n and max(present, absent) > price:
                bits[tags], rarer[tags] = max(present, absent), absent > present
        expected = [
            tags
            for tags in bits
            if len(tags) == 1
            or not (rarer[tags] or any(bits.get((tag,), 0) >= bits[tags] for tag in tags))
        ]
        common = {variables.get(tags[0]) for tags in expected if not rarer[tags]} - {None}
        expected = [
            tags for tags in expected if not (rarer[tags] and variables.get(tags[0]) in common)
        ]
        expected.sort(key=lambda tags: (-bits[tags], tags))
        assert [mark.tags for mark in marks] == expected
        for mark in marks:
            j = TAGS.index(mark.tags)
            assert mark.evidence == pytest.approx(bits[mark.tags], abs=1e-5)
            assert mark.is_absent == rarer[mark.tags]
            inside, outside = counts.true[k, j], counts.true[:, j].sum() - counts.true[k, j]
            assert (mark.rows, mark.rows_outside) == (inside, outside)
            n_outside = counts.known[:, j].sum() - counts.known[k, j]
            assert mark.share == pytest.approx(inside / counts.known[k, j])
            assert mark.share_outside == pytest.approx(outside / n_outside)
            text = f"{format_share(mark.share)} of this group, {format_share(mark.share_outside)}"
            assert text in mark.sentence


def test_only_twenty_marks_are_kept():
    n = 25
    counts = GroupCounts(np.array([np.arange(40, 40 + n), np.zeros(n, int)]), np.full((2, n), 90))
    patterns = [(f"t{k:02}",) for k in range(n)]
    first, second = find_marks(counts, patterns, {})
    assert [mark.tags for mark in first] == patterns[: n - 21 : -1]
    assert len(second) == 20


@pytest.mark.parametrize("seed", range(6))
def test_what_is_more_common_in_a_group(seed):
    counts, labels = drawn_counts(seed, n_rows=100), list("xyz")
    table = rank_group_features(TAGS, labels, counts, None, None, None)
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    expected = []
    for k, j in np.ndindex(*counts.true.shape):
        n_own, c = int(counts.known[k, j]), int(counts.true[k, j])
        n, s = int(counts.known[:, j].sum()) - n_own, int(counts.true[:, j].sum()) - c
        if 0 < s + c < n + n_own and c * n > s * n_own:
            expected.append(
                {
                    "group": labels[k],
                    "pattern": " + ".join(TAGS[j]),
                    "share": c / n_own,
                    "share_outside": s / n,
                    "lift": c / n_own / ((s + c) / (n + n_own)),
                    "rows": c,
                    "rows_outside": s,
                    "n": n_own,
                    "n_outside": n,
                    "p_value": fisher(counts, k, j),
                    "p_adjusted": fisher(counts, k, j),
                }
            )
    expected.sort(key=lambda row: (row["group"], row["p_value"], -row["lift"]))
    assert [row["pattern"] for row in rows] == [row["pattern"] for row in expected]
    for row, other in zip(rows, expected, strict=True):
        assert row == pytest.approx(other)
    for top in (0, 1, 2):
        some = rank_group_features(TAGS, labels, counts, None, None, top)
        kept = [
            row
            for k, row in enumerate(expected)
            if sum(other["group"] == row["group"] for other in expected[:k]) < top
        ]
        assert some["pattern"] == [row["pattern"] for row in kept]


def test_where_no_number_is_as_small_as_the_p_values_the_larger_lift_is_first():
    n = 1_000_000
    counts = GroupCounts(
        np.array([[n - 9, n // 2, n // 9], [n // 2, 1, n // 9]]), np.full((2, 3), n)
    )
    table = rank_group_features([("a",), ("b",), ("c",)], "xy", counts, None, None, None)
    assert table["p_value"] == [0, 0]
    assert table["pattern"] == ["b", "a"]
    assert table["lift"][0] > table["lift"][1] > 1


@pytest.mark.parametrize("seed", range(0, 6, 2))
def test_shares_in_two_data_sets_are_compared(seed):
    counts = drawn_counts(seed, n_rows=100)
    assert len(counts.true) == 2
    # a tag of only one side, and a chunk that has the counts of a tag
    true, known = (np.c_[each, each[:, :1]] for each in counts)
    counts = GroupCounts(np.c_[true, [0, 9]], np.c_[known, known[:, 0]])
    tags = [*TAGS, ("a", "d"), ("e",)]
    table = rank_differences(tags, counts, None, None, {})
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    expected = []
    for j, name in enumerate(tags):
        (a, b), (n, m) = counts.true[:, j].tolist(), counts.known[:, j].tolist()
        p = min(1, 2 * min(fisher(counts, 0, j), fisher(counts, 1, j)))
        expected.append(
            {
                "pattern": " + ".join(name),
                "more_common_in": "Y" if b * n > a * m else "X" if b * n < a * m else "",
                "share_x": a / n,
                "share_y": b / m,
                "difference": b / m - a / n,
                "ratio": b / m / (a / n) if a else math.inf,
                "rows_x": a,
                "rows_y": b,
                "n_x": n,
                "n_y": m,
                "p_value": p,
                "p_adjusted": p,
            }
        )
    expected.sort(key=lambda row: (row["p_value"], -abs(row["difference"]), row["pattern"]))
    assert [row["pattern"] for row in rows] == [row["pattern"] for row in expected]
    for row, other in zip(rows, expected, strict=True):
        assert row == pytest.approx(other)
    # what differs less than a tag of it is not said
    some = rank_differences(tags, counts, 0.5, None, {"b": "c", "c": "b"})
    assert "a + d" not in some["pattern"]
    assert not {"b", "c"} <= {*some["pattern"]}
