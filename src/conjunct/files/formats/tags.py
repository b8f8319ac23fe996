"""Files of tags: baskets, SVMlight and long tables."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from conjunct.data import BLANKS, BooleanData, Ids
from conjunct.errors import InputError
from conjunct.files.cells import (
    BadCellError,
    NumbersError,
    TagBatch,
    TagPacker,
    find_splitter,
    split_cells,
)
from conjunct.files.formats.base import (
    FORMATS,
    AsText,
    Compression,
    Format,
    ReadOptions,
    Scan,
    TableFormat,
    find_format,
    refuse_parts,
    spell_ids,
)
from conjunct.files.raw import (
    Progress,
    StrPath,
    estimate_rows,
    line_batches,
    refuse_dense,
    text_file,
    text_lines,
)

_SVMLIGHT_BYTES = 1 << 25

# parts of a file do not show the total number of columns
_MOST_COLUMNS = (1 << 31) - 1


class Baskets(Format):
    """One transaction per line. A blank line is an empty transaction."""

    name = "baskets"
    summary = "one transaction per line"
    extensions = (".dat", ".basket")
    rank = 70
    needs = "one transaction per line"

    def check(self, path: StrPath, options: ReadOptions) -> None:
        super().check(path, options)
        if options.id is not None:
            raise InputError(f"{path}: baskets have no column {options.id!r}")

    def tag_batches(self, file: Path, options: ReadOptions) -> Iterator[TagBatch]:
        n_rows, split, expected = 0, None, None
        for batch in line_batches(file):
            if split is None:
                separator = options.tag_separator or options.separator
                split = find_splitter(batch, separator, str.split)
                expected = estimate_rows(file, len(batch), sum(len(x.encode()) + 1 for x in batch))
            try:
                pairs = split_cells(batch, split)
            except BadCellError as bad:
                line = n_rows + bad.row + 1
                raise InputError(f"{file}, line {line}: not a list of tags ({bad})") from None
            yield TagBatch(len(batch), *pairs, [], expected)
            n_rows += len(batch)


class Numbers(TableFormat):
    """A sparse file with values other than 0 and 1."""

    name = "svmlight"

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        matrix = sp.vstack([part for part, _ in _read_parts(file)], format="csr")
        # column numbers may be of any size: keep only columns that occur
        used, positions = np.unique(matrix.indices, return_inverse=True)
        shape = (matrix.shape[0], len(used))
        refuse_dense(file, *shape)
        columns = sp.csr_matrix((matrix.data, positions, matrix.indptr), shape).tocsc()
        frame = pl.DataFrame({str(k): columns[:, [j]].toarray()[:, 0] for j, k in enumerate(used)})
        yield Scan(frame.lazy(), frame.columns, shape[0])

    def complete(self, scan: Scan, wanted: Iterable[str]) -> Scan:
        import polars as pl

        zeros = np.zeros(scan.n_rows or 0)
        there = scan.frame.collect().to_dict()
        absent = [name for name in wanted if name not in there and name.isdecimal()]
        frame = pl.DataFrame(there | dict.fromkeys(absent, zeros))
        return replace(scan, frame=frame.lazy(), names=frame.columns)


class Svmlight(Format):
    """Columns named by their numbers in the file, which are tags if all values are 0 or 1.

    Labels are ignored. Written files have labels of 0, and columns numbered from 0.
    """

    name = "svmlight"
    summary = "one row per line: the numbers of its true columns"
    extensions = (".svmlight", ".svm", ".libsvm")
    rank = 80
    needs = "one row per line"
    no_tags = "contains no values other than zero"
    numbers = Numbers()
    writes = "matrices"

    def tag_batches(self, file: Path, options: ReadOptions) -> Iterator[TagBatch]:
        n_rows = 0
        for part, share in _read_parts(file):
            if not (part.data[part.data != 0] == 1).all():
                raise NumbersError(
                    f"{file} contains values other than 0 and 1, so it cannot be read in batches"
                )
            n_rows += part.shape[0]
            rows, columns = part.nonzero()
            tags = [str(k) for k in columns]
            yield TagBatch(part.shape[0], rows.astype(np.int64), tags, [], round(n_rows / share))
        if not n_rows:
            raise InputError(f"{file} has no rows")

    def write(self, file: IO[bytes], data: sp.csr_array[Any], compression: Compression) -> None:
        # scikit-learn writes at most 2³¹ ones
        for start, stop in pairwise(data.indptr.tolist()):
            ones = "".join(f" {k}:1" for k in data.indices[start:stop].tolist())
            file.write(f"0{ones}\n".encode())


def _read_parts(file: Path) -> Iterator[tuple[Any, float]]:
    """Yield sparse matrices of successive rows, and the share of the file read so far."""
    from sklearn.datasets import load_svmlight_file

    plain = text_file(file)
    size = plain.stat().st_size
    for start in range(0, size, _SVMLIGHT_BYTES):
        try:
            # columns keep their numbers, which may start at 0 or 1
            part, _ = load_svmlight_file(
                str(plain),
                zero_based=True,
                multilabel=True,
                n_features=_MOST_COLUMNS,
                offset=start,
                length=_SVMLIGHT_BYTES,
            )
        except (ValueError, OverflowError) as error:
            for number, line in enumerate(text_lines(file), start=1):
                try:
                    load_svmlight_file(io.BytesIO(line.encode()), zero_based=True, multilabel=True)
                except (ValueError, OverflowError) as bad:
                    where = f"{file}, line {number}"
                    raise InputError(f"{where}: not a row of SVMlight ({bad})") from None
            raise InputError(f"{file} cannot be read: {error}") from None
        yield part, min(1.0, (start + _SVMLIGHT_BYTES) / size)


class Long(Format):
    """Any table with a column of ids and a column of tags. Only ``format=`` selects it."""

    name = "long"
    summary = "one tag per line, with the id of its row"
    rank = 1000

    def check(self, path: StrPath, options: ReadOptions) -> None:
        kind = find_format(path)
        if not isinstance(kind, TableFormat):
            raise InputError(f"{path}: {kind.name} files have no column of tags")
        refuse_parts(path, kind, options)

    def table(self, path: StrPath) -> TableFormat:
        return find_format(path).table(path)

    def remarks(self, file: Path, options: ReadOptions) -> Iterator[str]:
        return self.table(file).remarks(file, options)

    def tag_batches(self, file: Path, options: ReadOptions) -> Iterator[TagBatch]:
        raise InputError(
            f"{file}: a long table cannot be read in batches, because the tags of a row may be on "
            "any lines; write one line per row first"
        )

    def tags(self, file: Path, options: ReadOptions, progress: Progress | None) -> BooleanData:
        """Return the tags of all rows, in the order in which their ids first occur."""
        import polars as pl

        wide = self.table(file)
        scan, batches = wide.text_batches(file, options)
        if len(scan.names) < 2:
            raise InputError(
                f"{file} has one column: a long table needs a column of ids and a column of tags"
            )
        id_name, tag_name = options.id, options.tags
        if id_name is None:
            id_name = next(name for name in scan.names if name != tag_name)
        if tag_name is None:
            tag_name = next(name for name in scan.names if name != id_name)
        packer, row_of = TagPacker(), dict[str, int]()
        n_read = 0
        for batch in batches:
            ids, tags = batch.get_column(id_name), batch.get_column(tag_name)
            for column in (ids, tags):
                blank = column.cast(pl.String).str.strip_chars(BLANKS).fill_null("") == ""
                if blank.any():
                    row = n_read + int(blank.arg_max() or 0)
                    raise wide.error_at(file, options, row, column.name, "the cell has no value")
            rows = [row_of.setdefault(key, len(row_of)) for key in spell_ids(ids)]
            packer.add(np.array(rows, np.int64), [str(tag).strip() for tag in tags])
            n_read += len(rows)
            if progress is not None:
                progress(n_read, scan.n_rows)
        if not n_read:
            raise InputError(f"{file} has column names but no rows")
        return packer.table(len(row_of), Ids(id_name, tuple(row_of)))


for kind in (Baskets, Svmlight, Long):
    FORMATS.enter(kind())
