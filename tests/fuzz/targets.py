"""What is fuzzed: each target takes any bytes, and fails only if conjunct does.

Whatever the bytes, conjunct gives a result that holds together or an InputError of one line.
`test_targets.py` feeds the targets with Hypothesis, `guided.py` with atheris.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import sqlite3
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import typer

from conjunct import UFC, ChunkClassifier, InputError, Risk, RowGroups, TagCleaner, load, parse
from conjunct.cli.app import application, run
from conjunct.errors import ConjunctWarning
from conjunct.estimators.groups import WITHIN
from conjunct.expressions import render
from conjunct.files import read_boolean
from conjunct.files.formats.base import FORMATS

Target = Callable[[bytes], None]

CORPUS = Path(__file__).with_name("corpus")
READERS = [name for name, kind in FORMATS.items() if kind.is_read]
_READABLE = 100_000


@cache
def _folder() -> Path:
    """A folder of this process, gone when it ends."""
    kept = tempfile.TemporaryDirectory(prefix="conjunct-fuzz-")
    _FOLDERS.append(kept)
    return Path(kept.name)


_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """An InputError of one line is a right answer."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConjunctWarning)
            yield
    except InputError as error:
        if not str(error) or "\n" in str(error) or "Traceback" in str(error):
            raise AssertionError("an error must say what is wrong, in one line") from error


def fuzz_parser(data: bytes) -> None:
    """A text is refused, or read to a formula that comes back from its own text."""
    with refusals():
        formula = parse(data.decode("utf-8", "surrogateescape"))
        for style in ("unicode", "ascii"):
            assert parse(render(formula, style)) == formula
        render(formula, "latex")


def fuzz_model(data: bytes) -> None:
    """A model file is refused, or gives a model that can be used and saved."""
    path = _folder() / "model.json"
    path.write_bytes(data)
    with refusals():
        model = load(path)
        rows = np.zeros((2, model.n_features_in_), bool)
        rows[1] = True
        names = getattr(model, "feature_names_in_", None)
        # one by one: polars takes an empty name in a list for none
        columns = {} if names is None else dict(zip(names, rows.T, strict=True))
        table = rows if names is None else pl.DataFrame(columns)
        made = model.transform(table)
        # as many as it names: those that training never saw may be among them
        assert made.shape == (2, len(model.get_feature_names_out()))
        if sum(e.length for e in model.features_) < _READABLE:
            model.get_features("dict")
        if model.feature_set_.merges:
            assert len(set(model.patterns_)) == len(model.patterns_)
            model.inverse_transform(made)
            if model.feature_set_.has_code:
                assert np.isfinite(model.score(table))
        model.save(_folder() / "again.json")
        again = load(_folder() / "again.json")
        assert again.feature_set_.features == model.feature_set_.features


def fuzz_classifier(data: bytes) -> None:
    """A classifier's file is refused, or gives one that predicts and is saved as it was."""
    path = _folder() / "classifier.json"
    path.write_bytes(data)
    with refusals():
        model = ChunkClassifier.load(path)
        rows = np.array([[False], [True]]).repeat(model.n_features_in_, axis=1)
        names = getattr(model, "feature_names_in_", None)
        table = rows if names is None else pl.DataFrame(dict(zip(names, rows.T, strict=True)))
        chances = model.predict_proba(table)
        assert chances.shape == (2, len(model.classes_))
        assert np.allclose(chances.sum(axis=1), 1)
        assert np.isin(model.predict(table), model.classes_).all()
        model.save(path)
        again = ChunkClassifier.load(path)
        assert again.classes_.dtype == model.classes_.dtype
        assert (again.predict_proba(table) == chances).all()


def fuzz_groups(data: bytes) -> None:
    """A file of row groups is refused, or gives groups that label rows and are saved again."""
    path = _folder() / "groups.json"
    path.write_bytes(data)
    with refusals():
        model = RowGroups.load(path)
        rows = np.array([[False], [True]]).repeat(model.n_features_in_, axis=1)
        names = getattr(model, "feature_names_in_", None)
        table = rows if names is None else pl.DataFrame(dict(zip(names, rows.T, strict=True)))
        chances = model.predict_proba(table)
        assert chances.shape == (2, model.n_groups_) == (2, len(model.groups_))
        assert np.allclose(chances.sum(axis=1), 1)
        assert all("\n" not in group.sentence for group in model.groups_)
        assert "\n" not in model.stop_reason_
        model._repr_html_()
        model.save(path)
        again = RowGroups.load(path)
        assert again.groups_ == model.groups_
        assert (again.predict_proba(table) == chances).all()


def fuzz_checkpoint(data: bytes) -> None:
    """A checkpoint is refused, or the run goes on to a model that holds in the rows."""
    path = _folder() / "checkpoint.json"
    path.write_bytes(data)
    with refusals():
        model = UFC().fit(_TAGGED, checkpoint=path)
        table = {
            name: np.array([name in basket for basket in _TAGGED])
            for name in model.feature_names_in_
        }
        made = model.transform(pl.DataFrame(table))
        assert tuple(made.sum().row(0)) == model.feature_set_.supports
        model.save(_folder() / "again.json")
        assert load(_folder() / "again.json").features_ == model.features_


def fuzz_readers(data: bytes) -> None:
    """A file is refused, or read to a table. The first two bytes choose the kind and options."""
    if len(data) < 2:
        return
    kind = READERS[data[0] % len(READERS)]
    packed, tagged, named, separated = (data[1] >> shift & 3 for shift in (0, 2, 4, 6))
    content = data[2:]
    if packed == 1:
        content = gzip.compress(content, 1)
    elif packed == 2:
        content = pa.compress(content, codec="zstd", asbytes=True)
    path = _folder() / ("table.csv" if kind == "long" else "table")
    path.write_bytes(content)
    with refusals():
        table = read_boolean(
            path,
            format=kind,
            tags="a" if tagged == 1 else None,
            id="b" if named == 1 else None,
            separator={1: ";", 2: " "}.get(separated),
            null_values=["?"] if named == 2 else (),
        )
        assert table.n_rows >= 1
        assert len(set(table.names)) == len(table.names) >= 1
        assert table.columns.n_columns == len(table.names)


def fuzz_tags(data: bytes) -> None:
    """Tags are cleaned once and for all; a line of ``a=b`` is a synonym."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    synonyms = dict(line.split("=", 1) for line in lines if "=" in line)
    baskets = [line.split(",") for line in lines if "=" not in line]
    with refusals():
        cleaner = TagCleaner(synonyms=synonyms).fit(baskets)
        cleaned = cleaner.transform(baskets)
        assert cleaner.transform(cleaned) == cleaned
        assert all(cleaner.clean(into) == into for into in cleaner.mapping_.values())
        record = cleaner.record()
        assert TagCleaner.from_record(record).mapping_ == cleaner.mapping_
        cleaner.proposals()


VALUES = ["0", "1", "2", "0.5", "-1", "nan", "inf", "-inf", "1e-320", "1e999", "9" * 30, "", " "]
VALUES += ["a", "b=1,2", "=", "~a", "a ∧", "(" * 50, "\x1b[31m", "\ud800", "--", "-", "a,b", "\0"]
FILES = ["t.csv", "tags.csv", "t.parquet", "t.dat", "model.json", "bad.json", "empty.csv"]
FILES += ["no.csv", ".", "folder", "out.json", "out.csv", "out.parquet", "t.csv/x", "synonyms.json"]
# they run for as long as they are told to, or always
_SLOW = {"reproduce", "demo"}
_BOUNDED = {"--runs": "2", "--bootstrap": "2", "--max-seconds": "1", "--jobs": "2", "--step": "0.1"}


@cache
def _commands() -> dict[str, list[str]]:
    """The commands and their options."""
    found = typer.main.get_command(application()).commands
    return {
        name: sorted(option for p in command.params for option in p.opts if option[0] == "-")
        for name, command in found.items()
        if name not in _SLOW
    }


@cache
def _prepared() -> Path:
    folder = _folder() / "commands"
    (folder / "folder").mkdir(parents=True)
    table = pl.DataFrame({"a": [1, 1, 0, 0] * 9, "b": [1, 1, 0, 1] * 9, "c": ["x", "y", "z"] * 12})
    table.write_csv(folder / "t.csv")
    table.write_parquet(folder / "t.parquet")
    (folder / "tags.csv").write_text("id,tags\n" + "1,car;sky\n2,Cars\n3,sky\n" * 4)
    (folder / "t.dat").write_text("a b\na b c\n\nc\n" * 5)
    (folder / "bad.json").write_text('{"format": "conjunct-model", "version": 1}')
    (folder / "synonyms.json").write_text('{"cars": "car"}')
    (folder / "empty.csv").touch()
    words = ["fit", folder / "t.csv", "--criterion", "0.1", "--out", folder / "model.json"]
    with contextlib.redirect_stdout(io.StringIO()):
        assert run([str(word) for word in words]) == 0
    return folder


def fuzz_command(data: bytes) -> None:
    """A command ends with 0, 1 or 2, and if not with 0, with one line of error."""
    words = command_line(data)
    folder = _prepared()
    _contents()
    before = Path.cwd()
    os.chdir(folder)
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(words)
    finally:
        os.chdir(before)
    said = err.getvalue().splitlines()
    errors = [line for line in said if line.startswith("conjunct: error: ")]
    assert code in (0, 1, 2), words
    assert len(errors) == (code != 0), (words, code, said)
    assert all(line.startswith("conjunct: ") for line in said), (words, said)
    assert not list(folder.rglob(".conjunct-*")), words
    _restore(folder)


def _restore(folder: Path) -> None:
    """The files as they were, whatever a command has written."""
    kept = _contents()
    for path in folder.rglob("*"):
        if path.is_file() and str(path.relative_to(folder)) not in kept:
            path.unlink()
    for name, content in kept.items():
        if (folder / name).read_bytes() != content:
            (folder / name).write_bytes(content)


@cache
def _contents() -> dict[str, bytes]:
    folder = _prepared()
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def command_line(data: bytes) -> list[str]:
    """A command line from bytes: a command, then options with values, and files."""
    if not data:
        return []
    commands = _commands()
    name = list(commands)[data[0] % len(commands)]
    words = [name]
    for kind, choice in zip(data[1::2], data[2::2], strict=False):
        if kind % 3 == 0 and commands[name]:
            option = commands[name][choice % len(commands[name])]
            words.append(option)
            if option in _BOUNDED:
                words.append(_BOUNDED[option])
        else:
            pool = FILES if kind % 3 == 1 else VALUES
            words.append(pool[choice % len(pool)])
    # a file or a value may follow an option that says how long to run
    return [
        _BOUNDED.get(before, word) for before, word in zip(["", *words[:-1]], words, strict=True)
    ]


TARGETS: dict[str, Target] = {
    "parser": fuzz_parser,
    "model": fuzz_model,
    "classifier": fuzz_classifier,
    "groups": fuzz_groups,
    "checkpoint": fuzz_checkpoint,
    "readers": fuzz_readers,
    "tags": fuzz_tags,
    "command": fuzz_command,
}


def seeds(name: str) -> list[bytes]:
    """Good input to start from, and every case that once failed."""
    kept = [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))]
    return [*_SEEDS[name](), *kept]


def _parser_seeds() -> list[bytes]:
    texts = ["sky", "a & ~b", "¬(a ∧ b) ∨ ⊤", '"R&D \\u2227" | false', "((a))", "~~a & (b | c)"]
    return [text.encode() for text in texts]


_TAGGED = [["a", "b"]] * 20 + [["a"]] * 4 + [["b", "c"]] * 5 + [["c", "d"]] * 9 + [[]] * 15
_CELLS = np.array(
    [[np.nan if (k + j) % 9 == 0 else j % 2 == k % 2 for j in range(6)] for k in range(60)]
)


def _model_seeds() -> list[bytes]:
    from conjunct import Bits, Fringe, UFCPath, UFringe

    path = _folder() / "seed.json"
    found = []

    def keep(model: Any) -> None:
        model.save(path)
        found.append(path.read_bytes())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        for model in (
            UFC(),
            UFC(Risk(prune=False, alpha=0.01), max_iter=2, feature_names="formula"),
            UFC(Risk(0.01, correction="holm", prune=False)),
            UFC(Bits(1e-40)),
            UFC("bits", search="batch", min_support=0.1),
            UFC(variables={"v": ["a", "c"]}),
            UFCPath(max_iter=2),
            UFringe(max_features=8),
        ):
            keep(model.fit(_TAGGED))
        drifted = UFC().fit(_TAGGED)
        drifted.check_drift(_TAGGED)
        keep(drifted)
        keep(drifted.truncate(4))
        for rule in ("evidence", "bits", "risk"):
            keep(UFC(rule, missing="pairwise").fit(_CELLS))
        keep(Fringe(max_features=8).fit(_TAGGED, ["a" in basket for basket in _TAGGED]))
        table = pl.DataFrame({"x": [0.5, 1.5, 2.5, 9.0] * 9, "w": ["r", "g", "b"] * 12})
        table.write_csv(_folder() / "raw.csv")
        words = ["fit", str(_folder() / "raw.csv"), "--out", str(path), "--max-iter", "1"]
        with contextlib.redirect_stdout(io.StringIO()):
            assert run(words) == 0
        found.append(path.read_bytes())
        (_folder() / "raw.dat").write_text("Cars sky\ncar\n" * 20)
        words = ["fit", str(_folder() / "raw.dat"), "--out", str(path), "--clean-tags"]
        with contextlib.redirect_stdout(io.StringIO()):
            assert run(words) == 0
        found.append(path.read_bytes())
    return [_without_spaces(content) for content in found]


def _without_spaces(content: bytes) -> bytes:
    """The same JSON without indentation, which only takes up bytes to be changed."""
    return json.dumps(json.loads(content), separators=(",", ":")).encode()


def _classifier_seeds() -> list[bytes]:
    path, found = _folder() / "seed.json", []
    days = np.array([k % 3 for k in range(60)]).astype("datetime64[D]")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        for rows, classes, model in (
            (_TAGGED, ["a" in basket for basket in _TAGGED], UFC()),
            (_TAGGED, [str(len(basket)) for basket in _TAGGED], UFC(variables={"v": ["a", "c"]})),
            (_CELLS, days, UFC(missing="pairwise")),
        ):
            ChunkClassifier(model).fit(rows, classes).save(path)
            found.append(_without_spaces(path.read_bytes()))
    return found


def _groups_seeds() -> list[bytes]:
    path, found = _folder() / "seed.json", []
    for rows in (_TAGGED, _CELLS):
        for within in WITHIN:
            RowGroups(2, within=within, variables=False).fit(rows).save(path)
            found.append(_without_spaces(path.read_bytes()))
    RowGroups(within="columns", variables={"v": ["a", "c"]}).fit(_TAGGED).save(path)
    return [*found, _without_spaces(path.read_bytes())]


def _checkpoint_seeds() -> list[bytes]:
    path, found = _folder() / "seed.checkpoint", []
    for max_iter in (1, 2, None):
        path.unlink(missing_ok=True)
        UFC(max_iter=max_iter).fit(_TAGGED, checkpoint=path)
        found.append(path.read_bytes())
    return found


def _database() -> bytes:
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.executescript("create table t (a, b); insert into t values (1, 'x'), (0, null)")
        return database.serialize()


def _reader_seeds() -> list[bytes]:
    frame = pl.DataFrame({"a": [1, 0, 1], "b": ["x", "y", None], "c": [0.5, None, 2.0]})
    text = b"a,b,c\n1,x,0.5\n0,y,\n1,,2.0\n"
    contents = {
        "csv": text,
        "tsv": text.replace(b",", b"\t"),
        "text": text.replace(b",", b" | "),
        "jsonl": b'{"a": 1, "b": "x"}\n{"a": 0, "c": [1, "z"]}\n',
        "json": b'[{"a": 1, "b": "x"}, {"a": 0, "b": null}]',
        "arff": b"@relation r\n@attribute a {0,1}\n@attribute 'b c' numeric\n@attribute d string\n"
        b"@data\n1,2.5,'x y'\n{0 1, 1 3}\n?,?,?\n",
        "baskets": b"a b c\na;b\n\n[1, 2]\n",
        "svmlight": b"1 1:1 3:1 # x\n0,2 2:0.5\n-1\n",
        "long": b"b,a\n1,car\n1,sky\n2,car\n",
        "database": _database(),
    }
    for kind, write in (
        ("parquet", frame.write_parquet),
        ("arrow", frame.write_ipc),
        ("excel", frame.write_excel),
    ):
        buffer = io.BytesIO()
        write(buffer)
        contents[kind] = buffer.getvalue()
    chosen = [(kind, flags) for kind in READERS for flags in (0, 1, 2, 0b0100, 0b010000, 0b100000)]
    plain = [bytes([READERS.index(kind), flags]) + contents[kind] for kind, flags in chosen]
    # compressed already, so that what is changed is the compressed file
    for pack in (gzip.compress, lambda content: pa.compress(content, "zstd", asbytes=True)):
        plain += [bytes([k, 0]) + pack(contents[kind]) for k, kind in enumerate(READERS)]
    return plain


def _tag_seeds() -> list[bytes]:
    return [b"Cars,#sky\ncar\nautomobile=car", "Straße,STRASSE,ﬁsh\n—a—\n".encode(), b"a=b\nb=a"]


def _command_seeds() -> list[bytes]:
    n = len(_commands())
    return [bytes([k, 1, 0, 0, j, 1, 10]) for k in range(n) for j in range(20)]


_SEEDS: dict[str, Callable[[], list[bytes]]] = {
    "parser": _parser_seeds,
    "model": _model_seeds,
    "classifier": _classifier_seeds,
    "groups": _groups_seeds,
    "checkpoint": _checkpoint_seeds,
    "readers": _reader_seeds,
    "tags": _tag_seeds,
    "command": _command_seeds,
}
