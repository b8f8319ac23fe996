"""The checkpoint of a run: a file of JSON lines from which an interrupted run continues.

The first line identifies the run, and each later line adds new merges. If the last line was cut
off, the run continues from the line before it.
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

# the minimum time between two writes, as a multiple of the time that a write takes
_SHARE = 10


class RunRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line: the identity of a run."""

    format: str
    version: int
    options: str
    names: str
    n_rows: int
    fingerprint: int


class ProgressRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """New merges, as in a model file. The first of these lines also has counts of columns."""

    iterations: list[list[JoinedPair]]
    tests: list[Test] = []
    supports: list[Rows] = []
    known: list[Rows] | None = None


class Checkpoint:
    """A file that keeps the progress of a run."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._next = 0.0
        # the length of the file in bytes, without an incomplete line
        self._length = 0
        check_target(path)

    def load(self, identity: RunIdentity) -> Progress | None:
        """Return the progress in the file, or None. Refuse the file of another run."""
        if not self.path.exists():
            return None
        content = read_bytes(self.path, InputError)
        # the rest after the last line end was cut off
        self._length = content.rfind(b"\n") + 1
        first, *lines = content[: self._length].splitlines() or [content]
        try:
            record = msgspec.json.decode(first, type=RunRecord)
            if (record.format, record.version) != (FORMAT, VERSION):
                raise InputError(
                    f"{self.path}: not a checkpoint that this version of conjunct can read"
                )
            if record.names != identity.names:
                raise self.wrong_run("its columns differ")
            if record.n_rows != identity.n_rows:
                raise self.wrong_run(
                    f"it has {record.n_rows} rows, but the data has {identity.n_rows}"
                )
            if record.options != identity.options:
                raise self.wrong_run("its options differ")
            if record.fingerprint != identity.fingerprint:
                raise self.wrong_run("it was made from different data")
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
        """Write new merges, unless the last write was too recent."""
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
        """Return the error for a file from which this run cannot continue."""
        return InputError(
            f"{self.path} is the checkpoint of another run ({why}): remove it, or name another file"
        )


def _append(path: Path, line: bytes, length: int) -> None:
    """Write a line after the complete lines of a file, replacing an incomplete one."""
    try:
        with path.open("r+b") as file:
            file.truncate(length)
            file.seek(length)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
