"""Relations between tags against their definitions, on lists of rows."""

import math
from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive_suggestions as naive
from conjunct import UFC, datasets
from conjunct.counting import TagCounts, Tally
from conjunct.data import BooleanData, Change, Proposal
from conjunct.explain import find_relations, propose_changes
from conjunct.explain.relations import (
    Relation,
    _find_alike,
    apply_changes,
    implication_graph,
)
from tables import tables


def relations_of(table, names, variables=()):
    columns = BooleanData.from_data(np.asarray(table, bool)).columns
    return find_relations(TagCounts.of(names, Tally.of(columns).counts, variables))


@given(tables(max_rows=60, min_rows=20), st.lists(st.sampled_from([None, None, "u"]), min_size=8))
def test_the_oracle(table, variables):
    names = list("hgfedcba")[: table.shape[1]]
    variables = variables[: table.shape[1]]
    found = [one for one in relations_of(table, names, variables) if one.kind != "alike"]
    expected = naive.relations(names, table.astype(int).tolist(), variables)
    assert {(one.kind, one.left, one.right) for one in found} == expected
    assert len(found) == len(expected)


@pytest.mark.parametrize("name", ["zoo", "coco_street"])
def test_sentences_are_true_in_all_rows(name):
    data = datasets.load(name)
    frame = pd.DataFrame(data.values, columns=list(data.feature_names))
    found = UFC().fit(frame).relations()
    assert {one.kind for one in found} >= {"implies", "avoid"}
    rows = data.values.astype(int).tolist()
    names = list(data.feature_names)
    expected = naive.relations(names, rows, [None] * len(names))
    assert {one[:3] for one in found if one.kind != "alike"} == expected
    for one in found:
        left, right = frame[one.left], frame[one.right]
        assert one.rows == (left & right).sum()
        if one.kind == "implies":
            share = right[left].mean()
            said = "all" if share == 1 else f"{100 * share:.0f}% of the"
            assert one.sentence == (
                f"{one.left} implies {one.right}: {said} {left.sum()} rows "
                f"with {one.left} also have {one.right}"
            )
        if one.kind == "avoid":
            chance = left.sum() * right.mean()
            expected = f"{chance:,.0f}" if chance >= 10 else f"{chance:.1f}"
            assert f"{expected} expected by chance" in one.sentence
    assert [one.evidence for one in found] == sorted((one.evidence for one in found), reverse=True)


def test_nearly_all_is_not_all():
    table = np.zeros((4000, 2), bool)
    table[:1000] = True
    table[0, 1] = False
    [one] = relations_of(np.c_[table, np.arange(4000) % 7 == 0], ["part", "whole", "c"])[:1]
    assert one.kind == "same"
    table[1000:1500, 1] = True
    [one] = relations_of(np.c_[table, np.arange(4000) % 7 == 0], ["part", "whole", "c"])[:1]
    assert one.sentence == ("part implies whole: 99.9% of the 1,000 rows with part also have whole")


@pytest.mark.parametrize(("n_exceptions", "is_implied"), [(60, True), (70, True), (71, False)])
def test_an_implication_has_at_most_half_of_the_exceptions_of_chance(n_exceptions, is_implied):
    # nearly every row has the right tag: by chance, 140 of the 2,000 would not
    left = np.arange(4000) < 2000
    right = (np.arange(4000) >= n_exceptions) & (np.arange(4000) < 3720 + n_exceptions)
    assert right.sum() == 3720
    table = np.c_[left, right]
    found = {one[:3] for one in relations_of(table, ["left", "right"])}
    assert (("implies", "left", "right") in found) == is_implied
    assert found == naive.relations(["left", "right"], table.astype(int).tolist(), [None] * 2)


def test_implications_that_follow_are_left_out():
    random = np.random.default_rng(0)
    animal = random.random(2000) < 0.4
    bird = animal & (random.random(2000) < 0.5)
    duck = bird & (random.random(2000) < 0.5)
    found = relations_of(np.c_[duck, animal, bird], ["duck", "animal", "bird"])
    implied = [(one.left, one.right) for one in found if one.kind == "implies"]
    assert sorted(implied) == [("bird", "animal"), ("duck", "bird")]


def test_tags_that_say_the_same_are_named_once():
    random = np.random.default_rng(0)
    flag = random.random(2000) < 0.3
    thing = flag | (random.random(2000) < 0.3)
    found = relations_of(np.c_[flag, flag, flag, thing], ["flag", "banner", "nation", "thing"])
    assert sorted(one[:3] for one in found) == [
        ("implies", "nation", "thing"),
        ("same", "banner", "flag"),
        ("same", "banner", "nation"),
    ]


def planted_synonyms(seed=0):
    """Rows of four topics with six tags each; one tag is written in two ways."""
    random = np.random.default_rng(seed)
    topic = random.integers(0, 4, 3000)
    table = random.random((3000, 24)) < np.where(np.arange(24) // 6 == topic[:, None], 0.5, 0.03)
    other = random.random(3000) < 0.4
    return np.c_[table, table[:, 0] & other], table[:, 0] & ~other


def test_synonyms_are_alike():
    table, kept = planted_synonyms()
    table[:, 0] = kept
    names = [*(f"t{k}" for k in range(24)), "synonym"]
    [found] = [one for one in relations_of(table, names) if one.kind == "alike"]
    assert (found.left, found.right, found.rows) == ("synonym", "t0", 0)
    assert found.sentence == (
        "synonym and t0 are alike: they occur with the same tags, but no row has both "
        f"({table[:, 24].sum()} with synonym, {table[:, 0].sum()} with t0)"
    )


def test_the_cosine_is_that_of_the_definition():
    table, kept = planted_synonyms(1)
    table[:, 0] = kept
    rows, names = table.astype(int).tolist(), [f"t{k}" for k in range(25)]
    found = {one[1:3] for one in relations_of(table, names) if one.kind == "alike"}
    for a, b in combinations(range(25), 2):
        both, chance = (table[:, a] & table[:, b]).sum(), table[:, a].mean() * table[:, b].sum()
        is_alike = naive.alike_cosine(rows, a, b) >= 0.9 and both <= chance / 2
        pair = {(names[a], names[b]), (names[b], names[a])}
        assert bool(pair & found) == is_alike


def test_values_of_one_variable_do_not_avoid_each_other():
    random = np.random.default_rng(0)
    colour = random.integers(0, 3, 900)
    frame = pd.DataFrame({"colour": np.array(["red", "blue", "green"])[colour]})
    frame["ripe"] = (colour == 0) ^ (random.random(900) < 0.02)
    found = UFC().fit(BooleanData.from_data(frame)).relations()
    assert found
    for one in found:
        assert not (one.left.startswith("colour") and one.right.startswith("colour"))


def test_independent_tags_have_no_relation():
    random = np.random.default_rng(0)
    found = sum(
        len(relations_of(random.random((500, 12)) < 0.3, list("abcdefghijkl"))) for _ in range(40)
    )
    assert found == 0


def test_missing_cells_are_left_out_of_the_counts():
    random = np.random.default_rng(0)
    water = random.random(400) < 0.5
    cascade = water & (random.random(400) < 0.6)
    frame = pd.DataFrame({"cascade": cascade, "water": water}).astype(object)
    frame.loc[random.random(400) < 0.3, "water"] = None
    [one] = UFC(missing="pairwise").fit(frame).relations()
    both = frame[frame.water.notna() & frame.cascade.eq(True)]
    assert one.rows == both.water.sum()
    assert one.sentence == (
        f"cascade implies water: all {len(both)} rows with cascade also have water "
        f"(of the {frame.water.notna().sum()} rows in which both are known)"
    )


def test_proposals_count_the_rows_that_they_change():
    """In the first 80 rows sea implies water; 3 rows after them have sea and lack water."""
    names = ["sea", "water", "nothing", "photo"]
    table = np.zeros((100, 4), bool)
    table[:30, 0] = table[:50, 1] = table[:, 3] = True
    table[97:, 0] = True
    relations = [one for one in relations_of(table[:80], names) if one.kind == "implies"]
    spelled = Proposal("water", "nothing", 91.0, 50, 0)
    data = BooleanData.from_data(pd.DataFrame(table, columns=names))
    proposed = propose_changes(data, [spelled], relations)
    assert [(one.kind, one.tag, one.into, one.rows, one.examples) for one in proposed] == [
        ("spelling", "water", "nothing", 50, tuple(range(len(proposed[0].examples)))),
        ("implies", "sea", "water", 3, (97, 98, 99)),
        ("empty", "nothing", "", 0, ()),
        ("vacuous", "photo", "", 100, tuple(range(len(proposed[0].examples)))),
    ]


@given(
    tables(max_rows=60, min_rows=20),
    st.lists(st.sampled_from([None, None, "u"]), min_size=8, max_size=8),
)
def test_evidence_is_the_mutual_information_and_the_rarer_tag_is_left(table, variables):
    names = list("hgfedcba")[: table.shape[1]]
    found = relations_of(table, names, variables[: table.shape[1]])
    supports = dict(zip(names, table.sum(axis=0).tolist(), strict=True))
    for one in found:
        assert (supports[one.left], one.left) < (supports[one.right], one.right)
        left, right = (table[:, names.index(name)] for name in one[1:3])
        assert one.rows == (left & right).sum()
        if one.kind != "alike":
            counts = len(table), supports[one.left], supports[one.right], one.rows
            assert one.evidence == pytest.approx(naive.mutual_bits(*counts), abs=1e-6)
    kinds = ["implies", "same", "avoid", "alike"]
    order = [(-one.evidence, kinds.index(one.kind), one.left, one.right) for one in found]
    assert order == sorted(order)


def alike_bits(rows, a, b):
    """The bits that the companies of two tags share, from the definition."""
    n, m = len(rows), len(rows[0])
    n_far = 0
    for k in range(m):
        share = sum(row[k] for row in rows) / n
        far = False
        for tag in (a, b):
            own = [row for row in rows if row[tag]]
            spread = math.sqrt(len(own) * share * (1 - share))
            surplus = sum(row[k] for row in own) - len(own) * share
            far |= k not in (a, b) and abs(surplus) >= 2 * spread > 0
        n_far += far
    cosine = min(naive.alike_cosine(rows, a, b), 0.98)
    return -0.5 * (n_far - 1) * math.log2(1 - cosine**2)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_evidence_that_tags_are_alike_is_that_of_the_definition(seed, monkeypatch):
    table, kept = planted_synonyms(seed)
    table[:, 0] = kept
    # tags with no row but one, and in all rows, are of no company
    table = np.c_[table, np.arange(3000) == 7, np.ones(3000, bool)]
    rows, names = table.astype(int).tolist(), [f"t{k:02}" for k in range(27)]
    found = [one for one in relations_of(table, names) if one.kind == "alike"]
    assert ("t24", "t00") in {one[1:3] for one in found} | {one[2:0:-1] for one in found}
    for one in found:
        expected = alike_bits(rows, names.index(one.left), names.index(one.right))
        assert one.evidence == pytest.approx(expected, abs=1e-5)
        n_pairs = 27 * 26 / 2
        assert one.evidence > 0.5 * math.log2(3000) + math.log2(n_pairs / len(found))
    monkeypatch.setattr("conjunct.explain.relations._ROWS_AT_ONCE", 5)
    assert [one for one in relations_of(table, names) if one.kind == "alike"] == found


@pytest.mark.parametrize(("both", "kinds"), [(100, ["avoid"]), (101, [])])
def test_tags_avoid_each_other_in_half_the_rows_expected_by_chance(both, kinds):
    # of 800 rows, 400 with each tag: chance puts both in 200
    rows = np.arange(800)
    table = np.column_stack([rows < 400, (rows >= 400 - both) & (rows < 800 - both)])
    assert [one.kind for one in relations_of(table, ["a", "b"])] == kinds


def test_one_tag_or_none_has_no_relation():
    assert relations_of(np.ones((9, 1)), ["a"]) == []
    assert relations_of(np.zeros((9, 3)), ["a", "b", "c"]) == []
    # two are enough
    [one] = relations_of(np.arange(40)[:, None] % 2 == [0, 0], ["b", "a"])
    counts = "20 rows with both, 0 with only a, 0 with only b"
    assert one.sentence == f"a and b are nearly identical: {counts}"


def relation(kind, left, right):
    return Relation(kind, left, right, 3, 9.0, f"{left} {kind} {right}")


def test_the_graph_of_implications_has_the_strongest_that_fit():
    pairs = [("duck", "bird"), ("bird", "animal"), ("cat", "animal"), ("cat", "pet")]
    relations = [relation("implies", *pair) for pair in pairs]
    relations[1:1] = [relation("avoid", "duck", "cat"), relation("same", "pet", "animal")]
    tags = ["animal", "bird", "cat", "duck", "pet"]
    for most, expected, n_left in ((5, 4, 0), (4, 3, 1), (3, 2, 2), (2, 1, 3), (1, 0, 5)):
        graph = implication_graph(tags, relations, most)
        ends = [(tags[edge.parent], tags[edge.child]) for edge in graph.edges]
        assert sorted(ends) == sorted(pairs[:expected])
        assert {tags[node.number] for node in graph.nodes} == {*chain(*pairs[:expected])}
        assert all(not edge.negated for edge in graph.edges)
        assert graph.left_out == n_left


def frame_of(text):
    """Rows of tags, one letter each."""
    rows = text.split()
    names = sorted({*"".join(rows)} - {"."})
    return pd.DataFrame([[name in row for name in names] for row in rows], columns=names)


def test_each_kind_of_change_is_proposed_once():
    data = BooleanData.from_data(frame_of("ab a abx a c cb .x b").assign(none=False))
    relations = [
        relation("avoid", "c", "a"),
        relation("same", "x", "b"),
        relation("implies", "a", "b"),
        relation("alike", "c", "x"),
        relation("implies", "b", "none"),
        relation("alike", "none", "x"),
        relation("same", "c", "a"),
    ]
    found = propose_changes(data, [Proposal("c", "a", 90.4, 2, 4)], relations)
    assert found == [
        Change("spelling", "c", "a", 2, "spelled alike (90 of 100)", (4, 5)),
        # all rows of the tag for a name, those that lack what is implied for a fact
        Change("same", "x", "b", 2, "x same b", (2, 6)),
        Change("implies", "a", "b", 2, "a implies b", (1, 3)),
        Change("alike", "c", "x", 2, "c alike x", (4, 5)),
        Change("implies", "b", "none", 4, "b implies none", (0, 2, 5)),
        Change("empty", "none", "", 0, "in no row", ()),
    ]
    one_row = BooleanData.from_data(frame_of("a"))
    assert propose_changes(one_row, [], []) == []
    two = BooleanData.from_data(frame_of("a a"))
    assert propose_changes(two, [], []) == [Change("vacuous", "a", "", 2, "in all 2 rows", (0, 1))]


def test_changes_are_applied_from_rare_tags_to_frequent_ones():
    data = BooleanData.from_data(frame_of("d b b ba . ae c c c").assign(none=False, all=True))
    changes = [
        Change("implies", "b", "a", 2, "", ()),
        Change("implies", "d", "b", 1, "", ()),
        Change("implies", "c", "unknown", 1, "", ()),
        Change("same", "e", "c", 1, "", ()),
        Change("empty", "none", "", 0, "", ()),
        Change("vacuous", "all", "", 9, "", ()),
    ]
    changed = apply_changes(data, changes)
    expected = frame_of("dba ba ba ba . ae c c c")
    assert changed.names == tuple(expected.columns)
    assert changed.columns.to_dense().astype(bool).tolist() == expected.to_numpy().tolist()


@given(tables(max_rows=60, min_rows=10), st.integers(0, 9))
def test_alike_tags_of_small_tables_are_those_of_the_definition(table, seed):
    names, rng = list("hgfedcba")[: table.shape[1]], np.random.default_rng(seed)
    # a tag that is written in two ways, or in both
    one, other = rng.random((2, len(table))) < 0.6
    table = np.c_[table[:, :-1], table[:, -1] & (one | ~other), table[:, -1] & (other | ~one)]
    assume(table.any(axis=0).sum() > 1)
    check_alike_tags(table, [*names, "z"])


def test_tags_with_little_company_may_be_alike():
    rows = np.arange(4000)
    company = np.c_[rows % 2, rows // 2 % 2] > 0
    # 100 rows with both tags; another 100 rows, of which 53 have each
    many = (rows % 4 == 3) & (rows < 400)
    few = (rows >= 2000) & (rows < 2000 + 4 * np.array([22, 25, 25, 28])[rows % 4])
    assert (few.sum(), *(company.T @ few.astype(int))) == (100, 53, 53)
    check_alike_tags(np.c_[company, many, few], [*"abcd"])


def test_a_tag_may_be_far_from_chance_in_the_rows_of_a_rarer_one_only():
    # b is in none of the 2 rows of a, but a is hardly rarer in the 28 rows of b than elsewhere
    rows = np.arange(41)
    table = np.c_[rows >= 39, (rows < 28), (rows >= 6) & (rows < 39)]
    check_alike_tags(table, ["h", "g", "z"])


def is_exactly_far(table, a):
    """Check whether a tag is exactly 2 standard deviations from chance in the rows of another."""
    n, own, every = len(table), table[table[:, a]].sum(axis=0), table.sum(axis=0)
    return ((own * n - own[a] * every) ** 2 == 4 * own[a] * every * (n - every))[every < n].any()


def check_alike_tags(table, names):
    rows = table.astype(int).tolist()
    counts = TagCounts.of(names, Tally.of(BooleanData.from_data(table).columns).counts, ())
    pairs, bits = _find_alike(counts)
    found = {}
    for i, j, value in zip(pairs.left, pairs.right, bits, strict=True):
        found[frozenset((counts.tags[i], counts.tags[j]))] = value
    for a, b in combinations(range(len(names)), 2):
        pair = frozenset((names[a], names[b]))
        s, t, c = table[:, a].sum(), table[:, b].sum(), (table[:, a] & table[:, b]).sum()
        cosine = naive.alike_cosine(rows, a, b) if s and t else 0
        # limits that are reached exactly are subject to rounding
        if abs(cosine - 0.9) < 1e-9 or is_exactly_far(table, a) or is_exactly_far(table, b):
            continue
        assert (pair in found) == (cosine >= 0.9 and 2 * c * len(rows) <= s * t)
        if pair in found:
            assert found[pair] == pytest.approx(max(alike_bits(rows, a, b), 0), abs=1e-5)
