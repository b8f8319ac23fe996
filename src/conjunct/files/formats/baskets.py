"""Baskets: the tags of one row a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conjunct.errors import InputError
from conjunct.files.formats.base import FORMATS, Format, ReadOptions
from conjunct.files.raw import StrPath, about_rows, line_batches
from conjunct.files.tags import BadCellError, TagBatch, pairs_of, splitter


class Baskets(Format):
    """One transaction a line; a blank line is an empty one."""

    name = "baskets"
    summary = "one transaction a line"
    extensions = (".dat", ".basket")
    rank = 70
    needs = "a transaction a line"

    def check(self, path: StrPath, options: ReadOptions) -> None:
        super().check(path, options)
        if options.id is not None:
            raise InputError(f"{path}: baskets have no column {options.id!r}")

    def tag_batches(self, file: Path, options: ReadOptions) -> Iterator[TagBatch]:
        n_rows, split, expected = 0, None, None
        for batch in line_batches(file):
            if split is None:
                split = splitter(batch, options.tag_separator or options.separator) or str.split
                expected = about_rows(file, len(batch), sum(len(x.encode()) + 1 for x in batch))
            try:
                pairs = pairs_of(batch, split)
            except BadCellError as bad:
                line = n_rows + bad.row + 1
                raise InputError(f"{file}, line {line}: not a list of tags ({bad})") from None
            yield TagBatch(len(batch), *pairs, [], expected)
            n_rows += len(batch)


FORMATS.enter(Baskets())
