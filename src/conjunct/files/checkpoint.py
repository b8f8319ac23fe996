"""The checkpoint of a run: a small JSON file that an interrupted run goes on from."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from conjunct.errors import InputError
from conjunct.files.atomic import check_target, write_atomically
from conjunct.files.model import IndicatorsRecord, MergeRecord, indicators_of, merge_of
from conjunct.ufc import Progress, RunIdentity

FORMAT = "conjunct-checkpoint"
VERSION = 2


# the time between two writings, by how long one takes
_SHARE = 10


class CheckpointRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a checkpoint holds; merges are told as in a model file."""

    format: str
    version: int
    options: str
    names: str
    n_rows: int
    fingerprint: int
    supports: list[int]
    observed: list[int] | None
    history: list[IndicatorsRecord]
    merges: list[MergeRecord]


class Checkpoint:
    """A file in which the progress of a run is kept."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._next = 0.0
        check_target(path)

    def load(self, identity: RunIdentity) -> Progress | None:
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"{self.path} cannot be read: {error.strerror}") from None
        try:
            record = msgspec.json.decode(content, type=CheckpointRecord)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"{self.path}: not a checkpoint of conjunct ({error})") from None
        if (record.format, record.version) != (FORMAT, VERSION):
            raise InputError(f"{self.path}: not a checkpoint that this conjunct reads")
        self._check(record, identity)
        return Progress(
            tuple(merge_of(merge, record.n_rows) for merge in record.merges),
            indicators_of(record.history),
            tuple(record.supports),
            None if record.observed is None else tuple(record.observed),
        )

    def save(self, identity: RunIdentity, progress: Callable[[], Progress], *, last: bool) -> None:
        """Write the file, unless steps are so quick that it would take most of the time."""
        begun = time.monotonic()
        if last or begun >= self._next:
            self._write(identity, progress())
            ended = time.monotonic()
            self._next = ended + _SHARE * (ended - begun)

    def _write(self, identity: RunIdentity, progress: Progress) -> None:
        record = CheckpointRecord(
            FORMAT,
            VERSION,
            identity.options,
            identity.names,
            identity.n_rows,
            identity.fingerprint,
            list(progress.supports),
            None if progress.observed is None else list(progress.observed),
            msgspec.convert(progress.tried, list[IndicatorsRecord], from_attributes=True),
            msgspec.convert(progress.merges, list[MergeRecord], from_attributes=True),
        )
        content = msgspec.json.encode(record)
        write_atomically(self.path, lambda part: part.write_bytes(content))

    def wrong_run(self, why: object) -> InputError:
        """That this run cannot go on from the file."""
        return InputError(
            f"{self.path} is the checkpoint of another run ({why}): remove it, or name another file"
        )

    def _check(self, record: CheckpointRecord, identity: RunIdentity) -> None:
        if record.names != identity.names:
            raise self.wrong_run("it has other columns")
        if record.n_rows != identity.n_rows:
            raise self.wrong_run(f"it has {record.n_rows} rows, the data {identity.n_rows}")
        if record.options != identity.options:
            raise self.wrong_run("it has other options")
        if record.fingerprint != identity.fingerprint:
            raise self.wrong_run("it was made from other data")
