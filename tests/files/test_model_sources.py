"""A model file holds sources only: all else follows, exactly, and numbers are bounded."""

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conjunct import (
    UFC,
    Bits,
    ChunkClassifier,
    InputError,
    ModelFileError,
    Risk,
    Threshold,
    UFCPath,
    UFringe,
    datasets,
    load,
)
from conjunct.errors import ConjunctWarning
from conjunct.ufc import NoStop
from tables import tables

MODELS = {
    "evidence": UFC(),
    "bits": UFC("bits"),
    "bits in batches": UFC(Bits(test="normal"), search="batch"),
    "risk": UFC(Risk(0.001, prune=False)),
    "null": UFC("risk", stop=NoStop(null_feature=True)),
    "threshold": UFC(0.3, max_iter=2),
    "jaccard": UFC(Threshold(0.3, measure="jaccard")),
    "pairwise": UFC(Risk(0.01, "exact", "holm"), search="pairwise", max_iter=6),
    "holm": UFC(Risk(0.01, "exact", "holm", prune=False)),
    "by": UFC(Risk(0.01, correction="by")),
    "rare": UFC(min_support=0.05),
    "short": UFC(max_length=2),
    "few": UFC(max_features=18),
    "nothing": UFC(Threshold(0.95)),
    "nothing significant": UFC(Bits(1e-40)),
    "path": UFCPath(max_iter=3),
    "fringe": UFringe(max_features=40),
    "fringe without redundant": UFringe(max_features=40, drop_redundant=True),
}
ATTRIBUTES = ("stop_reason_", "threshold_", "n_distinct_rows_", "n_iter_", "patterns_")
PARTS = ("features", "supports", "suppressed", "suppressed_supports", "known", "n_rows")
PARTS += ("primitive_supports", "variables", "iterations", "lineage_counts", "merges")
quiet = pytest.mark.filterwarnings("ignore::conjunct.errors.ConjunctWarning")


def assert_same(one, other):
    for name in ATTRIBUTES:
        assert getattr(one, name, None) == getattr(other, name, None), name
    for name in PARTS:
        # NaN is not equal to itself
        assert repr(getattr(one.feature_set_, name)) == repr(getattr(other.feature_set_, name))
    assert one.feature_set_.lineage.made == other.feature_set_.lineage.made
    assert repr(one.history_) == repr(other.history_)
    np.testing.assert_equal(one.feature_set_.code_counts, other.feature_set_.code_counts)


@quiet
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("data", ["zoo", "named", "missing"])
def test_every_number_comes_back(name, data, tmp_path):
    zoo, model = datasets.load_zoo(), MODELS[name]
    table = np.asarray(zoo.values, bool)
    if data == "named":
        table = pl.DataFrame(table, schema=list(zoo.feature_names))
    if data == "missing":
        if isinstance(model, UFringe):
            return
        table = np.where(np.random.default_rng(0).random(table.shape) < 0.1, np.nan, table)
        model = type(model)(**{**model.get_params(deep=False), "missing": "pairwise"})
    model.fit(table).save(tmp_path / "m.json")
    loaded = load(tmp_path / "m.json")
    assert_same(loaded, model)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "m.json").read_bytes()


@quiet
@given(table=tables(), name=st.sampled_from([*MODELS]), data=st.data())
def test_every_number_of_awkward_tables(table, name, data, tmp_path_factory):
    path, model = tmp_path_factory.mktemp("models") / "m.json", MODELS[name]
    if not isinstance(model, UFringe) and data.draw(st.booleans()):
        gone = data.draw(st.lists(st.booleans(), min_size=table.size, max_size=table.size))
        table = np.where(np.array(gone).reshape(table.shape), np.nan, table)
        model = type(model)(**{**model.get_params(deep=False), "missing": "pairwise"})
    try:
        model.fit(table)
    except InputError:
        return  # no feature reaches min_support, or max_features is too small
    model.save(path)
    assert_same(load(path), model)


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    zoo = datasets.load_zoo()
    path = tmp_path_factory.mktemp("models") / "m.json"
    UFC().fit(pl.DataFrame(zoo.values, schema=list(zoo.feature_names))).save(path)
    return path.read_text()


def refusal(changed, tmp_path, read=load):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(changed))
    with pytest.raises(ModelFileError) as raised:
        read(path)
    (line,) = str(raised.value).splitlines()
    assert line.startswith(str(path))
    return line


@pytest.mark.parametrize("parameter", ["callback", "checkpoint", "storage", "evil"])
def test_what_save_does_not_write_is_refused(parameter, content, tmp_path):
    changed = json.loads(content)
    assert parameter not in changed["parameters"]
    changed["parameters"][parameter] = str(tmp_path / "written")
    assert repr(parameter) in refusal(changed, tmp_path)
    assert not (tmp_path / "written").exists()


def test_a_parameter_less_is_refused(content, tmp_path):
    changed = json.loads(content)
    del changed["parameters"]["max_iter"]
    assert "'max_iter'" in refusal(changed, tmp_path)


def numbers(value, where=()):
    """Where the numbers of a JSON value are."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            yield from numbers(inner, (*where, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield where


@pytest.mark.parametrize("value", [10**30, 2**63, 2**62, -1, -(2**63), 1e300])
def test_every_number_is_bounded(value, content, tmp_path):
    """OverflowError and worse, before: n_rows of 10³⁰ in a file of 1.4 kB."""
    seen = set()
    for *path, last in numbers(json.loads(content)):
        kind = tuple(key for key in (*path, last) if isinstance(key, str))
        if kind in seen or kind[0] == "parameters":
            continue
        seen.add(kind)
        changed = json.loads(content)
        holder = changed
        for key in path:
            holder = holder[key]
        holder[last] = value
        refusal(changed, tmp_path)
    assert len(seen) > 8


def change(*path, by=None, to=None):
    def edit(content):
        holder = content
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = to if by is None else holder[path[-1]] + by

    return edit


CONTRADICTIONS = {
    "more iterations than max_iter": change("parameters", "max_iter", to=0),
    "more features than max_features": change("parameters", "max_features", to=3),
    "longer than max_length": change("parameters", "max_length", to=2),
    "min_support of no feature": change("parameters", "min_support", to=1.0),
    "a criterion that joins nothing of it": change("parameters", "criterion", to=0.99),
    "a stop that counts null": change(
        "parameters", "stop", to={"rule": "rms", "null_feature": True}
    ),
    "more distinct rows than rows": change("n_distinct_rows", to=102),
    "a column more": lambda c: c["columns"].append("more"),
    "columns without names": change("columns", to=14),
    "names twice": lambda c: c["columns"].__setitem__(0, c["columns"][1]),
    "joint above a support": change("merges", 0, 0, "joint", by=60),
    "together below joint": change("merges", 0, 0, "together", by=-1),
    "together above rows": change("merges", 0, 0, "together", by=101),
    "by chance": change("merges", 0, 0, "joint", to=1),
    "a merge with itself": change("merges", 0, 0, "right", to=0),
    "a merge of nothing": change("merges", 0, 0, "right", to=99),
    "a merge twice": lambda c: c["merges"].insert(0, c["merges"][0]),
    "two merges in one step": lambda c: c["merges"][0].extend(c["merges"].pop(1)),
    "a step without merges": lambda c: c["merges"].append([]),
    "a score of its own": change("merges", 0, 0, "score", to=1.0),
    "counts of missing cells": change("merges", 0, 0, "known", to=[1, 1, 1]),
    "a p-value of its own": change("merges", 0, 0, "p_adjusted", to=0.5),
    "no tests": change("tests", to=[]),
    "two tests": lambda c: c["tests"].append([1, 0]),
    "more significant than tested": change("tests", 0, to=[1, 2]),
    "more tested than there are": change("tests", 0, 0, to=10**6),
    "made and refused": change("ending", "made", to=99),
    "facts that nothing asks for": change("ending", "pairs", to={"tested": 3}),
    "the ending of a path": change("ending", "solutions", to=3),
    "a refused pair that is not there": change("ending", "refused", 0, "left", to=0),
    "code of other features": lambda c: c["code"]["asked"].pop(),
    "asked in too few rows": change("code", "asked", 0, to=0),
    "variables of other columns": change("variables", to=["v", "v"]),
    "features that are added": change("added", to=[[{"literals": [0, 1], "support": 1}]]),
    "an outcome of its own": change("stop_reason", to="It stopped.\nroot: all is well"),
    "new rows by other features": change(
        "new_rows", to={"n_rows": 1, "features": [], "columns": [], "patterns": []}
    ),
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_contradictions_are_refused(case, content, tmp_path):
    changed = json.loads(content)
    CONTRADICTIONS[case](changed)
    assert changed != json.loads(content)
    refusal(changed, tmp_path)


def test_what_follows_is_not_in_the_file(content):
    """Bits, scores, thresholds, supports of features, history: none can contradict."""
    merge = json.loads(content)["merges"][0][0]
    assert set(merge) == {"left", "right", "joint", "together"}
    fields = {"format", "version", "kind", "parameters", "n_rows", "n_distinct_rows", "columns"}
    fields |= {"supports", "tests", "merges", "ending", "code", "suggestions"}
    assert set(json.loads(content)) == fields


APART = np.repeat(
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1]], [10, 10, 10, 2, 1], axis=0
)


@pytest.mark.parametrize("criterion", ["evidence", "bits"])
@pytest.mark.parametrize("missing", [False, True])
def test_columns_that_come_nearest_are_facts(criterion, missing, tmp_path):
    """What is written is the pair and its counts; the sentence is made of them on load."""
    cells = np.where(np.eye(33, 3), np.nan, APART) if missing else APART
    with pytest.warns(ConjunctWarning, match="comes nearest: together in"):
        model = UFC(criterion, missing="pairwise").fit(cells)
    content = model.to_dict()
    pair = content["ending"]["pairs"]["likeliest"]
    assert "nearest" not in content["ending"]["pairs"]
    path = tmp_path / "m.json"
    model.save(path)
    assert load(path).stop_reason_ == model.stop_reason_
    left, right = pair["left"], pair["right"]
    assert pair["joint"] == ((cells[:, left] == 1) & (cells[:, right] == 1)).sum()
    pair["joint"] += 5
    assert "the nearest pair is positively correlated" in refusal(content, tmp_path)


def test_features_that_exclude_each_other_are_not_joined(content, tmp_path):
    """A small file cannot ask for patterns that double again and again."""
    changed = json.loads(content)
    m, (first,) = len(changed["columns"]), changed["merges"][0]
    # both, and what remains of one of the two
    again = {"left": m, "right": m + 1, "joint": 1, "together": 1}
    changed["merges"] = [[first], [again]]
    changed["n_rows"] = 10**6
    del changed["ending"]
    assert "never true together" in refusal(changed, tmp_path)


@pytest.mark.parametrize("version", [1, 2])
def test_files_of_earlier_versions_are_refused_in_one_line(version, tmp_path):
    path = tmp_path / "old.json"
    path.write_text(json.dumps({"format": "conjunct-model", "version": version, "kind": "UFC"}))
    with pytest.raises(ModelFileError) as raised:
        load(path)
    expected = f"{path} was written by conjunct 0.{version}: fit again with this version"
    assert str(raised.value) == expected


def test_a_model_whose_parameters_changed_is_not_saved(tmp_path):
    """It would be read as another model."""
    model = UFC().fit(np.asarray(datasets.load_zoo().values, bool))
    for change_ in ({"criterion": "bits"}, {"min_support": 0.3}, {"max_iter": 1}):
        changed = UFC().fit(np.asarray(datasets.load_zoo().values, bool)).set_params(**change_)
        with pytest.raises(InputError, match="its parameters changed after fit: fit it again"):
            changed.save(tmp_path / "m.json")
    model.set_params(formula_style="ascii").save(tmp_path / "m.json")


# run apart, because memory is that of a whole process
LOAD = """
import resource, sys, time
import conjunct, conjunct.estimators.integrations
from conjunct.errors import InputError
before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
try:
    model = conjunct.load(sys.argv[1])
    if len(sys.argv) > 2:
        model.patterns_, model.feature_set_.pattern_texts
    said = ""
except InputError as error:
    said = str(error)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(time.process_time() - start, (after - before) >> 10, said, sep="\\n")
"""


def load_apart(path, *more):
    run = [sys.executable, "-c", LOAD, str(path), *more]
    done = subprocess.run(run, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    seconds, megabytes, said = done.stdout.splitlines()
    return float(seconds), int(megabytes), said


# what `wide` does not change
OWN = ("format", "version", "kind", "parameters")


def wide(m):
    """A model as a fit writes it: columns that go together two by two."""
    columns = {"n_rows": 100, "n_distinct_rows": 90, "columns": m, "supports": [40] * m}
    merges = [[{"left": k, "right": k + 1, "joint": 40, "together": 40}] for k in range(0, m, 2)]
    model = UFC().fit([["a", "b"]] * 9 + [["a"]] * 9 + [[]] * 20)
    code = {"asked": [100] * (m + m // 2)}
    return {
        **{k: v for k, v in model.to_dict().items() if k in OWN},
        **columns,
        "merges": merges,
        "tests": [[m * (m - 1) // 2, 0]],
        "code": code,
    }


def test_a_wide_model_loads_in_linear_time_and_memory(tmp_path):
    """2.9 GB for a file of 4.6 MB, before: a number of m bits for each of m columns."""
    path = tmp_path / "wide.json"
    path.write_text(json.dumps(wide(100_000)))
    assert path.stat().st_size > 4 << 20
    seconds, megabytes, said = load_apart(path, "patterns")
    assert said == ""
    assert megabytes < 500
    assert seconds < 5


def chain(m):
    """One row of all tags, joined one after the other, with cells that are missing."""
    content = wide(2)
    merges, left = [], 0
    for k in range(1, m):
        pair = {"left": min(left, k), "right": max(left, k), "joint": 40, "together": 40}
        merges.append([pair | {"table": [100, 40, 40], "patterns": [100, 40, 40]}])
        merges[-1][0]["known"] = [100, 0, 0]
        left = m + k - 1
    columns = {"columns": m, "supports": [40] * m, "known": [100] * m}
    parameters = content["parameters"] | {"missing": "pairwise"}
    code = {"asked": [100] * (2 * m - 1)}
    return content | columns | {"merges": merges, "code": code, "parameters": parameters}


def test_the_patterns_of_a_chain_are_not_a_bomb(tmp_path):
    """24 s and 0.9 GB for a file of 7 MB, before."""
    path = tmp_path / "chain.json"
    path.write_text(json.dumps(chain(50_000)))
    seconds, megabytes, said = load_apart(path, "patterns")
    assert said == ""
    assert megabytes < 500
    assert seconds < 5


def test_patterns_that_no_memory_holds_are_refused(tmp_path):
    """Each merge leaves a rest, so that patterns grow with the square of the file."""
    m, left = 20_000, 0
    content, merges = wide(2), []
    for k in range(1, m):
        merges.append([{"left": min(left, k), "right": max(left, k), "joint": m - k}])
        merges[-1][0]["together"] = m - k
        # the column is always there where the chain is, and the chain leaves a rest
        left = m + 2 * (k - 1)
    supports = [m] + [m - k for k in range(1, m)]
    content |= {"columns": m, "supports": supports, "n_rows": 4 * m, "merges": merges}
    del content["code"]
    path = tmp_path / "rests.json"
    path.write_text(json.dumps(content))
    seconds, megabytes, said = load_apart(path)
    assert "tags together" in said
    assert megabytes < 500
    assert seconds < 5


CLASSES = {
    "str": np.array(["no", "yes"]),
    "object": np.array(["no", "yes"], object),
    "bool": np.array([False, True]),
    "int8": np.array([-3, 7], np.int8),
    "uint16": np.array([3, 60_000], np.uint16),
    "float32": np.array([-1.0, 3.0], np.float32),
    "float": np.array([1.0, 2.0]),
    "days": np.array(["2024-01-01", "2025-01-01"], "datetime64[D]"),
    "nanoseconds": np.array([1, 10**15], "datetime64[ns]"),
    "timedelta": np.array([1, 10**15], "timedelta64[s]"),
    "NUL": np.array(["a\0b", "\u2028<script>"]),
}
ROWS = [[1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 1, 1]] * 6


@pytest.mark.parametrize("name", CLASSES)
def test_classes_come_back_with_their_type(name, tmp_path):
    """Dates came back as integers or texts, before."""
    classes = CLASSES[name]
    model = ChunkClassifier().fit(ROWS, np.tile(classes[[0, 0, 1, 1]], 6))
    model.save(tmp_path / "c.json")
    loaded = ChunkClassifier.load(tmp_path / "c.json")
    assert loaded.classes_.dtype == model.classes_.dtype
    assert list(map(type, loaded.classes_.tolist())) == list(map(type, model.classes_.tolist()))
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert (loaded.predict(ROWS) == model.predict(ROWS)).all()


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (np.array(["a", "\ud800"]), "lone surrogate"),
        (np.array(["2024-01-01", "2025-01-01"], "datetime64[25s]"), "cannot be saved"),
        (np.array([2**63, 2**63 + 1], np.uint64), "cannot be saved"),
    ],
    ids=["surrogate", "25 seconds", "beyond 64 bits"],
)
def test_classes_that_would_not_come_back_are_not_saved(classes, message, tmp_path):
    model = ChunkClassifier().fit(ROWS, np.tile(classes[[0, 0, 1, 1]], 6))
    with pytest.raises(InputError, match=message) as raised:
        model.save(tmp_path / "c.json")
    assert "\n" not in str(raised.value)
    assert not list(tmp_path.iterdir())


DAMAGED_CLASSIFIERS = {
    "ragged counts": lambda c: c["true"][0].pop(),
    "ragged counts of no": lambda c: c["false"][-1].append(1),
    "equal classes": lambda c: c["classes"].update(values=["a", "a"]),
    "unordered classes": lambda c: c["classes"].update(values=["b", "a"]),
    "a class less": lambda c: c["classes"]["values"].pop(),
    "mixed classes": lambda c: c["classes"].update(values=["a", 1]),
    "classes of another type": lambda c: c["classes"].update(type="int8"),
    "classes of no type": lambda c: c["classes"].update(type="U999999999"),
    "classes that overflow": lambda c: c["classes"].update(type="int8", values=[1, 300]),
    "dates that are none": lambda c: c["classes"].update(
        type="datetime64[D]", values=[-(2**63), 1]
    ),
    "a count moved to another class": lambda c: (
        c["true"][0].__setitem__(0, c["true"][0][0] + 1),
        c["true"][0].__setitem__(1, c["true"][0][1] - 1),
        c["class_rows"].reverse(),
        c["class_rows"].__setitem__(0, 1),
    ),
    "a count that contradicts": lambda c: c["true"][0].__setitem__(0, c["true"][0][0] - 1),
    "an answer less": lambda c: c["false"][0].__setitem__(0, c["false"][0][0] - 1),
    "counts that overflow": lambda c: c["true"][0].__setitem__(0, 2**62),
    "rows that overflow": lambda c: c.update(class_rows=[2**62, 2**62]),
    "smoothing": lambda c: c.update(smoothing=1e308),
    "calibration": lambda c: c.update(calibration=0.123),
    "a vocabulary of another format": lambda c: c["vocabulary"].update(format="x"),
    "a vocabulary of an earlier version": lambda c: c["vocabulary"].update(version=2),
    "a vocabulary of a path": lambda c: c["vocabulary"].update(kind="UFCPath"),
    "a checkpoint": lambda c: c["vocabulary"]["parameters"].update(checkpoint="x"),
}


@pytest.mark.parametrize("case", DAMAGED_CLASSIFIERS)
def test_damaged_classifiers_are_refused(case, tmp_path):
    ChunkClassifier().fit(ROWS, ["a", "a", "b", "b"] * 6).save(tmp_path / "c.json")
    changed = json.loads((tmp_path / "c.json").read_text())
    DAMAGED_CLASSIFIERS[case](changed)
    refusal(changed, tmp_path, ChunkClassifier.load)


def test_classifiers_of_earlier_versions_are_refused_in_one_line(tmp_path):
    line = refusal({"format": "conjunct-classifier", "version": 1}, tmp_path, ChunkClassifier.load)
    assert line.endswith("was written by conjunct 0.2: fit again with this version")


@pytest.mark.parametrize("parameter", ["max_iter", "max_features", "max_length"])
def test_limits_of_parameters_are_exact(parameter, tmp_path):
    zoo, path = datasets.load_zoo().values, tmp_path / "model.json"
    sizes = [each.n_features for each in UFC().fit(zoo).history_]
    # its last merge makes one feature more
    last = max(k for k in range(2, len(sizes)) if sizes[k] > sizes[k - 1])
    UFC(max_iter=last).fit(zoo).save(path)
    changed = json.loads(path.read_text())
    model = load(path)
    least = {
        "max_iter": last,
        "max_features": sizes[last],
        "max_length": max(map(len, model.patterns_)),
    }[parameter]
    assert least > 2
    changed["parameters"][parameter] = least
    path.write_text(json.dumps(changed))
    assert load(path).patterns_ == model.patterns_
    changed["parameters"][parameter] = least - 1
    refusal(changed, tmp_path)
