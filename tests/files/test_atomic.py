"""An output file is whole or absent, and nothing is left beside it."""

import fcntl
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from conjunct.errors import InputError
from conjunct.files import check_target, write_atomically


def test_writes_and_replaces(tmp_path):
    path = tmp_path / "out"
    for content in (b"one", b"two"):
        write_atomically(path, lambda part, content=content: part.write_bytes(content))
        assert path.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt(), ValueError("no")])
def test_failure_midway_keeps_the_old_file(error, tmp_path):
    path = tmp_path / "out"
    path.write_text("old")

    def fail(part):
        part.write_text("half")
        raise error

    with pytest.raises(type(error)):
        write_atomically(path, fail)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_an_interrupt_before_any_line_leaves_no_part(tmp_path):
    """Ctrl-C may come anywhere, also just after the part was created."""
    source = write_atomically.__code__.co_filename
    target = tmp_path / "out.txt"

    def write_interrupted(moment):
        """Write, and raise before the line of that number; return if the write ended first."""
        n_lines = 0

        def trace(frame, event, _):
            nonlocal n_lines
            if frame.f_code.co_filename != source:
                return None
            if event == "line":
                n_lines += 1
                if n_lines == moment:
                    sys.settrace(None)
                    raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            write_atomically(target, lambda part: part.write_text("new"))
        except KeyboardInterrupt:
            return False
        finally:
            sys.settrace(before)
        return True

    for moment in range(1, 200):
        target.write_text("old")
        is_over = write_interrupted(moment)
        assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]
        assert target.read_text() == "new" if is_over else target.read_text() in ("old", "new")
        if is_over:
            break
    assert is_over
    assert moment > 20


def test_mode_is_that_of_an_ordinary_file(tmp_path):
    write_atomically(tmp_path / "new", lambda part: part.write_text("x"))
    (tmp_path / "plain").write_text("x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.fixture(params=[0o022, 0o077], ids=oct)
def umask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.parametrize("mode", [0o666, 0o640, 0o600], ids=oct)
def test_a_file_that_is_replaced_keeps_its_mode(mode, umask, tmp_path):
    path = tmp_path / "out"
    path.write_text("old")
    path.chmod(mode)

    def write(part):
        # others may not read it before it is in place either
        assert not stat.S_IMODE(part.stat().st_mode) & ~mode
        part.write_text("new")

    write_atomically(path, write)
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomically(tmp_path / "link", lambda part: part.write_text("new"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_the_umask_is_never_set(tmp_path, monkeypatch):
    """It is the whole process's: two threads that set it to look at it may leave it at 0."""
    monkeypatch.setattr(os, "umask", None)
    write_atomically(tmp_path / "out", Path.touch)


def test_a_part_is_owned_before_it_is_written(tmp_path, monkeypatch):
    """Another process that clears up may meet a part that is made and not locked yet."""
    lock, rivals = fcntl.flock, []

    def lock_after_a_rival(handle, operation):
        if not rivals:
            [part] = tmp_path.iterdir()
            rivals.append(part.open())
            lock(rivals[0], fcntl.LOCK_EX)
        lock(handle, operation)

    def write(part):
        rivals[0].close()
        write_atomically(tmp_path / "other", Path.touch)  # which clears up first
        assert part.exists()
        part.write_text("whole")

    monkeypatch.setattr(fcntl, "flock", lock_after_a_rival)
    write_atomically(tmp_path / "out", write)
    assert (tmp_path / "out").read_text() == "whole"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other", "out"]


def test_parts_of_another_machine_stay(tmp_path, monkeypatch):
    """Where locks do not reach other machines, nobody can tell whether their parts are in use."""

    def write(part):
        with monkeypatch.context() as here:
            here.setattr("platform.node", lambda: "another")
            here.setattr(fcntl, "flock", lambda handle, operation: None)
            write_atomically(tmp_path / "other", Path.touch)
        assert part.exists()

    write_atomically(tmp_path / "out", write)


SAVES = """
import sys
from pathlib import Path
from conjunct.files import write_atomically
path, content = Path(sys.argv[1]), sys.argv[1].encode() * 10
sys.stdin.read()
for _ in range(200):
    write_atomically(path, lambda part: part.write_bytes(content))
    assert path.read_bytes() == content
"""


def test_parallel_saves_leave_each_other_alone(tmp_path):
    """Six processes write into one folder, and all of them clear up."""
    each = [
        subprocess.Popen(
            [sys.executable, "-c", SAVES, tmp_path / str(k)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for k in range(6)
    ]
    for process in each:
        process.stdin.close()
    said = [process.stderr.read() for process in each]
    for process in each:
        process.stderr.close()
        process.wait()
    assert said == [b""] * 6
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(map(str, range(6)))


def test_targets_that_cannot_be(tmp_path, monkeypatch):
    def never(part):
        raise AssertionError("nothing must be written")

    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    for path, message in (
        (tmp_path, "is a folder: choose a file to write"),
        (tmp_path / "no" / "out", "no is not a folder: create it first"),
        (tmp_path / "file" / "out", "file is not a folder: create it first"),
        (tmp_path / "pipe", "is not an ordinary file"),
        ("/dev/null", "/dev/null is not an ordinary file"),
    ):
        with pytest.raises(InputError, match=message):
            write_atomically(path, never)
    # the superuser may write anywhere, so ask as if nobody could
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InputError, match="is read-only: choose another folder"):
        write_atomically(tmp_path / "out", never)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "pipe"]


def test_a_dangling_link_names_the_folder_that_is_missing(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "gone" / "m.json")
    with pytest.raises(InputError, match=r"gone is not a folder: create it first"):
        check_target(tmp_path / "link")
