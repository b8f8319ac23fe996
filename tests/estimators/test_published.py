"""The numbers printed in the paper for `spect`, to each printed digit."""

import pytest

from conjunct import UFC, Risk, datasets


@pytest.fixture(scope="module")
def spect():
    return datasets.load_spect().values


def printed(line):
    return (line.n_features, round(line.length, 2), round(line.oi, 3), round(line.c0, 3))


def test_primitives(spect):
    model = UFC(0.432, max_iter=3, feature_names="formula").fit(spect)
    assert model.n_distinct_rows_ == 219
    assert printed(model.history_[0]) == (22, 1.00, 0.279, 0.000)


def test_ufc_star(spect):
    model = UFC(0.432, max_iter=3, feature_names="formula").fit(spect)
    assert model.n_iter_ == 3
    assert printed(model.history_[-1]) == (36, 2.83, 0.086, 0.071)


def test_ufc(spect):
    model = UFC(0.218, max_iter=4, feature_names="formula").fit(spect)
    line = model.history_[-1]
    assert (line.n_features, round(line.length, 2)) == (62, 8.81)
    assert (round(line.oi, 2), round(line.c0, 2)) == (0.03, 0.20)


def test_ufc_alpha(spect):
    model = UFC(Risk(alpha=0.0001, prune=False), feature_names="formula").fit(spect)
    assert (round(model.threshold_, 3), model.n_iter_) == (0.228, 2)
    assert printed(model.history_[-1]) == (39, 2.97, 0.078, 0.086)


def test_features_in_common(spect):
    closest = UFC(0.432, max_iter=3, feature_names="formula").fit(spect)
    risk_based = UFC(Risk(alpha=0.0001, prune=False), feature_names="formula").fit(spect)
    assert len(set(closest.features_) & set(risk_based.features_)) == 19
