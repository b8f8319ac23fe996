"""Stability under noise and in bootstrap samples (§7.3)."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_stability
from conjunct import UFC, InputError, Risk, datasets, stability
from conjunct.paper import study
from conjunct.plots import svg_of

PAPER = UFC(Risk(alpha=0.001, prune=False))


@pytest.fixture(scope="module")
def zoo():
    data = datasets.load_zoo()
    return pd.DataFrame(data.values, columns=list(data.feature_names))


@pytest.fixture(scope="module")
def noisy(zoo):
    return stability(zoo, PAPER, noise=(0, 0.05, 0.3), n_runs=4, random_state=1)


@given(
    st.integers(1, 30), st.integers(1, 6), st.floats(0, 1), st.integers(1, 4), st.integers(0, 99)
)
def test_exactly_that_share_of_cells_is_inverted(n, k, share, n_runs, seed):
    table = np.random.default_rng(seed).random((n, k)) < 0.4
    random = np.random.RandomState(seed)
    noised = [study._change(table, "noise", share, random) for _ in range(n_runs)]
    assert {int((one != table).sum()) for one in noised} == {round(share * k * n)}


def test_bootstrap_samples_are_rows_of_the_data():
    table = np.array([[0, 0], [0, 1], [1, 1]], bool)
    random = np.random.RandomState(0)
    samples = [study._change(table, "bootstrap", 0.0, random) for _ in range(5)]
    assert {sample.shape for sample in samples} == {(3, 2)}
    assert {tuple(row) for sample in samples for row in sample.tolist()} <= {
        tuple(row) for row in table.tolist()
    }
    assert len({sample.tobytes() for sample in samples}) > 1


def refitted(zoo, share, n_runs, random):
    """The runs of one level, by hand; and their feature sets as texts."""
    columns = list(zoo.columns)
    runs = []
    for _ in range(n_runs):
        table = study._change(zoo.to_numpy(), "noise", share, random)
        model = UFC(Risk(alpha=0.001, prune=False), feature_names="formula").fit(
            pd.DataFrame(table, columns=columns)
        )
        runs.append((model.history_[-1], {str(feature) for feature in model.features_}))
    return runs


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
def test_the_five_indicators(zoo):
    found = stability(zoo, PAPER, noise=(0.1,), n_runs=5, random_state=3)
    runs = refitted(zoo, 0.1, 5, np.random.RandomState(3))
    original = {
        str(f)
        for f in UFC(Risk(alpha=0.001, prune=False), feature_names="formula").fit(zoo).features_
    }
    sets = [features for _, features in runs]
    (level,) = found.levels
    assert level.oi == pytest.approx(np.mean([end.oi for end, _ in runs]))
    assert level.c0 == pytest.approx(np.mean([end.c0 for end, _ in runs]))
    assert level.n_features == np.mean([len(features) for features in sets])
    # texts may differ in order where formulas are equal, so these are the least
    assert level.common_with_original >= naive_stability.common_with_original(sets, original)
    assert level.common_between_runs >= naive_stability.common_between_runs(sets)
    for feature in found.features:
        assert feature.share >= naive_stability.share_of_runs(feature.feature, sets)
        assert feature.original or feature.feature not in original


def test_without_noise_everything_comes_back(noisy):
    first = noisy.levels[0]
    assert first.n_features == first.common_with_original == first.common_between_runs
    last = noisy.levels[-1]
    assert last.common_with_original < first.common_with_original
    assert last.oi > first.oi
    assert last.c0 < first.c0


def test_features_are_ranked_by_how_often_they_come_back(noisy):
    shares = [feature.share for feature in noisy.features]
    assert shares == sorted(shares, reverse=True)
    assert sum(feature.original for feature in noisy.features) == noisy.levels[0].n_features
    # 8 runs have noise: the four without do not count
    assert {round(share * 8, 9) % 1 for share in shares} == {0}


def test_the_same_number_gives_the_same_result(zoo, noisy):
    assert stability(zoo, PAPER, noise=(0, 0.05, 0.3), n_runs=4, random_state=1) == noisy
    assert stability(zoo, PAPER, noise=(0, 0.05, 0.3), n_runs=4, random_state=2) != noisy


def test_the_default_rule_unless_another_is_asked_for(zoo):
    found = stability(zoo, kind="bootstrap", n_runs=2)
    assert found == stability(zoo, UFC(), kind="bootstrap", n_runs=2)
    assert found != stability(zoo, PAPER, kind="bootstrap", n_runs=2)


@pytest.mark.parametrize("criterion", ["bits", "risk"])
def test_how_often_the_features_of_a_model_come_back(zoo, criterion):
    model = UFC(criterion).fit(zoo)
    found = stability(zoo, model, kind="bootstrap", n_runs=4, random_state=2)
    random, cells = np.random.RandomState(2), zoo.to_numpy()
    tables = [study._change(cells, "bootstrap", 0.0, random) for _ in range(4)]
    runs = [UFC(criterion).fit(pd.DataFrame(table, columns=zoo.columns)) for table in tables]
    shares = found.shares_of(model)
    for k, share in enumerate(shares):
        if criterion == "bits":
            back = [model.patterns_[k] in run.patterns_ for run in runs]
        else:
            back = [model.features_[k] in run.features_ for run in runs]
        assert share == np.mean(back)
    assert 0 < min(shares) + max(shares) < 2
    other = UFC().fit(zoo.rename(columns={"hair": "fur"}))
    assert None in found.shares_of(other)


def test_the_paper_defaults_of_noise():
    assert study.NOISE[0] == 0
    assert study.NOISE[-1] == 0.3
    assert study.N_RUNS == 10
    assert study._PAPER_MODEL.criterion.record() == Risk(alpha=0.001, prune=False).record()


def test_bootstrap(zoo):
    found = stability(zoo, UFC("risk", search="pairwise"), kind="bootstrap", n_runs=3)
    (level,) = found.levels
    assert level.n_runs == 3
    assert 0 < level.common_with_original <= level.n_features
    with pytest.raises(InputError, match="plot_recurrence"):
        found.plot_indicators()
    assert "share of runs" in svg_of(found.plot_recurrence())


def test_tables(noisy):
    assert noisy.get_levels()["noise"].tolist() == [0, 0.05, 0.3]
    assert isinstance(noisy.get_features("polars"), pl.DataFrame)
    assert noisy.get_features("dict")["feature"] == [f.feature for f in noisy.features]


def test_plots_of_noise(noisy):
    indicators, features = svg_of(noisy.plot_indicators()), svg_of(noisy.plot_features())
    for words in ("noise (%)", "OI", "C0"):
        assert words in indicators
    for words in ("common with zero noise", "common between runs", "number of features"):
        assert words in features


def test_names_are_data_not_markup():
    names = ["<script>alert(1)</script>", 'a"b', "∧"]
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((60, 3)) < 0.4, columns=names)
    table[names[1]] |= table[names[0]]
    drawn = svg_of(stability(table, kind="bootstrap", n_runs=2).plot_recurrence())
    assert "<script" not in drawn
    assert "&lt;script&gt;" in drawn


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "jackknife"}, "kind must be 'noise' or 'bootstrap'"),
        ({"n_runs": 0}, "n_runs must be a whole number"),
        ({"noise": [0.1, 1.2]}, "noise must be shares from 0 to 1; got 1.2"),
        ({"noise": ["a"]}, "noise must be shares"),
    ],
)
def test_bad_options(zoo, options, message):
    with pytest.raises(InputError, match=message):
        stability(zoo, **options)


def test_chunks_are_compared_whatever_they_deny(zoo):
    """A formula of bits tells of every other chunk, and so hardly ever comes back as it was."""
    found = stability(zoo, UFC(), noise=(0.05,), n_runs=3, random_state=1)
    random, cells = np.random.RandomState(1), zoo.to_numpy()
    tables = [study._change(cells, "noise", 0.05, random) for _ in range(3)]
    runs = [UFC().fit(pd.DataFrame(table, columns=zoo.columns)).patterns_ for table in tables]
    sets = [{" + ".join(pattern) for pattern in patterns} for patterns in runs]
    original = {" + ".join(pattern) for pattern in UFC().fit(zoo).patterns_}
    (level,) = found.levels
    assert level.common_with_original == naive_stability.common_with_original(sets, original)
    assert level.common_between_runs == naive_stability.common_between_runs(sets)
    for feature in found.features:
        assert feature.share == naive_stability.share_of_runs(feature.feature, sets)
        assert feature.original == (feature.feature in original)
