"""Criteria and stopping rules: every registered one, its settings, and its words."""

import itertools
import json
import math
import pickle
import re

import hypothesis.extra.numpy as hnp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import conjunct
from conjunct import UFC, Bits, Evidence, InputError, Risk, Threshold, datasets
from conjunct.ufc import CRITERIA, SEARCHES, STOPS, NoStop, RmsStop
from runs import settings_of

ZOO = datasets.load_zoo().values
FAMILIES = {"criterion": CRITERIA, "stop": STOPS}
RULES = [
    pytest.param(family, rule, id=f"{family}-{name}")
    for family, registry in FAMILIES.items()
    for name, rule in registry.items()
]
every_rule = pytest.mark.parametrize(("family", "rule"), RULES)

# other values of every setting there is, and values that it refuses
OTHER = {
    "alpha": 0.01,
    "test": "exact",
    "correction": "holm",
    "prune": False,
    "measure": "jaccard",
    "threshold": 0.25,
    "factor": 0.5,
    "null_feature": True,
}
BAD = {
    "factor": [0, -1, "much", True, float("nan"), float("inf")],
    "alpha": [0, 0.5, 1, -1, "small", True, float("nan")],
    "test": ["t", None, ["exact"]],
    "correction": ["fdr", "none", 1],
    "prune": [None, 1, "yes"],
    "measure": ["pearson", None, ["phi"]],
    "threshold": [1, 1.5, -0.1, "auto", None, True, float("nan")],
    "null_feature": [None, 1, "yes"],
}


def made(family, value):
    return FAMILIES[family].resolve(value)


@every_rule
def test_a_rule_is_known_by_its_name_and_says_what_it_does(family, rule):
    registry = FAMILIES[family]
    assert registry[rule.name] is rule
    assert isinstance(made(family, rule.name), rule)
    assert getattr(conjunct, rule.__name__) is rule
    assert rule.summary
    assert len(rule.summary) < 80
    assert "\n" not in rule.summary
    assert not rule.summary.endswith(".")
    assert rule.__doc__
    with pytest.raises(conjunct.InputError) as refused:
        registry.resolve("no such rule")
    assert repr(rule.name) in str(refused.value)
    assert f"{rule.__name__}(...)" in str(refused.value)


@every_rule
def test_settings_go_round(family, rule):
    settings = rule().get_params()
    assert {*settings} <= {*OTHER}, "tell this test what else the setting may be"
    changed = {name: OTHER[name] for name in settings}
    for one in (rule(**changed), rule().set_params(**changed), clone(rule(**changed))):
        assert one.get_params() == changed
        assert one.record() == {"rule": rule.name, **changed}
        assert json.loads(json.dumps(one.record())) == one.record()
        assert made(family, one) is one
        again = made(family, one.record())
        assert type(again) is rule
        assert again.get_params() == changed
        assert pickle.loads(pickle.dumps(one)).get_params() == changed
    assert made(family, rule().record()).get_params() == settings


@every_rule
def test_bad_settings_are_refused_by_name(family, rule):
    for name in rule().get_params():
        for value in BAD[name]:
            bad = rule(**{name: value})
            if value is None and rule().get_params()[name] is None:
                continue
            with pytest.raises(InputError, match=f"^{name} must be .*; got ") as raised:
                UFC(**{family: bad}).fit(ZOO)
            assert "\n" not in str(raised.value)
    with pytest.raises(InputError, match=f"^{family}: .*(nonsense|takes no arguments)"):
        made(family, {"rule": rule.name, "nonsense": 1})


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("value", ["nonsense", {"rule": "nonsense"}, {}, object(), ["bits"]])
def test_what_is_no_rule_is_refused(family, value):
    with pytest.raises(InputError, match=f"^{family} must be '.*, or one of .*; got ") as raised:
        UFC(**{family: value}).fit(ZOO)
    assert "\n" not in str(raised.value)


def test_settings_of_the_default_criterion_can_be_set():
    model = UFC().set_params(criterion__factor=2)
    assert isinstance(model.criterion, Evidence)
    assert model.criterion.factor == model.get_params()["criterion__factor"] == 2
    assert UFC().get_params()["criterion__factor"] == 1
    # another model is not changed by it
    criterion = Bits()
    clone(UFC(criterion)).set_params(criterion__alpha=0.01)
    assert criterion.alpha == 0.05
    both = UFC().set_params(criterion=Risk(), criterion__prune=False)
    assert (both.criterion.name, both.criterion.prune) == ("risk", False)
    with pytest.raises(ValueError, match="Invalid parameter 'beta'"):
        UFC().set_params(criterion__beta=1)


def test_settings_of_a_number_can_be_set():
    model = UFC(0.2).set_params(criterion__prune=True)
    assert model.criterion.get_params() == Threshold(0.2, prune=True).get_params()
    assert UFC(0.2).get_params()["criterion__threshold"] == 0.2


def test_settings_of_a_stop_can_be_set():
    for stop in ("rms", RmsStop()):
        model = UFC("risk", stop=stop)
        assert model.get_params()["stop__null_feature"] is False
        assert model.set_params(stop__null_feature=True).stop.null_feature
    with pytest.raises(InputError, match=r"^stop must be .*; got None"):
        UFC().set_params(stop__null_feature=True)


def test_a_name_and_its_settings_can_be_set_together():
    model = UFC().set_params(criterion="risk", criterion__alpha=0.01, stop="never")
    assert model.criterion.record() == Risk(0.01).record()
    assert model.stop == "never"
    with pytest.raises(InputError, match=r"^criterion must be .*; got 'oi'"):
        UFC().set_params(criterion="oi", criterion__alpha=0.01)


def test_grids_search_the_settings_of_the_default():
    grid = {"criterion__factor": [0.5, 1.0], "max_length": [2, None]}
    search = GridSearchCV(UFC(), grid, cv=3).fit(ZOO)
    scores = search.cv_results_["mean_test_score"]
    assert len(scores) == 4
    assert np.isfinite(scores).all()
    assert len({*scores}) > 1
    assert search.best_score_ == max(scores)
    assert isinstance(search.best_estimator_.criterion, Evidence)
    best = search.best_params_
    again = UFC(Evidence(best["criterion__factor"]), max_length=best["max_length"])
    assert cross_val_score(again, ZOO, cv=3).mean() == pytest.approx(search.best_score_)
    assert search.score(ZOO) == search.best_estimator_.score(ZOO)


def test_grids_search_criteria():
    search = GridSearchCV(UFC(), {"criterion": ["evidence", "bits", Bits(None), 0.3]}, cv=2).fit(
        ZOO
    )
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("stop", [None, *STOPS])
def test_rules_are_saved_with_the_model(criterion, stop, tmp_path):
    rule = CRITERIA[criterion]
    changed = {name: OTHER[name] for name in rule().get_params()}
    ends = None if stop is None else STOPS[stop]()
    if isinstance(ends, RmsStop | NoStop):
        ends.set_params(null_feature=True)
    model = UFC(rule(**changed), stop=ends, max_iter=2).fit(ZOO)
    model.save(tmp_path / "m.json")
    loaded = conjunct.load(tmp_path / "m.json")
    assert settings_of(loaded) == settings_of(model)
    assert type(loaded.criterion) is rule
    assert type(loaded.stop) is type(ends)
    assert loaded.stop_reason_ == model.stop_reason_
    again = clone(loaded).fit(ZOO)
    assert again.features_ == model.features_
    # as text, for NaN is not equal to itself
    assert str(again.history_) == str(model.history_)


def test_names_and_numbers_are_saved_as_they_were_given(tmp_path):
    for criterion, stop in (("evidence", None), ("bits", "gain"), ("risk", "rms"), (0.3, "never")):
        UFC(criterion, stop=stop, max_iter=1).fit(ZOO).save(tmp_path / "m.json")
        loaded = conjunct.load(tmp_path / "m.json")
        assert (loaded.criterion, loaded.stop) == (criterion, stop)


COMBINATIONS = [
    (criterion, stop, search)
    for criterion, stop, search in itertools.product(CRITERIA, [None, *STOPS], [None, *SEARCHES])
]


@pytest.mark.parametrize(("criterion", "stop", "search"), COMBINATIONS)
def test_every_combination_ends_and_says_why(criterion, stop, search):
    rule = CRITERIA[criterion]
    value = 0.3 if rule is Threshold else criterion
    # the paper's rules could go on for a million literals; others end by themselves
    limit = {} if rule in (Bits, Evidence) else {"max_length": 12}
    model = UFC(value, stop=stop, search=search, **limit).fit(ZOO)
    assert model.n_iter_ > 0
    assert model.stop_reason_
    assert "\n" not in model.stop_reason_
    assert model.stop_reason_[0].isupper()
    assert model.stop_reason_.endswith(".")
    assert not model.stop_reason_.endswith("..")
    assert np.array_equal(model.inverse_transform(model.transform(ZOO)), ZOO)


@pytest.mark.parametrize("name", ["max_iter", "max_length"])
def test_limits_past_any_count_are_none(name):
    limited = UFC(**{name: 10**40}).fit(ZOO)
    assert limited.features_ == UFC().fit(ZOO).features_
    assert limited.stop_reason_ == UFC().fit(ZOO).stop_reason_


@pytest.mark.parametrize("criterion", [*CRITERIA, 0.9])
@pytest.mark.parametrize("stop", [None, *STOPS])
def test_nothing_is_explained_too(criterion, stop):
    """Three columns that exclude one another: no rule joins them."""
    table = np.repeat(np.eye(3, dtype=bool), 20, axis=0)
    with pytest.warns(conjunct.ConjunctWarning) as caught:
        model = UFC(criterion, stop=stop).fit(table)
    assert [str(warning.message) for warning in caught] == [model.stop_reason_]
    nothing = "No chunk was found: " if criterion == "evidence" else "No feature was constructed: "
    assert model.stop_reason_.startswith(nothing)
    assert model.stop_reason_.endswith(".")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_length": 2, "stop": "never"}, "that makes a feature of at most 2 tags"),
        ({"max_length": 2, "criterion": "bits"}, "and that makes a feature of at most 2 tags"),
        ({"criterion": 0.3, "max_length": 3, "stop": "never"}, "of at most 3 literals"),
        (
            {"criterion": "bits", "search": "batch"},
            "than chance explains and makes the description shorter.",
        ),
    ],
)
def test_what_was_left_is_told_with_what_was_asked_of_it(options, words):
    told = UFC(**options).fit(ZOO).stop_reason_
    assert "no pair is left" in told
    assert words in told
    assert "at most" not in UFC(**options | {"max_length": None}).fit(ZOO).stop_reason_


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@given(table=hnp.arrays(np.bool_, st.tuples(st.integers(2, 30), st.integers(2, 4))))
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"criterion": "bits"},
        {"criterion": Bits(None)},
        {"criterion": "bits", "search": "batch"},
    ],
    ids=str,
)
def test_nothing_found_is_never_wrong(options, table):
    model = UFC(**options).fit(table)
    n = len(table)
    tables = [
        (n, *map(int, (x.sum(), y.sum(), (x & y).sum())))
        for x, y in itertools.combinations(table.T, 2)
        if 0 < x.sum() < n and 0 < y.sum() < n
    ]
    lifts = [n * both / (x * y) for n, x, y, both in tables]
    reason = model.stop_reason_
    if model.n_iter_:
        assert max(lifts) > 1
    elif "fewer than two columns" in reason:
        assert not tables
    elif "no row has two" in reason:
        assert max(lifts) == 0
    elif "more often than by chance" in reason:
        assert max(lifts) <= 1 + 1e-12
        _, x, y, both = max(tables, key=lambda t: t[0] * t[3] / (t[1] * t[2]))
        assert f"together in {both:,} row" in reason
        assert f"gives {x * y / n:,.1f}." in reason
    else:
        assert max(lifts) > 1
        assert "x" in reason.partition(": ")[2]


def test_as_many_rows_as_it_says_would_do():
    rows = np.array([[1, 1], [1, 0], [0, 1], [0, 0], [0, 0], [0, 0], [1, 1]] * 4, bool)
    for n_rows in (7, 9, 10, 12):
        some = rows[:n_rows]
        with pytest.warns(conjunct.ConjunctWarning) as caught:
            UFC().fit(some)
        more = re.search(r"About ([0-9,]+) more rows? like these", str(caught[0].message))
        enough = 1 + int(more[1].replace(",", "")) / len(some)
        assert UFC().fit(np.repeat(some, math.ceil(enough), axis=0)).n_iter_ == 1
        fewer = math.ceil(enough) - 2
        if fewer > 1:
            with pytest.warns(conjunct.ConjunctWarning):
                UFC().fit(np.repeat(some, fewer, axis=0))


@pytest.mark.parametrize("criterion", ["evidence", "bits"])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_ties_are_broken_by_name(criterion, storage):
    """Four columns, all pairs of which are alike: the sentence names the same two."""
    rng = np.random.default_rng(0)
    rows = np.array([*itertools.product([0, 1], repeat=4), [1, 1, 1, 1]], bool)
    reasons = set()
    for _ in range(6):
        names = rng.permutation(["d", "b", "c", "a"])
        frame = pd.DataFrame(rows, columns=names)
        with pytest.warns(conjunct.ConjunctWarning):
            reasons.add(UFC(criterion, storage=storage).fit(frame).stop_reason_)
    (reason,) = reasons
    assert "a with b" in reason
