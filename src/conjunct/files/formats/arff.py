"""ARFF, dense and sparse. SciPy reads the dense kind only, and no strings."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from conjunct.errors import CellError, InputError
from conjunct.files.formats.base import FORMATS, AsText, ReadOptions, Scan, TableFormat
from conjunct.files.raw import BATCH_ROWS, refuse_dense, refuse_zero_bytes, text_lines

if TYPE_CHECKING:
    import polars as pl

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|\S+)\s+(.+)", re.IGNORECASE)
_SPARSE_CELL = re.compile(rf"\s*(\d+)\s+({_QUOTED}|[^,'\"\s]+)\s*(?:,|$)")
_NUMBERS = ("numeric", "real", "integer")


@dataclass(frozen=True)
class Attribute:
    """A column: ``values`` are those a nominal attribute may have, in the order declared."""

    name: str
    kind: str
    values: tuple[str, ...] = ()

    @property
    def default(self) -> str:
        """What a sparse row that does not mention the attribute holds: zero, or the first value."""
        return self.values[0] if self.values else "0"


class Arff(TableFormat):
    """A header of attributes, then rows of values, or of the values that are not zero."""

    name = "arff"
    summary = "a table of Weka"
    extensions = (".arff",)
    rank = 60
    # dates are declared in many formats; those that look like dates of other files are read
    holds_text = True

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        attributes = _attributes(file)
        names = [attribute.name for attribute in attributes]
        # before any row is written out: those of a sparse file may say next to nothing
        refuse_dense(file, sum(1 for _ in _data(file)), len(names))
        parts: list[pl.DataFrame] = []
        rows = _rows(file, attributes)
        while batch := list(islice(rows, BATCH_ROWS)):
            columns = {}
            for attribute, *cells in zip(attributes, *batch, strict=True):
                try:
                    columns[attribute.name] = _series(attribute, cells)
                except CellError as error:
                    place = self.place(file, options, BATCH_ROWS * len(parts) + error.row)
                    raise InputError(
                        f"{file}, {place}, column {error.column!r}: {error.problem}"
                    ) from None
            parts.append(pl.DataFrame(columns))
        if not parts:
            raise InputError(f"{file} has attributes but no rows")
        frame = pl.concat(parts)
        yield Scan(frame.lazy(), names, frame.height)

    def place(self, file: Path, options: ReadOptions, row: int) -> str:
        for number, _ in _data(file):
            row -= 1
            if row < 0:
                return f"line {number}"
        return super().place(file, options, row)


def _attributes(file: Path) -> list[Attribute]:
    attributes: dict[str, Attribute] = {}
    for number, line in enumerate(text_lines(file), start=1):
        refuse_zero_bytes(file, number, line)
        text = line.strip()
        if text.lower().startswith("@data"):
            if not attributes:
                raise InputError(f"{file}, line {number}: no @attribute before @data")
            return list(attributes.values())
        if text.lower().startswith("@attribute"):
            try:
                attribute = _attribute(text)
            except csv.Error:
                attribute = None
            if attribute is None:
                raise InputError(f"{file}, line {number}: not an attribute: {text[:60]!r}")
            if attribute.name in attributes:
                raise InputError(
                    f"{file}, line {number}: two attributes are called {attribute.name!r}"
                )
            attributes[attribute.name] = attribute
        elif text and not text.startswith("%") and not text.lower().startswith("@relation"):
            raise InputError(f"{file}, line {number}: expected @attribute or @data: {text[:60]!r}")
    raise InputError(f"{file} has no @data: not a whole ARFF file")


def _attribute(text: str) -> Attribute | None:
    found = _ATTRIBUTE.fullmatch(text)
    if found is None:
        return None
    name, kind = _unquoted(found[1]), found[2].strip()
    if kind.startswith("{") and kind.endswith("}"):
        return Attribute(name, "nominal", tuple(_cells(kind[1:-1])))
    word = kind.split()[0].lower()
    return Attribute(name, word) if word in (*_NUMBERS, "string", "date") else None


def _data(file: Path) -> Iterator[tuple[int, str]]:
    """The lines of the data section that hold rows."""
    inside = False
    for number, line in enumerate(text_lines(file), start=1):
        text = line.strip()
        if inside and text and not text.startswith("%"):
            refuse_zero_bytes(file, number, text)
            yield number, text
        inside = inside or text.lower().startswith("@data")


def _rows(file: Path, attributes: Sequence[Attribute]) -> Iterator[list[str | None]]:
    allowed = [frozenset(attribute.values) for attribute in attributes]
    for number, text in _data(file):
        try:
            row = _sparse(text, attributes) if text.startswith("{") else _dense(text, attributes)
        except (csv.Error, ValueError) as error:
            raise InputError(f"{file}, line {number}: {error}") from None
        for value, attribute, values in zip(row, attributes, allowed, strict=True):
            if value is not None and values and value not in values:
                raise InputError(
                    f"{file}, line {number}, column {attribute.name!r}: "
                    f"{value!r} is not one of its declared values"
                )
        yield row


def _dense(text: str, attributes: Sequence[Attribute]) -> list[str | None]:
    cells = _cells(text)
    if len(cells) != len(attributes):
        raise ValueError(f"{len(cells)} values where the header has {len(attributes)} attributes")
    return [None if cell == "?" else cell for cell in cells]


def _sparse(text: str, attributes: Sequence[Attribute]) -> list[str | None]:
    if not text.endswith("}"):
        raise ValueError("a sparse row without its closing brace")
    row: list[str | None] = [attribute.default for attribute in attributes]
    inner, position = text[1:-1].strip(), 0
    while position < len(inner):
        found = _SPARSE_CELL.match(inner, position)
        if found is None:
            raise ValueError(f"not a number and a value: {inner[position:][:40]!r}")
        index, value = int(found[1]), _unquoted(found[2])
        if index >= len(attributes):
            raise ValueError(f"there is no attribute {index}: they are counted from 0")
        row[index] = None if found[2] == "?" else value
        position = found.end()
    return row


def _cells(text: str) -> list[str]:
    quote = '"' if text.count('"') > text.count("'") else "'"
    cells = next(
        csv.reader([text], quotechar=quote, escapechar="\\", skipinitialspace=True, strict=True)
    )
    return [cell.strip() for cell in cells]


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _series(attribute: Attribute, cells: list[str | None]) -> pl.Series:
    import polars as pl

    text = pl.Series(attribute.name, cells, pl.String)
    if set(attribute.values) == {"0", "1"}:
        return text == "1"
    if attribute.values:
        return text.cast(pl.Enum(list(dict.fromkeys(attribute.values))))
    if attribute.kind not in _NUMBERS:
        return text
    numbers = text.cast(pl.Float64, strict=False)
    if numbers.null_count() > text.null_count():
        bad = (numbers.is_null() & text.is_not_null()).arg_max() or 0
        problem = f"{cells[bad]!r} is not a number"
        raise CellError(attribute.name, bad, cells[bad], problem, "correct it")
    return numbers


FORMATS.enter(Arff())
