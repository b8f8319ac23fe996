"""JSON: one object a line, or a list of objects."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec

from conjunct.errors import InputError
from conjunct.files.formats.base import FORMATS, AsText, Compression, ReadOptions, Scan, TableFormat
from conjunct.files.formats.columnar import scan_of
from conjunct.files.raw import about_rows, opened, reason, refuse_dense, text_lines

if TYPE_CHECKING:
    import polars as pl

# each line may bring a key of its own, which all others then lack
_MANY_COLUMNS = 10_000


class JsonLines(TableFormat):
    """One JSON object a line; a key that a line lacks is missing there."""

    name = "jsonl"
    summary = "one object of JSON a line"
    extensions = (".jsonl", ".ndjson")
    rank = 50
    writes = "tables"
    holds_lists = True

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        # all lines say what the columns are: a key may come late
        frame = pl.scan_ndjson(file, infer_schema_length=None)
        schema = frame.collect_schema()
        n_columns = len(schema)
        words = {
            name: pl.String for name in schema if as_text(name) and not schema[name].is_nested()
        }
        if words:
            frame = pl.scan_ndjson(file, infer_schema_length=None, schema_overrides=words)
        if n_columns > _MANY_COLUMNS:
            refuse_dense(file, sum(1 for _ in text_lines(file)), n_columns)
        start = "".join(line for line, _ in zip(text_lines(file), range(1000), strict=False))
        yield scan_of(file, frame, about_rows(file, start.count("\n") or 1, len(start.encode())))

    def completed(self, scan: Scan, wanted: Iterable[str]) -> Scan:
        return _completed(scan, wanted)

    def explain(self, file: Path, options: ReadOptions, error: BaseException) -> InputError:
        decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
        for number, line in enumerate(text_lines(file), start=1):
            if not line.strip():
                continue
            try:
                decoder.decode(line)
            except (msgspec.MsgspecError, RecursionError) as bad:
                return InputError(f"{file}, line {number}: not a JSON object ({bad})")
        return super().explain(file, options, error)

    def place(self, file: Path, options: ReadOptions, row: int) -> str:
        for number, line in enumerate(text_lines(file), start=1):
            row -= bool(line.strip())
            if row < 0:
                return f"line {number}"
        return super().place(file, options, row)

    def write(self, file: IO[bytes], data: pl.DataFrame, compression: Compression) -> None:
        data.write_ndjson(file, compression=compression, check_extension=False)


class Json(TableFormat):
    """A JSON list of objects, read as a whole; a key that an object lacks is missing there."""

    name = "json"
    summary = "a list of objects of JSON"
    extensions = (".json",)
    rank = 55
    needs = "a list of objects: [{…}, {…}]"

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        with opened(file) as content:
            text = content.read().removeprefix(codecs.BOM_UTF8)
        try:
            rows = msgspec.json.decode(text, type=list[dict[str, msgspec.Raw]])
        except (msgspec.MsgspecError, RecursionError) as error:
            raise InputError(f"{file} is not a JSON list of objects: {reason(error)}") from None
        n_columns = len({name for row in rows for name in row})
        if not n_columns:
            raise InputError(f"{file} has no columns")
        if n_columns > _MANY_COLUMNS:
            refuse_dense(file, len(rows), n_columns)
        frame = pl.read_json(io.BytesIO(text), infer_schema_length=None)
        yield scan_of(file, frame.lazy(), len(rows))

    def completed(self, scan: Scan, wanted: Iterable[str]) -> Scan:
        return _completed(scan, wanted)


def _completed(scan: Scan, wanted: Iterable[str]) -> Scan:
    import polars as pl

    absent = [name for name in wanted if name not in scan.names]
    if not absent or set(scan.names).isdisjoint(wanted):
        return scan
    frame = scan.frame.with_columns(pl.lit(None, pl.String).alias(name) for name in absent)
    return replace(scan, frame=frame, names=[*scan.names, *absent])


FORMATS.enter(Json())
FORMATS.enter(JsonLines())
