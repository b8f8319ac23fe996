"""Numbers of a model file that contradict each other are refused."""

import json

import numpy as np
import pytest

from conjunct import UFC, ModelFileError, Risk, datasets, load

MODELS = {
    "evidence": UFC(),
    "bits": UFC("bits"),
    "risk": UFC(Risk(0.001, prune=False)),
    "threshold": UFC(0.3, max_iter=2),
    "pairwise": UFC(Risk(0.01, "exact", "holm"), search="pairwise", max_iter=6),
    "rare": UFC(min_support=0.05),
}
# of a merge and of a line of the history: what follows from nothing else in the file
FREE = {"iteration", "threshold", "compared", "family_size", "score", "p_adjusted", "c0"}


@pytest.fixture(scope="module", params=MODELS)
def content(request, tmp_path_factory):
    zoo = datasets.load_zoo()
    path = tmp_path_factory.mktemp("models") / "model.json"
    MODELS[request.param].fit(np.asarray(zoo.values, bool)).save(path)
    load(path)
    return path.read_text()


def contradictions(record):
    """Each number of the file changed by itself, with where it stands."""
    for part in ("supports", "suppressed_supports", "primitive_supports"):
        for k in range(0, len(record[part]), 3):
            yield (part, k), record[part][k] + 1
    for part in ("merges", "history"):
        for k, line in enumerate(record[part]):
            for name, value in line.items():
                is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
                if is_number and name not in FREE | {"left", "right", "both"} | {
                    "left_only",
                    "right_only",
                }:
                    yield (
                        (part, k, name),
                        value + 1 if isinstance(value, int) else value * 1.1 + 0.1,
                    )
    yield ("n_rows",), record["n_rows"] + 1


def test_every_number_that_follows_from_others_is_checked(content, tmp_path):
    path = tmp_path / "edited.json"
    for (*where, last), value in contradictions(json.loads(content)):
        edited = json.loads(content)
        part = edited
        for step in where:
            part = part[step]
        part[last] = value
        path.write_text(json.dumps(edited))
        with pytest.raises(ModelFileError, match="damaged model file"):
            load(path)


def test_features_that_exclude_each_other_are_not_joined(tmp_path):
    """A small file cannot ask for formulas that double again and again."""
    zoo = datasets.load_zoo()
    model = UFC(0.3, max_iter=1).fit(np.asarray(zoo.values, bool))
    record = json.loads(model.to_json())
    merge = dict(record["merges"][0])
    left, right = merge["both"], merge["left_only"] or merge["right_only"]
    n = len(record["primitives"]) + len(record["conjunctions"])
    record["conjunctions"] += [[left, right]]
    record["iterations"] += [2]
    changes = {"iteration": 2, "left": left, "right": right, "both": n}
    record["merges"] += [{**merge, **changes, "left_only": None, "right_only": None}]
    record["features"] = [k for k in record["features"] if k not in (left, right)] + [n]
    record["supports"] = record["supports"][: len(record["features"])]
    record["history"] += [{**record["history"][-1], "iteration": 2}]
    record["history"][-1]["n_features"] = len(record["features"])
    path = tmp_path / "doubled.json"
    path.write_text(json.dumps(record))
    with pytest.raises(ModelFileError, match="never true together"):
        load(path)
