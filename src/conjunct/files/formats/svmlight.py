"""SVMlight (LIBSVM), read by scikit-learn: ``label index:value …`` a line."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from conjunct.errors import InputError
from conjunct.files.formats.base import (
    FORMATS,
    AsText,
    Compression,
    Format,
    ReadOptions,
    Scan,
    TableFormat,
)
from conjunct.files.raw import compression, line_batches, refuse_dense, text_lines
from conjunct.files.tags import NumbersError, TagBatch

_BATCH_BYTES = 1 << 25
# a part of a file does not say how many columns there are
_MOST_COLUMNS = (1 << 31) - 1


class Numbers(TableFormat):
    """A file with other values than 0 and 1, zero where none is given."""

    name = "svmlight"

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        matrix = sp.vstack([part for part, _ in _parts(file)], format="csr")
        # columns may be called by numbers of any size: only those that occur take up memory
        used, positions = np.unique(matrix.indices, return_inverse=True)
        shape = (matrix.shape[0], len(used))
        refuse_dense(file, *shape)
        columns = sp.csr_matrix((matrix.data, positions, matrix.indptr), shape).tocsc()
        frame = pl.DataFrame({str(k): columns[:, [j]].toarray()[:, 0] for j, k in enumerate(used)})
        yield Scan(frame.lazy(), frame.columns, shape[0])

    def completed(self, scan: Scan, wanted: Iterable[str]) -> Scan:
        import polars as pl

        zeros = np.zeros(scan.n_rows or 0)
        there = scan.frame.collect().to_dict()
        absent = [name for name in wanted if name not in there and name.isdecimal()]
        frame = pl.DataFrame(there | dict.fromkeys(absent, zeros))
        return replace(scan, frame=frame.lazy(), names=frame.columns)


class Svmlight(Format):
    """Columns are called by their numbers in the file, and are tags if all values are 0 or 1.

    Labels are left aside. What is written has labels of 0 and counts columns from 0.
    """

    name = "svmlight"
    summary = "the numbers of the columns that are true, a row a line"
    extensions = (".svmlight", ".svm", ".libsvm")
    rank = 80
    needs = "a row a line"
    no_tags = "holds no value other than zero"
    numbers = Numbers()
    writes = "matrices"

    def tag_batches(self, file: Path, options: ReadOptions) -> Iterator[TagBatch]:
        n_rows = 0
        for part, share in _parts(file):
            if not (part.data[part.data != 0] == 1).all():
                raise NumbersError(
                    f"{file} holds other values than 0 and 1: such a file is read as a whole only"
                )
            n_rows += part.shape[0]
            rows, columns = part.nonzero()
            tags = [str(k) for k in columns]
            yield TagBatch(part.shape[0], rows.astype(np.int64), tags, [], round(n_rows / share))
        if not n_rows:
            raise InputError(f"{file} has no rows")

    def write(self, file: IO[bytes], data: sp.csr_array[Any], compression: Compression) -> None:
        # not by scikit-learn, which takes 2³¹ ones at most
        for start, stop in pairwise(data.indptr.tolist()):
            ones = "".join(f" {k}:1" for k in data.indices[start:stop].tolist())
            file.write(f"0{ones}\n".encode())


def _parts(file: Path) -> Iterator[tuple[Any, float]]:
    """Sparse matrices of successive rows, and what share of the file has been read."""
    if compression(file) is not None:
        for lines in line_batches(file):
            yield _loaded(file, "\n".join(lines).encode(), n_features=_MOST_COLUMNS), 1.0
        return
    size = file.stat().st_size
    for start in range(0, size, _BATCH_BYTES):
        part = _loaded(file, offset=start, length=_BATCH_BYTES, n_features=_MOST_COLUMNS)
        yield part, min(1.0, (start + _BATCH_BYTES) / size)


def _loaded(file: Path, content: bytes | None = None, **part: int) -> Any:
    from sklearn.datasets import load_svmlight_file

    source = file if content is None else io.BytesIO(content)
    try:
        # columns keep the numbers of the file, whether those start at 0 or at 1
        return load_svmlight_file(source, zero_based=True, multilabel=True, **part)[0]
    except (ValueError, OverflowError) as error:
        raise _explained(file, error) from None


def _explained(file: Path, error: Exception) -> InputError:
    from sklearn.datasets import load_svmlight_file

    for number, line in enumerate(text_lines(file), start=1):
        try:
            load_svmlight_file(io.BytesIO(line.encode()), zero_based=True, multilabel=True)
        except (ValueError, OverflowError) as bad:
            return InputError(f"{file}, line {number}: not a row of SVMlight ({bad})")
    return InputError(f"{file} cannot be read: {error}")


FORMATS.enter(Svmlight())
