"""Tables of Booleans to files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from conjunct.errors import InputError
from conjunct.io.atomic import write_atomically
from conjunct.io.files import StrPath, check_name, reason

if TYPE_CHECKING:
    import polars as pl

Compression = Literal["uncompressed", "gzip", "zstd"]

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}
_EXTENSIONS = (*_SEPARATORS, ".jsonl", ".parquet", ".arrow", ".feather")


def write_table(path: StrPath, frame: pl.DataFrame) -> None:
    """Write a table, whole or not at all: Booleans are 0/1 in CSV and TSV."""
    import polars as pl

    extension, compression = table_extension(path)
    check_name(path)

    def write(part: Path) -> None:
        try:
            fill(part)
        except pl.exceptions.PolarsError as error:
            # a full disk, which polars reports as an error of its own
            raise OSError(f"{path} cannot be written: {reason(error)}") from None

    def fill(part: Path) -> None:
        if extension == ".parquet":
            frame.write_parquet(part)
        elif extension in (".arrow", ".feather"):
            frame.write_ipc(part)
        elif extension == ".jsonl":
            frame.write_ndjson(part, compression=compression, check_extension=False)
        else:
            _numbers(frame).write_csv(
                part,
                separator=_SEPARATORS[extension],
                compression=compression,
                check_extension=False,
                null_value=_missing(frame),
            )

    write_atomically(path, write)


def as_csv(frame: pl.DataFrame) -> str:
    """A table of Booleans as CSV text, as ``write_table`` writes it."""
    return _numbers(frame).write_csv(null_value=_missing(frame))


def table_extension(path: StrPath) -> tuple[str, Compression]:
    """How a table is written: by extension, and compressed if another one follows."""
    name = Path(path).name.lower()
    for extension in _EXTENSIONS:
        if name.endswith(extension):
            return extension, "uncompressed"
        if extension in (*_SEPARATORS, ".jsonl"):
            for ending, compression in _COMPRESSIONS.items():
                if name.endswith(extension + ending):
                    return extension, compression
    raise InputError(
        f"{path}: not a known kind of table; the name must end in {', '.join(_EXTENSIONS)} "
        "(text also in .gz or .zst after that)"
    )


def _numbers(frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return frame.with_columns(pl.selectors.boolean().cast(pl.UInt8))


def _missing(frame: pl.DataFrame) -> str:
    """What stands for a missing cell: in a single column, not a blank line, which readers skip."""
    return '""' if frame.width == 1 else ""
