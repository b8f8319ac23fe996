"""How raw data is prepared, in the model file: kept exactly, and checked as a whole."""

import json

import numpy as np
import polars as pl
import pytest

from conjunct import UFC, Binarizer, BooleanData, InputError, ModelFileError, TagCleaner, load
from conjunct.columns import PackedColumns


@pytest.fixture
def raw():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 200)
    return pl.DataFrame(
        {
            "colour": colour,
            "hot": np.where(colour == "red", "yes", "no"),
            "age": rng.integers(0, 80, 200),
            "sex": rng.choice(["m", "f"], 200),
            "same": "x",
        }
    )


@pytest.fixture
def binarized(raw, tmp_path):
    table = BooleanData.from_data(
        raw, binarizer=Binarizer(cumulative=True, edges={"age": [18, 65]})
    )
    UFC(max_iter=1).fit(table).save(tmp_path / "m.json")
    return tmp_path / "m.json"


@pytest.fixture
def tagged(tmp_path):
    rng = np.random.default_rng(0)
    bits = rng.random((200, 3)) < 0.5
    raw = BooleanData(("Sky", "sky", "sea"), PackedColumns.from_table(bits), tags=True)
    cleaner = raw.fit_cleaner(TagCleaner(synonyms={"ocean": "sea"}))
    UFC(max_iter=0).fit(raw.clean(cleaner)).save(tmp_path / "t.json")
    return tmp_path / "t.json"


def test_kept_exactly(binarized, raw):
    binarizer = load(binarized).preparation_.binarizer
    assert binarizer.get_params()["edges"] == {"age": [18.0, 65.0]}
    assert [d.column for d in binarizer.dropped_] == ["same"]
    expected = Binarizer(cumulative=True, edges={"age": [18, 65]}).fit(raw)
    assert binarizer.rules_ == expected.rules_
    assert binarizer.transform(raw).equals(expected.transform(raw))


@pytest.mark.parametrize("cumulative", [False, True])
def test_columns_that_reach_infinity_are_kept(cumulative, tmp_path):
    rng = np.random.default_rng(0)
    numbers = rng.normal(0, 1, 200)
    numbers[rng.random(200) < 0.5] = np.inf
    raw = pl.DataFrame({"x": numbers, "y": numbers > 0, "few": rng.choice([1, 2, np.inf], 200)})
    table = BooleanData.from_data(raw, binarizer=Binarizer(cumulative=cumulative).fit(raw))
    UFC(max_iter=1).fit(table).save(tmp_path / "m.json")
    loaded = load(tmp_path / "m.json").preparation_.binarizer
    assert loaded.rules_ == table.preparation.binarizer.rules_


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_numbers_that_a_file_cannot_hold_are_refused(value, tmp_path):
    """JSON has no word for them: a file that says null would load as another model, or not."""
    with pytest.raises(InputError, match="threshold must be None or a finite number"):
        UFC(threshold=value).fit([[0.5, 1], [1, 0]])
    model = UFC(max_iter=0).fit([[0, 1], [1, 0], [1, 1]]).set_params(threshold=value)
    with pytest.raises(InputError, match="infinity or NaN, which cannot be saved"):
        model.save(tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


def test_tags_kept_exactly(tagged):
    cleaner = load(tagged).preparation_.cleaner
    assert cleaner.mapping_ == {"Sky": "sky", "sky": "sky", "sea": "sea"}
    assert cleaner.clean("Oceans") == "oceans"
    assert cleaner.clean("OCEAN") == "sea"


def test_models_of_boolean_data_have_neither(tmp_path):
    UFC(max_iter=0).fit(BooleanData.from_data(pl.DataFrame({"a": [1, 0]}))).save(
        tmp_path / "m.json"
    )
    content = json.loads((tmp_path / "m.json").read_text())
    assert "binarizer" not in content
    assert "tags" not in content


def rules(content):
    return content["binarizer"]["rules"]


DAMAGE = {
    "unknown field": lambda c: c["binarizer"].update(more=1),
    "unknown rule": lambda c: rules(c)[0].update(rule="magic"),
    "other words": lambda c: rules(c)[0].update(values=["red", "green"]),
    "rule lost": lambda c: rules(c).pop(),
    "rule of no column": lambda c: rules(c)[0].update(column="zz"),
    "column twice": lambda c: c["binarizer"]["columns"].append("colour"),
    "dropped and used": lambda c: c["binarizer"]["dropped"].append(
        {"column": "hot", "reason": "x"}
    ),
    "bad parameter": lambda c: c["binarizer"]["parameters"].update(n_bins=0),
    "unknown parameter": lambda c: c["binarizer"]["parameters"].update(zz=0),
    "edges of text": lambda c: rules(c)[2].update(edges=["a"]),
    "edges falling": lambda c: rules(c)[2].update(edges=[65.0, 18.0]),
    "no edges": lambda c: rules(c)[2].update(edges=[]),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_refused(damage, binarized):
    content = json.loads(binarized.read_text())
    DAMAGE[damage](content)
    binarized.write_text(json.dumps(content))
    with pytest.raises(ModelFileError) as raised:
        load(binarized)
    assert str(raised.value).startswith(str(binarized))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "damage",
    [
        lambda c: c["tags"].update(mapping={"Sky": "sea", "sea": "sea"}),
        lambda c: c["tags"].update(mapping={"sea": "sea"}),
        lambda c: c["tags"].update(synonyms={"a": "b", "b": "a"}),
        lambda c: c["tags"].update(case="yes"),
        lambda c: c["tags"].pop("plurals"),
    ],
)
def test_damaged_tags_are_refused(damage, tagged):
    content = json.loads(tagged.read_text())
    damage(content)
    tagged.write_text(json.dumps(content))
    with pytest.raises(ModelFileError):
        load(tagged)
