"""Features are sorted as their canonical texts are."""

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from conjunct.expressions import canonical_key, canonical_text
from conjunct.features.lineage import _NOT_PLAIN, Lineage


def is_plain(name):
    return not _NOT_PLAIN.search(name)


names = st.lists(
    st.text(st.sampled_from("ab !#&')(*~é1 "), max_size=4), min_size=2, max_size=4, unique=True
)


@st.composite
def lineages(draw, names=names):
    """A lineage with conjunctions of anything made before, and which of its features to sort."""
    lineage = Lineage(draw(names))
    for _ in range(draw(st.integers(1, 12))):
        literal = st.integers(-len(lineage), len(lineage) - 1)
        lineage.conjoin(draw(literal), draw(literal))
    return lineage


@given(lineages())
def test_features_are_sorted_by_canonical_text(lineage):
    numbers = list(range(len(lineage)))
    ordered = lineage.by_text(numbers)
    assert sorted(ordered) == numbers
    keys = [canonical_key(lineage.expression(number)) for number in ordered]
    assert all(not later < earlier for earlier, later in pairwise(keys))


plain_names = st.lists(
    st.text(st.sampled_from("ab '*é1,"), max_size=4).filter(is_plain),
    min_size=2,
    max_size=4,
    unique=True,
)


@given(lineages(plain_names))
def test_starts_of_plain_names_are_those_of_texts(lineage):
    lineage.by_text(range(len(lineage)))
    for one, other in combinations(range(len(lineage)), 2):
        texts = [canonical_text(lineage.expression(number)) for number in (one, other)]
        if lineage._starts[one] < lineage._starts[other]:
            assert texts[0] < texts[1]


@given(lineages(plain_names))
def test_two_features_are_sorted_by_text(lineage):
    for one, other in combinations(range(len(lineage)), 2):
        texts = [canonical_text(lineage.expression(number)) for number in (one, other)]
        if texts[0] != texts[1]:
            in_order = [one, other] if texts[0] < texts[1] else [other, one]
            assert lineage.by_text([one, other]) == in_order


def test_deep_nesting_is_no_obstacle():
    def deep(lineage, number):
        for _ in range(3000):
            number = lineage.conjoin(~number, 1)
        return number

    lineage = Lineage(["a", "b", "c"])
    numbers = [deep(lineage, 0), deep(lineage, 2)]
    expected = sorted(numbers, key=lambda n: canonical_key(lineage.expression(n)))
    assert lineage.by_text(numbers) == lineage.by_text(numbers[::-1]) == expected


def test_plain_names():
    assert all(map(is_plain, ["sky", "traffic light", "", "F10", "été", "a-b", " a"]))
    assert not any(map(is_plain, ["a&b", "~a", "f(x)", "a ", "a  b", "a #1", "a\tb", "a\nb"]))


def test_forgotten_features_are_made_anew():
    lineage = Lineage(["a", "b"])
    both = lineage.conjoin(0, 1)
    lineage.by_text([both, 0])
    lineage.expression(both)
    lineage.forget_after(2)
    assert len(lineage) == 2
    assert lineage.conjoin(0, ~1) == both
    assert canonical_text(lineage.expression(both)) == "a & ~b"
    assert lineage.by_text([both, 1]) == [both, 1]
    assert lineage.length(both) == 2
