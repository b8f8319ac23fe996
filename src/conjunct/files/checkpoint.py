"""The checkpoint of a run: a file of JSON lines from which an interrupted run continues.

The first line identifies the run, and each later line adds what was new, so that saving a merge
costs one line however many came before. If a line was cut off, the run continues from the line
before it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from conjunct.errors import InputError, one_line
from conjunct.files.model import UNDECODABLE, read_bytes
from conjunct.files.writing import check_target, write_atomically
from conjunct.ufc import JoinedPair, Progress, Rows, RunIdentity, Test

FORMAT = "conjunct-checkpoint"
VERSION = 4


# the time between two writings, by how long one takes
_SHARE = 10


class RunRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The identity of a run."""

    format: str
    version: int
    options: str
    names: str
    n_rows: int
    fingerprint: int


class ProgressRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The news of a run, as in a model file; the first line has the counts of the columns."""

    iterations: list[list[JoinedPair]]
    tests: list[Test] = []
    supports: list[Rows] = []
    known: list[Rows] | None = None


class Checkpoint:
    """A file in which the progress of a run is kept."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._next = 0.0
        # bytes of whole lines that are there
        self._length = 0
        check_target(path)

    def load(self, identity: RunIdentity) -> Progress | None:
        """Return the progress that the file holds, or None; refuse that of another run."""
        if not self.path.exists():
            return None
        content = read_bytes(self.path, InputError)
        # what is after the last end of a line was cut off
        self._length = content.rfind(b"\n") + 1
        first, *lines = content[: self._length].splitlines() or [content]
        try:
            record = msgspec.json.decode(first, type=RunRecord)
            if (record.format, record.version) != (FORMAT, VERSION):
                raise InputError(f"{self.path}: not a checkpoint that this conjunct reads")
            if record.names != identity.names:
                raise self.wrong_run("it has other columns")
            if record.n_rows != identity.n_rows:
                raise self.wrong_run(f"it has {record.n_rows} rows, the data {identity.n_rows}")
            if record.options != identity.options:
                raise self.wrong_run("it has other options")
            if record.fingerprint != identity.fingerprint:
                raise self.wrong_run("it was made from other data")
            news = [msgspec.json.decode(line, type=ProgressRecord) for line in lines]
        except UNDECODABLE as error:
            why = one_line(str(error))
            raise InputError(f"{self.path}: not a checkpoint of conjunct ({why})") from None
        if not news:
            return None
        if any(line.supports or line.known is not None for line in news[1:]):
            raise self.wrong_run("its columns were counted twice")
        return Progress(
            [pairs for line in news for pairs in line.iterations],
            [test for line in news for test in line.tests],
            news[0].supports,
            news[0].known,
        )

    def save(self, identity: RunIdentity, news: Callable[[], Progress], *, last: bool) -> None:
        """Write what is new, unless writing would take most of the time."""
        begun = time.monotonic()
        if begun < self._next and not last:
            return
        new = news()
        known = None if new.known is None else list(new.known)
        iterations = [list(pairs) for pairs in new.iterations]
        record = ProgressRecord(iterations, list(new.tests), list(new.supports), known)
        line = msgspec.json.encode(record) + b"\n"
        if self._length:
            _append(self.path, line, self._length)
        else:
            whose = identity.options, identity.names, identity.n_rows, identity.fingerprint
            line = msgspec.json.encode(RunRecord(FORMAT, VERSION, *whose)) + b"\n" + line
            write_atomically(self.path, lambda part: part.write_bytes(line))
        self._length += len(line)
        ended = time.monotonic()
        self._next = ended + _SHARE * (ended - begun)

    def wrong_run(self, why: object) -> InputError:
        """Return an error: this run cannot continue from the file."""
        return InputError(
            f"{self.path} is the checkpoint of another run ({why}): remove it, or name another file"
        )


def _append(path: Path, line: bytes, length: int) -> None:
    """Write a line after the whole lines of a file, in place of what was cut off."""
    try:
        with path.open("r+b") as file:
            file.truncate(length)
            file.seek(length)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
