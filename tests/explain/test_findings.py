"""What was found: chunks, and their facts in all rows."""

import re

import hypothesis.extra.numpy as hnp
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_evidence
import naive_pictures as naive
from conjunct import UFC, Bits, Evidence, UFringe, datasets
from conjunct.explain import findings, shown_pattern, supports_of_lineage

tables = hnp.arrays(np.bool_, st.tuples(st.integers(4, 30), st.integers(2, 6)))


def fitted(table):
    frame = pl.DataFrame(table, schema=[f"tag{k}" for k in range(table.shape[1])])
    return UFC(Bits(alpha=None), max_iter=6, stop="never", names="formula").fit(frame).feature_set_


def supports_of(feature_set, table):
    """Rows of every feature that ever was, by the definition."""
    lineage, rows = feature_set.lineage, table.astype(int).tolist()
    n = len(lineage.primitives)
    return [naive.support(k, lineage.conjunctions, n, rows) for k in range(len(lineage))]


def rows_with(tags, names, table):
    return np.all([table[:, names.index(tag)] for tag in tags], axis=0)


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@pytest.mark.parametrize("criterion", [Evidence(0.1), Bits(None), "risk"])
@given(tables)
def test_facts_are_those_of_all_rows(criterion, table):
    names = [f"tag{k}" for k in range(table.shape[1])]
    frame = pl.DataFrame(table, schema=names)
    feature_set = UFC(criterion, max_iter=6).fit(frame).feature_set_
    found, lineage = findings(feature_set), feature_set.lineage
    bits = [finding.evidence for finding in found]
    assert bits == sorted(bits, reverse=True)
    assert found[:2] == tuple(found)[:2]
    merges = {merge.both: merge for merge in feature_set.merges}
    stated = set()
    for finding in found:
        merge = merges[finding.number]
        tags = lineage.pattern(merge.left), lineage.pattern(merge.right)
        assert tuple(sorted(tags[0] + tags[1])) == finding.pattern
        stated.add(finding.pattern)
        one, other = (rows_with(some, names, table) for some in tags)
        n, s, t, c = len(table), one.sum(), other.sum(), (one & other).sum()
        assert finding.rows == c
        assert finding.share == c / n
        assert finding.lift == pytest.approx(n * c / (s * t))
        assert finding.lift > 1
        expected = naive_evidence.evidence(n, int(s), int(t), int(c))
        assert finding.evidence == pytest.approx(expected, abs=2e-6)
        # the sentence is about the rarer part: its rows, and those without it
        if s == t:
            continue
        rarer, commoner = (one, other) if s < t else (other, one)
        inside, outside = map(
            float,
            re.fullmatch(
                r".* is in ([\d.]+)% of the rows with .*, ([\d.]+)% of the rows without",
                finding.contrast,
            ).groups(),
        )
        assert inside == pytest.approx(100 * commoner[rarer].mean(), abs=0.5)
        rest = commoner[~rarer]
        assert outside == pytest.approx(100 * rest.mean() if len(rest) else 0, abs=0.5)
    # what is not listed is not together more often than by chance
    for merge in feature_set.merges:
        if merge.both is not None and lineage.pattern(merge.both) not in stated:
            one, other = (
                rows_with(lineage.pattern(k), names, table) for k in (merge.left, merge.right)
            )
            assert (one & other).sum() * len(table) <= one.sum() * other.sum()


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@given(tables)
def test_supports_of_all_features_that_ever_were(table):
    feature_set = fitted(table)
    supports = supports_of(feature_set, table)
    assert supports_of_lineage(feature_set) == dict(enumerate(supports))


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@given(tables)
def test_a_pattern_is_joined_once(table):
    feature_set = fitted(table)
    joined = [feature_set.lineage.pattern(m.both) for m in feature_set.merges if m.both is not None]
    assert len(set(joined)) == len(joined)
    # what has several tags was joined, whatever remains of it
    several = {pattern for pattern in feature_set.patterns if len(pattern) > 1}
    assert several <= set(joined)


def test_only_what_was_replaced_has_a_pattern():
    zoo = datasets.load_zoo().values
    added = UFringe(30).fit(zoo).feature_set_
    assert [shown_pattern(added, k) for k in (0, added.features[-1])] == ["x0", ""]
    replaced = UFC().fit(zoo).feature_set_
    assert [shown_pattern(replaced, k) for k in replaced.features] == list(replaced.pattern_texts)


def test_missing_cells_are_counted_where_both_are_known():
    votes = pl.read_csv(datasets.load_house_votes_84().path).cast(pl.Boolean)
    feature_set = UFC(missing="pairwise").fit(votes).feature_set_
    first = findings(feature_set)[0]
    one, other = (votes[name] for name in first.pattern)
    known = one.is_not_null() & other.is_not_null()
    both = (one & other).fill_null(False)
    assert first.rows == both.sum()
    assert first.share == pytest.approx(both.sum() / known.sum())
    assert first.contrast


def test_a_model_that_was_cut_keeps_the_facts_of_its_chunks():
    model = UFC().fit(datasets.load_zoo().values)
    shorter = model.cut(20)
    facts = {(f.pattern, f.rows, f.contrast) for f in findings(model.feature_set_)}
    assert {(f.pattern, f.rows, f.contrast) for f in findings(shorter.feature_set_)} < facts
