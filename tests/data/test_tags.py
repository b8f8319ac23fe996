"""Tag cleaning: what is merged, what is only proposed, and that clean stays clean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conjunct import BooleanData, InputError, TagCleaner
from conjunct.columns import PackedColumns
from conjunct.data.tags import iter_singulars, normalise

SPELLINGS = (
    """
cat|Cats|CAT| cat |#cat|box|boxes|berry|berries|Paris|bus|buses|men|man|traffic_light|traffic-light
ﬁsh|fish|Straße|İ|glass|glasses|women|(x)|-|...|c#|100%|woman’s|woman's
""".strip()
    .replace("\n", "|")
    .split("|")
)

tags = st.one_of(
    st.text(max_size=8),
    st.sampled_from(SPELLINGS),
)
baskets = st.lists(st.lists(tags, max_size=5), min_size=1, max_size=8)
synonyms = st.one_of(
    st.none(),
    st.dictionaries(
        st.sampled_from(["cat", "kitty", "box", "man"]),
        st.sampled_from(["cats", "feline", "crate", "Boxes"]),
        max_size=3,
    ),
)


@given(baskets, synonyms, st.booleans(), st.booleans(), st.booleans())
def test_clean_stays_clean(rows, names, case, punctuation, plurals):
    cleaner = TagCleaner(case=case, punctuation=punctuation, plurals=plurals, synonyms=names)
    once = cleaner.fit_transform(rows)
    # by the same cleaner, and by one that learns from what is clean
    assert cleaner.transform(once) == once
    assert TagCleaner(**cleaner.get_params()).fit_transform(once) == once
    assert all(len(set(row)) == len(row) for row in once)


@given(tags)
def test_normalising_twice_is_normalising_once(tag):
    assert normalise(normalise(tag)) == normalise(tag)


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("  Traffic_Light ", "traffic light"),
        ("traffic-light", "traffic light"),
        ("TRAFFIC\u00a0LIGHT", "traffic light"),
        ("#sunset!", "sunset"),
        ("“sky”", "sky"),
        ("ﬁsh", "fish"),
        ("Straße", "strasse"),
        ("c#", "c#"),
        ("100%", "100%"),
        ("woman’s", "woman's"),
        ("...", "..."),
    ],
)
def test_spelling(tag, expected):
    assert normalise(tag) == expected


def test_plurals_only_into_tags_that_are_there():
    rows = [["cats", "cat", "boxes", "box", "berries", "berry", "paris", "bus", "buses", "glasses"]]
    assert TagCleaner().fit_transform(rows) == [["cat", "box", "berry", "paris", "bus", "glasses"]]
    assert TagCleaner(plurals=False).fit_transform(rows) == rows
    assert list(iter_singulars("class")) == []


def test_synonyms_in_a_row_and_in_a_circle():
    cleaner = TagCleaner(synonyms={"Automobile": "motorcar", "motorcar": "Car"})
    assert cleaner.fit_transform([["automobile"], ["motorcar"], ["cars"]]) == [["car"]] * 3
    with pytest.raises(InputError, match="the synonyms of 'a' form a circle"):
        TagCleaner(synonyms={"a": "b", "b": "a"}).fit([["a"]])


def test_a_name_that_was_chosen_is_not_made_singular():
    cleaner = TagCleaner(synonyms={"sunglass": "glasses"})
    assert cleaner.fit_transform([["sunglass", "glass"]]) == [["glasses", "glass"]]


def test_merges_are_told():
    cleaner = TagCleaner().fit([["Cat", "sky"], ["cats"], ["cat", "Cat"], ["Cat"]])
    assert [tuple(merged) for merged in cleaner.merges()] == [("Cat", "cat", 3), ("cats", "cat", 1)]


def test_what_looks_alike_is_proposed_and_never_merged():
    rows = [["waterfall"]] * 3 + [["waterfal"], ["sky"], ["colour"], ["color"], ["color"]]
    cleaner = TagCleaner().fit(rows)
    assert cleaner.transform(rows) == rows
    assert [tuple(p)[:2] + tuple(p)[3:] for p in cleaner.proposals(85)] == [
        ("waterfal", "waterfall", 1, 3),
        ("colour", "color", 1, 2),
    ]
    assert [p.tag for p in cleaner.proposals(93)] == ["waterfal"]


def test_accents_and_variants_of_emoji_are_proposed_and_never_merged():
    baskets = [
        ["ocean", "❤", "👍"],
        ["ocean", "❤"],
        ["océan", "❤\ufe0f", "👍🏽"],
        ["öl", "ol"],
    ]
    cleaner = TagCleaner().fit(baskets)
    assert cleaner.merges() == []
    assert [tuple(p)[:3] for p in cleaner.proposals(100)] == [
        ("océan", "ocean", 100),
        ("öl", "ol", 100),
        ("❤\ufe0f", "❤", 100),
        ("👍🏽", "👍", 100),
    ]


def test_unseen_tags_follow_the_same_rules():
    cleaner = TagCleaner().fit([["cat"]])
    assert cleaner.transform([["CATS", "Dogs"]]) == [["cat", "dogs"]]


@pytest.mark.parametrize("bad", ["abc", [["a", 3]], ["ab"]])
def test_what_is_no_basket(bad):
    with pytest.raises(InputError, match=r"a (basket|tag) must be"):
        TagCleaner().fit(bad)


@given(baskets)
def test_table_and_baskets_are_cleaned_alike(rows):
    rows = [sorted({tag for tag in row if tag.strip()}) for row in rows]
    names = sorted({tag for row in rows for tag in row})
    if not names:
        return
    bits = np.array([[name in row for name in names] for row in rows])
    table = BooleanData(tuple(names), PackedColumns.from_table(bits), tags=True)
    cleaner = table.fit_cleaner(TagCleaner())
    clean = table.clean(cleaner)
    assert cleaner.mapping_ == TagCleaner().fit(rows).mapping_
    for k, row in enumerate(cleaner.transform(rows)):
        has = {name for j, name in enumerate(clean.names) if clean.columns.cells(j)[0][k]}
        assert has == set(row)
