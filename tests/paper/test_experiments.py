"""The paper's tables and figures: their values, and the files they become."""

import csv
import hashlib
import io
import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from conjunct import UFC, InputError, datasets
from conjunct.paper import Study, experiments, outcomes, reproduce
from conjunct.paper.experiments import (
    beyond_the_front,
    by_iterations,
    by_threshold,
    dependence,
    points_beyond,
    pruning_fronts,
    risk_and_pruning,
    risk_runs,
    rms_by_iterations,
    solutions,
    table_of_features,
    table_of_indicators,
    table_of_risk,
)
from conjunct.paper.study import Outcome, format_cell
from conjunct.plots import svg_of


@pytest.fixture(scope="module")
def spect():
    return Study.of_bundled("spect")


@pytest.fixture(scope="module")
def zoo():
    return Study.of_bundled("zoo")


def test_table_3_is_as_published(spect):
    rows = table_of_indicators(spect).rows
    assert [row["strategy"] for row in rows] == [
        "primitives",
        "uFC*(0.432, 3)",
        "uFC(0.218, 4)",
        "uFRINGE",
    ]
    for row in rows[:3]:
        assert row["features"] == row["published_features"]
        for column in ("length", "oi", "c0"):
            assert round(row[column], 2) == row[f"published_{column}"]
    fringe = rows[3]
    assert fringe["oi"] == pytest.approx(fringe["published_oi"], rel=0.05)
    assert fringe["features"] == pytest.approx(fringe["published_features"], rel=0.06)


def test_table_4_is_as_published(spect):
    for row in table_of_risk(spect).rows:
        for column in ("features", "iterations", "common", "threshold", "length", "oi", "c0"):
            published = row.get(f"published_{column}")
            if published is not None:
                digits = 2 if column == "length" else 3
                assert round(row[column], digits) == published, (row["strategy"], column)


def test_table_5_marks_the_19_common_features(spect):
    rows = table_of_features(spect).rows
    assert sum(row["common"] for row in rows) == 19
    assert len({row["uFC*(0.432, 3)"] for row in rows if row["uFC*(0.432, 3)"]}) == 36
    assert len({row["uFCα(0.0001)"] for row in rows if row["uFCα(0.0001)"]}) == 39
    for row in rows:
        assert row["common"] == (row["uFC*(0.432, 3)"] == row["uFCα(0.0001)"])
    assert [row["primitives"] for row in rows[:22]] == list(spect.names)


@pytest.mark.parametrize("experiment", [by_iterations, by_threshold, rms_by_iterations])
def test_curves_are_those_of_runs_of_their_own(zoo, experiment):
    table = pd.DataFrame(datasets.load_zoo().values, columns=list(zoo.names))
    for row in experiment(zoo).rows[::97]:
        model = zoo.fit(UFC(row["threshold"], max_iter=row["limit_iter"], feature_names="formula"))
        assert model.n_features_in_ == table.shape[1]
        for column in {"oi", "c0", "rms"} & set(row):
            assert row[column] == getattr(model.history_[-1], column)


def test_kendall(spect):
    rows = dependence(spect).rows
    assert len(rows) == 250
    row = rows[99]
    assert row["threshold"] == 0.2
    history = [spect.path.result_of(0.2, limit) for limit in range(1, 21)]
    expected = kendalltau([s.c0 for s in history], [s.length for s in history])
    assert (row["tau"], row["p_value"]) == (expected.statistic, expected.pvalue)
    assert max(row["p_value"] for row in rows) < 1e-4


def test_risk_based_runs(spect):
    rows = risk_and_pruning(spect).rows
    assert [row["pruned"] for row in rows] == [False] * 10 + [True] * 10
    assert rows[:10] == list(risk_runs(spect).rows)
    row = next(row for row in rows if row["alpha"] == 0.0001)
    assert (row["features"], row["iterations"]) == (39, 2)


def test_solutions_are_all_listed(spect):
    rows = solutions(spect).rows
    assert len(rows) == len(spect.path.solutions_)
    assert sum(row["is_closest"] for row in rows) == 1


@pytest.mark.parametrize("name", ["spect", "zoo", "coco_street"])
def test_the_pruned_front_covers_the_other_one_or_says_where_not(name):
    study = Study.of_bundled(name)
    outcome = pruning_fronts(study)
    worse = points_beyond(study.path.front_, study.path_with_pruning.front_)
    assert ("everywhere" in outcome.text) == (not worse)
    for solution in worse:
        assert f"{solution.c0:.3f}" in outcome.text


def test_one_pair_at_a_time_is_judged_in_numbers(zoo):
    outcome = beyond_the_front([zoo])
    best = min(zoo.path.closest_point_.distance, zoo.path_with_pruning.closest_point_.distance)
    pairwise = [row for row in outcome.rows if row["solution"].startswith("pairwise")]
    assert len(pairwise) == 3
    for row in pairwise:
        word = "better" if row["distance"] < best else "worse"
        judged = f"{row['solution']}: {word}, {row['distance']:.4f} with {row['features']} features"
        assert judged in outcome.text
    assert list(outcome.charts) == [""]


def test_a_bounded_study_says_what_it_covers():
    study = Study.of_bundled("coco_street", max_solutions=20)
    assert "Only λ ≥ 0." in solutions(study).text
    rows = by_threshold(study).rows
    assert min(row["threshold"] for row in rows) >= study.path.covered_from_


def test_all_outcomes_have_their_own_names(zoo):
    found = list(outcomes(zoo))
    names = [outcome.name for outcome in found]
    assert len(set(names)) == len(names) == 14
    for outcome in found:
        assert outcome.rows
        for chart in outcome.charts.values():
            labels = ElementTree.fromstring(svg_of(chart())).itertext()
            words = " ".join(labels)
            assert re.search(r"OI|C0|RMS|share of runs|number of features|indicator", words)


def digests(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }


@pytest.mark.parametrize(
    "chosen",
    [experiments.EXPERIMENTS[:2], pytest.param(experiments.EXPERIMENTS, marks=pytest.mark.slow)],
    ids=["some", "all"],
)
def test_files_are_complete_and_the_same_on_every_run(chosen, tmp_path, monkeypatch):
    monkeypatch.setattr(experiments, "EXPERIMENTS", chosen)
    rng = np.random.default_rng(0)
    table = rng.random((80, 5)) < 0.4
    table[:, 1] |= table[:, 0]
    frame = pd.DataFrame(table, columns=["<script>", 'a"b', "c & d", "", "e"])
    reproduce(tmp_path / "one", frame, name="<b>hostile</b>")
    reproduce(tmp_path / "two", frame, name="<b>hostile</b>")
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
    page = (tmp_path / "one" / "index.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<b>hostile" not in page
    linked = set(re.findall(r'(?:src|href)="([^"#]+)"', page))
    assert linked == {path.name for path in (tmp_path / "one").iterdir()} - {"index.html"} - {
        path.name for path in (tmp_path / "one").glob("*.png")
    }
    pictures = {path.stem for path in (tmp_path / "one").glob("*.svg")}
    assert pictures == {path.stem for path in (tmp_path / "one").glob("*.png")}


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(InputError, match="is a file"):
        reproduce(tmp_path / "out", np.eye(4, dtype=bool))


def test_csv():
    rows = [{"a": 1, "b": 0.25}, {"a": None, "c": 'x,"y"'}, {"b": float("nan"), "c": True}]
    text = Outcome("n", "t", "", rows).csv()
    assert list(csv.reader(io.StringIO(text))) == [
        ["a", "b", "c"],
        ["1", "0.25", ""],
        ["", "", 'x,"y"'],
        ["", "", "yes"],
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (0.1 + 0.2, "0.3"), (1.6e-5, "1.6e-05"), (0.0, "0"), (None, ""), (False, "no")],
)
def test_printed(value, text):
    assert format_cell(value) == text
