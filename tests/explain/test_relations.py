"""Relations between tags against their definitions, on lists of rows."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_suggestions as naive
from conjunct import UFC, datasets
from conjunct.counting import TagCounts, Tally
from conjunct.data import BooleanData, Proposal
from conjunct.explain import find_relations, propose_changes
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
