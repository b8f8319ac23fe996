"""Which files can be read, and by what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conjunct.errors import InputError
from conjunct.io.arff import Arff
from conjunct.io.columnar import Arrow, JsonLines, Parquet
from conjunct.io.delimited import Delimited
from conjunct.io.files import StrPath
from conjunct.io.wide import WideFormat

_COMPRESSED = ("", ".gz", ".zst")


@dataclass(frozen=True)
class Format:
    """A kind of file: a wide table, or one of tags if ``wide`` is None."""

    name: str
    extensions: tuple[str, ...]
    wide: WideFormat | None = None
    is_text: bool = True

    def endings(self) -> Iterator[str]:
        for extension in self.extensions:
            for compressed in _COMPRESSED if self.is_text else ("",):
                yield extension + compressed


FORMATS = (
    Format("csv", (".csv",), Delimited(",")),
    Format("tsv", (".tsv", ".tab"), Delimited("\t")),
    Format("parquet", (".parquet",), Parquet(), is_text=False),
    Format("arrow", (".arrow", ".feather", ".ipc"), Arrow(), is_text=False),
    Format("jsonl", (".jsonl", ".ndjson"), JsonLines()),
    Format("arff", (".arff",), Arff()),
    Format("baskets", (".dat", ".basket")),
    Format("svmlight", (".svmlight", ".svm", ".libsvm")),
)
LONG = "long"
"""Any wide table with one row per individual and tag."""

NAMES = (*(kind.name for kind in FORMATS), LONG)


def format_of(path: StrPath, name: str | None = None) -> Format:
    """The format called ``name``, or the one that the name of the file ends in."""
    if name is not None and name != LONG:
        for kind in FORMATS:
            if kind.name == name:
                return kind
        raise InputError(f"format must be one of {', '.join(NAMES)}; got {name!r}")
    file = Path(path).name.lower()
    for kind in FORMATS:
        if file.endswith(tuple(kind.endings())):
            return kind
    extensions = ", ".join(extension for kind in FORMATS for extension in kind.extensions)
    raise InputError(
        f"{path}: not a known kind of table; the name must end in {extensions} "
        "(text also in .gz or .zst after that), or the format be given"
    )


def wide_format_of(path: StrPath, name: str | None = None) -> WideFormat:
    """The format of a file that must hold a wide table."""
    kind = format_of(path, name)
    if kind.wide is None:
        raise InputError(f"{path}: {kind.name} is not a table with columns")
    return kind.wide
