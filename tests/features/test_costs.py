"""Bits that name primitives, by hand."""

import pytest

from conjunct.features import primitive_costs


def test_a_primitive_costs_its_share_of_all_uses():
    assert primitive_costs([8, 4, 4, 0]) == pytest.approx([1, 2, 2, 0])
    assert primitive_costs([0, 0]) == pytest.approx([0, 0])
