"""Which rows have which tags, neither known beforehand: as bits, or as lists of rows if rare."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conjunct.binarize.table import BooleanTable, Ids
from conjunct.stores import SparseStore
from conjunct.stores.packing import Bits, line_bytes
from conjunct.stores.sizing import is_sparse

# rows of a block: lines are added to blocks as tags turn up, rows by starting new blocks
_BLOCK_ROWS = 1 << 16
_BLOCK_BYTES = _BLOCK_ROWS // 8


# as long as the pairs take less than this, it is not yet known how many tags there are
_FEW_BYTES = 1 << 26
_PAIR_BYTES = 16


class TagPacker:
    """Collects pairs of a row and a tag: as they come, and as bits once these take less memory."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._blocks: list[Bits] = []
        self._pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._n_pairs = 0
        self._n_rows = 0

    def add(self, rows: NDArray[np.int64], tags: list[str]) -> None:
        """Some rows and tags, given side by side."""
        index = self._codes
        codes = np.fromiter((index.setdefault(t, len(index)) for t in tags), np.int64, len(tags))
        if self._blocks:
            self._set_bits(rows, codes)
            return
        self._pairs.append((rows, codes))
        self._n_pairs += len(rows)
        self._n_rows = max(self._n_rows, int(rows.max()) + 1)
        packed = len(index) * line_bytes(self._n_rows)
        if _PAIR_BYTES * self._n_pairs > max(_FEW_BYTES, packed):
            self._pack()

    def table(self, n_rows: int, ids: Ids | None = None) -> BooleanTable:
        """The table, tags in code-point order."""
        names = sorted(self._codes)
        order = np.array([self._codes[name] for name in names], np.intp)
        if not self._blocks and is_sparse(self._n_pairs, n_rows, len(names)):
            values: Bits | SparseStore = self._listed(n_rows, order)
        else:
            self._pack()
            values = self._packed(n_rows, order.tolist())
        return BooleanTable(tuple(names), values, n_rows, ids=ids, tags=True)

    def _listed(self, n_rows: int, order: NDArray[np.intp]) -> SparseStore:
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        rows = np.concatenate([rows for rows, _ in self._pairs])
        columns = place[np.concatenate([codes for _, codes in self._pairs])]
        self._pairs.clear()
        ones = np.ones(len(rows), np.bool_)
        return SparseStore.from_matrix(
            sp.coo_array((ones, (rows, columns)), shape=(n_rows, len(order)))
        )

    def _pack(self) -> None:
        while self._pairs:
            self._set_bits(*self._pairs.pop())

    def _set_bits(self, rows: NDArray[np.int64], codes: NDArray[np.int64]) -> None:
        blocks = rows // _BLOCK_ROWS
        for number in np.unique(blocks):
            here = blocks == number
            block = self._block(int(number), int(codes[here].max()) + 1)
            row = rows[here] % _BLOCK_ROWS
            bit = np.left_shift(1, row % 8).astype(np.uint8)
            np.bitwise_or.at(block, (codes[here], row // 8), bit)

    def _packed(self, n_rows: int, order: list[int]) -> Bits:
        values = np.zeros((len(order), line_bytes(n_rows)), np.uint8)
        while self._blocks:
            block = self._blocks.pop()
            start = len(self._blocks) * _BLOCK_BYTES
            for k, code in enumerate(order):
                if code < len(block):
                    target = values[k, start : start + _BLOCK_BYTES]
                    target[:] = block[code, : len(target)]
        return values

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
