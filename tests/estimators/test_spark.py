"""UFC on data frames of Spark, and on files that its executors read, against rows in memory.

One session on this machine is shared by all tests.
"""

import os
import re
import signal
import subprocess
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from conjunct import UFC, ConjunctWarning, InputError, RowGroups, UFringe, datasets
from conjunct.cli.app import run as run_app
from conjunct.files.model import model_json
from estimators.test_everywhere import check_as_with_an_array
from spark import missing, session

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]

ZOO = datasets.load_zoo()
NAMES = list(ZOO.feature_names)
TABLE = pa.table(dict(zip(NAMES, ZOO.values.T, strict=True)))


@pytest.fixture(scope="session")
def spark():
    if reason := missing():
        # a test that is skipped everywhere would never fail
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    with session() as running:
        yield running


def in_bytes(model):
    return model_json(model._model_file())


def test_as_with_an_array(spark):
    check_as_with_an_array(spark.createDataFrame, "pairwise")


def test_names_and_layouts(spark):
    """Names that Spark takes for something else, and columns that are kept as lists of rows."""
    rng = np.random.default_rng(0)
    cells = rng.random((2000, 300)) < 0.004
    cells[:, 1] = cells[:, 0]
    names = ["a.b", "c`d", "*", "^x$", "line\nbreak", *(f"t{k}" for k in range(295))]
    table = pl.DataFrame([pl.Series("", c).rename(n) for n, c in zip(names, cells.T, strict=True)])
    expected = UFC().fit(table)
    assert expected.n_iter_
    parts = spark.createDataFrame(table.to_arrow())
    model = UFC(storage="sparse").fit(parts)
    assert in_bytes(model) == in_bytes(expected)
    assert model.n_distinct_rows_ == expected.n_distinct_rows_
    features = model.transform(parts)
    assert features.columns == expected.transform(table).columns
    assert features.toArrow().equals(expected.transform(table).to_arrow())


@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_merges_in_rounds(spark, storage):
    model = UFC(search="batch", storage=storage).fit(spark.createDataFrame(TABLE))
    expected = UFC(search="batch", storage=storage).fit(pl.from_arrow(TABLE))
    assert in_bytes(model) == in_bytes(expected)
    assert 0 < model.n_iter_ < len(model.feature_set_.merges)


def test_rows_that_differ_in_three_columns_are_counted(spark):
    """An earlier hash was the same for rows that differ in columns 63, 98 and 127."""
    rows = np.random.default_rng(0).random((200, 130)) < 0.3
    rows[100:] = rows[:100]
    rows[100:, [63, 98, 127]] ^= True
    table = pa.table({f"t{k}": column for k, column in enumerate(rows.T)})
    assert UFC().fit(spark.createDataFrame(table)).n_distinct_rows_ == 200


def test_a_killed_worker_changes_nothing(spark):
    """Workers of Python are killed in the middle of a fit; Spark tries their tasks again.

    Once at the first merge, and once when parts are kept with some merges.
    """
    killed = []

    def kill(line):
        if line.iteration in (1, 20):
            for worker in workers_of(os.getpid()):
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)

    options = {"search": "pairwise", "max_iter": 24, "storage": "sparse"}
    expected = UFC(0.0, **options).fit(pl.from_arrow(TABLE))
    assert expected.n_iter_ == 24
    parts = spark.createDataFrame(TABLE).repartition(3)
    actual = UFC(0.0, **options).fit(parts, callback=kill)
    assert len(set(killed)) > 2
    assert in_bytes(actual) == in_bytes(expected)


def workers_of(pid):
    """Processes of Python that do the tasks, which a daemon has forked."""
    listed = subprocess.run(
        ["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    ).stdout
    lines = [line.split(None, 2) for line in listed.splitlines()]
    parents = {int(own): int(parent) for own, parent, _ in lines}
    daemons = {int(own) for own, _, words in lines if "-m spark_daemon" in words}

    def is_ours(process):
        while process in parents:
            if process == pid:
                return True
            process = parents[process]
        return False

    return [own for own in daemons if parents[own] in daemons and is_ours(own)]


def test_files_that_executors_read(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    # executors have a folder of their own
    halves = [str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")]
    table = pl.from_arrow(TABLE)
    table.head(40).write_parquet(halves[0])
    table.tail(-40).write_parquet(halves[1])
    table.write_parquet("whole.parquet")
    options = ["--criterion", "0.2", "--max-iter", "2", "--out"]
    assert run_app(["fit", "whole.parquet", *options, "whole.json"]) == 0
    capsys.readouterr()
    assert run_app(["fit", *halves, "--engine", "spark", *options, "s.json"]) == 0
    assert re.search(r"counted +on Spark", capsys.readouterr().out)
    assert (tmp_path / "s.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert spark.range(3).count() == 3  # a session that was there stays


def test_bad_input_is_one_line(spark):
    cells = pa.table({"a": [True, None] * 5, "b": [True] * 10})
    with pytest.raises(InputError, match=r"^partition \d, column 'a', row \d: the value is .*$"):
        UFC(missing="raise").fit(spark.createDataFrame(cells))
    parts = spark.createDataFrame(TABLE)
    with pytest.raises(InputError, match=r"the table has no rows \(0 sample"):
        UFC().fit(parts.limit(0))
    with pytest.raises(InputError, match="UFringe needs all rows in memory"):
        UFringe().fit(parts)
    model = UFC(max_iter=1).fit(pl.from_arrow(TABLE))
    with pytest.raises(InputError, match=r"only fit, score, transform.* call \.toPandas\(\) first"):
        model.find_rows(0, parts)
    with pytest.raises(InputError, match="the table lacks 1 features of the model: 'milk'"):
        model.transform(parts.drop("milk"))


def test_without_java():
    """A command says in one line what it lacks."""
    done = subprocess.run(
        [sys.executable, "-m", "conjunct", "fit", datasets.find("zoo").path, "--engine", "spark"],
        env={"PATH": "", "HOME": os.environ.get("HOME", "/"), "COLUMNS": "100"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "Java 17 or newer" in done.stderr or "Spark is not installed" in done.stderr


def test_groups_of_rows(spark):
    """Sums over partitions are those over all rows, up to rounding."""
    here = RowGroups(within="columns").fit(TABLE)
    with pytest.warns(ConjunctWarning, match="groups have no chunks"):
        there = RowGroups().fit(spark.createDataFrame(TABLE).repartition(3))
    assert [(g.name, g.rows, g.marks) for g in there.groups_] == [
        (g.name, g.rows, g.marks) for g in here.groups_
    ]
    assert there.log_prob(TABLE) == pytest.approx(here.log_prob(TABLE))
