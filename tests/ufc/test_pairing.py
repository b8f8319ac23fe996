"""The greedy matching against a plain sort, and its prefix property."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from conjunct.columns import Contingency
from conjunct.expressions import Primitive, canonical_key
from conjunct.ufc import batch as batch_search
from conjunct.ufc.batch import greedy_matching, sort_equals_by_text
from conjunct.ufc.criteria import Cutoff, Pairs


@st.composite
def pair_lists(draw):
    m = draw(st.integers(2, 12))
    ends = st.tuples(st.integers(0, m - 1), st.integers(0, m - 1)).filter(lambda p: p[0] < p[1])
    chosen = draw(st.lists(ends, unique=True, max_size=30))
    # few values, so that ties abound
    r = draw(st.lists(st.sampled_from([0.1, 0.2, 0.3]), min_size=30, max_size=30))
    joint = draw(st.lists(st.integers(1, 3), min_size=30, max_size=30))
    names = draw(st.permutations("abcdefghijkl"))
    return m, chosen, r[: len(chosen)], joint[: len(chosen)], names


def as_pairs(chosen, r, joint):
    left, right = zip(*chosen, strict=True) if chosen else ((), ())
    score, unused = np.array(r, float), np.full(len(r), np.nan)
    supports = np.full(len(r), 3)
    return Pairs(
        Contingency(
            np.array(left, int), np.array(right, int), 9, supports, supports, np.array(joint, int)
        ),
        unused,
        score,
        unused,
        unused,
        Cutoff("score", 0.0, 66),
    )


def naive_order(chosen, r, joint, names, first):
    def key(k):
        texts = sorted(names[end] for end in chosen[k])
        scores = (-r[k], -joint[k]) if first == "r" else (-joint[k], -r[k])
        return *scores, *texts

    return sorted(range(len(chosen)), key=key)


def naive_matching(chosen, order):
    used, taken = set(), []
    for k in order:
        if not used & set(chosen[k]):
            used |= set(chosen[k])
            taken.append(k)
    return taken


def by_text(names):
    return lambda columns: sorted(columns, key=lambda k: canonical_key(Primitive(names[k])))


@given(pair_lists(), st.integers(1, 20))
def test_matching_is_that_of_a_full_sort(drawn, batch):
    m, chosen, r, joint, names = drawn
    original = batch_search._at_least_nth
    batch_search._at_least_nth = lambda values, n: original(values, batch)
    try:
        pairs = as_pairs(chosen, r, joint)
        taken = greedy_matching(pairs, m, by_text(names))
    finally:
        batch_search._at_least_nth = original
    expected = naive_matching(chosen, naive_order(chosen, r, joint, names, "r"))
    # tied pairs without a common end may come in any order
    rank = [(-r[k], -joint[k]) for k in taken]
    assert rank == sorted(rank)
    assert sorted(taken) == sorted(expected)
    ordered = sort_equals_by_text(pairs.take(taken), by_text(names))
    assert [*zip(ordered.left, ordered.right, strict=True)] == [chosen[k] for k in expected]


@given(pair_lists(), st.sampled_from([0.0, 0.1, 0.2, 0.3]))
def test_a_higher_threshold_takes_a_prefix(drawn, threshold):
    m, chosen, r, joint, names = drawn
    pairs = as_pairs(chosen, r, joint)

    def ends(pairs):
        taken = greedy_matching(pairs, m, by_text(names))
        return [(pairs.left[k], pairs.right[k], pairs.score[k]) for k in taken]

    above = [end for end in ends(pairs) if end[2] > threshold]
    assert ends(pairs.take(pairs.score > threshold)) == above
