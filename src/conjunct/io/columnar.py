"""Parquet, Arrow (Feather) and JSON lines: files that say what their columns are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from conjunct.errors import InputError
from conjunct.io.files import about_rows, reason, refuse_dense, text_lines
from conjunct.io.wide import AsText, ReadOptions, Scan, WideFormat, nothing

if TYPE_CHECKING:
    import polars as pl


# each line may bring a key of its own, which all others then lack
_MANY_COLUMNS = 10_000


class Parquet(WideFormat):
    counts_rows = True

    def scans(self, file: Path, options: ReadOptions, as_text: AsText = nothing) -> Iterator[Scan]:
        import polars as pl

        frame = pl.scan_parquet(file, glob=False)
        n_rows = frame.select(pl.len()).collect().item()
        yield _scan(file, frame, n_rows)

    def explain(self, file: Path, options: ReadOptions, error: BaseException) -> InputError:
        return InputError(f"{file} is not a readable Parquet file: {reason(error)}")


class Arrow(WideFormat):
    """Arrow's file format, which is Feather's too, or its stream format."""

    counts_rows = True

    def scans(self, file: Path, options: ReadOptions, as_text: AsText = nothing) -> Iterator[Scan]:
        import polars as pl

        with file.open("rb") as opened:
            is_file = opened.read(6) == b"ARROW1"
        frame = pl.scan_ipc(file, glob=False) if is_file else pl.read_ipc_stream(file).lazy()
        yield _scan(file, frame, frame.select(pl.len()).collect().item())

    def explain(self, file: Path, options: ReadOptions, error: BaseException) -> InputError:
        return InputError(f"{file} is not a readable Arrow file: {reason(error)}")


class JsonLines(WideFormat):
    """One JSON object a line; a key that a line lacks is missing there."""

    def scans(self, file: Path, options: ReadOptions, as_text: AsText = nothing) -> Iterator[Scan]:
        import polars as pl

        # all lines say what the columns are: a key may come late
        frame = pl.scan_ndjson(file, infer_schema_length=None)
        schema = frame.collect_schema()
        n_columns = len(schema)
        words = {name: pl.String for name in schema if as_text(name) and _is_cell(schema[name])}
        if words:
            frame = pl.scan_ndjson(file, infer_schema_length=None, schema_overrides=words)
        if n_columns > _MANY_COLUMNS:
            refuse_dense(file, sum(1 for _ in text_lines(file)), n_columns)
        start = "".join(line for line, _ in zip(text_lines(file), range(1000), strict=False))
        yield _scan(file, frame, about_rows(file, start.count("\n") or 1, len(start.encode())))

    def completed(self, scan: Scan, wanted: Iterable[str]) -> Scan:
        import polars as pl

        absent = [name for name in wanted if name not in scan.names]
        if not absent or set(scan.names).isdisjoint(wanted):
            return scan
        frame = scan.frame.with_columns(pl.lit(None, pl.String).alias(name) for name in absent)
        return replace(scan, frame=frame, names=[*scan.names, *absent])

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


def _is_cell(kind: pl.DataType) -> bool:
    return not kind.is_nested()


def _scan(file: Path, frame: pl.LazyFrame, n_rows: int | None) -> Scan:
    names = frame.collect_schema().names()
    if not names:
        raise InputError(f"{file} has no columns")
    return Scan(frame, names, n_rows)
