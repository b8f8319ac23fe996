"""Parquet and Arrow (Feather): files that say what their columns are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from conjunct.errors import InputError
from conjunct.files.formats.base import FORMATS, AsText, Compression, ReadOptions, Scan, TableFormat
from conjunct.files.raw import reason

if TYPE_CHECKING:
    import polars as pl


class Columnar(TableFormat):
    """A file that says what its columns are and how many rows it has."""

    is_text = False
    counts_rows = True
    writes = "tables"
    holds_lists = True

    def explain(self, file: Path, options: ReadOptions, error: BaseException) -> InputError:
        return InputError(f"{file} is not a readable {self.name.title()} file: {reason(error)}")


class Parquet(Columnar):
    name = "parquet"
    summary = "a table of Parquet"
    extensions = (".parquet",)
    rank = 30
    magic = (b"PAR1",)

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        frame = pl.scan_parquet(file, glob=False)
        yield scan_of(file, frame, frame.select(pl.len()).collect().item())

    def write(self, file: IO[bytes], data: pl.DataFrame, compression: Compression) -> None:
        data.write_parquet(file)


class Arrow(Columnar):
    """Arrow's file format, which is Feather's too, or its stream format."""

    name = "arrow"
    summary = "a table of Arrow or Feather"
    extensions = (".arrow", ".feather", ".ipc")
    rank = 40
    magic = (b"ARROW1",)

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        with file.open("rb") as opened:
            is_file = opened.read(6) in self.magic
        frame = pl.scan_ipc(file, glob=False) if is_file else pl.read_ipc_stream(file).lazy()
        yield scan_of(file, frame, frame.select(pl.len()).collect().item())

    def write(self, file: IO[bytes], data: pl.DataFrame, compression: Compression) -> None:
        data.write_ipc(file)


def scan_of(file: Path, frame: pl.LazyFrame, n_rows: int | None) -> Scan:
    names = frame.collect_schema().names()
    if not names:
        raise InputError(f"{file} has no columns")
    return Scan(frame, names, n_rows)


FORMATS.enter(Parquet())
FORMATS.enter(Arrow())
