"""Boolean rows to packed columns and back.

A packed matrix holds one line of bits per column of the table: bit ``k`` of byte ``b`` is row
``8 b + k``. Lines are padded with zero bits to whole 64-bit words, so that a line can be read as
``uint64`` and padding never counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from conjunct.columns.native import library as native

Bits = NDArray[np.uint8]

# A block of 8,192 rows × 500 columns stays inside the second-level cache while it is turned around.
_BLOCK_ROWS = 8192
_BLOCK_CELLS = 1 << 22

_MIXER = np.uint64(0x9E3779B97F4A7C15)
_OTHER_MIXER = np.uint64(0xD6E8FEB86659FD93)

_SWAPS = tuple(
    (np.uint64(shift), np.uint64(mask))
    for shift, mask in (
        (7, 0x00AA00AA00AA00AA),
        (14, 0x0000CCCC0000CCCC),
        (28, 0x00000000F0F0F0F0),
    )
)


def line_bytes(n_rows: int) -> int:
    """Bytes of one packed line of ``n_rows`` bits, padded to whole words."""
    return -(-n_rows // 64) * 8


def block_rows(n_columns: int) -> int:
    """Rows to work on at a time in a table of that width: a multiple of 64."""
    return min(_BLOCK_ROWS, max(64, _BLOCK_CELLS // max(n_columns, 1) // 64 * 64))


def transpose_bits(bits: Bits) -> Bits:
    """Turn ``8 r`` lines of ``c`` bytes into ``8 c`` lines of ``r`` bytes.

    Each 8 × 8 tile is one 64-bit word, transposed by three masked swaps.
    """
    n_lines, n_bytes = bits.shape
    tiles = bits.reshape(n_lines // 8, 8, n_bytes).transpose(2, 0, 1)
    words = np.ascontiguousarray(tiles).view(np.uint64)[..., 0]
    for shift, mask in _SWAPS:
        moved = (words ^ (words >> shift)) & mask
        words = words ^ moved ^ (moved << shift)
    turned = words[..., None].view(np.uint8).transpose(0, 2, 1)
    return turned.reshape(n_bytes * 8, n_lines // 8)


def pack_blocks(
    block: Callable[[int, int], NDArray[np.bool_]], n_rows: int, n_columns: int
) -> Bits:
    """Pack a table that is given in blocks of rows: ``block(start, stop)`` → Boolean array."""
    return _turn_blocks(
        lambda start, stop: np.packbits(block(start, stop), axis=1, bitorder="little"),
        n_rows,
        n_columns,
    )


def pack_rows(rows: Bits, n_columns: int) -> Bits:
    """The packed columns of a table whose rows are packed, each in whole bytes."""
    n_bytes = -(-n_columns // 8)
    return _turn_blocks(lambda start, stop: rows[start:stop, :n_bytes], len(rows), n_columns)


def _turn_blocks(block: Callable[[int, int], Bits], n_rows: int, n_columns: int) -> Bits:
    n_tiles = -(-n_columns // 8)
    packed = np.zeros((n_tiles * 8, line_bytes(n_rows)), np.uint8)
    step = block_rows(n_columns)
    for start in range(0, n_rows, step):
        stop = min(start + step, n_rows)
        rows = np.zeros((-(-(stop - start) // 8) * 8, n_tiles), np.uint8)
        rows[: stop - start] = block(start, stop)
        packed[:, start // 8 : start // 8 + rows.shape[0] // 8] = transpose_bits(rows)
    return packed[:n_columns]


def pack(table: NDArray[np.bool_]) -> Bits:
    """Pack an ``(n, m)`` Boolean array into ``m`` lines."""
    return pack_blocks(lambda start, stop: table[start:stop], *table.shape)


def pack_column(values: NDArray[np.bool_]) -> Bits:
    """Pack one column."""
    line = np.zeros(line_bytes(len(values)), np.uint8)
    packed = np.packbits(values, bitorder="little")
    line[: len(packed)] = packed
    return line


def bits_of_rows(line: Bits, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """The values that a packed column has in the given rows."""
    values = line[rows >> 3] >> (rows & 7).astype(np.uint8) & np.uint8(1)
    return np.asarray(values, np.bool_)


def unpack(bits: Bits, n_rows: int) -> NDArray[np.bool_]:
    """The ``(n, m)`` Boolean array behind ``m`` packed lines."""
    n_columns = len(bits)
    table = np.empty((n_rows, n_columns), np.uint8)
    for some, rows in _blocks_of_rows(bits, n_rows):
        table[some] = np.unpackbits(rows, axis=1, count=n_columns, bitorder="little")
    return table.view(np.bool_)


def unpack_line(line: Bits, n_rows: int) -> NDArray[np.bool_]:
    """The values of one packed column."""
    return np.unpackbits(line, count=n_rows, bitorder="little").view(np.bool_)


def unite(bits: Sequence[Bits], n_rows: Sequence[int]) -> Bits:
    """The lines of successive rows, given apart."""
    if any(n % 64 for n in n_rows[:-1]):
        return pack(np.concatenate(list(map(unpack, bits, n_rows))))
    return np.hstack(bits)


def row_slices(n_rows: int, n_lines: int, limit: int) -> Iterator[tuple[slice, int]]:
    """Bytes of lines that together take at most ``limit`` bytes, 64 rows at least, and how many
    rows they are."""
    n_bytes = line_bytes(n_rows)
    step = max(1, limit // max(n_lines, 1) // 8) * 8
    for start in range(0, n_bytes, step):
        stop = min(start + step, n_bytes)
        yield slice(start, stop), min(n_rows - 8 * start, 8 * (stop - start))


def packed_rows(bits: Bits, n_rows: int) -> NDArray[np.uint64]:
    """Each row of the table as whole words: shape ``(n, ceil(m / 64))``."""
    words = np.zeros((n_rows, line_bytes(len(bits))), np.uint8)
    for some, rows in _blocks_of_rows(bits, n_rows):
        words[some, : rows.shape[1]] = rows
    return words.view(np.uint64)


def _blocks_of_rows(bits: Bits, n_rows: int) -> Iterator[tuple[slice, Bits]]:
    """Some rows after others, each row packed into whole bytes."""
    n_columns, n_bytes = bits.shape
    step = block_rows(n_columns) // 8
    for start in range(0, n_bytes, step):
        part = bits[:, start : start + step]
        lines = np.zeros((-(-n_columns // 8) * 8, part.shape[1]), np.uint8)
        lines[:n_columns] = part
        some = slice(8 * start, min(n_rows, 8 * (start + part.shape[1])))
        yield some, transpose_bits(lines)[: some.stop - some.start]


def count_distinct(rows: NDArray[np.uint64]) -> int:
    """Number of distinct rows, exact.

    Rows are sorted by a 64-bit mix of their words, which brings equal ones together; neighbours
    are then compared word by word. Two different rows of equal mix (about n² / 2⁶⁵ likely) fall
    back on sorting the rows themselves.
    """
    if not rows.size:
        return min(1, len(rows))
    starts = np.arange(len(rows) + 1, dtype=np.int64) * rows.shape[1]
    if (n_distinct := native.count_distinct(rows, starts)) is not None:
        return n_distinct
    firsts = _firsts(rows)
    return len(np.unique(rows, axis=0)) if firsts is None else len(firsts)


def distinct_rows(rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each row once."""
    if not rows.size:
        return rows[:1]
    firsts = _firsts(rows)
    return np.unique(rows, axis=0) if firsts is None else rows[firsts]


def bucket_of_rows(rows: NDArray[np.uint64], n_buckets: int) -> NDArray[np.intp]:
    """A number below ``n_buckets`` for each row, the same for equal ones."""
    return (_mixed(rows) >> np.uint64(32)).astype(np.intp) % n_buckets


def fingerprints(rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Rows of more than two words as two words; n different rows have n² / 2¹²⁹ chances to meet."""
    if rows.shape[1] <= 2:
        return rows
    return np.column_stack([_mixed(rows), _mixed(rows, _OTHER_MIXER)])


def _mixed(rows: NDArray[np.uint64], mixer: np.uint64 = _MIXER) -> NDArray[np.uint64]:
    mixed = np.zeros(len(rows), np.uint64)
    for word in rows.T:
        mixed = (mixed ^ word) * mixer
        mixed ^= mixed >> np.uint64(29)
    return mixed


def _firsts(rows: NDArray[np.uint64]) -> NDArray[np.intp] | None:
    """Where each distinct row stands for the first time; None if two of them have one mix."""
    mixed = _mixed(rows)
    order = np.argsort(mixed)
    firsts = [order[:1]]
    for start in range(1, len(rows), _BLOCK_ROWS):
        here = order[start : start + _BLOCK_ROWS]
        before = order[start - 1 : start - 1 + len(here)]
        differs = (rows[here] != rows[before]).any(axis=1)
        if (differs & (mixed[here] == mixed[before])).any():
            return None
        firsts.append(here[differs])
    return np.concatenate(firsts)
