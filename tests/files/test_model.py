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

from conjunct import UFC, Risk, Threshold, UFringe, datasets, load
from conjunct.errors import ConjunctWarning, InputError, ModelFileError
from runs import settings_of
from tables import tables

BASKETS = [["a", "b"]] * 30 + [["a"]] * 5 + [["b", "c"]] * 5 + [["c"]] * 40


@pytest.fixture
def model():
    return UFC(Risk(prune=False, alpha=0.01), max_iter=2, feature_names="formula").fit(BASKETS)


@pytest.fixture
def saved(model, tmp_path):
    model.save(tmp_path / "m.json")
    return json.loads((tmp_path / "m.json").read_text())


def same(left, right):
    assert settings_of(left) == settings_of(right)
    assert left.features_ == right.features_
    np.testing.assert_equal(left.get_features("dict"), right.get_features("dict"))
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
    model = UFC(search="pairwise", max_iter=12, formula_style="ascii").fit(
        frame, callback=seen.append
    )
    model.save(tmp_path / "m.json")
    loaded = load(tmp_path / "m.json")
    assert seen
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
    model = UFC(threshold, max_iter=max_iter, feature_names="formula").fit(table)
    model.save(path)
    loaded = UFC.load(path)
    same(model, loaded)
    assert np.array_equal(loaded.inverse_transform(loaded.transform(table)), table)


@given(names=st.lists(st.text(st.characters(codec="utf-8")), min_size=2, max_size=4, unique=True))
def test_any_names(names, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.json"
    model = UFC(Risk(prune=False), max_iter=1, feature_names="formula").fit(
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
    fitted = UFC(max_iter=1).fit(BASKETS).set_params(verbose=object())
    with pytest.raises(InputError, match="a parameter cannot be saved"):
        fitted.save(tmp_path / "m.json")
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
    UFC(Risk(prune=False, alpha=0.01), max_iter=2, feature_names="formula").fit(BASKETS).save(path)
    content = bytearray(path.read_bytes())
    position = data.draw(st.integers(0, len(content) - 1))
    content[position] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    with contextlib.suppress(ModelFileError):
        loaded = load(path)
        loaded.get_features("dict")
        rows = np.zeros((2, loaded.n_features_in_), bool)
        names = getattr(loaded, "feature_names_in_", None)
        table = rows if names is None else pl.DataFrame(rows, schema=list(names))
        loaded.inverse_transform(loaded.transform(table))


def edited(**changes):
    return lambda content: content.update(changes)


def merge(**changes):
    return lambda content: content["merges"][0][0].update(changes)


HOSTILE = {
    "other format": (edited(format="other"), "not a conjunct model file"),
    "newer version": (edited(version=4), "version 4 of the model file; .* reads version 3"),
    "version as text": (edited(version="1"), "not a conjunct model file"),
    "unknown kind": (edited(kind="Pickle"), "unknown kind of model 'Pickle'"),
    "unknown field": (edited(extra=1), "damaged model file .*extra"),
    "too few supports": (lambda c: c["supports"].pop(), "supports and columns differ"),
    "negative support": (lambda c: c["supports"].__setitem__(0, -1), "damaged model file .*supp"),
    "large support": (lambda c: c["supports"].__setitem__(0, 10**6), "support is out of range"),
    "supports as text": (edited(supports="abc"), "damaged model file .*Expected `array`"),
    "no rows": (edited(n_rows=0), "damaged model file .*n_rows"),
    "negative rows": (edited(n_rows=-5), "damaged model file .*n_rows"),
    "huge rows": (edited(n_rows=10**5000), "damaged model file .*n_rows"),
    "no columns": (edited(columns=[], supports=[]), "supports and columns differ"),
    "columns without names": (edited(columns=2), "supports and columns differ"),
    "names twice": (edited(columns=["a", "a", "c"]), "two columns have the same name"),
    "too few variables": (edited(variables=["v", "v"]), "variables and columns differ"),
    "too many variables": (edited(variables=["v"] * 9), "variables and columns differ"),
    "variable of one": (edited(variables=["v", None, None]), "a variable has only one column"),
    "variables of none": (edited(variables=[None] * 3), "no column has a variable"),
    "variables as numbers": (edited(variables=[1, 1, 1]), r"damaged model file .*variables"),
    "parameter of one column": (
        lambda c: c["parameters"].update(variables={"v": ["a"]}),
        "variable 'v' needs at least two columns",
    ),
    "a name less": (lambda c: c["columns"].pop(), "damaged model file"),
    "merge of nothing": (merge(right=77), "a merge refers to later features"),
    "merge of what is gone": (
        lambda c: (c["merges"].append(c["merges"][0]), c["tests"].append(c["tests"][0])),
        "a merge names features that are not present",
    ),
    "merge with itself": (merge(left=1, right=1), "a merge refers to later features"),
    "merge swapped": (merge(left=1, right=0), "a merge refers to later features"),
    "merge without count": (merge(joint=0), "damaged model file .*joint"),
    "merge of too many": (merge(joint=99), "a joint count is out of range"),
    "merge by chance": (merge(joint=1, together=1), "go together by chance"),
    "together too few": (merge(together=1), "a count of patterns is out of range"),
    "joint as text": (merge(joint="high"), r"damaged model file .*joint"),
    "r of a merge": (merge(r=0.5), r"damaged model file .*`r`"),
    "empty iteration": (lambda c: c["merges"].append([]), "an iteration has no merges"),
    "a test more": (lambda c: c["tests"].append([3, 0]), "tests and iterations differ"),
    "unknown parameter": (lambda c: c["parameters"].update(evil=1), "evil"),
    "parameter out of range": (
        lambda c: c["parameters"]["criterion"].update(alpha=7),
        "alpha must be",
    ),
    "another alpha": (
        lambda c: c["parameters"]["criterion"].update(alpha=1e-99),
        "features that its criterion does not",
    ),
    "unknown setting": (
        lambda c: c["parameters"]["criterion"].update(evil=1),
        "criterion: .*evil",
    ),
    "unknown criterion": (
        lambda c: c["parameters"].update(criterion={"rule": "evil"}),
        "criterion must be",
    ),
    "threads without end": (
        lambda c: c["parameters"].update(n_jobs=10**18),
        "n_jobs must be None or a whole number other than 0, from -10000 to 10000",
    ),
    "verbose in words": (
        lambda c: c["parameters"].update(verbose="<script>"),
        "verbose must be a whole number, at least 0, or True or False",
    ),
    "unknown stop": (lambda c: c["parameters"].update(stop={"rule": "evil"}), "stop must be"),
    "rule in another parameter": (
        lambda c: c["parameters"].update(max_iter={"rule": "never"}),
        "max_iter must be",
    ),
    "parameter of another type": (
        lambda c: c["parameters"].update(threshold="x"),
        "threshold must be",
    ),
    "style unknown": (
        lambda c: c["parameters"].update(formula_style="html"),
        "formula_style must be",
    ),
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


@pytest.mark.parametrize("field", ["format", "kind", "columns", "supports", "n_rows", "parameters"])
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
        b'{"format": "conjunct-model", "version": 3, "x": '
        + b"[" * 100_000
        + b"]" * 100_000
        + b"}",
        b'{"format": "conjunct-model", "version": 3, "kind": "\\ud800"}',
    ],
    ids=["empty", "null", "list", "table", "binary", "deep", "deep field", "surrogate"],
)
def test_not_a_model(content, tmp_path):
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(ModelFileError) as raised:
        load(tmp_path / "bad.json")
    assert "\n" not in str(raised.value)


def test_formula_of_any_length_is_not_computed(tmp_path):
    """Each feature may double a length: five thousand of them would ask for 5,000-bit numbers."""
    model = UFringe(max_features=8).fit(BASKETS)
    content = json.loads(model.to_json())
    m = len(content["columns"])
    content["added"] = [
        [{"literals": [m + k - 1 if k else 0, ~(m + k - 2) if k > 1 else 1], "support": 0}]
        for k in range(9000)
    ]
    (tmp_path / "long.json").write_text(json.dumps(content))
    with pytest.raises(ModelFileError, match="a formula is too long"):
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
    with pytest.raises(InputError, match="is not a folder: create it first"):
        model.save(tmp_path / "no" / "m.json")


def test_primitives_alone_are_a_model(tmp_path):
    with pytest.warns(ConjunctWarning):
        model = UFC().fit(np.eye(3, dtype=bool))
    model.save(tmp_path / "m.json")
    same(model, load(tmp_path / "m.json"))
    assert np.isnan(model.history_[0].c0)


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
