"""Long conjunctions in blocks say the same, and are shallow."""

from hypothesis import given
from hypothesis import strategies as st

from conjunct.export.formulas import put_into_blocks
from conjunct.expressions import And, AtLeast, Constant, Expression, Not, Or, Primitive, nodes

NAMES = "abcdef"

formulas = st.recursive(
    st.sampled_from([Primitive(name) for name in NAMES] + [Constant(True)]),
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, min_size=2, max_size=5).map(lambda some: And(*some)),
        st.lists(inner, min_size=2, max_size=5).map(lambda some: Or(*some)),
        st.lists(inner, min_size=2, max_size=3).map(lambda some: AtLeast(2, some)),
    ),
    max_leaves=20,
)


@given(
    st.lists(formulas, min_size=1, max_size=4),
    st.integers(2, 4),
    st.booleans(),
    st.lists(st.fixed_dictionaries({name: st.booleans() for name in NAMES}), min_size=1),
)
def test_the_same_truth(features, width, turns, rows) -> None:  # type: ignore[no-untyped-def]
    found = put_into_blocks(features, width, turns=turns)
    for row in rows:
        assert [f.evaluate(row) for f in found] == [f.evaluate(row) for f in features]
    joined = [node for node in nodes(*found) if isinstance(node, And | Or)]
    assert all(len(node.operands) <= width for node in joined)
    # each is there once, however it was nested
    assert len(set(joined)) == len(joined)


def test_a_long_conjunction_is_shallow() -> None:
    chain: Expression = Primitive("a")
    prefixes = []
    for k in range(500):
        chain = And(chain, Not(Primitive(f"b{k}")))
        prefixes.append(chain)
    found = put_into_blocks(prefixes, 8)
    assert found == prefixes
    # three digits to the base of 8, each in a conjunction of the one before, and a negation
    assert depth_of(found) <= 8
    assert len(nodes(*found)) < 1.2 * len(nodes(*prefixes))


def test_formulas_that_deny_each_other_are_shallow() -> None:
    left: Expression = Primitive("a")
    prefixes = []
    for k in range(500):
        left = And(Not(left), Primitive(f"b{k}"))
        prefixes.append(left)
    found = put_into_blocks(prefixes, 3, turns=True)
    assert depth_of(prefixes) > 1000
    # six digits to the base of 3, in each of which a link is a conjunction in a disjunction
    assert depth_of(found) <= 40
    assert len(nodes(*found)) < 4 * len(nodes(*prefixes))


def depth_of(features: list[Expression]) -> int:
    depth: dict[int, int] = {}
    for node in nodes(*features):
        depth[id(node)] = 1 + max((depth[id(child)] for child in node.children), default=0)
    return max(depth.values())
