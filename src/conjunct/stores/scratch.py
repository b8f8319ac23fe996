"""Packed columns on disk, in pages of rows: for tables that memory does not hold."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from conjunct.stores.bits import BitStore
from conjunct.stores.packing import Bits, line_bytes


@dataclass(frozen=True)
class Page:
    """Some rows: where their packed lines stand in a scratch file."""

    start: int
    n_lines: int
    n_rows: int

    @property
    def nbytes(self) -> int:
        return self.n_lines * line_bytes(self.n_rows)


class ScratchFile:
    """Pages one after the other in a file without a name, which goes when the process does."""

    def __init__(self) -> None:
        # in TMPDIR; no kill leaves it behind
        self._file = tempfile.TemporaryFile(prefix="conjunct-")  # noqa: SIM115
        self._close = weakref.finalize(self, self._file.close)
        self.pages: list[Page] = []

    @property
    def n_rows(self) -> int:
        return sum(page.n_rows for page in self.pages)

    def append(self, lines: Bits | Iterable[Bits], n_rows: int) -> Page:
        """Write a page."""
        start = self._file.seek(0, 2)
        n_lines = 0
        for line in lines:
            self._file.write(np.ascontiguousarray(line).data)
            n_lines += 1
        page = Page(start, n_lines, n_rows)
        self.pages.append(page)
        return page

    def read(self, page: Page) -> Bits:
        self._file.seek(page.start)
        bits = np.empty((page.n_lines, line_bytes(page.n_rows)), np.uint8)
        if self._file.readinto(bits.reshape(-1).data) != bits.nbytes:
            raise OSError("a scratch file is shorter than what was written to it")
        return bits

    def close(self) -> None:
        self._close()


def join_pages(parts: Iterable[BitStore], limit: int) -> Iterator[tuple[Bits, int]]:
    """The lines of successive parts side by side, and their rows, for about ``limit`` bytes.

    Bits of one part can follow those of another where that has whole words only.
    """
    lines: list[Bits] = []
    n_rows = 0
    for part in parts:
        lines.append(part.bits)
        n_rows += part.n_rows
        if n_rows % 64 or sum(some.nbytes for some in lines) >= limit:
            yield np.hstack(lines), n_rows
            lines, n_rows = [], 0
    if lines:
        yield np.hstack(lines), n_rows


def row_slices(n_rows: int, n_lines: int, limit: int) -> Iterator[slice]:
    """Bytes of lines to write as pages of at most ``limit`` bytes each, 64 rows at least."""
    step = max(1, limit // max(n_lines, 1) // 8) * 8
    for start in range(0, line_bytes(n_rows), step):
        yield slice(start, min(start + step, line_bytes(n_rows)))
