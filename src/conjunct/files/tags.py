"""Tags of rows, neither known beforehand: cells are split, and batches of rows put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conjunct.columns import Bits, Columns, PackedColumns, SparseColumns, is_sparse, line_bytes
from conjunct.data import BooleanData, Ids
from conjunct.errors import InputError

Split = Callable[[str], list[str]]
_SEPARATORS = "\t;|,"

# rows of a block: lines are added to blocks as tags turn up, rows by starting new blocks
_BLOCK_ROWS = 1 << 16
_BLOCK_BYTES = _BLOCK_ROWS // 8

# as long as the pairs take less than this, it is not yet known how many tags there are
_FEW_BYTES = 1 << 26
_PAIR_BYTES = 16


@dataclass(frozen=True)
class TagBatch:
    """Some rows: pairs of a row (counted from the first of them) and a tag, side by side."""

    n_rows: int
    rows: NDArray[np.int64]
    tags: list[str]
    ids: list[str]
    expected: int | None
    """About how many rows the file has."""


class NumbersError(InputError):
    """A file that could hold tags holds numbers."""


class BadCellError(Exception):
    """A cell that is not a list of tags."""

    def __init__(self, why: object, row: int) -> None:
        super().__init__(why)
        self.row = row


def split_cells(cells: Sequence[Any], split: Split) -> tuple[NDArray[np.int64], list[str]]:
    """Return the tags of cells, each with the number of its cell."""
    rows: list[int] = []
    tags: list[str] = []
    for k, cell in enumerate(cells):
        try:
            basket = split(cell) if isinstance(cell, str) else _clean_tags(cell)
        except msgspec.MsgspecError as error:
            raise BadCellError(error, k) from None
        rows.extend([k] * len(basket))
        tags.extend(basket)
    return np.array(rows, np.int64), tags


def find_splitter(cells: Sequence[str], separator: str | None) -> Split | None:
    """Return how to split cells: as asked, as JSON, or at the first usual separator that occurs."""
    if separator is None:
        filled = [cell for cell in cells if cell.strip()]
        if filled and all(cell.lstrip().startswith("[") for cell in filled):
            return _parse_json_tags
        separator = next((s for s in _SEPARATORS if any(s in cell for cell in cells)), None)
    if separator is None:
        return None
    if not separator.strip(" "):
        return str.split
    between = separator
    return lambda cell: [tag for part in cell.split(between) if (tag := part.strip())]


def take_one_tag(cell: str) -> list[str]:
    return [cell.strip()] if cell.strip() else []


def _parse_json_tags(cell: str) -> list[str]:
    return (
        _clean_tags(msgspec.json.decode(cell, type=list[str | int | float])) if cell.strip() else []
    )


def _clean_tags(cell: Any) -> list[str]:
    tags = cell if isinstance(cell, list) else [cell]
    return [text for tag in tags if tag is not None and (text := str(tag).strip())]


class TagPacker:
    """Collects pairs of a row and a tag: as they come, and as bits once these take less memory."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._blocks: list[Bits] = []
        self._pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._n_pairs = 0
        self._n_rows = 0

    def add(self, rows: NDArray[np.int64], tags: list[str]) -> None:
        """Add some rows and tags, given side by side."""
        index = self._codes
        for tag in dict.fromkeys(tags):
            index.setdefault(tag, len(index))
        codes = np.fromiter(map(index.__getitem__, tags), np.int64, len(tags))
        if self._blocks:
            self._set_bits(rows, codes)
            return
        self._pairs.append((rows, codes))
        self._n_pairs += len(rows)
        self._n_rows = max(self._n_rows, int(rows.max()) + 1)
        packed = len(index) * line_bytes(self._n_rows)
        if _PAIR_BYTES * self._n_pairs > max(_FEW_BYTES, packed):
            self._pack()

    @property
    def n_tags(self) -> int:
        return len(self._codes)

    def table(self, n_rows: int, ids: Ids | None = None) -> BooleanData:
        """Return the table, tags in code-point order."""
        names = sorted(self._codes)
        order = np.array([self._codes[name] for name in names], np.intp)
        if not self._blocks and is_sparse(self._n_pairs, n_rows, len(names)):
            columns: Columns = self._list_columns(n_rows, order)
        else:
            self._pack()
            columns = PackedColumns(self._pack_columns(n_rows, order.tolist()), n_rows)
        return BooleanData(tuple(names), columns, ids=ids, tags=True)

    def _list_columns(self, n_rows: int, order: NDArray[np.intp]) -> SparseColumns:
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        rows = np.concatenate([rows for rows, _ in self._pairs])
        columns = place[np.concatenate([codes for _, codes in self._pairs])]
        self._pairs.clear()
        ones = np.ones(len(rows), np.bool_)
        return SparseColumns.from_matrix(
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

    def _pack_columns(self, n_rows: int, order: list[int]) -> Bits:
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
