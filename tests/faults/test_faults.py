"""What goes wrong around a command: no traceback, no half-written file, the right exit code.

Each test runs the real command in a process of its own.
"""

import ctypes
import os
import re
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from conjunct import load
from faults.conftest import one_error, wait_for_main

TRANSFORM = ("transform", "model.json", "data.csv", "--out", "out.csv")
FIT = ("fit", "data.csv", "--max-iter", 2, "--out", "out.json")


def some(values, *quick):
    """All the values; `make test` tries the quick ones only, for each starts a process."""
    return [
        pytest.param(value, marks=() if value in quick else pytest.mark.slow) for value in values
    ]


def obey_modes():
    """Take from the superuser the right to read and write where modes forbid it."""
    drop = ctypes.CDLL(None, use_errno=True).prctl
    drop(24, 1)  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
    drop(24, 2)  # CAP_DAC_READ_SEARCH


def largest_file(n_bytes):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


FILES = ["out.csv", "out.csv.gz", "out.parquet", "out.arrow", "out.jsonl"]


@pytest.mark.parametrize("out", some(FILES, "out.parquet"))
def test_full_disk(out, place):
    before = place.files()
    words = (*TRANSFORM[:-1], out)
    line = one_error(place.run(*words, preexec_fn=largest_file(20_000)))
    assert "File too large" in line or "os error 27" in line
    assert place.files() == before


def test_full_disk_keeps_the_old_model(place):
    before = place.files()
    words = ("fit", "data.csv", "--max-iter", 2, "--out", "model.json")
    line = one_error(place.run(*words, preexec_fn=largest_file(100)))
    assert line == "conjunct: error: model.json: File too large"
    assert place.files() == before


def test_full_disk_under_a_checkpoint(place):
    before = place.files()
    words = (
        "fit",
        "data.csv",
        "--max-iter",
        2,
        "--out",
        "out.json",
        "--checkpoint",
        "run.json",
        "--criterion",
        "0.05",
    )
    line = one_error(place.run(*words, preexec_fn=largest_file(1_000)))
    assert line == "conjunct: error: run.json: File too large"
    assert place.files() == before


@pytest.mark.parametrize("data", some(["data.csv", "-"], "-"))
def test_full_disk_under_the_scratch_folder(data, place, tmp_path_factory):
    """Rows are kept there with --memory, and standard input always."""
    before = place.files()
    scratch = tmp_path_factory.mktemp("scratch")
    words = ("fit", data, "--max-iter", 2, "--out", "out.json", "--memory", "4GB")
    with (place.folder / "data.csv").open() as rows:
        done = place.run(
            *words, stdin=rows, preexec_fn=largest_file(4_000), env={"TMPDIR": str(scratch)}
        )
    assert one_error(done) == (
        f"conjunct: error: {scratch}: File too large while storing rows: set TMPDIR to a "
        "folder with more space"
    )
    assert place.files() == before
    assert list(scratch.iterdir()) == []


def test_full_disk_under_standard_output(place):
    with Path("/dev/full").open("w") as full:
        done = place.run("show", "model.json", "--json", stdout=full)
    assert "No space left on device" in one_error(done)


@pytest.mark.parametrize("words", some([FIT, TRANSFORM], FIT), ids=["fit", "transform"])
def test_read_only_folder(words, place):
    (place.folder / "locked").mkdir()
    (place.folder / "locked").chmod(0o555)
    before = place.files()
    words = (*words[:-1], f"locked/{words[-1]}")
    line = one_error(place.run(*words, preexec_fn=obey_modes), code=2)
    assert "locked is read-only: choose another folder" in line
    assert place.files() == before


def test_unreadable_file(place):
    (place.folder / "data.csv").chmod(0o000)
    line = one_error(place.run(*FIT, preexec_fn=obey_modes), code=2)
    assert "Permission denied" in line or "'data.csv' is not readable" in line


@pytest.mark.parametrize("words", some([FIT, TRANSFORM], FIT), ids=["fit", "transform"])
def test_output_path_is_a_directory(words, place):
    (place.folder / words[-1]).mkdir()
    before = place.files()
    assert "is a folder: choose a file to write" in one_error(place.run(*words), code=2)
    assert place.files() == before


@pytest.mark.parametrize("share", some([0.0, 0.3, 0.6, 0.8], 0.3))
def test_file_deleted_while_read(share, place, duration):
    process = place.start(*FIT)
    wait_for_main(process)
    time.sleep(share * duration)
    (place.folder / "data.csv").unlink()
    done = place.end(process)
    whole_or_absent(place, done, done.code)
    assert done.code in (0, 2)
    if done.code == 2:
        assert "data.csv" in one_error(done, code=2)


def test_broken_pipe(place):
    process = place.start("show", "model.json", "--json")
    head = subprocess.run(["head", "-n", "1"], stdin=process.stdout, capture_output=True)
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    process.wait(timeout=200)
    assert head.stdout == b"{\n"
    # all of it may have been written before head left
    assert process.returncode in (0, 1)
    assert err == b""


@pytest.mark.slow
def test_nobody_reads(place):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = place.run("show", "model.json", stdout=writer)
    finally:
        os.close(writer)
    assert (done.code, done.err) == (1, "")


SHARES = [0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0]


@pytest.mark.parametrize("share", some(SHARES, 0.0, 0.2, 0.8))
def test_ctrl_c_at_any_moment(share, place, duration):
    interrupted(place, FIT, signal.SIGINT, share * duration)


@pytest.mark.parametrize("share", some([0.3, 1.0, 2.0], 2.0))
def test_ctrl_c_keeps_what_is_whole(share, place, duration):
    """A model that is written stays, though its page is not; no page is cut."""
    words = (*FIT, "--report", "page.html")
    done = interrupted(place, words, signal.SIGINT, share * duration)
    page = place.files().get("page.html")
    assert page is not None or done.code != 0
    assert page is None or page.rstrip().endswith(b"</html>")
    assert page is None or (place.folder / "out.json").exists()


@pytest.mark.parametrize("share", some(SHARES[::3], 0.65))
def test_ctrl_c_while_rows_are_written(share, place, duration):
    interrupted(place, TRANSFORM, signal.SIGINT, share * duration)


@pytest.mark.parametrize("share", some(SHARES[::3], 0.65))
def test_sigterm(share, place, duration):
    interrupted(place, TRANSFORM, signal.SIGTERM, share * duration)


def interrupted(place, words, number, delay):
    process = place.start(*words)
    wait_for_main(process)
    time.sleep(delay)
    process.send_signal(number)
    done = place.end(process)
    assert "Traceback" not in done.err
    # it may have ended just before
    assert done.code in (0, 128 + number)
    whole_or_absent(place, done, done.code)
    return done


def n_workers(process):
    """Processes that a local cluster has started so far."""
    children = Path(f"/proc/{process.pid}/task").glob("*/children")
    pids = [pid for each in children for pid in each.read_text().split()]
    return sum("spawn_main" in Path(f"/proc/{pid}/cmdline").read_text() for pid in pids)


@pytest.mark.slow
@pytest.mark.parametrize("everybody", [True, False], ids=["terminal", "process"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["starting", "started", "counting"])
def test_signals_while_a_local_cluster_works(moment, number, everybody, place):
    """A terminal sends Ctrl-C to the workers too."""
    words = ("fit", "data.csv", "--max-iter", 9, "--criterion", 0.01)
    local = ("--scheduler", "local", "--memory", "8GB", "--checkpoint", "run.json")
    process = place.start(*words, *local, "--out", "out.json", start_new_session=True)
    reached = {
        "starting": lambda: n_workers(process) >= 1,
        "started": lambda: n_workers(process) >= os.cpu_count(),
        "counting": (place.folder / "run.json").exists,
    }[moment]
    while not reached():
        assert process.poll() is None
        time.sleep(0.01)
    (os.killpg if everybody else os.kill)(process.pid, number)
    done = place.end(process)
    # on a busy machine the command says every 10 s what it does
    errors = [line for line in done.err.splitlines() if not re.search(r", \d+ s$", line)]
    assert (done.code, errors) == (128 + number, [])
    whole_or_absent(place, done, done.code)


STANDS_STILL = """
import sys, time
exec("sys.stdout.write('here\\\\n'); sys.stdout.flush(); time.sleep(100)")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_while_a_library_runs_text(number, place, tmp_path_factory):
    """``python -m`` would end itself by SIGINT, though the interrupt was caught."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "typer.py").write_text(STANDS_STILL)
    paths = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    process = place.start(*FIT, env={"PYTHONPATH": paths})
    assert process.stdout.readline() == b"here\n"
    process.send_signal(number)
    done = place.end(process)
    assert (done.code, done.err) == (128 + number, "")


DIES_SLOWLY = """
import sys, time
class Slow:
    def __del__(self):
        sys.stdout.write("here\\n"); sys.stdout.flush(); time.sleep(1)
Slow()
time.sleep(100)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_while_an_object_is_freed(number, place, tmp_path_factory):
    """Nothing can be raised there: Python shows the interrupt and goes on."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "typer.py").write_text(DIES_SLOWLY)
    paths = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    process = place.start(*FIT, env={"PYTHONPATH": paths})
    assert process.stdout.readline() == b"here\n"
    process.send_signal(number)
    start = time.monotonic()
    done = place.end(process)
    assert (done.code, done.err) == (128 + number, "")
    assert time.monotonic() - start < 50, "what comes next was not waited for"


def test_ignored_signals_stay_ignored(place):
    process = place.start(*FIT, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    wait_for_main(process)
    process.send_signal(signal.SIGINT)
    assert place.end(process).code == 0


SLOW_WRITE = """
import sys, time, pathlib
from conjunct.files import write_atomically
def write(part):
    part.write_text("half")
    sys.stdout.write("writing\\n"); sys.stdout.flush()
    time.sleep(100)
write_atomically("model.json", write)
"""


def test_sigkill_while_writing(place, python):
    """What is left is one hidden part, which the next command that writes there removes."""
    before = place.files()
    process = python(SLOW_WRITE)
    assert process.stdout.readline() == b"writing\n"
    during = set(place.files()) - set(before)
    # a part that is being written is nobody else's to remove
    assert place.run("datasets", "zoo", "--out", "zoo.csv").code == 0
    assert set(place.files()) - set(before) == during | {"zoo.csv"}
    process.kill()
    process.wait()
    process.stdout.close()
    assert {k: v for k, v in place.files().items() if k in before} == before
    assert place.run("datasets", "zoo", "--out", "zoo.csv").code == 0
    assert set(place.files()) - set(before) == {"zoo.csv"}


@pytest.mark.parametrize("share", some([0.3, 0.7, 1.0]))
def test_sigkill_of_a_command(share, place, duration):
    process = place.start(*FIT)
    time.sleep(share * duration)
    process.kill()
    place.end(process)
    if (place.folder / "out.json").exists():
        load(place.folder / "out.json")
    done = place.run(*FIT)
    whole_or_absent(place, done, 0)


def most_memory(megabytes):
    limit = megabytes << 20
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


@pytest.mark.parametrize("megabytes", [600, 1000, 1500, 2000])
@pytest.mark.parametrize("words", [FIT, TRANSFORM], ids=["fit", "transform"])
def test_too_little_memory_for_anything(words, megabytes, place):
    before = place.files()
    line = one_error(place.run(*words, preexec_fn=most_memory(megabytes)))
    assert "not enough memory: the commands need 2048 MB of address space" in line
    assert f"the limit is {megabytes}" in line
    assert place.files() == before


@pytest.mark.parametrize("words", some([FIT, TRANSFORM], FIT), ids=["fit", "transform"])
def test_enough_memory(words, place):
    """With the least that is asked for, tables of some size can be read and written."""
    done = place.run(*words, preexec_fn=most_memory(2048))
    assert done.code == 0, done
    whole_or_absent(place, done, done.code)


def test_memory_that_is_foreseen(place):
    """The user can choose another way, or another table."""
    wide = "".join(f"t{k} t{k * 7919 % 40_000}\n" for k in range(40_000))
    (place.folder / "wide.dat").write_text(wide)
    before = place.files()
    done = place.run("fringe", "wide.dat", "--out", "out.json", preexec_fn=most_memory(2500))
    assert "of memory (storage='dense'), but " in one_error(done, code=2)
    assert place.files() == before


@pytest.mark.slow
def test_out_of_memory(place):
    """A table that is small in its file, and large as features."""
    some = "".join(f"t{k % 3000} t{k * 7 % 3000}\n" for k in range(3_000))
    (place.folder / "some.dat").write_text(some)
    rule = ("--criterion", "risk", "--no-prune", "--max-iter", 1)
    assert place.run("fit", "some.dat", *rule, "--out", "some.json").code == 0
    (place.folder / "long.dat").write_text(some * 50)
    before = place.files()
    words = ("transform", "some.json", "long.dat", "--out", "out.csv")
    assert "not enough memory" in one_error(place.run(*words, preexec_fn=most_memory(1400)))
    assert place.files() == before


DRAW = "conjunct: error: figures need 70 GB of address space, but ulimit -v leaves "
LAMBDAS = ("path", "zoo.csv", "--over", "thresholds")


@pytest.mark.parametrize(
    ("words", "saved"),
    [
        (
            (*LAMBDAS, "--figure", "f.svg", "--out", "m.json", "--solutions", "s.csv"),
            ["m.json", "s.csv"],
        ),
        pytest.param(
            ("stability", "zoo.csv", "--out", "folder"),
            ["folder/features.csv", "folder/levels.csv"],
            marks=pytest.mark.slow,
        ),
    ],
    ids=lambda value: value[0] if value else None,
)
def test_too_few_addresses_to_draw(words, saved, place):
    """The renderer would end the process; all that needs no picture is there by then."""
    assert place.run("datasets", "zoo", "--out", "zoo.csv").code == 0
    before = set(place.files())
    done = place.run(*words, preexec_fn=most_memory(64 << 10))
    assert one_error(done, code=2).startswith(DRAW)
    assert sorted(set(place.files()) - before) == saved


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "zoo.csv", "--criterion", "risk"),
        pytest.param(("fringe", "zoo.csv"), marks=pytest.mark.slow),
        pytest.param(LAMBDAS, marks=pytest.mark.slow),
    ],
    ids=lambda words: words[0],
)
def test_a_report_needs_no_renderer(words, place):
    assert place.run("datasets", "zoo", "--out", "zoo.csv").code == 0
    done = place.run(*words, "--report", "r.html", preexec_fn=most_memory(64 << 10))
    assert done.code == 0
    assert "r.html" in place.files()


ENOUGH_TO_DRAW = """
import resource
from conjunct.plots import plot_history, svg_of
from conjunct.plots.drawing import _ADDRESSES
from conjunct import UFC, datasets
model = UFC().fit(datasets.load_zoo().values)
chart = plot_history(model.history_)
chart.to_dict()
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + _ADDRESSES + 2**20,) * 2)
for _ in range(3):
    print(svg_of(chart)[:4])
"""


@pytest.mark.slow
def test_enough_addresses_to_draw(python):
    """What is asked for is what the renderer needs, once it has begun too."""
    process = python(ENOUGH_TO_DRAW)
    assert process.stdout.read() == b"<svg\n" * 3
    process.stdout.close()
    assert process.wait() == 0


@pytest.mark.slow
def test_no_home(place):
    assert place.run(*FIT, env={"HOME": None, "XDG_CACHE_HOME": None}).code == 0
    assert place.run(*FIT, env={"HOME": "/nowhere"}).code == 0


def test_no_terminal(place):
    """Without a terminal nothing moves: no progress, no colours, no control characters."""
    done = place.run(*FIT, env={"TERM": None, "COLUMNS": None}, start_new_session=True)
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
    assert "\r" not in done.out


def test_streams_that_are_closed(place):
    closed = {"preexec_fn": lambda: [os.close(number) for number in (0, 1, 2)]}
    process = place.start(*FIT, stdin=None, stdout=None, stderr=None, **closed)
    process.wait(timeout=200)
    assert process.returncode in (0, 1)
    whole_or_absent(place, None, process.returncode)


@pytest.mark.slow
def test_c_locale(place):
    ascii_only = {"LC_ALL": "C", "LANG": None, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    (place.folder / "t.csv").write_text("sky ∧,é\n" + "1,1\n0,0\n1,0\n" * 20, encoding="utf-8")
    done = place.run("fit", "t.csv", "--out", "ö.json", env=ascii_only)
    assert done.code == 0
    assert (done.out + done.err).isascii()
    shown = place.run("show", "ö.json", env=ascii_only)
    assert shown.code == 0
    assert shown.out.isascii()
    # the name of a table goes to polars, which takes text only
    (place.folder / "t.csv").rename(place.folder / "é.csv")
    for words in (
        ("fit", "é.csv", "--out", "m.json"),
        ("transform", "model.json", "data.csv", "--out", "ü.csv"),
    ):
        line = one_error(place.run(*words, env=ascii_only), code=2)
        assert "is not text in this locale: set PYTHONUTF8=1, or rename the file" in line
    assert place.run("fit", "é.csv", "--out", "m.json", env={"PYTHONUTF8": "1"}).code == 0


def test_windows_1252_file(place):
    text = "sky,café\n1,1\n0,0\n1,0\n".encode("cp1252")
    (place.folder / "old.csv").write_bytes(text)
    done = place.run("fit", "old.csv", "--out", "out.json")
    assert done.code == 0
    assert "old.csv is not UTF-8, and is read as Western European text" in done.err
    assert "café" in (place.folder / "out.json").read_text(encoding="utf-8")


BACKWARDS = """
import time, itertools
hour = itertools.count(1)
start = time.time()
time.time = lambda: start - 3600 * next(hour)
time.time_ns = lambda: int(time.time() * 1e9)
"""


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["30", "0.05"])
def test_clock_going_backwards(limit, place, tmp_path_factory):
    """Budgets and durations are of a clock that nobody sets."""
    folder = tmp_path_factory.mktemp("clock")
    (folder / "sitecustomize.py").write_text(BACKWARDS)
    paths = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    place.run("datasets", "zoo", "--out", "zoo.csv")
    words = ("path", "zoo.csv", "--over", "thresholds", "--max-seconds", limit)
    words += ("--out", "out.json")
    start = time.monotonic()
    done = place.run(*words, env={"PYTHONPATH": paths})
    assert done.code == 0, done.err
    assert "-" not in [word[:1] for word in done.out.split() if word.endswith("s")]
    assert time.monotonic() - start < 150
    load(place.folder / "out.json")


@pytest.fixture(scope="module")
def duration(fitted, tmp_path_factory):
    """About how long a command takes, once it has begun."""
    from faults.conftest import Place

    place = Place(tmp_path_factory.mktemp("duration"))
    for name, content in fitted.items():
        (place.folder / name).write_bytes(content)
    process = place.start(*FIT)
    wait_for_main(process)
    start = time.monotonic()
    assert place.end(process).code == 0
    return time.monotonic() - start


@pytest.fixture
def python(place):
    """Start Python in the folder, to stand still where a command would not."""
    import sys

    started = []

    def start(code):
        started.append(
            subprocess.Popen([sys.executable, "-c", code], cwd=place.folder, stdout=subprocess.PIPE)
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def whole_or_absent(place, done, code):
    """The output can be used if there is one, as there is after code 0; no part is left."""
    files = place.files()
    out = next((name for name in files if name in ("out.json", "out.csv")), None)
    assert out is not None or code != 0
    if out == "out.json":
        load(place.folder / out)
    elif out == "out.csv":
        assert files[out].count(b"\n") == 20_001
    assert not [name for name in files if ".part" in name]
