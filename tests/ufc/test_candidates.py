"""Which pairs each option accepts, and what is said of them, against the oracle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import naive_statistics
from conjunct.columns import CountMatrix, PackedColumns
from conjunct.expressions import canonical_text
from conjunct.ufc.association import CORRECTIONS, MEASURES
from conjunct.ufc.criteria import PairFilter, correlated_pairs
from runs import planned, ran, rule_of
from tables import named, tables

NAMES = "abcdefgh"
# of these, equal values are equal to the bit in the oracle too, so that it orders ties alike
EXACT_MEASURES = ["phi", "jaccard", "cosine", "yule_q", "lift"]


@st.composite
def criteria(draw, measures=tuple(MEASURES)):
    measure = draw(st.sampled_from(list(measures)))
    options = {
        "measure": measure,
        "prune": draw(st.booleans()),
        "test": draw(st.sampled_from(["normal", "exact"])),
        "correction": draw(st.sampled_from([None, *CORRECTIONS])),
    }
    if draw(st.booleans()):
        return options | {"alpha": draw(st.sampled_from([0.001, 0.01, 0.05, 0.2, 0.4]))}
    extra = draw(st.sampled_from([0.0, 0.1, 0.3, 0.6]))
    return options | {"threshold": MEASURES[measure].least + extra}


@given(tables(max_rows=60), criteria())
def test_pairs_and_their_evidence_are_the_oracles(table, options):
    joint = table.T.astype(np.int64) @ table.astype(np.int64)
    pairs = correlated_pairs(CountMatrix(len(table), joint), PairFilter(**options))
    features = [(name, column) for name, column in named(table, NAMES).items()]
    expected, family_size = naive_statistics.candidates(features, **options)
    found = {pair[2:4]: pair for pair in expected}
    assert set(zip(pairs.left, pairs.right, strict=True)) == set(found)
    assert pairs.cutoff.family_size == family_size
    limit = options.get("alpha", 0.5)
    for k in range(len(pairs)):
        score, both, _, _, r, p, p_adjusted = found[pairs.left[k], pairs.right[k]]
        assert pairs.joint[k] == both
        assert pairs.r[k] == r
        assert pairs.score[k] == pytest.approx(score, rel=1e-9, abs=1e-12)
        assert pairs.p_value[k] == pytest.approx(float(p), rel=1e-9)
        if p_adjusted <= limit:
            assert pairs.p_adjusted[k] == pytest.approx(float(p_adjusted), rel=1e-9)
        else:
            assert pairs.p_adjusted[k] >= float(p_adjusted) * (1 - 1e-9)


@given(tables(max_rows=60), criteria())
def test_the_line_parts_accepted_pairs_from_the_others(table, options):
    joint = table.T.astype(np.int64) @ table.astype(np.int64)
    pairs = correlated_pairs(CountMatrix(len(table), joint), PairFilter(**options))
    line = pairs.cutoff
    if "threshold" in options:
        assert line.compared == "score"
        assert (pairs.score > line.threshold).all()
    elif options["test"] == "normal":
        assert line.compared == "r"
        assert (pairs.r >= line.threshold).all()
    else:
        assert line.compared == "p_value"
        assert (pairs.p_value <= line.threshold * (1 + 1e-9)).all()
    if "alpha" in options:
        assert (pairs.p_adjusted <= options["alpha"] * (1 + 1e-9)).all()


@given(
    tables(max_columns=6),
    criteria(EXACT_MEASURES),
    st.sampled_from(["batch", "pairwise"]),
    st.sampled_from([None, 3]),
)
def test_whole_runs_are_the_oracles(table, options, search, max_length):
    names = NAMES[: table.shape[1]]
    plan = planned(rule_of(options), search, max_length)
    actual = ran(PackedColumns.from_table(table), names, plan, max_iter=3).feature_set
    if "threshold" in options:
        options = options | {"correction": None, "test": "normal"}
    expected = naive_statistics.ufc(
        named(table, NAMES), 3, search=search, max_length=max_length, **options
    )
    texts = [canonical_text(expression) for expression in actual.expressions]
    assert texts == [naive.canonical(tree) for tree, _ in expected]


def test_a_p_value_equal_to_alpha_is_significant():
    # 3 of 6 rows each, the same ones: 1 / C(6, 3) = 1/20
    joint = np.full((2, 2), 3)
    assert len(correlated_pairs(CountMatrix(6, joint), PairFilter(alpha=0.05, test="exact"))) == 1
    assert len(correlated_pairs(CountMatrix(6, joint), PairFilter(alpha=0.0499, test="exact"))) == 0


def test_pairs_that_avoid_each_other_are_never_taken():
    # Jaccard's index is high although the two meet less often than independent columns would
    joint = np.array([[80, 62], [62, 80]])
    assert len(correlated_pairs(CountMatrix(100, joint), PairFilter(0.5, measure="jaccard"))) == 0
    joint = np.array([[80, 66], [66, 80]])
    assert len(correlated_pairs(CountMatrix(100, joint), PairFilter(0.5, measure="jaccard"))) == 1


def test_measures_order_pairs_differently():
    # φ prefers the first two, which are frequent; lift the last two, which are rare
    rng = np.random.default_rng(0)
    base = rng.random(2000)
    table = np.column_stack(
        [base < 0.5, base < 0.55, rng.random(2000) < 0.02, np.zeros(2000, bool)]
    )
    table[:, 3] = table[:, 2] & (rng.random(2000) < 0.7)
    joint = table.T.astype(np.int64) @ table.astype(np.int64)

    def first(measure):
        pairs = correlated_pairs(CountMatrix(2000, joint), PairFilter(alpha=0.001, measure=measure))
        best = int(np.argmax(pairs.score))
        return int(pairs.left[best]), int(pairs.right[best])

    assert first("phi") == first("mutual_information") == (0, 1)
    assert first("lift") == first("pmi") == (2, 3)
