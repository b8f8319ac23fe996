"""What was found: chunks, how often they were joined, and what they saved."""

import re

import hypothesis.extra.numpy as hnp
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_pictures as naive
from conjunct import UFC, Bits, UFringe, datasets
from conjunct.explain import findings, shown_pattern, supports_of_lineage
from conjunct.explain.findings import merges_by_pattern

tables = hnp.arrays(np.bool_, st.tuples(st.integers(4, 30), st.integers(2, 6)))


def fitted(table):
    frame = pl.DataFrame(table, schema=[f"tag{k}" for k in range(table.shape[1])])
    return UFC(Bits(alpha=None), max_iter=6, stop="never", names="formula").fit(frame).feature_set_


def supports_of(feature_set, table):
    """Rows of every feature that ever was, by the definition."""
    lineage, rows = feature_set.lineage, table.astype(int).tolist()
    n = len(lineage.primitives)
    return [naive.support(k, lineage.conjunctions, n, rows) for k in range(len(lineage))]


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@given(tables)
def test_findings_are_the_merges_that_saved_bits(table):
    feature_set = fitted(table)
    found = findings(feature_set)
    assert [f.saved for f in found] == sorted((f.saved for f in found), reverse=True)
    assert sum(f.saved for f in found) == pytest.approx(
        sum(m.saved for m in feature_set.merges if m.saved > 0 and m.both is not None)
    )
    assert found[:2] == tuple(found)[:2]
    supports = supports_of(feature_set, table)
    for finding in found:
        assert finding.saved > 0
        assert finding.rows == supports[finding.number]
        assert finding.pattern == feature_set.lineage.pattern(finding.number)


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@given(tables)
def test_contrasts_are_counts_of_rows(table):
    feature_set = fitted(table)
    supports = supports_of(feature_set, table)
    assert supports_of_lineage(feature_set) == dict(enumerate(supports))
    merges = {merge.both: merge for merge in feature_set.merges}
    for finding in findings(feature_set):
        merge = merges[finding.number]
        given_, other = sorted((merge.left, merge.right), key=lambda k: supports[k])
        told = re.fullmatch(r".* is in ([\d.]+)% of .*, ([\d.]+)% of .*", finding.contrast)
        inside, outside = map(float, told.groups())
        rows = len(table) - supports[given_]
        apart = (supports[other] - finding.rows) / rows if rows else 0.0
        assert inside == pytest.approx(100 * finding.rows / supports[given_], abs=0.5)
        assert outside == pytest.approx(100 * apart, abs=0.5)


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@given(tables)
def test_a_pattern_is_joined_once(table):
    feature_set = fitted(table)
    joined = [feature_set.lineage.pattern(m.both) for m in feature_set.merges if m.both is not None]
    assert len(set(joined)) == len(joined)
    assert merges_by_pattern(feature_set).keys() == set(joined)
    # what has several tags was joined, whatever is left of it
    several = {pattern for pattern in feature_set.patterns if len(pattern) > 1}
    assert several <= set(joined)


def test_only_what_was_replaced_has_a_pattern():
    zoo = datasets.load_zoo().values
    added = UFringe(30).fit(zoo).feature_set_
    assert [shown_pattern(added, k) for k in (0, added.features[-1])] == ["x0", ""]
    replaced = UFC().fit(zoo).feature_set_
    assert [shown_pattern(replaced, k) for k in replaced.features] == list(replaced.pattern_texts)


def test_no_contrast_where_cells_are_missing():
    votes = pl.read_csv(datasets.load_house_votes_84().path).cast(pl.Boolean)
    found = findings(UFC(missing="pairwise").fit(votes).feature_set_)
    assert found
    assert {finding.contrast for finding in found} == {""}
