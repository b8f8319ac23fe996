"""An output file is whole or absent, and nothing is left beside it."""

import os
import stat

import pytest

from conjunct.errors import InputError
from conjunct.io.atomic import write_atomically


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


def test_mode_is_that_of_an_ordinary_file(tmp_path):
    write_atomically(tmp_path / "new", lambda part: part.write_text("x"))
    (tmp_path / "plain").write_text("x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode
    (tmp_path / "plain").chmod(0o640)
    write_atomically(tmp_path / "plain", lambda part: part.write_text("y"))
    assert stat.S_IMODE((tmp_path / "plain").stat().st_mode) == 0o640


def test_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomically(tmp_path / "link", lambda part: part.write_text("new"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_targets_that_cannot_be(tmp_path, monkeypatch):
    def never(part):
        raise AssertionError("nothing must be written")

    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    for path, message in (
        (tmp_path, "is a folder: name a file to write"),
        (tmp_path / "no" / "out", "no is not a folder: make it first"),
        (tmp_path / "file" / "out", "file is not a folder: make it first"),
        (tmp_path / "pipe", "is not an ordinary file"),
        ("/dev/null", "/dev/null is not an ordinary file"),
    ):
        with pytest.raises(InputError, match=message):
            write_atomically(path, never)
    # the superuser may write anywhere, so ask as if nobody could
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InputError, match="is read-only: name another folder"):
        write_atomically(tmp_path / "out", never)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "pipe"]
