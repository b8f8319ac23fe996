"""correlated_pairs: the table of candidates."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given

import naive
from conjunct import UFC, InputError, Risk, correlated_pairs, datasets
from tables import named, tables

COCO = datasets.load_coco_street()


@given(tables())
def test_pairs_are_the_oracles_strongest_first(table):
    columns = named(table)
    found = correlated_pairs(pd.DataFrame(columns), 0.1, backend="dict")
    expected = naive.candidates(list(columns.items()), 0.1)
    assert sorted(zip(found["r"], found["joint"], found["left"], found["right"], strict=True)) == (
        sorted(candidate[:4] for candidate in expected)
    )
    strength = list(zip(found["score"], found["joint"], strict=True))
    assert strength == sorted(strength, reverse=True)


def test_the_first_pair_is_the_first_that_ufc_replaces():
    frame = pl.DataFrame(COCO.values, schema=list(COCO.feature_names))
    found = correlated_pairs(frame, "risk")
    assert isinstance(found, pl.DataFrame)
    first = UFC("risk", max_iter=1).fit(frame).feature_set_.merges[0]
    assert {found["left"][0], found["right"][0]} == {
        COCO.feature_names[first.left],
        COCO.feature_names[first.right],
    }
    assert found["p_value"].max() <= 0.001


def test_r_is_pearsons():
    found = correlated_pairs(COCO.values, 0.2)
    corr = np.corrcoef(COCO.values, rowvar=False)
    expected = {
        (f"x{i}", f"x{j}")
        for i, j in itertools.combinations(range(COCO.values.shape[1]), 2)
        if corr[i, j] > 0.2
    }
    assert set(zip(found["left"], found["right"], strict=True)) == expected


def test_parameters_are_those_of_ufc():
    with pytest.raises(InputError, match="alpha must be between"):
        correlated_pairs(COCO.values, Risk(alpha=2))
    with pytest.raises(TypeError, match="unexpected keyword"):
        correlated_pairs(COCO.values, "risk", nonsense=1)
