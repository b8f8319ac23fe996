"""Boolean rows to packed columns and back, and distinct rows.

A packed matrix holds one line of bits per column of the table: bit ``k`` of byte ``b`` is row
``8 b + k``. Lines are padded with zero bits to whole 64-bit words, so that a line can be read as
``uint64`` and padding never counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunct.columns.kernel import Bits, even_edges, share
from conjunct.columns.native import library as native
from conjunct.columns.native.library import address

InBuckets = tuple[NDArray[np.uint64], NDArray[np.int64]]
"""Rows as words, equal ones in the same bucket, one bucket after the other; where each starts."""

# A block of 8,192 rows × 500 columns stays inside the second-level cache while it is transposed.
_BLOCK_ROWS = 8192
_BLOCK_CELLS = 1 << 22
# Fewer cells than this are transposed faster than a thread starts.
_CELLS_PER_THREAD = 1 << 23
# Fewer rows than this are compared faster than a thread starts.
_ROWS_PER_THREAD = 1 << 16
# C deduplicates this many rows at a time: they stay in the cache.
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
    """Return the bytes of one packed line of ``n_rows`` bits, padded to whole words."""
    return -(-n_rows // 64) * 8


def pack(table: NDArray[np.bool_], n_threads: int = 1) -> Bits:
    """Pack an ``(n, m)`` Boolean array into ``m`` lines."""
    n_rows, n_columns = table.shape
    return pack_blocks(lambda start, stop: table[start:stop], n_rows, n_columns, n_threads)


def pack_blocks(
    block: Callable[[int, int], NDArray[np.bool_]],
    n_rows: int,
    n_columns: int,
    n_threads: int = 1,
) -> Bits:
    """Pack a table that is given in blocks of rows: ``block(start, stop)`` → Boolean array.

    Threads ask for blocks at the same time, each for successive blocks of its own rows.
    """
    packed = np.zeros((n_columns, line_bytes(n_rows)), np.uint8)

    def put(start: int, stop: int) -> None:
        cells, out = block(start, stop), packed[:, start // 8 :]
        if native.native_library is not None and cells.strides[1] == 1:
            native.native_library.native_pack(
                address(cells), *cells.shape, cells.strides[0], address(out), out.strides[0]
            )
            return
        _transpose_bits(np.packbits(cells, axis=1, bitorder="little"), n_columns, out)

    _each_block(put, n_rows, n_columns, n_threads)
    return packed


def pack_rows(rows: Bits, n_columns: int) -> Bits:
    """Pack the columns of a table whose rows are packed, each in whole bytes."""
    packed = np.zeros((n_columns, line_bytes(len(rows))), np.uint8)

    def put(start: int, stop: int) -> None:
        _transpose_bits(rows[start:stop], n_columns, packed[:, start // 8 :])

    _each_block(put, len(rows), n_columns)
    return packed


def pack_column(values: NDArray[np.bool_]) -> Bits:
    """Pack one column."""
    line = np.zeros(line_bytes(len(values)), np.uint8)
    packed = np.packbits(values, bitorder="little")
    line[: len(packed)] = packed
    return line


def unpack(bits: Bits, n_rows: int, n_threads: int = 1) -> NDArray[np.bool_]:
    """Unpack ``m`` lines into an ``(n, m)`` Boolean array."""
    n_columns = len(bits)
    table = np.empty((n_rows, n_columns), np.uint8)

    def put(start: int, stop: int) -> None:
        rows = np.zeros((stop - start, -(-n_columns // 8)), np.uint8)
        _transpose_bits(bits[:, start // 8 :], stop - start, rows)
        table[start:stop] = np.unpackbits(rows, axis=1, count=n_columns, bitorder="little")

    _each_block(put, n_rows, n_columns, n_threads)
    return table.view(np.bool_)


def unpack_line(line: Bits, n_rows: int) -> NDArray[np.bool_]:
    """Unpack one column."""
    return np.unpackbits(line, count=n_rows, bitorder="little").view(np.bool_)


def bits_of_rows(line: Bits, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return the values that a packed column has in the given rows."""
    values = line[rows >> 3] >> (rows & 7).astype(np.uint8) & np.uint8(1)
    return np.asarray(values, np.bool_)


def packed_rows(bits: Bits, n_rows: int, n_threads: int = 1) -> NDArray[np.uint64]:
    """Return each row of the table as whole words: shape ``(n, ceil(m / 64))``."""
    words = np.zeros((n_rows, line_bytes(len(bits))), np.uint8)

    def put(start: int, stop: int) -> None:
        _transpose_bits(bits[:, start // 8 :], stop - start, words[start:stop])

    _each_block(put, n_rows, len(bits), n_threads)
    return words.view(np.uint64)


def concat_rows(bits: Sequence[Bits], n_rows: Sequence[int]) -> Bits:
    """Concatenate the lines of successive parts of the rows."""
    if any(n % 64 for n in n_rows[:-1]):
        return pack(np.concatenate(list(map(unpack, bits, n_rows))))
    return np.hstack(bits)


def row_slices(n_rows: int, n_lines: int, limit: int) -> Iterator[tuple[slice, int]]:
    """Divide lines into slices of at most ``limit`` bytes in all, but of at least 64 rows.

    Each slice comes with its number of rows.
    """
    n_bytes = line_bytes(n_rows)
    step = max(1, limit // max(n_lines, 1) // 8) * 8
    for start in range(0, n_bytes, step):
        stop = min(start + step, n_bytes)
        yield slice(start, stop), min(n_rows - 8 * start, 8 * (stop - start))


def _each_block(
    work: Callable[[int, int], object], n_rows: int, n_columns: int, n_threads: int = 1
) -> None:
    """Call ``work(start, stop)`` for all rows, in blocks that stay in the cache."""
    step = _block_rows(n_columns)
    n_threads = max(1, min(n_threads, n_rows * n_columns // _CELLS_PER_THREAD))

    def work_on_blocks(first: int, last: int) -> None:
        for start in range(first * step, min(last * step, n_rows), step):
            work(start, min(start + step, n_rows))

    share(even_edges(-(-n_rows // step), n_threads), work_on_blocks)


def _block_rows(n_columns: int) -> int:
    """Return how many rows of that width to work on at a time: a multiple of 64."""
    return min(_BLOCK_ROWS, max(64, _BLOCK_CELLS // max(n_columns, 1) // 64 * 64))


def _transpose_bits(lines: Bits, n_bits: int, out: Bits) -> None:
    """Write bit b of line k to bit k of line b of ``out``, which has ``n_bits`` lines.

    Those may be anywhere in memory, as long as the bytes of a line are side by side.
    """
    if native.native_library is not None:
        if lines.strides[1] != 1:
            lines = np.ascontiguousarray(lines)
        native.native_library.native_turn(
            address(lines), len(lines), n_bits, lines.strides[0], address(out), out.strides[0]
        )
        return
    # 8 r lines of c bytes become 8 c lines of r bytes
    r, c = -(-len(lines) // 8), -(-n_bits // 8)
    padded = np.zeros((8 * r, c), np.uint8)
    padded[: len(lines)] = lines[:, :c]
    # each 8 × 8 tile is one 64-bit word, transposed by three masked swaps
    tiles = padded.reshape(r, 8, c).transpose(2, 0, 1)
    words = np.ascontiguousarray(tiles).view(np.uint64)[..., 0]
    for shift, mask in _SWAPS:
        moved = (words ^ (words >> shift)) & mask
        words = words ^ moved ^ (moved << shift)
    transposed = words[..., None].view(np.uint8).transpose(0, 2, 1).reshape(8 * c, r)
    out[:n_bits, :r] = transposed[:n_bits]


def count_distinct(rows: NDArray[np.uint64], n_threads: int = 1) -> int:
    """Count the distinct rows, exactly.

    C compares rows of equal hash. Without it, rows are sorted by a 64-bit hash, which brings equal
    ones together; neighbours are then compared word by word. If two different rows have the same
    hash (a probability of about n² / 2⁶⁵), the rows themselves are sorted.
    """
    if not rows.size:
        return min(1, len(rows))
    if (n_distinct := count_distinct_in_c(rows, n_threads=n_threads)) is not None:
        return n_distinct
    firsts = _find_firsts(rows)
    return len(np.unique(rows, axis=0)) if firsts is None else len(firsts)


def count_distinct_in_c(
    cells: NDArray[Any], starts: NDArray[np.integer[Any]] | None = None, n_threads: int = 1
) -> int | None:
    """Count the distinct rows of a matrix, or of the cells between one start and the next.

    ``None``: C cannot.
    """
    n_rows = len(cells) if starts is None else len(starts) - 1
    if native.native_library is None or n_rows >= 1 << 31:
        return None
    n_parts = max(1, min(n_threads, n_rows // _ROWS_PER_THREAD))
    cells = np.ascontiguousarray(cells)
    if starts is not None:
        starts = np.multiply(starts, cells.itemsize, dtype=np.int64)
    rows = address(cells), None if starts is None else address(starts), cells.strides[0]
    hashes, counts = np.empty(n_rows, np.uint64), np.empty(n_parts, np.int64)
    hashes_address = address(hashes)
    # a hash table in which at least one place in four stays free; parts have nearly the same size
    expected = n_rows if n_parts == 1 else n_rows // n_parts * 17 // 16 + 4096
    n_places = 1 << max(8, (4 * expected // 3).bit_length())

    def hash_some(start: int, stop: int) -> None:
        native.native_library.native_hash(*rows, start, stop, hashes_address)

    def count(part: int, _: int) -> None:
        table = np.full(n_places, -1, np.int64)
        counts[part] = native.native_library.native_distinct(
            *rows, hashes_address, n_rows, part, n_parts, address(table), n_places
        )

    share(even_edges(n_rows, n_parts), hash_some)
    share([*range(n_parts + 1)], count)
    return None if counts.min() < 0 else int(counts.sum())


def in_buckets(rows: NDArray[np.uint64], n_buckets: int) -> InBuckets:
    """Partition rows by hash, each about once: duplicates need not be sent or written."""
    if native.native_library is not None:
        rows = np.ascontiguousarray(rows)
        finer = 1 + len(rows) // (n_buckets * _BUCKET_ROWS)
        starts = np.zeros(n_buckets * finer + 2, np.int64)
        hashes, found = np.empty(len(rows), np.uint64), np.empty_like(rows)
        n = native.native_library.native_in_buckets(
            *(address(rows), *rows.shape, n_buckets * finer),
            *(address(hashes), address(starts), address(found)),
        )
        # a small part must not keep the memory of all alive
        found = found[:n].copy() if 2 * n < len(rows) else found[:n]
        return found, starts[:-1:finer]
    if rows.size and (firsts := _find_firsts(rows)) is not None:
        rows = rows[firsts]
    half = np.uint64(32)
    bucket = (hash_lane(rows) >> half) * np.uint64(n_buckets) >> half
    # small numbers are sorted more quickly
    bucket = bucket.astype(np.min_scalar_type(n_buckets))
    order = np.argsort(bucket, kind="stable")
    lengths = np.bincount(bucket, minlength=n_buckets)
    return rows[order], np.concatenate([[0], np.cumsum(lengths)])


def count_united(parts: Sequence[InBuckets]) -> int:
    """Count the distinct rows of parts that have the same buckets, which stay in the cache."""
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
    # some rows at a time, in the same memory: to ask for more of it takes longer than to hash
    at_once = _block_rows(len(bits))
    block = np.zeros((at_once, line_bytes(len(bits))), np.uint8)
    for start in range(0, n_rows, at_once):
        hashes = words[start : start + at_once]
        _transpose_bits(bits[:, start // 8 :], len(hashes), block[: len(hashes)])
        _hash_rows(block[: len(hashes)].view(np.uint64), hashes)
    return words


def _hash_rows(rows: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> None:
    """Write the hashes of each row in both lanes."""
    if native.native_library is not None:
        native.native_library.native_hash_words(address(rows), *rows.shape, address(hashes))
        return
    for lane in range(len(_LANES)):
        hashes[:, lane] = hash_lane(rows, lane)


def hash_lane(rows: NDArray[np.uint64], lane: int = 0) -> NDArray[np.uint64]:
    """Hash each row in one lane, without C."""
    seed, rounds = _LANES[lane]
    state = np.full(len(rows), seed, np.uint64)
    for word in rows.T:
        state ^= word
        for shift, factor in rounds:
            state ^= state >> np.uint64(shift)
            state *= np.uint64(factor)
    return state


def _find_firsts(rows: NDArray[np.uint64]) -> NDArray[np.intp] | None:
    """Return where each distinct row first occurs; ``None`` if two of them have the same hash."""
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
