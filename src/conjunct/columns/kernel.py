"""Packed bits: tables to lines of bits and back, counts of lines, and distinct rows.

A packed matrix holds one line of bits per column of the table: bit ``k`` of byte ``b`` is row
``8 b + k``. Lines are padded with zero bits to whole 64-bit words, so that a line can be read as
``uint64`` and padding never counts.

Our own C does the work where it was built; NumPy gives the same integers where it was not. Counts
of a block of rows fit in 32 bits; blocks are added up in 64, and only a table of one block, whose
counts cannot outgrow 32 bits, keeps them there.
"""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# number of the interface to C; a library with another one is not used
_VERSION = 17
_FILE = Path(__file__).parent / "native" / ("_native.dll" if os.name == "nt" else "_native.so")
_WHOLE = {"i": ctypes.c_int32, "q": ctypes.c_int64, "Q": ctypes.c_uint64, "N": ctypes.c_size_t}
_TYPES: dict[str, Any] = _WHOLE | {"d": ctypes.c_double, "P": ctypes.c_void_p}
# what each function of C returns and takes, by the letters of the struct module
_FUNCTIONS = {
    "native_version": "i",
    "native_best_way": "i",
    "native_count": "i iPNNPNNPii",
    "native_merge_lines": "i iPNNNNP",
    "native_turn": "i PNNNPN",
    "native_pack": "i PNNNPN",
    "native_hash": "i PPqqqP",
    "native_distinct": "q PPqPqqqPqP",
    "native_hash_words": "i PqqP",
    "native_in_buckets": "q PqqQPPP",
    "native_meetings": "q PPqPPPP",
    "native_lists_new": "P iqPPP",
    "native_lists_merge": "i PiiP",
    "native_lists_free": "i P",
    "native_pairs_new": "P iiqP",
    "native_pairs_matrix": "i PP",
    "native_pairs_masked": "i PiiPPP",
    "native_pairs_lists": "i PqPPP",
    "native_pairs_make_room": "i Pii",
    "native_pairs_row": "i PiPP",
    "native_pairs_merge": "i PiiPP",
    "native_pairs_free": "i P",
    "native_order": "i PdddiPP",
    "native_forbid": "i Pii",
    "native_best": "i PPi",
    "native_patterns_new": "P iiNPPP",
    "native_patterns_count": "q Pii",
    "native_patterns_join": "q Pii",
    "native_patterns_free": "i P",
    "native_evidence_new": "P PPPiPPP",
    "native_evidence_best": "i PPP",
    "native_evidence_cap": "i Piiqqqq",
    "native_evidence_merged": "i Piii",
    "native_evidence_run": "i PPiPNiiPP",
    "native_evidence_free": "i P",
    "native_ask": "i qqPPPqPPqPPPPP",
    "native_patterns": "i qqPPqPPP",
    "native_code": "i iqqPPPqPPPPqqPPPP",
}


def _load() -> Any:
    """Load the library; ``None`` if it was not built, or for another machine or version."""
    try:
        library = ctypes.CDLL(str(_FILE))
        if library.native_version() != _VERSION:
            return None
    except (OSError, AttributeError):
        return None
    for name, types in _FUNCTIONS.items():
        result, _, taken = types.partition(" ")
        function = getattr(library, name)
        function.restype, function.argtypes = _TYPES[result], [_TYPES[one] for one in taken]
    return library


native_library: Any = _load()
"""The C part of conjunct, if it was built when conjunct was installed."""
native: Any = native_library
# how the C kernel counts: as wide as this processor can
_way: int = 0 if native is None else native.native_best_way()

BIT_PAIRS_A_SECOND = 1e10 if native is None else (3e10, 1e11, 3e11, 5e11)[_way]
"""Approximate number of pairs of bits that a thread counts per second on this processor."""

Bits = NDArray[np.uint8]
Counts = NDArray[np.signedinteger[Any]]
Lines = Bits | Sequence[Bits]
"""Lines in one piece of memory, or in many."""
InBuckets = tuple[NDArray[np.uint64], NDArray[np.int64]]
"""Rows as words, bucket by bucket, with equal rows in one bucket; and the start of each bucket."""

# 2^27 bytes are 2^30 rows: their counts fit in a signed 32-bit integer.
_BLOCK_BYTES = 1 << 27
# Fewer bit pairs than this are counted faster than a thread starts.
_PAIRS_PER_THREAD = 1 << 28
# Words that NumPy counts together: they stay in the cache.
_WORDS_AT_ONCE = 1 << 16
# Cells of a matrix that are mirrored together.
_TILE = 256
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

_SWAPS = ((7, 0x00AA00AA00AA00AA), (14, 0x0000CCCC0000CCCC), (28, 0x00000000F0F0F0F0))


def address(array: NDArray[Any]) -> int:
    """Return the address of an array."""
    return int(array.ctypes.data)


def addresses(lines: Any) -> NDArray[np.uint64]:
    """Return the address of each line of one array or of several."""
    if isinstance(lines, np.ndarray):
        first, step = address(lines), lines.strides[0]
        return np.uint64(first) + np.uint64(step) * np.arange(len(lines), dtype=np.uint64)
    return np.fromiter(map(address, lines), np.uint64, len(lines))


def kernel_name() -> str:
    """Return the name of the kernel that counts here: ``"native"`` or ``"numpy"``."""
    return "numpy" if native is None else "native"


def counting_way() -> int:
    """Return the number of the way in which C counts bits on this machine."""
    return _way


def counts_dtype(n_rows: int) -> type[np.int32] | type[np.int64]:
    """Return the type that holds counts of ``n_rows`` rows."""
    return np.int32 if n_rows <= 8 * _BLOCK_BYTES else np.int64


def count_each(lines: Lines) -> Counts:
    """Count the ones in each line."""
    counts = np.zeros(len(lines), np.int64)
    for k, line in enumerate(lines):
        counts[k] = np.bitwise_count(line.view(np.uint64)).sum(dtype=np.int64)
    return counts


def count_pairs(left: Lines, right: Lines | None = None, n_jobs: int = 1) -> Counts:
    """Count each line of ``left`` with each line of ``right``, at any places in memory.

    Without ``right``, count every pair of lines: a symmetric matrix, supports on the diagonal.
    """
    is_triangle, right = right is None, left if right is None else right
    m, n_right, n_bytes = len(left), len(right), len(right[0]) if len(right) else 0
    total = np.zeros((m, n_right), counts_dtype(8 * n_bytes))
    if native is None or not total.size:
        _count_in_numpy(left, right, total, is_triangle=is_triangle)
    else:
        n_pairs = total.size // 2 if is_triangle else total.size
        n_threads = max(1, min(n_jobs, n_pairs * 8 * n_bytes // _PAIRS_PER_THREAD))
        edges = even_edges(m, n_threads)
        if is_triangle and n_threads > 1:
            # about equal numbers of pairs for each thread: row i of the triangle has m − i of them
            edges = [round(m * (1 - math.sqrt(1 - k / n_threads))) for k in range(n_threads + 1)]
        one, other, is_wide = addresses(left), addresses(right), total.dtype == np.int64
        lines, others, out = address(one), address(other), address(total)

        def count(start: int, stop: int) -> None:
            if native.native_count(
                _way, lines, start, stop, others, n_right, n_bytes, out, is_wide, is_triangle
            ):
                raise MemoryError("not enough memory to count")

        run_threads(edges, count)
    # Below the diagonal there are zeros or, with threads, some of the counts: the larger one of two
    # cells is right. Tile by tile, so that no temporary is as large as the matrix.
    for start in range(0, m if is_triangle else 0, _TILE):
        stop = min(start + _TILE, m)
        tile = total[start:stop, start:stop]
        np.maximum(tile, tile.T, out=tile)
        total[stop:, start:stop] = total[start:stop, stop:].T
    return total


def counts_in_c(n: int, lines: Bits, n_jobs: int) -> bool:
    """Return True if C counts one line with ``n`` others, on one thread."""
    n_bytes = lines.shape[1]
    n_threads = min(n_jobs, n * 8 * n_bytes // _PAIRS_PER_THREAD)
    return native is not None and n_threads <= 1 and n_bytes <= _BLOCK_BYTES


def even_edges(n: int, n_parts: int) -> list[int]:
    """Return the edges of ``n_parts`` equal parts of ``n`` items."""
    edges: list[int] = (n * np.arange(n_parts + 1) // n_parts).tolist()
    return edges


def run_threads(
    edges: Sequence[int], work: Callable[[int, int], object], n_threads: int | None = None
) -> None:
    """Call ``work(start, stop)`` between one edge and the next, each on its own thread.

    With more parts than ``n_threads``, a thread does several parts in turn. If some parts fail,
    raise the error of the first of them.
    """
    n_threads = len(edges) - 1 if n_threads is None else n_threads
    if n_threads <= 1:
        for start, stop in pairwise(edges):
            if start < stop:
                work(start, stop)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        ranges = pairwise(edges)
        for future in [pool.submit(work, start, stop) for start, stop in ranges if start < stop]:
            future.result()


def _count_in_numpy(left: Lines, right: Lines, total: Counts, *, is_triangle: bool) -> None:
    if len(left) > len(right):
        # each line of one side is a step in Python
        left, right, total = right, left, total.T
    if not total.size:
        return
    words = np.asarray(right, np.uint8).view(np.uint64)
    step = max(1, _WORDS_AT_ONCE // len(right))
    for start in range(0, words.shape[1], step):
        some = slice(start, start + step)
        for k, line in enumerate(left):
            first = k if is_triangle else 0
            both = words[first:, some] & line.view(np.uint64)[some]
            total[k, first:] += np.bitwise_count(both).sum(axis=-1, dtype=np.int64)


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

    Threads ask for blocks at the same time.
    """
    packed = np.zeros((n_columns, line_bytes(n_rows)), np.uint8)

    def put(start: int, stop: int) -> None:
        cells, out = block(start, stop), packed[:, start // 8 :]
        if native is not None and cells.strides[1] == 1:
            native.native_pack(
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


def bits_of_rows(line: Bits, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return the values that a packed column has in the given rows."""
    values = line[rows >> 3] >> (rows & 7).astype(np.uint8) & np.uint8(1)
    return np.asarray(values, np.bool_)


def rows_as_words(bits: Bits, n_rows: int, n_threads: int = 1) -> NDArray[np.uint64]:
    """Return each row of the table as whole words: shape ``(n, ceil(m / 64))``."""
    words = np.zeros((n_rows, line_bytes(len(bits))), np.uint8)

    def put(start: int, stop: int) -> None:
        _transpose_bits(bits[:, start // 8 :], stop - start, words[start:stop])

    _each_block(put, n_rows, len(bits), n_threads)
    return words.view(np.uint64)


def _each_block(
    work: Callable[[int, int], object], n_rows: int, n_columns: int, n_threads: int = 1
) -> None:
    """Call ``work(start, stop)`` for all rows, in blocks that stay in the cache."""
    step = min(_BLOCK_ROWS, max(64, _BLOCK_CELLS // max(n_columns, 1) // 64 * 64))
    n_threads = max(1, min(n_threads, n_rows * n_columns // _CELLS_PER_THREAD))
    run_threads([*range(0, n_rows, step), n_rows], work, n_threads)


def _transpose_bits(lines: Bits, n_bits: int, out: Bits) -> None:
    """Write bit b of line k to bit k of line b of ``out``, which has ``n_bits`` lines.

    Those may be anywhere in memory, as long as the bytes of a line are side by side.
    """
    if native is not None:
        if lines.strides[1] != 1:
            lines = np.ascontiguousarray(lines)
        native.native_turn(
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
    for shift, mask in np.array(_SWAPS, np.uint64):
        moved = (words ^ (words >> shift)) & mask
        words = words ^ moved ^ (moved << shift)
    transposed = words[..., None].view(np.uint8).transpose(0, 2, 1).reshape(8 * c, r)
    out[:n_bits, :r] = transposed[:n_bits]


def count_distinct(rows: NDArray[np.uint64], n_threads: int = 1) -> int:
    """Count the distinct rows, exactly."""
    if not rows.size:
        return min(1, len(rows))
    n_distinct = count_distinct_in_c(rows, n_threads=n_threads)
    return len(np.unique(rows, axis=0)) if n_distinct is None else n_distinct


def count_distinct_in_c(
    cells: NDArray[Any],
    starts: NDArray[np.integer[Any]] | None = None,
    n_threads: int = 1,
    firsts: NDArray[np.int32] | None = None,
) -> int | None:
    """Count the distinct rows of a matrix, or of the cells between one start and the next.

    ``None``: C cannot. ``firsts`` receives the first equal row of each row.
    """
    n_rows = len(cells) if starts is None else len(starts) - 1
    if native is None or n_rows >= 1 << 31:
        return None
    n_parts = max(1, min(n_threads, n_rows // _ROWS_PER_THREAD))
    cells = np.ascontiguousarray(cells)
    if starts is not None:
        starts = np.multiply(starts, cells.itemsize, dtype=np.int64)
    rows = address(cells), None if starts is None else address(starts), cells.strides[0]
    hashes, counts = np.empty(n_rows, np.uint64), np.empty(n_parts, np.int64)
    # a hash table in which at least one place in four stays free; parts have nearly the same size
    expected = n_rows if n_parts == 1 else n_rows // n_parts * 17 // 16 + 4096
    n_places = 1 << max(8, (4 * expected // 3).bit_length())

    def hash_some(start: int, stop: int) -> None:
        native.native_hash(*rows, start, stop, address(hashes))

    def count(part: int, _: int) -> None:
        table = np.full(n_places, -1, np.int64)
        counts[part] = native.native_distinct(
            *(*rows, address(hashes), n_rows, part, n_parts, address(table), n_places),
            None if firsts is None else address(firsts),
        )

    run_threads(even_edges(n_rows, n_parts), hash_some)
    run_threads([*range(n_parts + 1)], count)
    return None if counts.min() < 0 else int(counts.sum())


def find_equal_rows(
    cells: NDArray[Any], starts: NDArray[np.integer[Any]] | None = None, n_threads: int = 1
) -> NDArray[np.int32] | None:
    """Return the first equal row of each row; ``None``: C cannot."""
    firsts = np.empty(len(cells) if starts is None else len(starts) - 1, np.int32)
    n_distinct = count_distinct_in_c(cells, starts, n_threads, firsts)
    return None if n_distinct is None else firsts


def in_buckets(rows: NDArray[np.uint64], n_buckets: int) -> InBuckets:
    """Partition rows by hash, each about once: duplicates need not be sent or written."""
    if native is not None:
        rows = np.ascontiguousarray(rows)
        finer = 1 + len(rows) // (n_buckets * _BUCKET_ROWS)
        starts = np.zeros(n_buckets * finer + 2, np.int64)
        hashes, found = np.empty(len(rows), np.uint64), np.empty_like(rows)
        n = native.native_in_buckets(
            *(address(rows), *rows.shape, n_buckets * finer),
            *(address(hashes), address(starts), address(found)),
        )
        # a small part must not keep the memory of all alive
        found = found[:n].copy() if 2 * n < len(rows) else found[:n]
        return found, starts[:-1:finer]
    rows = np.unique(rows, axis=0)
    half = np.uint64(32)
    bucket = (hash_lane(rows) >> half) * np.uint64(n_buckets) >> half
    # small numbers are sorted more quickly
    bucket = bucket.astype(np.min_scalar_type(n_buckets))
    order = np.argsort(bucket, kind="stable")
    lengths = np.bincount(bucket, minlength=n_buckets)
    return rows[order], np.concatenate([[0], np.cumsum(lengths)])


def count_distinct_parts(parts: Sequence[InBuckets]) -> int:
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
        return rows_as_words(bits, n_rows)
    words = np.empty((n_rows, 2), np.uint64)

    def put(start: int, stop: int) -> None:
        rows = np.zeros((stop - start, line_bytes(len(bits))), np.uint8)
        _transpose_bits(bits[:, start // 8 :], len(rows), rows)
        hash_rows(rows.view(np.uint64), words[start:stop])

    _each_block(put, n_rows, len(bits))
    return words


def random_words(n: int, seed: int) -> NDArray[np.uint64]:
    """Return random words, always the same."""
    return np.random.default_rng(seed).integers(0, 1 << 64, n, np.uint64)


def sum_words(bits: Bits, n_rows: int, seed: int) -> NDArray[np.uint64]:
    """Sum a random word for each column that is true in a row."""
    sums, words = np.zeros(n_rows, np.uint64), random_words(len(bits), seed)
    # the sums of each eight columns, for all their 256 values
    eights = np.pad(words, (0, -len(words) % 8)).reshape(-1, 8)
    values = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    tables = eights @ values.T.astype(np.uint64)

    def add(start: int, stop: int) -> None:
        rows = np.zeros((stop - start, line_bytes(len(bits))), np.uint8)
        _transpose_bits(bits[:, start // 8 :], len(rows), rows)
        for k, table in enumerate(tables):
            sums[start:stop] += table[rows[:, k]]

    _each_block(add, n_rows, len(bits))
    return sums


def hash_rows(rows: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> None:
    """Write the hashes of each row in both lanes."""
    if native is not None:
        native.native_hash_words(address(rows), *rows.shape, address(hashes))
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
