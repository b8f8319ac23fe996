"""Model files: what is saved is loaded; anything else is refused in one line."""

import contextlib
import copy
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from conjunct import UFC, Never, Risk, Threshold, datasets, load, parse
from conjunct.errors import ConjunctWarning, InputError, ModelFileError
from runs import settings_of
from tables import tables

BASKETS = [["a", "b"]] * 30 + [["a"]] * 5 + [["b", "c"]] * 5 + [["c"]] * 40


@pytest.fixture
def model():
    return UFC(Risk(prune=False, alpha=0.01), max_iter=2, names="formula").fit(BASKETS)


@pytest.fixture
def saved(model, tmp_path):
    model.save(tmp_path / "m.json")
    return json.loads((tmp_path / "m.json").read_text())


def same(left, right):
    assert settings_of(left) | {"callback": None} == settings_of(right) | {"callback": None}
    assert left.features_ == right.features_
    np.testing.assert_equal(left.get_rules("dict"), right.get_rules("dict"))
    assert repr(left.history_) == repr(right.history_)
    assert left.threshold_ == right.threshold_
    assert left.n_iter_ == right.n_iter_
    assert left.n_features_in_ == right.n_features_in_
    assert hasattr(left, "feature_names_in_") == hasattr(right, "feature_names_in_")


@pytest.mark.parametrize("name", [dataset.name for dataset in datasets.DATASETS])
def test_round_trip(name, tmp_path):
    data = datasets.load(name)
    seen = []
    frame = pl.DataFrame(data.values, schema=list(data.feature_names))
    model = UFC(search="pairwise", max_iter=12, style="ascii", callback=seen.append).fit(frame)
    model.save(tmp_path / "m.json")
    loaded = load(tmp_path / "m.json")
    assert seen
    assert loaded.callback is None
    same(model, loaded)
    assert loaded.transform(frame).equals(model.transform(frame))
    assert loaded.inverse_transform(model.transform(frame)).equals(frame)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "m.json").read_bytes()


@pytest.mark.filterwarnings("ignore::conjunct.errors.ConjunctWarning")
@given(
    table=tables(),
    max_iter=st.none() | st.integers(0, 4),
    threshold=st.just("risk") | st.floats(0, 0.9),
)
def test_round_trip_of_awkward_tables(table, max_iter, threshold, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.json"
    model = UFC(threshold, max_iter=max_iter, names="formula").fit(table)
    model.save(path)
    loaded = UFC.load(path)
    same(model, loaded)
    assert np.array_equal(loaded.inverse_transform(loaded.transform(table)), table)


@given(names=st.lists(st.text(st.characters(codec="utf-8")), min_size=2, max_size=4, unique=True))
def test_any_names(names, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.json"
    model = UFC(Risk(prune=False), max_iter=1, names="formula").fit(
        [set(names)] * 20 + [{names[0]}, set()] * 20
    )
    model.save(path)
    same(model, load(path))


def test_numbers_of_numpy_are_saved(tmp_path):
    parameters = {"criterion__alpha": np.float64(0.01), "max_iter": np.int64(1)}
    UFC("risk").set_params(**parameters).fit(BASKETS).save(tmp_path / "m.json")
    found = load(tmp_path / "m.json").get_params()
    assert found | parameters == found
    UFC(Threshold(np.float32(0.25)), max_iter=1).fit(BASKETS).save(tmp_path / "m.json")
    assert load(tmp_path / "m.json").threshold_ == 0.25


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(InputError, match="a parameter cannot be saved"):
        UFC(max_iter=1, verbose=object()).fit(BASKETS).save(tmp_path / "m.json")
    with pytest.raises(InputError, match="lone surrogate"):
        UFC(max_iter=0).fit([["a", "\ud800"]]).save(tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


def test_truncated_at_every_byte(model, tmp_path):
    model.save(tmp_path / "m.json")
    content = (tmp_path / "m.json").read_bytes()
    assert content.endswith(b"}\n")
    for length in range(len(content) - 1):
        (tmp_path / "cut.json").write_bytes(content[:length])
        with pytest.raises(ModelFileError):
            load(tmp_path / "cut.json")


@given(data=st.data())
def test_no_changed_byte_gets_past(data, tmp_path_factory):
    """A changed byte gives a model that works, or a ModelFileError; nothing else."""
    path = tmp_path_factory.mktemp("models") / "m.json"
    UFC(Risk(prune=False, alpha=0.01), max_iter=2, names="formula").fit(BASKETS).save(path)
    content = bytearray(path.read_bytes())
    position = data.draw(st.integers(0, len(content) - 1))
    content[position] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    with contextlib.suppress(ModelFileError):
        loaded = load(path)
        loaded.get_rules("dict")
        rows = np.zeros((2, loaded.n_features_in_), bool)
        names = getattr(loaded, "feature_names_in_", None)
        table = rows if names is None else pl.DataFrame(rows, schema=list(names))
        loaded.inverse_transform(loaded.transform(table))


def edited(**changes):
    return lambda content: content.update(changes)


def merge(**changes):
    return lambda content: content["merges"][0].update(changes)


HOSTILE = {
    "other format": (edited(format="other"), "not a conjunct model file"),
    "newer version": (edited(version=3), "version 3 of the model file; .* reads versions 1 and 2"),
    "version as text": (edited(version="1"), "not a conjunct model file"),
    "unknown kind": (edited(kind="Pickle"), "a model of unknown kind 'Pickle'"),
    "unknown field": (edited(extra=1), "damaged model file .*extra"),
    "no features": (edited(features=[], supports=[]), "not what its merges leave"),
    "features as text": (edited(features="abc"), "damaged model file .*Expected `array`"),
    "unknown feature": (edited(features=[0, 99]), "supports and features differ"),
    "feature twice": (lambda c: c["features"].__setitem__(0, c["features"][1]), "stands twice"),
    "too few supports": (lambda c: c["supports"].pop(), "supports and features differ"),
    "negative support": (lambda c: c["supports"].__setitem__(0, -1), "support is out of range"),
    "large support": (lambda c: c["supports"].__setitem__(0, 10**6), "support is out of range"),
    "no rows": (edited(n_rows=0), "it was fitted on no rows"),
    "negative rows": (edited(n_rows=-5), "it was fitted on no rows"),
    "huge rows": (edited(n_rows=10**5000), "damaged model file .*out of range"),
    "no primitives": (edited(primitives=[]), "it has no primitives"),
    "names twice": (edited(primitives=["a", "a", "c"]), "two primitives share a name"),
    "too few variables": (edited(variables=["v", "v"]), "variables and primitives differ"),
    "too many variables": (edited(variables=["v"] * 9), "variables and primitives differ"),
    "variable of one": (edited(variables=["v", None, None]), "a variable has only one primitive"),
    "variables of none": (edited(variables=[None] * 3), "no primitive has a variable"),
    "variables as numbers": (edited(variables=[1, 1, 1]), r"damaged model file .*variables"),
    "parameter of one column": (
        lambda c: c["parameters"].update(variables={"v": ["a"]}),
        "variable 'v' needs two columns or more",
    ),
    "a name less": (lambda c: c["primitives"].pop(), "damaged model file"),
    "refers to itself": (lambda c: c["conjunctions"].insert(0, [3, 0]), "refers ahead"),
    "refers ahead": (lambda c: c["conjunctions"].insert(0, [0, 50]), "refers ahead"),
    "refers back too far": (lambda c: c["conjunctions"].insert(0, [0, -50]), "refers ahead"),
    "conjunction twice": (lambda c: c["conjunctions"].append([0, 1]), "stands twice"),
    "conjunction of three": (lambda c: c["conjunctions"].append([0, 1, 2]), "damaged"),
    "huge number": (lambda c: c["conjunctions"].append([0, 10**40]), "damaged"),
    "merge of nothing": (merge(left=77), "a merge is of features not there"),
    "merge with itself": (merge(left=1, right=1), "a merge is of features not there"),
    "merge into nothing": (merge(both=77), "a merge refers to nothing"),
    "merge into a primitive": (merge(both=2), "a merge makes other conjunctions"),
    "merge swapped": (merge(left=1, right=0), "a merge makes other conjunctions"),
    "merge without count": (merge(joint=0), "a joint count is out of range"),
    "merge too late": (merge(iteration=2), "merges are out of order"),
    "merge lost": (lambda c: c["merges"].pop(), "not what its merges leave"),
    "r as text": (merge(r="high"), r"damaged model file .*merges\[0\].r"),
    "no history": (edited(history=[]), "its history is not 0, 1, 2"),
    "history out of order": (lambda c: c["history"].reverse(), "its history is not 0, 1, 2"),
    "history too short": (lambda c: c["history"].pop(), "its history"),
    "history of others": (
        lambda c: c["history"][-1].update(n_features=1),
        "its history ends with other features",
    ),
    "unknown parameter": (lambda c: c["parameters"].update(evil=1), "evil"),
    "parameter out of range": (
        lambda c: c["parameters"]["criterion"].update(alpha=7),
        "alpha must be",
    ),
    "unknown setting": (
        lambda c: c["parameters"]["criterion"].update(evil=1),
        "criterion: .*evil",
    ),
    "unknown criterion": (
        lambda c: c["parameters"].update(criterion={"rule": "evil"}),
        "criterion must be",
    ),
    "unknown stop": (lambda c: c["parameters"].update(stop={"rule": "evil"}), "stop must be"),
    "too few supports of primitives": (
        lambda c: c["primitive_supports"].pop(),
        "supports and primitives differ in number",
    ),
    "large support of a primitive": (
        lambda c: c["primitive_supports"].__setitem__(0, 10**6),
        "a support is out of range",
    ),
    "rule in another parameter": (
        lambda c: c["parameters"].update(max_iter={"rule": "never"}),
        "max_iter must be",
    ),
    "parameter of another type": (
        lambda c: c["parameters"].update(binarize="x"),
        "binarize must be",
    ),
    "style unknown": (lambda c: c["parameters"].update(style="html"), "style must be"),
    "threads": (lambda c: c["parameters"].update(n_jobs="x"), "n_jobs must be"),
    "parameters in a list": (edited(parameters=[]), "damaged model file"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_file(case, saved, tmp_path):
    change, message = HOSTILE[case]
    content = copy.deepcopy(saved)
    change(content)
    assert content != saved
    text = json.dumps({k: v for k, v in content.items() if v != 10**5000})
    if case == "huge rows":
        text = text[:-1] + ', "n_rows": 1' + "0" * 5000 + "}"
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(ModelFileError, match=message) as raised:
        load(tmp_path / "bad.json")
    assert str(raised.value).startswith(str(tmp_path / "bad.json"))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("field", ["format", "kind", "primitives", "merges", "history", "n_rows"])
def test_missing_field(field, saved, tmp_path):
    del saved[field]
    (tmp_path / "bad.json").write_text(json.dumps(saved))
    with pytest.raises(ModelFileError):
        load(tmp_path / "bad.json")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b"a,b\n0,1\n",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"format": "conjunct-model", "version": 1, "x": '
        + b"[" * 100_000
        + b"]" * 100_000
        + b"}",
        b'{"format": "conjunct-model", "version": 1, "kind": "\\ud800"}',
    ],
    ids=["empty", "null", "list", "table", "binary", "deep", "deep field", "surrogate"],
)
def test_not_a_model(content, tmp_path):
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(ModelFileError) as raised:
        load(tmp_path / "bad.json")
    assert "\n" not in str(raised.value)


def test_formula_of_any_length_is_not_computed(saved, tmp_path):
    """Each merge may double a length: five thousand of them would ask for 5,000-bit numbers."""
    left, right = 0, 1
    conjunctions, merges = [], []
    for iteration in range(1, 5001):
        number = 3 + len(conjunctions)
        conjunctions += [[left, right], [~left, right], [left, ~right]]
        merges.append(
            saved["merges"][0]
            | {"iteration": iteration, "left": left, "right": right}
            | {"both": number, "right_only": number + 1, "left_only": number + 2}
        )
        left, right = number, number + 1
    saved |= {"conjunctions": conjunctions, "merges": merges}
    (tmp_path / "long.json").write_text(json.dumps(saved))
    with pytest.raises(ModelFileError, match="a conjunction is absurdly long"):
        load(tmp_path / "long.json")


def test_unreadable_path(tmp_path):
    with pytest.raises(ModelFileError, match="cannot be read"):
        load(tmp_path)
    with pytest.raises(ModelFileError, match="cannot be read"):
        load(tmp_path / "no.json")


def test_failed_save_keeps_the_old_model(model, tmp_path, monkeypatch):
    path = tmp_path / "m.json"
    model.save(path)
    before = path.read_bytes()

    def full(self, content):
        with self.open("wb") as file:
            file.write(content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        UFC(max_iter=0).fit(BASKETS).save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


def test_folder_as_output(model, tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        model.save(tmp_path)
    with pytest.raises(InputError, match="is not a folder: make it first"):
        model.save(tmp_path / "no" / "m.json")


def test_primitives_alone_are_a_model(tmp_path):
    with pytest.warns(ConjunctWarning):
        model = UFC().fit(np.eye(3, dtype=bool))
    model.save(tmp_path / "m.json")
    same(model, load(tmp_path / "m.json"))
    assert json.loads((tmp_path / "m.json").read_text())["history"][0]["c0"] is None


# as the release before rules were objects wrote them
OLD = Path(__file__).parent / "models"
FROM_VERSION_1 = {
    "risk": {
        "criterion": Risk(alpha=0.01, test="exact", correction="holm", prune=False).record(),
        "stop": "never",
        "search": "batch",
        "min_support": 0.07,
        "style": "ascii",
        "names": "formula",
    },
    "threshold": {
        "criterion": Threshold(0.1, measure="jaccard").record(),
        # a number of iterations took the place of the stopping rule
        "stop": Never(null_feature=True).record(),
        "max_iter": 2,
        "names": "formula",
    },
    "missing": {
        "criterion": Risk(prune=False).record(),
        "stop": "never",
        "search": "pairwise",
        "missing": "pairwise",
    },
    "path": {"max_iter": 2, "min_threshold": 0.002},
    "fringe": {"max_features": 5, "criterion": "gini"},
}


def features_of(content):
    """The texts of the features in a file, by its numbers alone."""
    texts = [(name, True) for name in content["primitives"]]

    def literal(number):
        text, plain = texts[number if number >= 0 else ~number]
        whole = text if plain else f"({text})"
        return whole if number >= 0 else f"¬{whole}"

    # each refers to those before it
    for left, right in content["conjunctions"]:
        texts += [(f"{literal(left)} ∧ {literal(right)}", False)]
    return [texts[number][0] for number in content["features"]]


def test_every_old_file_is_tried():
    assert {path.stem for path in OLD.iterdir()} == {f"v1-{name}" for name in FROM_VERSION_1}


@pytest.mark.parametrize("name", FROM_VERSION_1)
def test_files_of_version_1_still_load(name, tmp_path):
    path = OLD / f"v1-{name}.json"
    content = json.loads(path.read_text())
    assert content["version"] == 1
    assert content["conjunctions"], "the file says nothing of features that were made"
    loaded = load(path)
    assert list(loaded.features_) == [parse(text) for text in features_of(content)]
    assert list(loaded.feature_set_.supports) == content["supports"]
    assert len(loaded.history_) == len(content["history"])
    assert settings_of(loaded) | FROM_VERSION_1[name] == settings_of(loaded)
    assert np.isnan([line.bits for line in loaded.history_]).all()
    # saved again, it is a file of today with the same model
    loaded.save(tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text())["version"] == 2
    again = load(tmp_path / "m.json")
    assert settings_of(again) == settings_of(loaded)
    assert again.features_ == loaded.features_
    np.testing.assert_equal(again.get_rules("dict"), loaded.get_rules("dict"))


@pytest.mark.parametrize("name", ["risk", "threshold"])
def test_a_model_of_version_1_fits_as_it_did(name):
    old = load(OLD / f"v1-{name}.json")
    new = clone(old).fit(BASKETS)
    assert new.features_ == old.features_
    assert new.suppressed_ == old.suppressed_
    assert new.threshold_ == old.threshold_
    assert [line.oi for line in new.history_] == [line.oi for line in old.history_]
    assert new.transform(BASKETS) == old.transform(BASKETS)
    assert new.feature_set_.primitive_supports == old.feature_set_.primitive_supports
    assert new.krimp_baseline_ == old.krimp_baseline_
    assert new.krimp_length_ == old.krimp_length_
    with pytest.raises(InputError, match="the code of this model was not counted"):
        old.score(BASKETS)


@pytest.mark.parametrize("null_feature", [False, True])
def test_a_file_of_version_1_with_the_removed_stop_is_refused(null_feature, tmp_path):
    content = json.loads((OLD / "v1-missing.json").read_text())
    content["parameters"] |= {"stop": "relative", "null_feature": null_feature}
    assert "stop must be 'gain', 'never', 'rms', or one of" in refusal(content, tmp_path)


@pytest.mark.parametrize("stop", ["relative", {"rule": "relative"}])
def test_a_file_with_the_removed_stop_is_refused(stop, tmp_path):
    content = saved_content(tmp_path)
    content["parameters"]["stop"] = stop
    line = refusal(content, tmp_path)
    assert "stop must be 'gain', 'never', 'rms', or one of" in line
    assert line.endswith(f"got {stop!r}")


def test_a_file_with_the_removed_search_is_refused(tmp_path):
    content = saved_content(tmp_path)
    content["parameters"]["search"] = "thorough"
    line = refusal(content, tmp_path)
    assert line.endswith("search must be 'batch', 'pairwise' or None; got 'thorough'")


def saved_content(folder):
    UFC().fit(BASKETS).save(folder / "m.json")
    return json.loads((folder / "m.json").read_text())


def refusal(content, folder):
    """The one line that says why a file does not load."""
    (folder / "m.json").write_text(json.dumps(content))
    with pytest.raises(ModelFileError) as refused:
        load(folder / "m.json")
    (line,) = str(refused.value).splitlines()
    return line


def test_a_parameter_of_version_1_is_checked(tmp_path):
    content = json.loads((OLD / "v1-risk.json").read_text())
    content["parameters"]["alpha"] = 7
    (tmp_path / "m.json").write_text(json.dumps(content))
    with pytest.raises(ModelFileError, match="alpha must be"):
        load(tmp_path / "m.json")
