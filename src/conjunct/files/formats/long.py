"""Long tables: one row per individual and tag."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from conjunct.data import BLANKS, BooleanData, Ids
from conjunct.errors import InputError
from conjunct.files.choosing import format_of
from conjunct.files.formats.base import FORMATS, Format, ReadOptions, TableFormat, spelled_ids
from conjunct.files.raw import Progress, StrPath
from conjunct.files.tags import TagBatch, TagPacker


class Long(Format):
    """Any table with a column of ids and one of tags; only by name, since none looks like it."""

    name = "long"
    summary = "one tag a line, beside the id of its row"
    rank = 1000

    def check(self, path: StrPath, options: ReadOptions) -> None:
        kind = format_of(path)
        if not isinstance(kind, TableFormat):
            raise InputError(f"{path}: {kind.name} has no columns to take tags from")

    def table(self, path: StrPath) -> TableFormat:
        return format_of(path).table(path)

    def remark(self, file: Path, options: ReadOptions) -> str | None:
        return self.table(file).remark(file, options)

    def tag_batches(self, file: Path, options: ReadOptions) -> Iterator[TagBatch]:
        raise InputError(
            f"{file}: the rows of a long table lie apart, and so it is read as a whole only; "
            "write it with one row per individual first"
        )

    def tags(self, file: Path, options: ReadOptions, progress: Progress | None) -> BooleanData:
        """Individuals in the order in which they first come."""
        import polars as pl

        wide = self.table(file)
        scan, batches = wide.text_batches(file, options)
        names = scan.names
        if len(names) < 2:
            raise InputError(
                f"{file} has one column: a long table needs one of ids and one of tags"
            )
        id_name, tag_name = options.id, options.tags
        if id_name is None:
            id_name = next(name for name in names if name != tag_name)
        if tag_name is None:
            tag_name = next(name for name in names if name != id_name)
        packer, row_of = TagPacker(), dict[str, int]()
        n_read = 0
        for batch in batches:
            ids, tags = batch.get_column(id_name), batch.get_column(tag_name)
            for column in (ids, tags):
                blank = column.cast(pl.String).str.strip_chars(BLANKS).fill_null("") == ""
                if blank.any():
                    place = wide.place(file, options, n_read + int(blank.arg_max() or 0))
                    where = f"{file}, {place}, column {column.name!r}"
                    raise InputError(f"{where}: the cell has no value")
            rows = [row_of.setdefault(key, len(row_of)) for key in spelled_ids(ids)]
            packer.add(np.array(rows, np.int64), [str(tag).strip() for tag in tags])
            n_read += len(rows)
            if progress is not None:
                progress(n_read, scan.n_rows)
        if not n_read:
            raise InputError(f"{file} has column names but no rows")
        return packer.table(len(row_of), Ids(id_name, tuple(row_of)))


FORMATS.enter(Long())
