"""Columns on disk, in pages of rows: for tables that memory does not hold."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from conjunct.columns import Arrays, Columns


@dataclass(frozen=True)
class Page:
    """Where some arrays stand in a scratch file, one after the other."""

    start: int
    arrays: tuple[tuple[np.dtype[Any], tuple[int, ...]], ...]

    @property
    def nbytes(self) -> int:
        return sum(dtype.itemsize * int(np.prod(shape)) for dtype, shape in self.arrays)


@dataclass(frozen=True)
class PartPage:
    """A part of the rows, as a page."""

    page: Page
    layout: type[Columns]
    n_rows: int


@contextmanager
def room_in_scratch() -> Iterator[None]:
    """Say of which folder it is that there is no room in it: files without a name have none."""
    try:
        yield
    except OSError as error:
        why = f"{error.strerror}, and rows are kept there: set TMPDIR to a folder with more room"
        raise OSError(error.errno, why, tempfile.gettempdir()) from None


class ScratchFile:
    """Pages one after the other in a file without a name, which goes when the process does."""

    def __init__(self) -> None:
        # in TMPDIR; no kill leaves it behind
        # without a buffer: what a full disk did not take must not be tried again at the end
        self._file = tempfile.TemporaryFile(prefix="conjunct-", buffering=0)  # noqa: SIM115
        self._close = weakref.finalize(self, self._file.close)
        self.parts: list[PartPage] = []

    @property
    def n_rows(self) -> int:
        return sum(part.n_rows for part in self.parts)

    def append(self, part: Columns) -> None:
        """Write a part of the rows."""
        self.parts.append(PartPage(self.write(part.arrays()), type(part), part.n_rows))

    def read_part(self, part: PartPage, n_jobs: int | None = None) -> Columns:
        return part.layout.from_arrays(self.read(part.page), part.n_rows, n_jobs)

    def write(self, arrays: Arrays) -> Page:
        """Write a page."""
        start = self._file.seek(0, 2)
        with room_in_scratch():
            for array in arrays:
                left = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
                while left:
                    left = left[self._file.write(left) :]
        return Page(start, tuple((array.dtype, array.shape) for array in arrays))

    def read(self, page: Page) -> Arrays:
        self._file.seek(page.start)
        arrays = tuple(np.empty(shape, dtype) for dtype, shape in page.arrays)
        for array in arrays:
            left = array.reshape(-1).view(np.uint8).data
            while left:
                n_read = self._file.readinto(left)
                if not n_read:
                    raise OSError("a scratch file is shorter than what was written to it")
                left = left[n_read:]
        return arrays

    def close(self) -> None:
        self._close()
