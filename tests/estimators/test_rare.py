"""Rare features: suppressed, accounted for, and the rare conjunctions among them found again."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_statistics
from conjunct import UFC, ConjunctWarning, InputError, Risk, datasets
from conjunct.columns import PackedColumns
from conjunct.columns.kernel import unpack
from conjunct.ufc.association import CORRECTIONS
from tables import tables

COCO = datasets.load_coco_val2017()
FRAME = pd.DataFrame(COCO.values, columns=COCO.feature_names)
OPTIONS = {
    "criterion": Risk(test="exact", prune=False, correction="holm"),
    "max_iter": 1,
    "feature_names": "formula",
}


@pytest.fixture(scope="module")
def whole():
    return UFC(**OPTIONS).fit(FRAME)


@pytest.fixture(scope="module")
def model():
    return UFC(**OPTIONS, min_support=0.01).fit(FRAME)


def test_features_below_are_suppressed_and_listed(whole, model):
    rules = whole.get_features()
    frequent = rules["frequency"] >= 0.01
    assert model.get_features().equals(rules[frequent].reset_index(drop=True))
    rare = model.get_features(suppressed=True)
    assert rare.equals(rules[~frequent].reset_index(drop=True))
    assert [f.text() for f in model.suppressed_] == rare["rule"].tolist()
    assert len(rare) > 10
    assert whole.suppressed_ == ()
    expected = whole.transform(FRAME)[model.get_feature_names_out()]
    assert model.transform(FRAME).equals(expected)


def test_support_equal_to_the_bound_is_kept():
    table = np.zeros((30, 2), bool)
    table[:3, 0] = table[3:5, 1] = True
    with pytest.warns(ConjunctWarning, match="No chunk was found"):
        model = UFC(min_support=0.1).fit(table)
    assert [f.text() for f in model.features_] == ["x0"]
    assert [f.text() for f in model.suppressed_] == ["x1"]


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@given(tables(), st.sampled_from([0.05, 0.1, 0.3]), st.sampled_from(["batch", "pairwise"]))
def test_what_is_lost_is_counted(table, min_support, search):
    model = UFC(0.1, max_iter=4, search=search, feature_names="formula")
    whole = model.fit(table).feature_set_
    if max(whole.supports) / len(table) < min_support:
        with pytest.raises(InputError, match=r"^no feature reaches min_support="):
            whole.without_rare(min_support)
        return
    kept = whole.without_rare(min_support)
    store = PackedColumns.from_table(table)
    recovered = unpack(kept.recover(kept.evaluate(store)).bits, len(table))
    assert not (recovered & ~table).any()
    assert (table & ~recovered).sum(axis=0).tolist() == list(kept.lost_cells())


def test_inverse_transform_says_what_is_lost(model):
    lost = sum(model.feature_set_.lost_cells())
    message = f"^Treating {len(model.suppressed_)} features below min_support .* {lost} true cells"
    with pytest.warns(ConjunctWarning, match=message):
        restored = model.inverse_transform(model.transform(FRAME))
    assert (FRAME & ~restored).sum().sum() == lost > 0


def test_rows_of_a_suppressed_feature(whole, model):
    feature = model.suppressed_[-1]
    expected = whole.find_rows(feature, FRAME)
    assert model.find_rows(feature, FRAME).tolist() == expected.tolist()
    last = len(model.features_) + len(model.suppressed_) - 1
    assert model.find_rows(last, FRAME).tolist() == expected.tolist()
    with pytest.raises(InputError, match=f"there is no feature {last + 1}"):
        model.find_rows(last + 1, FRAME)


def test_saved_with_what_is_suppressed(model, tmp_path):
    path = tmp_path / "model.json"
    model.save(path)
    loaded = UFC.load(path)
    assert loaded.suppressed_ == model.suppressed_
    assert loaded.get_features(suppressed=True).equals(model.get_features(suppressed=True))


def conjunctions(model, table):
    """Candidates of ``rare_conjunctions``: pairs of columns, then the model's conjunctions."""
    names = [f"x{k}" for k in range(table.shape[1])]
    columns = dict(zip(names, table.T, strict=True))
    found = {f"{a} ∧ {b}": (columns[a], columns[b]) for a, b in itertools.combinations(names, 2)}
    fitted = model.feature_set_
    store = fitted.evaluate(PackedColumns.from_table(table), range(len(fitted.lineage)))
    lines = unpack(store.bits, len(table)).T
    for number in fitted.features + fitted.suppressed:
        operands = fitted.lineage.operands(number)
        if operands is not None:
            text = fitted.lineage.expression(number).text()
            found[text] = tuple(lines[k] if k >= 0 else ~lines[~k] for k in operands)
    return [(name, tuple(x.tolist()), tuple(y.tolist())) for name, (x, y) in found.items()]


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@given(
    tables(max_columns=5),
    st.fixed_dictionaries(
        {
            "max_support": st.sampled_from([0.1, 0.3, 1.0]),
            "min_lift": st.sampled_from([1.0, 1.5, 3.0]),
            "alpha": st.sampled_from([0.01, 0.2, 0.4]),
            "correction": st.sampled_from([None, *CORRECTIONS]),
        }
    ),
)
def test_rare_conjunctions_are_the_oracles(table, options):
    model = UFC(0.1, max_iter=2, feature_names="formula").fit(table)
    expected = naive_statistics.rare_conjunctions(conjunctions(model, table), **options)
    found = model.rare_conjunctions(table, **options, backend="dict")
    # a pair of columns is written in the order of the table, a feature as it was made
    in_order = {frozenset(name.split(" ∧ ")): name for name in expected}
    names = [in_order.get(frozenset(rule.split(" ∧ ")), rule) for rule in found["rule"]]
    assert sorted(names) == sorted(expected)
    for k, name in enumerate(names):
        support, lift, r, p, p_adjusted = expected[name]
        assert found["support"][k] == support
        assert found["lift"][k] == pytest.approx(lift)
        assert found["r"][k] == pytest.approx(r)
        assert found["p_value"][k] == pytest.approx(float(p), rel=1e-9)
        assert found["p_adjusted"][k] == pytest.approx(float(p_adjusted), rel=1e-9)


def test_suppressing_hides_no_rare_conjunction(model):
    found = model.rare_conjunctions(FRAME)
    assert list(found.columns) == [
        "rule", "status", "support", "frequency", "length", "lift", "r", "p_value",
        "p_adjusted", "family_size",
    ]  # fmt: skip
    assert found["lift"].is_monotonic_decreasing
    assert (found["lift"] >= 5).all()
    assert (found["frequency"] <= 0.01).all()
    assert (found["p_adjusted"] <= 0.001).all()
    by_rule = found.set_index("rule")
    assert by_rule.loc["apple ∧ orange", "status"] == "suppressed"
    both = FRAME["apple"] & FRAME["orange"]
    assert by_rule.loc["apple ∧ orange", "support"] == both.sum()
    chance = FRAME["apple"].mean() * FRAME["orange"].mean()
    assert by_rule.loc["apple ∧ orange", "lift"] == pytest.approx(both.mean() / chance)
    assert set(found["status"]) <= {"feature", "suppressed", "not a feature"}


def test_a_planted_rare_conjunction_is_found_and_noise_is_not():
    rng = np.random.default_rng(1)
    table = rng.random((5000, 30)) < 0.03
    with pytest.warns(ConjunctWarning):
        noise = UFC(
            Risk(correction="holm", test="exact", prune=False), feature_names="formula"
        ).fit(table)
    assert len(noise.rare_conjunctions(table)) == 0
    table[:25, 4] = table[:25, 9] = True
    found = noise.rare_conjunctions(table, min_lift=3)
    assert found["rule"].tolist() == ["x4 ∧ x9"]
    assert found["status"].tolist() == ["not a feature"]


def test_what_is_rare_follows_min_support(whole, model):
    assert whole.rare_conjunctions(FRAME, max_support=0.01)["rule"].equals(
        model.rare_conjunctions(FRAME)["rule"]
    )
    assert (whole.rare_conjunctions(FRAME, max_support=0.003)["frequency"] <= 0.003).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_support", 0),
        ("max_support", "1%"),
        ("min_lift", 0.5),
        ("alpha", 0.5),
        ("correction", "fdr"),
    ],
)
def test_parameters_of_rare_conjunctions_are_checked(model, name, value):
    with pytest.raises(InputError, match=f"^{name} must be .*; got "):
        model.rare_conjunctions(FRAME, **{name: value})
