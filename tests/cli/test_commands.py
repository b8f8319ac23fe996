"""What the commands do: files in, files out, notes and exit codes."""

import contextlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import numpy
import polars as pl
import pytest
import scipy
import sklearn
from sklearn.utils.fixes import parse_version

from conjunct import UFC, Bits, Evidence, Risk, Threshold, __version__, datasets, load
from conjunct.cli import app, options
from conjunct.cli.app import application, can_put_off
from conjunct.cli.commands.rows import ChunkOutput
from conjunct.estimators.invertible import CHUNK_OUTPUTS, FEATURE_NAMES, HANDLE_UNKNOWN
from conjunct.export import DIALECTS
from conjunct.files import read_table
from conjunct.files.formats.base import FORMATS
from conjunct.ufc import CRITERIA, SEARCHES, STOPS, association


@pytest.fixture
def fitted(zoo_files):
    return load(zoo_files / "model.json")


@pytest.fixture
def zoo():
    data = datasets.load_zoo()
    return pl.DataFrame(data.values, schema=list(data.feature_names))


def test_the_whole_way_in_processes(call, command, tmp_path, zoo):
    assert call("datasets", "zoo", "--out", "zoo.csv").code == 0
    done = command("fit", "zoo.csv", "--out", "model.json")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("Saved as model.json.\n")
    done = command("transform", "model.json", "zoo.csv", "--out", "features.csv")
    assert (done.code, done.err) == (0, "")
    assert done.out == "Saved 21 features of 101 rows as features.csv.\n"
    expected = UFC().fit(zoo).transform(zoo)
    assert pl.read_csv(tmp_path / "features.csv").cast(pl.Boolean).equals(expected)
    assert call("show", "model.json").code == 0


BITS = ["--criterion", "bits"]
RISK = ["--criterion", "risk"]


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ([], {}),
        (["--criterion", "evidence"], {}),
        (["--factor", "3"], {"criterion": Evidence(3.0)}),
        (BITS, {"criterion": "bits"}),
        ([*BITS, "--alpha", "0.2"], {"criterion": Bits(0.2)}),
        ([*BITS, "--alpha", "none"], {"criterion": Bits(None)}),
        ([*BITS, "--test", "normal"], {"criterion": Bits(test="normal")}),
        ([*BITS, "--correction", "none"], {"criterion": Bits(correction=None)}),
        (RISK, {"criterion": "risk"}),
        ([*RISK, "--alpha", "0.05"], {"criterion": Risk(0.05)}),
        ([*RISK, "--no-prune"], {"criterion": Risk(prune=False)}),
        ([*RISK, "--measure", "jaccard"], {"criterion": Risk(measure="jaccard")}),
        (
            [*RISK, "--test", "exact", "--correction", "by"],
            {"criterion": Risk(test="exact", correction="by")},
        ),
        (
            [*RISK, "--stop", "never", "--max-length", "4"],
            {"criterion": "risk", "stop": "never", "max_length": 4},
        ),
        (["--criterion", "0.4"], {"criterion": 0.4}),
        (["--criterion", "0.4", "--prune"], {"criterion": Threshold(0.4, prune=True)}),
        (
            ["--criterion", "0.4", "--measure", "npmi"],
            {"criterion": Threshold(0.4, measure="npmi")},
        ),
        (["--max-iter", "2"], {"max_iter": 2}),
        (["--search", "batch"], {"search": "batch"}),
        ([*BITS, "--search", "batch"], {"criterion": "bits", "search": "batch"}),
        (["--stop", "never", "--max-iter", "9"], {"stop": "never", "max_iter": 9}),
        (["--max-length", "3"], {"max_length": 3}),
        (["--max-features", "20"], {"max_features": 20}),
        (["--min-support", "0.1"], {"min_support": 0.1}),
        (["--feature-names", "formula"], {"feature_names": "formula"}),
        (["--keep-columns"], {"keep_columns": True}),
        (["--jobs", "2"], {"n_jobs": 2}),
        (["--ascii"], {"formula_style": "ascii"}),
    ],
)
def test_each_option_is_a_parameter(options, parameters, call, zoo, zoo_files):
    assert call("fit", "zoo.csv", *options, "--out", "model.json").code == 0
    model, expected = load(zoo_files / "model.json"), UFC(**parameters).fit(zoo)
    assert repr(model.get_params()) == repr(expected.get_params())
    assert model.features_ == expected.features_


def test_choices_are_the_librarys():
    assert get_args(options.Measure) == tuple(association.MEASURES)
    assert get_args(options.Test) == tuple(association.TESTS)
    assert get_args(options.Correction) == ("none", *association.CORRECTIONS)
    assert {name: rule.summary for name, rule in CRITERIA.items()} == options.CRITERIA
    assert {name: rule.summary for name, rule in STOPS.items()} == options.STOPS
    assert get_args(options.Stop) == tuple(options.STOPS)
    assert get_args(options.Dialect) == tuple(DIALECTS)
    assert get_args(options.Format) == tuple(n for n, kind in FORMATS.items() if kind.is_read)
    assert get_args(options.Search) == SEARCHES
    assert get_args(options.FeatureNames) == FEATURE_NAMES
    assert get_args(options.HandleUnknown) == HANDLE_UNKNOWN
    assert get_args(ChunkOutput) == CHUNK_OUTPUTS


def test_the_help_tells_the_librarys_defaults(call):
    told = " ".join(call("fit", "--help").out.split())
    evidence, bits, risk, threshold = Evidence(), Bits(), Risk(), Threshold()
    assert (evidence.search, evidence.stop) == (bits.search, bits.stop)
    for words in (
        f"a multiple of its cost (default: {evidence.factor:g})",
        f"(default: {bits.alpha}), or none for no test",
        f"an independent pair (default: {risk.alpha})",
        f"(default: {bits.test} for bits, {risk.test} for risk)",
        f"{bits.correction} for bits, {'none' if risk.correction is None else '?'} for risk)",
        f"(default: {bits.search} for evidence and bits, {risk.search} for the paper's rules)",
        f"Default: {bits.stop} for evidence and bits, {risk.stop} for the paper's rules.",
        f"(default: {risk.measure}, the correlation)",
    ):
        assert words in told
    assert (risk.prune, threshold.prune) == (True, False)
    assert "(default: --prune for risk)" in told
    assert (threshold.measure, threshold.search, threshold.stop) == (
        risk.measure,
        risk.search,
        risk.stop,
    )


def test_rare_features_are_said_to_be_suppressed(call, zoo_files):
    rule = ["--criterion", "risk", "--min-support"]
    done = call("fit", "zoo.csv", *rule, "0.2", "--out", "model.json")
    assert done.code == 0
    assert "rare features were suppressed." in " ".join(done.out.split())
    shown = json.loads(call("show", "model.json", "--json").out)
    assert all(rule["frequency"] < 0.2 for rule in shown["suppressed"])
    assert all(rule["frequency"] >= 0.2 for rule in shown["features"])
    # no constructed feature is that frequent: only columns are left
    assert call("fit", "zoo.csv", *rule, "0.7", "--out", "model.json").code == 0
    done = call("fit", "zoo.csv", *rule, "1", "--out", "model.json")
    assert done.code == 2
    assert "no feature reaches min_support=1" in done.err


@pytest.mark.parametrize("extension", [".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet"])
def test_every_kind_of_file_gives_the_same_features(extension, call, fitted, zoo, tmp_path):
    call("datasets", "zoo", "--out", f"again{extension}")
    assert call("fit", f"again{extension}", "--out", "again.json").code == 0
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()
    done = call("transform", "model.json", f"again{extension}", "--out", f"features{extension}")
    assert done.code == 0
    assert read_table(tmp_path / f"features{extension}").equals(fitted.transform(zoo))


def test_transform_finds_columns_by_name(call, fitted, zoo, tmp_path):
    other = zoo.select(reversed(zoo.columns)).with_columns(pl.lit("x").alias("note"))
    other.write_csv(tmp_path / "other.csv")
    done = call("transform", "model.json", "other.csv", "--out", "features.parquet")
    assert done.err == "conjunct: note: columns of other.csv that the model does not use: 'note'\n"
    assert pl.read_parquet(tmp_path / "features.parquet").equals(fitted.transform(zoo))


def test_transform_names_the_columns_it_lacks(call, fitted, zoo, tmp_path):
    zoo.drop("hair", "milk").write_csv(tmp_path / "less.csv")
    done = call("transform", "model.json", "less.csv", "--out", "features.csv")
    assert done.code == 2
    assert done.err == ("conjunct: error: less.csv lacks columns of the model: 'hair', 'milk'\n")
    assert not (tmp_path / "features.csv").exists()


def test_model_without_names_goes_by_position(call, fitted, zoo, tmp_path):
    model = UFC().fit(zoo.to_numpy())
    model.save(tmp_path / "unnamed.json")
    assert call("transform", "unnamed.json", "zoo.csv", "--out", "f.parquet").code == 0
    written = pl.read_parquet(tmp_path / "f.parquet")
    assert written.columns == list(model.get_feature_names_out())
    assert (written.to_numpy() == model.transform(zoo.to_numpy())).all()
    zoo.drop("hair").write_csv(tmp_path / "less.csv")
    done = call("transform", "unnamed.json", "less.csv", "--out", "g.csv")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "the data has 14 columns, but the model needs 15" in done.err


NOTHING = {
    "": "no row has two of the columns that vary between the rows.",
    "--criterion bits": "no row has two of the columns that vary between the rows",
    "--criterion 0.3": "Try a smaller --criterion, or --criterion evidence.",
    "--criterion risk": "Try a larger --alpha",
    "--criterion risk --no-prune --alpha 1e-12": "Try a larger --alpha, or --criterion evidence.",
}


@pytest.mark.parametrize("words", NOTHING)
def test_notes_speak_of_options(words, call, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,0\n0,1\n" * 20)
    done = call("fit", "t.csv", *words.split(), "--out", "m.json")
    assert done.code == 0
    nothing = "feature was constructed" if "--criterion" in words else "chunk was found"
    assert done.err.startswith(f"conjunct: note: No {nothing}: ")
    assert NOTHING[words] in done.err
    assert done.err.count("\n") == 1
    assert load(tmp_path / "m.json").n_iter_ == 0
    by_chunks = "--criterion" not in words or "bits" in words
    shown = "nothing was found" if by_chunks else "nothing was constructed"
    assert shown in done.out


def test_names_that_are_words_of_python_stay_names(call, tmp_path):
    rows = "1,0\n1,1\n" * 3 + "0,1\n0,0\n" * 2 + "0,0\n1,1\n"
    (tmp_path / "t.csv").write_text("memory,noise\n" + rows)
    done = call("fit", "t.csv")
    assert "The strongest pair, memory with noise, has 0.2 bits of evidence" in done.err
    assert "more rows like these would be enough; --factor 0.13 requires less." in done.err
    assert call("fit", "t.csv", "--factor", "0.13").err == ""
    done = call("fit", "t.csv", "--criterion", "bits")
    assert "memory with noise comes nearest" in done.err
    assert "; --alpha none skips the test." in done.err


SEEN = "a,b,c\n" + "1,1,0\n" * 40 + "1,0,0\n" * 5 + "0,0,1\n" * 40
NEW = "a,b,c\n1,1,1\n0,1,0\n0,1,1\n"


@pytest.fixture
def new_rows(call, tmp_path):
    (tmp_path / "seen.csv").write_text(SEEN)
    (tmp_path / "new.csv").write_text(NEW)
    assert call("fit", "seen.csv", "--out", "m.json").code == 0
    return load(tmp_path / "m.json")


def test_transform_notes_what_training_never_saw(call, new_rows, tmp_path):
    assert new_rows.get_feature_names_out().tolist() == ["c", "a + b", "a (rest)"]
    done = call("transform", "m.json", "new.csv", "--out", "f.csv")
    assert done.code == 0
    assert done.err == (
        "conjunct: note: 2 rows hold new combinations of tags, so some tags are in no feature: use "
        "conjunct chunks, which keeps all tags, or --handle-unknown keep, which adds columns\n"
    )
    done = call("transform", "m.json", "new.csv", "--handle-unknown", "keep", "--out", "f.csv")
    assert (done.code, done.err) == (0, "")
    kept = pl.read_csv(tmp_path / "f.csv")
    assert kept.columns == ["c", "a + b", "a (rest)", "b (rest)"]
    assert kept.rows() == [(1, 1, 0, 0), (0, 0, 0, 1), (1, 0, 0, 1)]


def test_transform_calls_columns_as_it_is_told(call, new_rows, tmp_path):
    done = call("transform", "m.json", "seen.csv", "--feature-names", "formula")
    assert done.out.splitlines()[0] == "c,a ∧ b,a ∧ ¬b"
    call("fit", "seen.csv", "--feature-names", "formula", "--out", "m.json")
    assert call("transform", "m.json", "seen.csv").out == done.out
    done = call("transform", "m.json", "seen.csv", "--feature-names", "tags")
    assert done.out.splitlines()[0] == "c,a + b,a (rest)"


def test_datasets_without_out_prints_csv(command):
    done = command("datasets", "spect")
    assert done.out == datasets.load_spect().path.read_text()
    assert done.err == (
        "conjunct: note: SPECT Heart, K. Cios, L. Kurgan and L. Goodenday (2001), "
        "UCI Machine Learning Repository; CC BY 4.0\n"
    )


@pytest.mark.parametrize("name", [dataset.name for dataset in datasets.DATASETS])
def test_datasets_are_written_with_their_missing_cells(name, call, tmp_path):
    call("datasets", name, "--out", "d.parquet")
    written, data = pl.read_parquet(tmp_path / "d.parquet"), datasets.load(name)
    assert written.columns == list(data.feature_names)
    assert (written.fill_null(False).to_numpy() == data.values).all()
    missing = 0 if data.missing is None else data.missing.sum()
    assert sum(written.null_count().row(0)) == missing


def test_version(command):
    assert command("--version").out == f"conjunct {__version__}\n"


def test_no_command_prints_the_help(call):
    assert call().out == call("--help").out


COMMANDS = [command.callback.__name__ for command in application().registered_commands]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in ("reproduce", "stability") else ())
        for name in ("", *COMMANDS)
    ],
)
def test_examples_of_the_help_run(name, call, zoo_files, blank_pages):
    text = call(*name.split(), "--help").out
    examples = re.findall(r"^ +\$ conjunct (.+)$", text, re.MULTILINE)
    assert examples
    names, *rows = (zoo_files / "zoo.csv").read_text().splitlines(keepends=True)
    (zoo_files / "old.csv").write_text(names + "".join(rows[:50]))
    (zoo_files / "new.csv").write_text(names + "".join(rows[50:]))
    for example in examples:
        done = call(*shlex.split(example))
        assert done.code == 0, f"{example}\n{done.err}"


def test_every_command_has_help():
    commands = ["chunks", "compare", "datasets", "demo", "describe", "export", "fit", "fringe"]
    commands += [
        "groups",
        "look",
        "path",
        "relations",
        "report",
        "reproduce",
        "show",
        "stability",
        "suggest",
        "tags",
        "transform",
        "update",
    ]
    assert sorted(COMMANDS) == commands


def test_narrow_encodings_get_ascii(command, zoo_files):
    words = ["fit", "zoo.csv", "--criterion", "risk", "--formulas", "--out", "m.json"]
    done = command(*words, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (done.code, done.err) == (0, "")
    assert done.out.isascii()
    assert "aquatic & fins" in done.out
    assert "aquatic + eggs + fins / backbone + toothed / predator / tail" in done.out
    assert load("m.json").formula_style == "unicode"


def test_colours_only_on_a_terminal(call, zoo_files):
    assert "\x1b" not in call("fit", "zoo.csv", "--out", "m.json").out


@pytest.mark.slow
def test_closed_pipe_is_quiet(command):
    for words in (["datasets", "coco_val2017"], ["datasets"]):
        process = subprocess.Popen(
            [sys.executable, "-m", "conjunct", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        process.stdout.close()
        error = process.stderr.read().decode()
        process.stderr.close()
        assert process.wait() == 1
        assert [line for line in error.splitlines() if "conjunct: note" not in line] == []


@pytest.mark.slow
def test_full_disk_is_a_failure(command):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "conjunct", "datasets"], stdout=full, stderr=subprocess.PIPE
        )
    assert done.returncode == 1
    assert done.stderr == b"conjunct: error: No space left on device\n"


def test_interrupt_ends_with_130_and_leaves_no_file(command, tmp_path):
    code = (
        # a test run in the background ignores the signal; and where another thread takes it, the
        # main one hears of it a moment later
        "import os, signal, sys, time; import conjunct.files as t; "
        "signal.signal(signal.SIGINT, signal.default_int_handler); "
        "t.read_boolean = lambda *a, **b: (os.kill(os.getpid(), signal.SIGINT), time.sleep(9)); "
        "from conjunct.cli import main; sys.exit(main())"
    )
    (tmp_path / "t.csv").write_text("a\n1\n")
    done = subprocess.run(
        [sys.executable, "-c", code, "fit", "t.csv", "--out", "m.json"], capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


def test_missing_libraries_are_named(command):
    code = (
        "import importlib.util as u, sys; find = u.find_spec; "
        "u.find_spec = lambda name: None if name in ('typer', 'polars') else find(name); "
        "from conjunct.cli import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", code, "demo"], capture_output=True)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == (
        b"conjunct: error: the commands need typer, polars: pip install typer polars\n"
    )


HEAVY = {"numpy", "scipy", "sklearn", "polars", "pandas", "typer", "rich", "narwhals", "msgspec"}


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("import conjunct", set()),
        ("import conjunct.cli", set()),
        ("import conjunct.cli.app", {"typer"}),
        ("from conjunct.cli.app import run; run(['--help'])", {"typer"}),
    ],
)
def test_nothing_heavy_is_imported(code, allowed):
    code = f"{code}; import sys; sys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stderr.decode().split()}
    assert loaded & HEAVY <= allowed


# what scikit-learn, SciPy and rich would load for functions that a fit does not call
NOT_FOR_A_FIT = {
    *("asyncio", "pandas", "pyarrow", "dask", "altair", "rich.progress"),
    *("numpy.f2py", "numpy.ma", "numpy.testing"),
    *("scipy.linalg", "scipy.optimize", "scipy.sparse.csgraph", "scipy.sparse.linalg"),
    *("scipy.stats", "sklearn.cluster", "sklearn.linear_model", "sklearn.tree"),
    *("conjunct.cli.commands.show", "conjunct.paper", "conjunct.plots"),
}


@pytest.mark.skipif(not can_put_off(), reason="these versions load whole")
def test_a_fit_loads_what_it_needs(tmp_path):
    table = Path(tmp_path, "table.csv")
    table.write_text("a,b\n" + "1,1\n0,0\n" * 20)
    code = (
        f"from conjunct.cli.app import run; run(['fit', {str(table)!r}, '--quiet'])\n"
        "import sys; sys.stderr.write(' '.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    loaded = set(done.stderr.decode().split())
    assert {"sklearn.base", "polars"} <= loaded
    assert loaded & NOT_FOR_A_FIT == set()


def test_the_versions_are_read_without_loading():
    tried = [
        parse_version(oldest) <= parse_version(module.__version__) < parse_version(newer)
        for module, oldest, newer in (
            (numpy, "2.4", "2.6"),
            (scipy, "1.17", "1.19"),
            (sklearn, "1.9", "1.10"),
        )
    ]
    assert can_put_off() == all(tried)


@pytest.mark.parametrize("version", ["1.16.3", "1.19.0", "2.0.0"])
def test_versions_that_were_not_tried_load_whole(tmp_path, monkeypatch, version):
    (tmp_path / "scipy").mkdir()
    (tmp_path / "scipy" / "__init__.py").touch()
    (tmp_path / "scipy" / "version.py").write_text(f'version = "{version}"\n')
    spec = SimpleNamespace(origin=str(tmp_path / "scipy" / "__init__.py"))
    monkeypatch.setattr(app, "find_spec", lambda name: spec if name == "scipy" else find_spec(name))
    assert not can_put_off()


@pytest.mark.skipif(not can_put_off(), reason="these versions load whole")
def test_what_was_put_off_is_there_when_used():
    """Stand-ins are gone once scikit-learn is loaded, and what it took from them works."""
    code = """
import sys
from conjunct.cli.app import UNUSED, LazyModule, load_scikit_learn
load_scikit_learn()
assert not set(UNUSED) & set(sys.modules), set(UNUSED) & set(sys.modules)
import numpy as np
from sklearn.utils import fixes, sparsefuncs
assert fixes._mode(np.array([1, 1, 2])).mode.item() == 1
assert np.allclose(fixes._sparse_linalg_cg(np.eye(2), np.ones(2))[0], 1)
assert np.allclose(fixes.laplacian(np.ones((2, 2))), [[1, -1], [-1, 1]])
assert sparsefuncs.LinearOperator((2, 2), matvec=lambda v: 2 * v).matvec(np.ones(2)).sum() == 4
assert fixes.pd.DataFrame({"a": [1]}).shape == (1, 1)
import pandas, scipy.linalg, scipy.stats
modules = (pandas, scipy.linalg, scipy.stats, np.ma, np.fft, np.testing, np.polynomial)
assert not [module for module in modules if isinstance(module, LazyModule)]
from sklearn.linear_model import Ridge
from sklearn.cluster import KMeans
assert Ridge(solver="sparse_cg").fit(np.eye(3), np.ones(3)).predict(np.eye(3)).shape == (3,)
assert KMeans(2).fit(np.eye(3)).n_clusters == 2
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_help_is_quick(command):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    bare = time.perf_counter() - start
    durations = []
    for _ in range(3):
        start = time.perf_counter()
        assert command("--help").code == 0
        durations.append(time.perf_counter() - start)
    assert min(durations) - bare < 2, os.getloadavg()


def test_progress_is_shown_on_a_terminal_only(call, tmp_path):
    call("datasets", "spect", "--out", "spect.csv")
    rule = ["--criterion", "risk", "--search", "pairwise", "--max-iter", "9"]
    words = ["fit", "spect.csv", *rule, "--out", "m.json"]
    assert call(*words).err == ""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "conjunct", *words],
        env=os.environ | {"TERM": "xterm", "COLUMNS": "80"},
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    # a terminal that is closed on the other side says so by an error
    with contextlib.suppress(OSError):
        while part := os.read(ours, 1 << 16):
            seen += part
    os.close(ours)
    process.stdout.close()
    assert process.wait() == 0
    assert "Reading spect.csv" in seen.decode()
    assert "Constructing: iteration 9, 31 features" in seen.decode()


def test_a_path_over_the_number_of_chunks(call, zoo_files):
    done = call("path", "zoo.csv", "--chunks", 4, "--out", "four.json", "--solutions", "sizes.csv")
    assert done.code == 0
    sizes, frame = pl.read_csv("sizes.csv"), pl.read_csv("zoo.csv")
    model = UFC().fit(frame)
    assert sizes["chunks"].to_list() == list(range(model.n_iter_ + 1))
    assert sizes["features"].to_list() == [line.n_features for line in model.history_]
    assert load("four.json").features_ == UFC(max_iter=4).fit(frame).features_
    for words, message in (
        (["--max-iter", 2], "--max-iter needs --over thresholds"),
        (["--over", "thresholds", "--chunks", 2], "--chunks needs --over chunks"),
        (["--chunks", -1], "--chunks must be a whole number, at least 0"),
    ):
        done = call("path", "zoo.csv", *words)
        assert done.code == 2
        assert message in done.err
