"""The statistical options of UFC: what they decide, and that they say on what grounds."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from conjunct import (
    UFC,
    Bits,
    ConjunctWarning,
    InputError,
    Risk,
    Threshold,
    datasets,
)
from conjunct.ufc.association import CORRECTIONS, MEASURES
from runs import settings_of

ZOO = datasets.load_zoo()
FRAME = pd.DataFrame(ZOO.values, columns=ZOO.feature_names)
STREET = datasets.load_coco_street()

OPTIONS = [
    {"measure": measure, "test": test, "correction": correction}
    for measure, test, correction in itertools.product(
        MEASURES, ["normal", "exact"], [None, *CORRECTIONS]
    )
]


def ids(options):
    return "-".join(map(str, options.values()))


@pytest.mark.parametrize("options", OPTIONS, ids=ids)
@pytest.mark.parametrize("search", ["batch", "pairwise"])
def test_every_option_goes_with_every_search_and_stop(options, search, tmp_path):
    model = UFC(Risk(alpha=0.01, **options), search=search, max_length=6).fit(FRAME)
    assert model.get_features()["length"].max() <= 6
    made = rules = model.get_rules()
    assert len(made)
    assert (made["r"] > 0).all()
    assert (made["p_value"] <= made["p_adjusted"] * (1 + 1e-12)).all()
    assert (made["p_adjusted"] <= 0.01).all()
    if options["correction"] is None:
        assert made["p_adjusted"].equals(made["p_value"])
    else:
        assert (made["p_adjusted"] > made["p_value"]).all()
    assert_line_was_respected(made)
    assert np.array_equal(model.inverse_transform(model.transform(FRAME)), FRAME)
    model.save(tmp_path / "model.json")
    loaded = UFC.load(tmp_path / "model.json")
    assert settings_of(loaded) == settings_of(model)
    assert loaded.get_rules().equals(rules)
    assert loaded.threshold_ == model.threshold_


@pytest.mark.parametrize("measure", MEASURES)
def test_a_number_is_compared_with_the_measure(measure):
    threshold = MEASURES[measure].least + 0.2
    model = UFC(Threshold(threshold, measure=measure), max_iter=2, feature_names="formula").fit(
        FRAME
    )
    assert model.threshold_ == threshold
    made = model.get_rules()
    assert (made["compared"] == "score").all()
    assert (made["threshold"] == threshold).all()
    assert_line_was_respected(made)
    first = made[made["iteration"] == 1].iloc[0]
    x, y = FRAME[first["left"]], FRAME[first["right"]]
    counts = (np.array([count]) for count in (x.sum(), y.sum(), (x & y).sum()))
    assert first["score"] == MEASURES[measure].compute(len(FRAME), *counts)[0]
    assert first["r"] == pytest.approx(np.corrcoef(x, y)[0, 1])


def assert_line_was_respected(made):
    for _, rule in made.iterrows():
        value = rule[rule["compared"]]
        if rule["compared"] == "score":
            assert value > rule["threshold"]
        elif rule["compared"] == "r":
            assert value >= rule["threshold"]
        else:
            assert value <= rule["threshold"] * (1 + 1e-9)


def test_family_is_every_pair_of_the_iteration():
    model = UFC(0.3, max_iter=2, feature_names="formula").fit(FRAME)
    rules = model.get_rules()
    after_one = UFC(0.3, max_iter=1, feature_names="formula").fit(FRAME)
    for iteration, m in ((1, FRAME.shape[1]), (2, len(after_one.features_))):
        sizes = rules.loc[rules["iteration"] == iteration, "family_size"]
        assert set(sizes) == {m * (m - 1) // 2}
    assert set(rules.loc[rules["iteration"] == 0, "family_size"]) <= {0}


def test_corrections_are_stricter_and_the_more_so_the_more_they_promise():
    def n_significant(correction):
        model = UFC(
            Risk(alpha=0.05, correction=correction, test="exact", prune=False),
            max_iter=1,
            feature_names="formula",
        )
        return len(model.fit(STREET.values).feature_set_.merges)

    counts = [n_significant(correction) for correction in (None, "bh", "holm", "bonferroni")]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1] > 0


def test_thresholds_that_move_are_not_one_number():
    fixed = UFC("risk", max_iter=1).fit(FRAME).threshold_
    assert fixed == pytest.approx(3.0902 / math.sqrt(101), 1e-4)
    assert UFC(max_iter=1).fit(FRAME).threshold_ is None
    assert (
        UFC(Risk(correction="holm"), max_iter=1, feature_names="formula").fit(FRAME).threshold_
        is None
    )
    assert (
        UFC(Risk(test="exact"), max_iter=1, feature_names="formula").fit(FRAME).threshold_ is None
    )


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        (
            Threshold(0.99, prune=True),
            "exceeds a correlation of 0.990 and has expected frequencies of at least 5",
        ),
        (Threshold(0.99, measure="jaccard"), "exceeds a jaccard of 0.990"),
        (Risk(alpha=1e-9, prune=False), "reaches a correlation of 0.424. Try"),
        (Risk(test="exact", alpha=1e-9), "is significant at alpha=1e-09 and has"),
        (
            Risk(correction="by", alpha=1e-9),
            "is significant at alpha=1e-09 after the by correction",
        ),
        (Bits(alpha=1e-9), "goes together more often than chance explains. Of 6 pairs, x"),
    ],
)
def test_nothing_significant_is_explained(criterion, message):
    table = np.random.default_rng(0).random((200, 4)) < 0.5
    with pytest.warns(ConjunctWarning, match=f"no pair of columns {message}"):
        UFC(criterion).fit(table)


@pytest.mark.parametrize(
    ("measure", "bad", "message"),
    [
        ("lift", 0.5, "a number from 1;"),
        ("lift", math.inf, "a number from 1;"),
        ("pmi", -1, "a number from 0;"),
        ("npmi", 1, "a number from 0 up to, but not including, 1;"),
    ],
)
def test_thresholds_belong_to_their_measure(measure, bad, message):
    with pytest.raises(InputError, match=f"^threshold must be {message} got"):
        UFC(Threshold(bad, measure=measure, prune=True), feature_names="formula").fit(FRAME)
