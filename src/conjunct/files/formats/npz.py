"""SciPy's .npz: a sparse matrix, which is written only."""

from __future__ import annotations

from typing import IO, Any

import scipy.sparse as sp

from conjunct.files.formats.base import FORMATS, Compression, Format


class Npz(Format):
    name = "npz"
    summary = "a sparse matrix of scipy"
    extensions = (".npz",)
    rank = 90
    is_text = False
    is_read = False
    writes = "matrices"

    def write(self, file: IO[bytes], data: sp.csr_array[Any], compression: Compression) -> None:
        sp.save_npz(file, data)


FORMATS.enter(Npz())
