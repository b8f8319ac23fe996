"""Bits set one by one: which rows have which tags, neither known beforehand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conjunct.binarize.table import BooleanTable, Ids
from conjunct.stores.packing import Bits, line_bytes

# rows of a block: lines are added to blocks as tags turn up, rows by starting new blocks
_BLOCK_ROWS = 1 << 16
_BLOCK_BYTES = _BLOCK_ROWS // 8


class TagPacker:
    """Collects pairs of a row and a tag into packed columns, at one bit a cell."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._blocks: list[Bits] = []

    def add(self, rows: NDArray[np.int64], tags: list[str]) -> None:
        """Set the bits of some rows and tags, given side by side."""
        index = self._codes
        codes = np.fromiter((index.setdefault(t, len(index)) for t in tags), np.int64, len(tags))
        blocks = rows // _BLOCK_ROWS
        for number in np.unique(blocks):
            here = blocks == number
            block = self._block(int(number), int(codes[here].max()) + 1)
            row = rows[here] % _BLOCK_ROWS
            bit = np.left_shift(1, row % 8).astype(np.uint8)
            np.bitwise_or.at(block, (codes[here], row // 8), bit)

    def table(self, n_rows: int, ids: Ids | None = None) -> BooleanTable:
        """The table, tags in code-point order."""
        names = sorted(self._codes)
        values = np.zeros((len(names), line_bytes(n_rows)), np.uint8)
        order = [self._codes[name] for name in names]
        while self._blocks:
            block = self._blocks.pop()
            start = len(self._blocks) * _BLOCK_BYTES
            for k, code in enumerate(order):
                if code < len(block):
                    target = values[k, start : start + _BLOCK_BYTES]
                    target[:] = block[code, : len(target)]
        return BooleanTable(tuple(names), values, n_rows, ids=ids, tags=True)

    def _block(self, number: int, n_lines: int) -> Bits:
        while len(self._blocks) <= number:
            self._blocks.append(np.zeros((0, _BLOCK_BYTES), np.uint8))
        block = self._blocks[number]
        if len(block) < n_lines:
            # half as much again, so that a line at a time does not copy a block a time
            grown = np.zeros((max(n_lines, len(block) * 3 // 2), _BLOCK_BYTES), np.uint8)
            grown[: len(block)] = block
            self._blocks[number] = block = grown
        return block
