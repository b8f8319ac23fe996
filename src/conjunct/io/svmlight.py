"""SVMlight (LIBSVM), read by scikit-learn: ``label index:value …`` a line."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from conjunct.binarize.table import BooleanTable
from conjunct.errors import InputError
from conjunct.io.baskets import TagBatch
from conjunct.io.files import Progress, compression, line_batches, refuse_dense, text_lines
from conjunct.io.incidence import TagPacker

if TYPE_CHECKING:
    import polars as pl

_BATCH_BYTES = 1 << 25
# a part of a file does not say how many columns there are
_MOST_COLUMNS = (1 << 31) - 1


def read_svmlight(
    file: Path, numbers: Collection[str] | None, progress: Progress | None
) -> BooleanTable | pl.DataFrame:
    """Columns called by their numbers in the file; labels are left aside.

    A Boolean table if every value is 0 or 1, else a table of numbers, zero where none is given.
    ``numbers`` are columns that a model takes as numbers, whatever they are in this file.
    """
    if numbers is not None:
        return _frame(file, numbers)
    packer, n_rows = TagPacker(), 0
    for batch in svmlight_batches(file):
        if batch is None:
            return _frame(file, ())
        if batch.tags:
            packer.add(batch.rows + n_rows, batch.tags)
        n_rows += batch.n_rows
        if progress is not None:
            progress(n_rows, batch.expected)
    if not n_rows:
        raise InputError(f"{file} has no rows")
    table = packer.table(n_rows)
    if not table.names:
        raise InputError(f"{file} holds no value other than zero")
    return table


def svmlight_batches(file: Path) -> Iterator[TagBatch | None]:
    """The columns that are 1 in each row; None for rows with other values than 0 and 1."""
    n_rows = 0
    for part, share in _parts(file):
        if not (part.data[part.data != 0] == 1).all():
            yield None
            return
        n_rows += part.shape[0]
        rows, columns = part.nonzero()
        tags = [str(k) for k in columns]
        yield TagBatch(part.shape[0], rows.astype(np.int64), tags, [], round(n_rows / share))


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


def _frame(file: Path, wanted: Collection[str]) -> pl.DataFrame:
    import polars as pl

    matrix = sp.vstack([part for part, _ in _parts(file)], format="csr")
    # columns may be called by numbers of any size: only those that occur take up memory
    used, positions = np.unique(matrix.indices, return_inverse=True)
    refuse_dense(file, matrix.shape[0], len(used))
    shape = (matrix.shape[0], len(used))
    columns = sp.csr_matrix((matrix.data, positions, matrix.indptr), shape).tocsc()
    there = {str(k): columns[:, [j]].toarray()[:, 0] for j, k in enumerate(used)}
    zeros = np.zeros(matrix.shape[0])
    return pl.DataFrame(there | {name: zeros for name in wanted if name not in there})
