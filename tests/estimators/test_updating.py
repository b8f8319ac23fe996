"""New rows for an old vocabulary: counts add up, and one sentence says whether it still pays."""

import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_code
from conjunct import UFC, ClusteringTree, InputError, datasets, load
from conjunct.errors import ModelFileError


def planted(seed, n_rows, joined=True):
    """Columns that come in pairs, or not."""
    rng = np.random.default_rng(seed)
    first = rng.random((n_rows, 4)) < 0.3
    second = np.where(rng.random((n_rows, 4)) < 0.9, first, ~first) if joined else first[::-1]
    return np.hstack([first, second if joined else rng.random((n_rows, 4)) < 0.3])


def merges_of(model):
    return [(m.left, m.right, m.both, m.right_only, m.left_only) for m in model.feature_set_.merges]


@given(st.integers(0, 50), st.integers(1, 30), st.booleans())
def test_bits_are_those_of_the_definition(seed, n_rows, joined):
    rows, new = planted(seed, 120), planted(seed + 1, n_rows, joined)
    model = UFC().fit(rows)
    update = model.check_drift(new)
    for merges, found in ((merges_of(model), update.bits), ([], update.baseline_bits)):
        assert math.isclose(found, sum(naive_code.bits_after(rows, merges, new)), abs_tol=1e-6)
    shares = [sum(naive_code.bits_after(rows, merges, rows)) for merges in (merges_of(model), [])]
    assert math.isclose(update.before, shares[0] / shares[1])
    assert math.isclose(update.score, UFC().fit(rows).score(new), abs_tol=1e-9)
    assert update.pays == (update.bits < update.baseline_bits)
    wanted = model.feature_set_.evaluate(model.read_columns(new)).supports().tolist()
    assert list(update.supports) == wanted


@given(st.integers(0, 20), st.integers(1, 39))
def test_counting_in_parts_is_counting_at_once(seed, part):
    new = planted(seed + 1, 40)
    whole, parts = UFC().fit(planted(seed, 100)), UFC().fit(planted(seed, 100))
    whole.check_drift(new)
    parts.check_drift(new[:part])
    parts.check_drift(new[part:])
    assert parts.new_rows_ == whole.new_rows_
    assert parts.to_json() == whole.to_json()
    assert parts.score(new) == whole.score(new) >= UFC().fit(planted(seed, 100)).score(new) - 1


def test_the_sentence():
    model = UFC().fit(planted(0, 500))
    told = str(model.check_drift(planted(1, 200)))
    assert told.startswith("The chunks still help: with them, 200 new rows take ")
    told = str(model.check_drift(planted(2, 300, joined=False)))
    assert told.startswith("The chunks do not help on these rows: with them, 300 new rows take ")
    assert told.endswith("Fit again on these rows.")
    assert model.new_rows_.n_rows == 500


def test_a_model_keeps_its_new_rows_and_a_fit_forgets_them(tmp_path):
    zoo = datasets.load_zoo()
    frame = pl.DataFrame(zoo.values, schema=list(zoo.feature_names))
    model = UFC(min_support=0.05).fit(frame.head(70))
    before = model.to_dict()
    model.check_drift(frame.tail(31))
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.new_rows_ == model.new_rows_
    assert loaded.score(frame) == model.score(frame)
    # what training was stays as it was
    assert {k: v for k, v in loaded.to_dict().items() if k != "new_rows"} == before
    assert loaded.truncate(15).new_rows_ is None
    assert loaded.fit(frame).new_rows_ is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": [], "columns": [], "patterns": []}, "new rows do not match its features"),
        ({"n_rows": 3}, "a count of its code is out of range"),
        ({"n_rows": 1 << 63}, "damaged"),
        ({"n_rows": 0}, "damaged"),
    ],
)
def test_new_rows_that_cannot_be_are_refused(tmp_path, change, message):
    model = UFC().fit(planted(0, 100))
    model.check_drift(planted(1, 50))
    content = model.to_dict()
    content["new_rows"] |= change
    file = tmp_path / "model.json"
    file.write_text(json.dumps(content))
    with pytest.raises(ModelFileError, match=message):
        load(file)


def test_no_rows_are_refused_and_nothing_made_is_said():
    model = UFC().fit(planted(0, 100))
    with pytest.raises(InputError, match="0 sample"):
        model.check_drift(planted(0, 100)[:0])
    assert model.new_rows_ is None
    assert not hasattr(ClusteringTree(), "update")
    alone = UFC(max_iter=0).fit(planted(0, 100))
    update = alone.check_drift(planted(1, 50))
    assert (update.bits, update.pays) == (update.baseline_bits, False)
