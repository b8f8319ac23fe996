"""Long conjunctions in blocks say the same, and are shallow."""

from hypothesis import given
from hypothesis import strategies as st

from conjunct.export.blocks import in_blocks
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
    st.lists(st.fixed_dictionaries({name: st.booleans() for name in NAMES}), min_size=1),
)
def test_the_same_truth(features, width, rows) -> None:  # type: ignore[no-untyped-def]
    found = in_blocks(features, width)
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
    found = in_blocks(prefixes, 8)
    assert found == prefixes
    depth: dict[int, int] = {}
    for node in nodes(*found):
        depth[id(node)] = 1 + max((depth[id(child)] for child in node._children), default=0)
    # three digits to the base of 8, each in a conjunction of the one before, and a negation
    assert max(depth.values()) <= 8
    assert len(nodes(*found)) < 1.2 * len(nodes(*prefixes))
