"""Tables of Booleans as sparse files, where most cells are false: SciPy's .npz, and SVMlight."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conjunct.binarize.table import BooleanTable
from conjunct.errors import InputError
from conjunct.io.atomic import write_atomically
from conjunct.io.files import StrPath
from conjunct.stores import SparseStore

NPZ = ".npz"
SPARSE_EXTENSIONS = (NPZ, ".svmlight", ".svm", ".libsvm")


def is_sparse_file(path: StrPath) -> bool:
    """Whether the name of a file asks for a sparse matrix."""
    return Path(path).suffix.lower() in SPARSE_EXTENSIONS


def write_sparse(path: StrPath, table: BooleanTable) -> None:
    """Write a table as a sparse matrix, whole or not at all; columns are known by their numbers.

    In SVMlight they count from 0, and every label is 0.
    """
    if table.n_missing:
        raise InputError(f"{path}: a sparse file has no missing cells: write .csv or .parquet")
    if table.ids is not None:
        raise InputError(f"{path}: a sparse file has no ids: leave --id out, or write .parquet")
    matrix = _matrix(table)

    def write(part: Path) -> None:
        with part.open("wb") as file:
            if Path(path).suffix.lower() == NPZ:
                sp.save_npz(file, matrix)
                return
            # not by scikit-learn, which takes 2³¹ ones at most
            for start, stop in pairwise(matrix.indptr.tolist()):
                ones = "".join(f" {k}:1" for k in matrix.indices[start:stop].tolist())
                file.write(f"0{ones}\n".encode())

    write_atomically(path, write)


def _matrix(table: BooleanTable) -> sp.csr_array[Any]:
    store = table.values
    rows: list[NDArray[Any]]
    if isinstance(store, SparseStore):
        rows = [*store.lines]
    else:
        rows = [np.flatnonzero(table.column(k)[0]) for k in range(len(table.names))]
    starts = np.cumsum([0, *map(len, rows)])
    indices = np.concatenate(rows) if rows else np.empty(0, np.intp)
    ones = np.ones(len(indices), np.bool_)
    return sp.csc_array((ones, indices, starts), shape=table.shape).tocsr()
