"""What was found: chunks, and their facts in all rows."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_findings
import naive_pictures as naive
from conjunct import UFC, Bits, BooleanData, Evidence, InputError, UFringe, datasets
from conjunct.explain import describe_pattern, every_finding, supports_of_lineage
from conjunct.explain.findings import _find_copies

tables = hnp.arrays(np.bool_, st.tuples(st.integers(4, 30), st.integers(2, 6)))


def fitted(table):
    frame = pl.DataFrame(table, schema=[f"tag{k}" for k in range(table.shape[1])])
    return (
        UFC(Bits(alpha=None), max_iter=6, stop="never", feature_names="formula")
        .fit(frame)
        .feature_set_
    )


def supports_of(feature_set, table):
    """Rows of every feature that ever was, by the definition."""
    lineage, rows = feature_set.lineage, table.astype(int).tolist()
    n = len(lineage.primitives)
    return [naive.support(k, lineage.conjunctions, n, rows) for k in range(len(lineage))]


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@pytest.mark.parametrize("criterion", [Evidence(0.1), Bits(None), "risk"])
@given(tables)
def test_what_is_not_listed_is_not_above_chance(criterion, table):
    names = [f"tag{k}" for k in range(table.shape[1])]
    feature_set = UFC(criterion, max_iter=6).fit(pl.DataFrame(table, schema=names)).feature_set_
    rows = [{name for name, cell in zip(names, row, strict=True) if cell} for row in table]
    listed = {frozenset(one.tags) for one in every_finding(feature_set)}
    for merge in feature_set.merges:
        if merge.both is not None:
            left, right = map(set, map(feature_set.lineage.pattern, (merge.left, merge.right)))
            facts = naive_findings.facts(rows, left, right)
            assert (left | right in listed) == bool(facts and facts["evidence"] > 1e-9)


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
    assert [describe_pattern(added, k) for k in (0, added.features[-1])] == ["x0", ""]
    replaced = UFC().fit(zoo).feature_set_
    assert [describe_pattern(replaced, k) for k in replaced.features] == list(
        replaced.pattern_texts
    )


def test_missing_cells_are_counted_where_both_are_known():
    votes = pl.read_csv(datasets.load_house_votes_84().path).cast(pl.Boolean)
    feature_set = UFC(missing="pairwise").fit(votes).feature_set_
    first = every_finding(feature_set)[0]
    one, other = (votes[name] for name in first.tags)
    known = one.is_not_null() & other.is_not_null()
    both = (one & other).fill_null(False)
    assert first.rows == both.sum()
    assert first.share == pytest.approx(both.sum() / known.sum())
    (left,), (right,) = first.parts
    inside = votes.filter(known, left)[right].mean()
    assert first.contrast.inside == pytest.approx(inside)


def test_a_model_that_was_cut_keeps_the_facts_of_its_chunks():
    model = UFC().fit(datasets.load_zoo().values)
    shorter = model.truncate(20)
    facts = {(f.tags, f.rows, f.contrast) for f in every_finding(model.feature_set_)}
    assert {(f.tags, f.rows, f.contrast) for f in every_finding(shorter.feature_set_)} < facts


def test_people_and_sports():
    """More men than women play football: no finding may say otherwise."""
    sports = {"male": {"football": 290, "yoga": 20, "none": 190}}
    sports["female"] = {"football": 65, "yoga": 200, "none": 235}
    rows = [(s, k) for s, some in sports.items() for k, n in some.items() for _ in range(n)]
    table = pl.DataFrame(rows, schema=["sex", "sport"], orient="row")
    (finding,) = UFC().fit(BooleanData.from_data(table)).findings_
    assert finding.name == "sex = male + sport = football"
    assert finding.sentence == (
        "58% of the rows with sex = male also have sport = football; with sex = female, 13%."
    )
    gaps = table.with_columns(town=pl.Series(["A", "B", None, "C"] * 250))
    assert finding.sentence in {one.sentence for one in UFC().fit(gaps).findings_}
    names = {one.name for one in finding.folded}
    assert "sex = female + sport = yoga" in names
    assert not any({"sex = female", "sport = football"} <= set(one.tags) for one in finding.folded)


def test_weights_are_rows():
    rows = datasets.load_zoo().values
    weights = np.arange(len(rows)) % 4
    weighted = UFC().fit(rows, sample_weight=weights)
    assert weighted.findings_
    assert weighted.findings_ == UFC().fit(np.repeat(rows, weights, axis=0)).findings_


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(8, 40), st.integers(2, 5)),
        elements=st.sampled_from([0.0, 1.0, 1.0, np.nan]),
    )
)
def test_facts_of_rows_with_missing_cells(table):
    """Two tags are counted where both are known."""
    for one in UFC(Evidence(0.01), missing="pairwise").fit(table).findings_:
        for finding in (one, *one.folded):
            if len(finding.tags) == 2:
                left, right = (table[:, int(tag[1:])] for (tag,) in finding.parts)
                known = ~np.isnan(left) & ~np.isnan(right)
                left, right = left[known] == 1, right[known] == 1
                assert (finding.rows, finding.n_rows) == ((left & right).sum(), known.sum())
                assert finding.part_rows == (left.sum(), right.sum())
                assert finding.contrast.inside == pytest.approx(right[left].mean())
                assert finding.contrast.outside == pytest.approx(
                    right[~left].mean() if (~left).any() else 0
                )
                assert finding.lift > 1


def test_a_truncated_model_keeps_its_findings(tmp_path):
    frame = pl.DataFrame(datasets.load_coco_street().values)
    model = UFC(Evidence(0.5)).fit(frame)
    every = {one.tags: one for one in every_finding(model.feature_set_)}
    shorter = model.truncate(len(model.feature_set_.features) - 8)
    assert len(shorter.findings_) > 0
    for one in shorter.findings_:
        for finding in (one, *one.folded):
            whole = every[finding.tags]
            assert (finding.rows, finding.part_rows) == (whole.rows, whole.part_rows)
            assert finding.evidence == whole.evidence
    shorter.save(tmp_path / "model.json")
    assert UFC.load(tmp_path / "model.json").findings_ == shorter.findings_


HOSTILE = [
    "<script>alert(1)</script>",
    'a "quoted" name',
    '"quoted"',
    "fork + knife",
    "fork",
    "knife",
    "line\nfeed",
    " blanks ",
    "(rest)",
    "fork (rest)",
    "a · b",
    "¬x ∧ y",
    "back\\slash",
    "7",
    "",
]


def hostile_rows():
    """Pairs and triples of hostile names that go together."""
    rng = np.random.default_rng(0)
    rows = rng.random((900, len(HOSTILE))) < 0.03
    for k in range(0, len(HOSTILE), 3):
        both = rng.random(900) < 0.15
        rows[np.ix_(both, [k, k + 1])] = True
        rows[np.ix_(both & (rng.random(900) < 0.7), [k + 2])] = True
    # a chunk of fork and knife, beside the column "fork + knife"
    rows[np.ix_(rng.random(900) < 0.2, [HOSTILE.index("fork"), HOSTILE.index("knife")])] = True
    return pl.DataFrame(rows, schema=HOSTILE)


def test_every_name_is_found_again_whatever_it_is():
    rows = hostile_rows()
    model = UFC().fit(rows)
    listed = [x for one in model.findings_ for x in (one, *one.folded)]
    assert len({tag for one in listed for tag in one.tags}) == len(HOSTILE)
    assert {"fork", "knife"} in [set(one.tags) for one in listed]
    for one in listed:
        has_all = rows.select(pl.all_horizontal(list(one.tags))).to_series()
        for name in (one.name, " + ".join(reversed(one.name.split(" + ")))):
            if name == one.name or "+" not in "".join(one.tags):
                assert model.find_rows(name, rows).tolist() == has_all.arg_true().to_list()
                assert model.explain(name).support == model.explain(name, rows).support == one.rows
        assert "\n" not in one.sentence


def test_equal_names_are_refused():
    with pytest.raises(InputError, match="'a'"):
        UFC().fit(pd.DataFrame(np.eye(2), columns=["a", "a"]))


def test_numbers_in_names_are_in_their_order():
    rows = [["F10", "F2"]] * 30 + [["F10"]] * 15 + [["F2"]] * 15 + [["F3"]] * 60
    (finding,) = UFC().fit(rows).findings_
    assert (finding.name, finding.tags) == ("F2 + F10", ("F2", "F10"))
    assert finding.sentence == ("67% of the rows with F2 also have F10; without F2, 20%.")


def test_a_tag_with_the_name_of_a_variable_is_no_value_of_it():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"size": rng.choice([*"sml"], 300), "fork": rng.random(300) < 0.4})
    model = UFC(variables={"fork": [f"size = {value}" for value in "sml"]})
    model.fit(BooleanData.from_data(frame.with_columns(knife=pl.col("fork"))))
    same = _find_copies(model.feature_set_, every_finding(model.feature_set_))
    assert same.sets["fork"] == same.sets["knife"]
    of_values = {same.kinds[f"size = {value}"] for value in "sml"}
    assert len(of_values) == 1
    assert same.kinds["fork"] == same.kinds["knife"] not in of_values
