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
from conjunct.columns.threads import even_edges, share

Bits = NDArray[np.uint8]
InBuckets = tuple[NDArray[np.uint64], NDArray[np.int64]]
"""Rows as words, equal ones in the same bucket, one bucket after the other; where each starts."""

# A block of 8,192 rows × 500 columns stays inside the second-level cache while it is turned around.
_BLOCK_ROWS = 8192
_BLOCK_CELLS = 1 << 22
# Fewer cells than this are turned around faster than a thread starts.
_CELLS_PER_THREAD = 1 << 23

# In C, so many rows are told apart in the cache.
_BUCKET_ROWS = 2048

# Each lane has a seed and a bijection in which every bit of the input reaches every bit of the
# output: shifts and factors of the finalisers of MurmurHash3 and of SplitMix64 (distinct.c).
_LANES = (
    (0x243F6A8885A308D3, ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53), (33, 1))),
    (0x13198A2E03707344, ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))),
)

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


def turn(lines: Bits, n_bits: int, turned: Bits) -> None:
    """Write the bits of lines to ``n_bits`` other lines: bit b of line k is there bit k of line b.

    Those may be anywhere in memory, as long as the bytes of a line are side by side.
    """
    if native.native_library is not None:
        if lines.strides[1] != 1:
            lines = np.ascontiguousarray(lines)
        native.turn(lines, n_bits, turned)
        return
    padded = np.zeros((-(-len(lines) // 8) * 8, -(-n_bits // 8)), np.uint8)
    padded[: len(lines)] = lines[:, : padded.shape[1]]
    turned[:n_bits, : len(padded) // 8] = _transposed(padded)[:n_bits]


def _transposed(bits: Bits) -> Bits:
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
    block: Callable[[int, int], NDArray[np.bool_]],
    n_rows: int,
    n_columns: int,
    n_threads: int = 1,
) -> Bits:
    """Pack a table that is given in blocks of rows: ``block(start, stop)`` → Boolean array.

    Threads ask for blocks at the same time, each for one after the other of its own rows.
    """
    packed = np.zeros((n_columns, line_bytes(n_rows)), np.uint8)

    def put(start: int, stop: int) -> None:
        cells = block(start, stop)
        if native.native_library is not None and cells.strides[1] == 1:
            native.pack(cells, packed[:, start // 8 :])
            return
        rows = np.packbits(cells, axis=1, bitorder="little")
        turn(rows, n_columns, packed[:, start // 8 :])

    _each_block(put, n_rows, n_columns, n_threads)
    return packed


def pack_rows(rows: Bits, n_columns: int) -> Bits:
    """The packed columns of a table whose rows are packed, each in whole bytes."""
    packed = np.zeros((n_columns, line_bytes(len(rows))), np.uint8)

    def put(start: int, stop: int) -> None:
        turn(rows[start:stop], n_columns, packed[:, start // 8 :])

    _each_block(put, len(rows), n_columns)
    return packed


def _each_block(
    work: Callable[[int, int], object], n_rows: int, n_columns: int, n_threads: int = 1
) -> None:
    """Do ``work(start, stop)`` for all rows, so many at a time that they stay in the cache."""
    step = block_rows(n_columns)
    n_blocks = -(-n_rows // step)
    n_threads = max(1, min(n_threads, n_rows * n_columns // _CELLS_PER_THREAD))

    def some(first: int, last: int) -> None:
        for start in range(first * step, min(last * step, n_rows), step):
            work(start, min(start + step, n_rows))

    share(even_edges(n_blocks, n_threads), some)


def pack(table: NDArray[np.bool_], n_threads: int = 1) -> Bits:
    """Pack an ``(n, m)`` Boolean array into ``m`` lines."""
    n_rows, n_columns = table.shape
    return pack_blocks(lambda start, stop: table[start:stop], n_rows, n_columns, n_threads)


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


def unpack(bits: Bits, n_rows: int, n_threads: int = 1) -> NDArray[np.bool_]:
    """The ``(n, m)`` Boolean array behind ``m`` packed lines."""
    n_columns = len(bits)
    table = np.empty((n_rows, n_columns), np.uint8)

    def put(start: int, stop: int) -> None:
        rows = np.zeros((stop - start, -(-n_columns // 8)), np.uint8)
        turn(bits[:, start // 8 :], stop - start, rows)
        table[start:stop] = np.unpackbits(rows, axis=1, count=n_columns, bitorder="little")

    _each_block(put, n_rows, n_columns, n_threads)
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


def packed_rows(bits: Bits, n_rows: int, n_threads: int = 1) -> NDArray[np.uint64]:
    """Each row of the table as whole words: shape ``(n, ceil(m / 64))``."""
    words = np.zeros((n_rows, line_bytes(len(bits))), np.uint8)

    def put(start: int, stop: int) -> None:
        turn(bits[:, start // 8 :], stop - start, words[start:stop])

    _each_block(put, n_rows, len(bits), n_threads)
    return words.view(np.uint64)


def count_distinct(rows: NDArray[np.uint64], n_threads: int = 1) -> int:
    """Number of distinct rows, exact.

    In C, rows of equal hash are compared. Without it, rows are sorted by a 64-bit hash, which
    brings equal ones together; neighbours are then compared word by word. If two different rows
    have the same hash (a probability of about n² / 2⁶⁵), the rows themselves are sorted.
    """
    if not rows.size:
        return min(1, len(rows))
    if (n_distinct := native.count_distinct(rows, n_threads=n_threads)) is not None:
        return n_distinct
    firsts = _firsts(rows)
    return len(np.unique(rows, axis=0)) if firsts is None else len(firsts)


def in_buckets(rows: NDArray[np.uint64], n_buckets: int) -> InBuckets:
    """Each row about once: what is told apart by the way need not be sent or written twice."""
    if native.native_library is not None:
        finer = 1 + len(rows) // (n_buckets * _BUCKET_ROWS)
        found, starts = native.in_buckets(rows, n_buckets * finer)
        return found, starts[::finer]
    if rows.size and (firsts := _firsts(rows)) is not None:
        rows = rows[firsts]
    half = np.uint64(32)
    bucket = (hash_lane(rows) >> half) * np.uint64(n_buckets) >> half
    # small numbers are sorted more quickly
    bucket = bucket.astype(np.min_scalar_type(n_buckets))
    order = np.argsort(bucket, kind="stable")
    lengths = np.bincount(bucket, minlength=n_buckets)
    return rows[order], np.concatenate([[0], np.cumsum(lengths)])


def count_united(parts: Sequence[InBuckets]) -> int:
    """Number of distinct rows in parts that have the same buckets; small ones stay in the cache."""
    total = 0
    for k in range(len(parts[0][1]) - 1):
        bucket = [rows[starts[k] : starts[k + 1]] for rows, starts in parts]
        total += count_distinct(np.concatenate(bucket))
    return total


def row_words(bits: Bits, n_rows: int) -> NDArray[np.uint64]:
    """Return the words of each row, or its two hashes if it has more than two words.

    The hashes of two different rows are equal with a probability of about 2⁻¹²⁸.
    """
    if len(bits) <= 128:
        return packed_rows(bits, n_rows)
    words = np.empty((n_rows, 2), np.uint64)
    # a few rows at a time, in the same memory: to ask for more of it takes longer than to hash
    at_once = block_rows(len(bits))
    block = np.zeros((at_once, line_bytes(len(bits))), np.uint8)
    for start in range(0, n_rows, at_once):
        some = words[start : start + at_once]
        turn(bits[:, start // 8 :], len(some), block[: len(some)])
        _hash_rows(block[: len(some)].view(np.uint64), some)
    return words


def _hash_rows(rows: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> None:
    """Write the hashes of each row in both lanes."""
    if native.native_library is not None:
        native.hash_rows(rows, hashes)
        return
    for lane in range(len(_LANES)):
        hashes[:, lane] = hash_lane(rows, lane)


def hash_lane(rows: NDArray[np.uint64], lane: int = 0) -> NDArray[np.uint64]:
    """Return the hash of each row in one lane, without C."""
    seed, rounds = _LANES[lane]
    state = np.full(len(rows), seed, np.uint64)
    for word in rows.T:
        state ^= word
        for shift, factor in rounds:
            state ^= state >> np.uint64(shift)
            state *= np.uint64(factor)
    return state


def _firsts(rows: NDArray[np.uint64]) -> NDArray[np.intp] | None:
    """Return where each distinct row first occurs; None if two of them have the same hash."""
    hashes = hash_lane(rows)
    order = np.argsort(hashes)
    firsts = [order[:1]]
    for start in range(1, len(rows), _BLOCK_ROWS):
        here = order[start : start + _BLOCK_ROWS]
        before = order[start - 1 : start - 1 + len(here)]
        differs = (rows[here] != rows[before]).any(axis=1)
        if (differs & (hashes[here] == hashes[before])).any():
            return None
        firsts.append(here[differs])
    return np.concatenate(firsts)
