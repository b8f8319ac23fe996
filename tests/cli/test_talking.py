"""How much is said, and where: --quiet, --verbose, pipes, terminals, completion, option names."""

import contextlib
import inspect
import io
import itertools
import os
import re
import signal
import subprocess
import sys
import time
import typing
from functools import partial
from pathlib import Path

import polars as pl
import pytest
import typer

from conjunct import datasets, load
from conjunct.cli import terminal
from conjunct.cli.app import application

SECONDS = terminal.SECONDS_BETWEEN_LINES
COMMANDS = typer.main.get_command(application()).commands
WRITING = {
    "demo": "demo",
    "fit": "fit zoo.csv --out new.json",
    "chunks": "chunks model.json other.csv --out c.csv",
    "transform": "transform model.json other.csv --out f.csv",
    "path": "path zoo.csv --chunks 2 --out new.json --solutions s.csv --figure f.svg",
    "fringe": "fringe zoo.csv --max-features 20 --out new.json",
    "stability": "stability zoo.csv --runs 2 --max-noise 0.02 --out folder",
    "compare": "compare model.json zoo.csv other.csv --out d.csv",
    "describe": "describe model.json zoo.csv --by milk --out g.csv",
    "groups": "groups zoo.csv --out g.json --labels l.csv",
    "export": "export model.json --out f.sql",
    "report": "report model.json zoo.csv --out r.html",
    "update": "update model.json other.csv --out u.json",
    "tags": "tags zoo.csv --out t.csv",
    "reproduce": "reproduce --data zoo.csv --out folder",
    "datasets": "datasets zoo --out z.csv",
}


@pytest.fixture
def zoo(zoo_files):
    table = pl.read_csv(zoo_files / "zoo.csv")
    table.with_columns(more=pl.lit("x")).write_csv(zoo_files / "other.csv")
    return zoo_files


@pytest.mark.parametrize("name", WRITING)
def test_quiet_writes_files_and_says_nothing(name, call, zoo, few_experiments, blank_pages):
    before = {path.name for path in zoo.iterdir()}
    done = call(*WRITING[name].split(), "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert {path.name for path in zoo.iterdir()} > before


@pytest.mark.parametrize("name", WRITING)
def test_verbose_says_each_step_on_standard_error(name, call, zoo, few_experiments, blank_pages):
    usual = call(*WRITING[name].split())
    done = call(*WRITING[name].split(), "--verbose")
    assert (done.code, done.out) == (0, usual.out)
    assert len(done.err.splitlines()) > len(usual.err.splitlines())
    assert re.search(r"^conjunct: (wrote|drew) ", done.err, re.MULTILINE)
    assert call("fit", "zoo.csv").err == "", "the next command is not verbose"


def test_every_command_that_writes_can_be_quiet():
    quiet = {name for name, command in COMMANDS.items() if "--quiet" in options(command)}
    assert quiet == {*WRITING, "look", "relations", "suggest"}


def test_errors_are_said_however_quiet(call):
    done = call("fit", "no.csv", "--quiet")
    assert (done.code, done.err) == (2, "conjunct: error: no.csv does not exist\n")


# options and arguments


def options(command):
    return {name: p for p in command.params for name in p.opts if name.startswith("-")}


def test_json_and_verbose_everywhere():
    for name, command in COMMANDS.items():
        assert {"--json", "--verbose", "--help"} <= {*options(command), "--help"}, name


def test_an_option_means_the_same_everywhere():
    kinds = {}
    for command in application().registered_commands:
        signature = inspect.signature(command.callback, eval_str=True)
        for name, parameter in signature.parameters.items():
            kind = parameter.annotation
            if type(None) in typing.get_args(kind):
                kind = typing.get_args(kind)[0]
            kinds.setdefault(name, set()).add(kind)
    differing = {name for name, found in kinds.items() if len(found) > 1}
    # only fit takes several files; trees cannot count what is missing pairwise; only export
    # numbers features, and writes for several tables
    assert differing == {"data", "missing", "feature_names", "table"}


def test_options_come_in_one_order():
    """Files first, then what to do, then how to read, then how to speak."""
    for name, command in COMMANDS.items():
        names = list(options(command))
        if "--out" in names:
            assert names[0] == "--out", name
        assert names[names.index("--json") :] in (
            ["--json", "--verbose", "-v", "--quiet", "-q"],
            ["--json", "--verbose", "-v"],
        )


def test_options_are_listed_in_groups(call):
    """What a person looks for stands together, and nothing of fit stands apart."""
    sections, title = {}, None
    for line in call("fit", "--help").out.splitlines():
        if re.fullmatch(r"[A-Z]\w+:", line):
            title = line[:-1]
        elif title and (option := re.match(r"  (?:-\w, )?(--[\w-]+)", line)):
            sections.setdefault(title, []).append(option[1])
    assert list(sections) == ["Rule", "Search", "Data", "Counting", "Output"]
    assert sections["Rule"] == [
        "--criterion", "--factor", "--alpha", "--test", "--correction", "--prune", "--measure",
    ]  # fmt: skip
    assert sections["Search"] == [
        "--search", "--stop", "--max-iter", "--max-length", "--max-features", "--min-support",
    ]  # fmt: skip
    for name, command in COMMANDS.items():
        panels = {option.name: option.rich_help_panel for option in options(command).values()}
        for option in ("out", "json", "verbose", "report", "figure"):
            assert panels.get(option, "Output") == "Output", (name, option)


# standard input and output


def piped(words, stdin, **how):
    return subprocess.run(
        [sys.executable, "-m", "conjunct", *words],
        input=stdin,
        capture_output=True,
        env=os.environ | {"PYTHONUTF8": "1"},
        **how,
    )


def test_data_from_standard_input(call, tmp_path, monkeypatch):
    spect = datasets.load_spect()
    raw = spect.path.read_bytes()
    done = piped(["fit", "-", "--out", "m.json"], raw)
    assert (done.returncode, done.stderr) == (0, b"")
    call("fit", spect.path, "--out", "same.json")
    assert (tmp_path / "m.json").read_bytes() == (tmp_path / "same.json").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    done = call("transform", "m.json", "-")
    assert done.code == 0
    expected = load("m.json").transform(pl.read_csv(raw)).cast(pl.UInt8)
    assert pl.read_csv(done.out.encode()).cast(pl.UInt8).equals(expected)
    tabs = raw.replace(b",", b"\t")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(tabs)))
    assert call("fit", "-", "--format", "tsv", "--out", "t.json").code == 0
    assert (tmp_path / "t.json").read_bytes() == (tmp_path / "m.json").read_bytes()


def test_what_is_wrong_with_standard_input_is_said_so(command, tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    done = piped(["fit", "-", "--missing", "raise"], b"a,b\n1,0\n1,\n")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == (
        "conjunct: error: standard input, line 3, column 'b': the cell has no value; "
        "fill it in, drop the row, or use --missing false\n"
    )
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("out", [[], ["--out", "-"]])
def test_text_goes_to_standard_output(out, call, zoo):
    features = call("transform", "model.json", "zoo.csv", *out)
    assert pl.read_csv(features.out.encode()).width == 21
    assert call("datasets", "zoo", *out).out == (zoo / "zoo.csv").read_text()
    assert call("export", "model.json", *out).out.startswith(("SELECT", "WITH"))
    assert not (zoo / "-").exists()


@pytest.mark.parametrize(
    "words",
    [
        "transform model.json zoo.csv",
        "--help",
        pytest.param("show model.json", marks=pytest.mark.slow),
    ],
)
def test_a_reader_that_leaves_is_no_error(words, command, zoo):
    process = subprocess.Popen(
        [sys.executable, "-m", "conjunct", *words.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 1


# terminals


def on_a_terminal(words, start=("-m", "conjunct"), **environment):
    """What a command writes to a terminal, both streams."""
    ours, theirs = os.openpty()
    inherited = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, *start, *words],
        env=inherited | {"TERM": "xterm", "COLUMNS": "80", "PYTHONUTF8": "1"} | environment,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    # a terminal that is closed on the other side says so by an error
    with contextlib.suppress(OSError):
        while part := os.read(ours, 1 << 16):
            seen += part
    os.close(ours)
    assert process.wait() == 0
    return seen.decode()


COLOUR = re.compile(r"\x1b\[(?:[0-9]*;)*(?:3[0-7]|38|9[0-7])(?:;[0-9]+)*m")


def test_colours_on_a_terminal_unless_unwanted(call, zoo):
    words = ["show", "model.json"]
    assert COLOUR.search(on_a_terminal(words))
    assert not COLOUR.search(on_a_terminal(words, NO_COLOR="1"))
    assert "\x1b" not in call(*words).out


@pytest.mark.slow
def test_no_colours_in_documents(command, zoo):
    assert "\x1b" not in on_a_terminal(["show", "model.json", "--json"])


@pytest.mark.slow
def test_time_left_where_it_is_known(command, zoo):
    words = ["stability", "zoo.csv", "--runs", "4"]
    seen = on_a_terminal(words)
    assert "Constructing: run 64 of 64" in seen
    assert re.search(r"0:\d\d:\d\d left +0:\d\d:\d\d", re.sub(r"\x1b\[[0-9;]*m", "", seen))
    assert "Constructing" not in on_a_terminal([*words, "--runs", "1", "--quiet"])
    page = on_a_terminal(["report", "model.json", "zoo.csv", "-o", "r.html", "--stability"])
    assert "Constructing on samples: run 20 of 20" in page


def test_names_cannot_speak_to_the_terminal(call, tmp_path):
    names = ["sky\x1b[2J", "sea\nside", "bell\x07", "\x9b31mred", "rtl\u202e"]
    rows = [[1, 0] * 20, [1, 0] * 19 + [0, 1], [1, 1, 0, 0] * 10, [0] * 39 + [1], ["x"] * 40]
    pl.DataFrame(dict(zip(names, rows, strict=True))).write_parquet(tmp_path / "t.parquet")
    pl.DataFrame({"tags": ["Sky\x1b[2J;x", "sky\x1b[2J"] * 5}).write_csv(tmp_path / "t.csv")
    runs = [
        call("fit", "t.parquet", "--max-iter", 1, "--out", "m.json", "--verbose"),
        call("show", "m.json"),
        call("show", "m.json", "--feature", 0, "--rows", "t.parquet"),
        call("path", "t.parquet"),
        call("stability", "t.parquet", "--runs", 2, "--max-noise", 0.02),
        call("tags", "t.csv", "--tags", "tags"),
    ]
    for done in runs:
        assert done.code == 0, done.err
        text = done.out + done.err
        assert all(c.isprintable() or c == "\n" for c in text), ascii(text)


# completion


rarely = partial(pytest.param, marks=pytest.mark.slow)


def completed(*words):
    done = subprocess.run(
        [sys.executable, "-m", "conjunct"],
        env=os.environ
        | {
            "_CONJUNCT_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(["conjunct", *words]),
            "COMP_CWORD": str(len(words)),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["f"], ["fit", "fringe"]),
        (["fit", "zoo.csv", "--criterion", ""], ["bits", "evidence", "risk"]),
        (["datasets", "co"], ["coco_street", "coco_val2017"]),
        (["fit", "--max-l"], ["--max-length"]),
        rarely(["fit", "zoo.csv", "--stop", "r"], ["rms"]),
        rarely(["fit", "zoo.csv", "--format", "a"], ["arrow", "arff"]),
        rarely(["export", "m.json", "--dialect", "s"], ["snowflake", "spark", "sqlite"]),
        rarely(["show", "m.json", "--form", "n"], ["nested"]),
    ],
)
def test_completion(words, expected):
    assert completed(*words) == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_offered(command, shell):
    """By the shell that is named: what `--show-completion` prints in it."""
    done = command(_CONJUNCT_COMPLETE=f"source_{shell}")
    assert (done.code, done.err) == (0, "")
    assert f"_CONJUNCT_COMPLETE=complete_{shell}" in done.out
    assert "conjunct" in done.out.split()


def test_bash_completes(command, tmp_path):
    """A shell that has read the script asks the real command, and gets its answer."""
    script = command(_CONJUNCT_COMPLETE="source_bash").out
    (tmp_path / "conjunct").write_text(f'#!/bin/sh\nexec {sys.executable} -m conjunct "$@"\n')
    (tmp_path / "conjunct").chmod(0o755)
    asked = "COMP_WORDS=(conjunct f); COMP_CWORD=1; _conjunct_completion ./conjunct"
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{asked}; echo ${{COMPREPLY[@]}}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["fit", "fringe"]


def test_without_a_terminal_progress_is_a_line_now_and_then(call, zoo, monkeypatch):
    monkeypatch.setattr("conjunct.cli.terminal.SECONDS_BETWEEN_LINES", 0.0)
    done = call("fringe", "zoo.csv", "--max-features", "20", "--out", "new.json")
    lines = [line for line in done.err.splitlines() if line.startswith("conjunct: Constructing: ")]
    assert done.code == 0
    assert len(lines) > 1
    pattern = r"conjunct: Constructing: iteration \d+, \d+ features \(\d+ s, about \d+ s left\)"
    assert re.fullmatch(pattern, lines[0]), lines[0]
    assert "conjunct: Reading zoo.csv: 101 rows (" in done.err
    quiet = call("fit", "zoo.csv", "--out", "new.json", "--quiet")
    assert (quiet.out, quiet.err) == ("", "")


def test_lines_of_progress_are_seldom(call, zoo, monkeypatch):
    assert SECONDS == 10.0
    monkeypatch.setattr(terminal, "SECONDS_BETWEEN_LINES", SECONDS)
    assert call("fit", "zoo.csv", "--out", "new.json").err == ""


# no command is silent for long


PRINTING = {
    "show": "show model.json",
    "look": "look zoo.csv",
    "suggest": "suggest model.json zoo.csv",
    "relations": "relations model.json",
}
STILL = re.compile(r"conjunct: still working: (.*), (\d+) s")


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
def test_no_command_is_silent_for_long(name, more, call, zoo, monkeypatch):
    monkeypatch.setattr(terminal, "SECONDS_BETWEEN_LINES", 0.05)
    monkeypatch.setattr(typer.core.TyperCommand, "invoke", lambda self, ctx: time.sleep(0.3))
    words = (WRITING | PRINTING)[name].split()
    done = call(*words, *more)
    lines = done.err.splitlines()
    assert (done.code, done.out) == (0, "")
    assert 1 <= len(lines) <= 6
    # the command and the files that it is given
    expected = " ".join(itertools.takewhile(lambda word: word[0] != "-", words))
    assert {STILL.fullmatch(line)[1] for line in lines} == {expected}
    if name in WRITING:
        assert call(*words, *more, "--quiet").err == ""


def test_a_line_comes_only_after_silence(call, zoo, monkeypatch):
    def speak(self, ctx):
        for k in range(12):
            time.sleep(0.05)
            terminal.note(f"step {k}")

    monkeypatch.setattr(terminal, "SECONDS_BETWEEN_LINES", 0.4)
    monkeypatch.setattr(typer.core.TyperCommand, "invoke", speak)
    assert "still" not in call("show", "model.json").err


def test_names_of_many_files_are_cut(call, zoo, monkeypatch):
    monkeypatch.setattr(terminal, "SECONDS_BETWEEN_LINES", 0.05)
    monkeypatch.setattr(typer.core.TyperCommand, "invoke", lambda self, ctx: time.sleep(0.1))
    line = call("fit", *["zoo.csv"] * 9, "--out", "new.json").err.splitlines()[0]
    assert STILL.fullmatch(line)[1] == "fit zoo.csv zoo.csv zoo.csv and 6 more"


def test_results_are_written_where_the_watch_knows():
    """It must not speak while a pager holds up the output."""
    folder = Path(terminal.__file__).parent
    writing = {file.name for file in folder.rglob("*.py") if "stdout.write" in file.read_text()}
    assert writing == {"terminal.py", "app.py"}


SLOW = """
import sys, time
from conjunct import cli
from conjunct.cli import terminal
from typer.core import TyperCommand
terminal.SECONDS_BETWEEN_LINES = terminal.SECONDS_BEFORE_STATUS = 0.1
usual, seconds = TyperCommand.invoke, float(sys.argv.pop())
def invoke(self, ctx):
    time.sleep(seconds)
    return usual(self, ctx)
TyperCommand.invoke = invoke
sys.exit(cli.main())
"""


def test_ctrl_c_while_it_speaks(zoo):
    command = subprocess.Popen(
        [sys.executable, "-c", SLOW, "show", "model.json", "100"],
        cwd=zoo,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # tests that run in the background of a shell would pass on that it is ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert STILL.fullmatch(command.stderr.readline().rstrip())
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=60)
    assert (command.returncode, out) == (130, "")
    assert all(STILL.fullmatch(line) for line in err.splitlines())


def test_a_line_on_a_terminal_is_erased(call, zoo):
    shown = call("show", "model.json").out
    seen = on_a_terminal(["show", "model.json", "1.5"], start=("-c", SLOW), NO_COLOR="1")
    drawn, _, rest = seen.rpartition("\r" + " " * 79 + "\r")
    assert STILL.fullmatch(drawn.rpartition("\r")[2])[1] == "show model.json"
    plain = re.sub(r"\x1b\[[0-9;]*m", "", rest.replace("\r\n", "\n"))
    assert [line.rstrip() for line in plain.splitlines()] == shown.splitlines()
    assert "still" not in on_a_terminal(["show", "model.json"])
