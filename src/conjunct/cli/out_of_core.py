"""Data that is not read as a whole: several files, more than memory holds, or a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from conjunct.cli.help import COUNTING

if TYPE_CHECKING:
    from conjunct.cli.inputs import DataInput
    from conjunct.counting import Engine
    from conjunct.files import Stream

Memory = Annotated[
    str | None,
    typer.Option(
        help="Most memory to take, such as 500MB: the rows stay on disk.", rich_help_panel=COUNTING
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Count on a cluster: its address, or local for one on this machine.",
        rich_help_panel=COUNTING,
    ),
]
EngineName = Annotated[
    Literal["dask", "spark"] | None,
    typer.Option(
        help="What the cluster is of: Dask, unless told otherwise.", rich_help_panel=COUNTING
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        help="File to write as the run goes on; a run that was killed goes on from it.",
        show_default=False,
        rich_help_panel=COUNTING,
    ),
]


@dataclass(frozen=True)
class StreamInput:
    """Reads files as one stream; in the place of a ``DataInput``, for models that take streams."""

    source: DataInput
    files: Sequence[Path]
    memory: str | None = None
    scheduler: str | None = None
    engine: str | None = None

    @property
    def cluster(self) -> Engine | None:
        """What counts the rows, unless it is this process."""
        from conjunct.counting import ENGINES

        if self.scheduler is None and self.engine is None:
            return None
        return ENGINES[self.engine or "dask"]

    def read(self, data: Path) -> Stream:
        """All files, of which ``data`` is the first."""
        from conjunct.cli.progress import rows_read, step
        from conjunct.cli.standard_streams import file_of, name_of
        from conjunct.files import stream

        words = name_of(data) if len(self.files) == 1 else f"{len(self.files)} files"
        with step(f"looked through {words}"), rows_read(f"Reading {words}") as progress:
            found = stream(
                *map(file_of, self.files),
                **asdict(self.source.options),
                memory=self.memory,
                binarizer=self.source.binarizer,
                cleaner=self.source.cleaner,
                progress=progress,
            )
        # the bar ends here; the next one shows iterations
        found = replace(found, progress=None)
        return found if self.cluster is None else replace(found, engine=self.cluster.name)

    @contextmanager
    def naming_cells_of(self, data: Path, if_empty: str = "") -> Iterator[None]:
        """A stream names cells by itself; while it is used, the cluster is there."""
        cluster = self.cluster
        if cluster is None:
            yield
            return
        from conjunct.memory import parse_bytes

        memory = None if self.memory is None else parse_bytes(self.memory)
        address = None if self.scheduler == "local" else self.scheduler
        with cluster.connected(address, memory):
            yield


def check_outputs(files: Sequence[Path], out: Path | None, checkpoint: Path | None) -> None:
    """Refuse to write over the data, or two things to one file."""
    from conjunct.cli.standard_streams import DASH
    from conjunct.errors import InputError
    from conjunct.files import check_target

    taken = {file.resolve(): f"{file} is the data" for file in files}
    for target, what, option in ((out, "model", "out"), (checkpoint, "checkpoint", "checkpoint")):
        if target is None:
            continue
        if target == DASH:
            raise InputError(
                f"a {what} is written to a file: give --{option} a name such as {what}.json"
            )
        place = check_target(target)
        if place in taken:
            raise InputError(f"{taken[place]}: name another file for the {what}")
        taken[place] = f"{target} is the {what}"
