"""The counting kernel: how often packed columns occur together.

Our own C does the work where it was built, NumKong where it was not; ``np.bitwise_count`` gives
the same integers where both are missing. Counts of a block of rows fit in 32 bits; blocks are added
up in 64, and only a table of one block, whose counts cannot outgrow 32 bits, keeps them there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunct.columns.native.library import address, addresses, native_library
from conjunct.columns.packing import Bits
from conjunct.columns.threads import even_edges, line_edges, share

try:
    import numkong as _numkong
except ImportError:  # the NumPy kernel below gives the same counts
    _numkong = None  # type: ignore[assignment]

numkong: Any = _numkong
native: Any = native_library
# how the C kernel counts: as wide as this processor can
_way: int = 0 if native is None else native.native_best_way()

Counts = NDArray[np.signedinteger[Any]]
Lines = Bits | Sequence[Bits]
"""Lines in one piece of memory, or in many."""

# 2^27 bytes are 2^30 rows: their counts fit in a signed 32-bit integer.
_BLOCK_BYTES = 1 << 27
# Lines brought together at a time: enough to keep the kernel busy, few enough for the cache.
_TILE_LINES = 64
# Fewer bit pairs than this are counted faster than a thread starts.
_PAIRS_PER_THREAD = 1 << 28
_TILE = 256


def kernel_name() -> str:
    """Which kernel counts here: ``"native"``, ``"numkong"`` or ``"numpy"``."""
    if native is not None:
        return "native"
    return "numpy" if numkong is None else "numkong"


def bit_pairs_a_second() -> float:
    """About how many pairs of bits a thread counts, by what the processor can do."""
    if native is not None:
        return (3e10, 1e11, 3e11, 5e11)[_way]
    if numkong is None:
        return 1e10
    # eight words at a time, or one
    return 5e11 if numkong.get_capabilities().get("icelake") else 1.5e11


def count_each(lines: Lines, n_jobs: int = 1) -> Counts:
    """Number of ones in each line."""
    counts = np.zeros(len(lines), np.int64)

    def count(start: int, stop: int) -> None:
        for k in range(start, stop):
            counts[k] = np.bitwise_count(lines[k].view(np.uint64)).sum(dtype=np.int64)

    n_bytes = lines[0].nbytes if len(lines) else 0
    share(line_edges(len(lines), n_bytes, n_jobs), count)
    return counts


def count_pairs(lines: Lines, n_jobs: int = 1) -> Counts:
    """Joint counts of every pair of lines, symmetric, supports on the diagonal.

    Lines may be in different places in memory; only our own C leaves them there.
    """
    total = np.zeros((len(lines), len(lines)), _dtype(lines))
    if native is not None:
        _count_native(lines, lines, total, _triangle(lines, n_jobs), triangle=True)
        _mirror(total)
        return total
    bits = _in_one_piece(lines)
    for block in _row_blocks(bits):
        upper = _symmetric_numpy(block) if numkong is None else _symmetric(block, n_jobs)
        np.add(total, upper, out=total, casting="unsafe")
    _mirror(total)
    return total


def count_across(left: Lines, right: Lines, n_jobs: int = 1) -> Counts:
    """Joint counts of each line of ``left`` with each line of ``right``.

    Without our own C, a few lines of ``left`` at a time are brought together.
    """
    total = np.zeros((len(left), len(right)), _dtype(right))
    if not total.size:
        return total
    if native is not None:
        threads = _threads(total.size, right, n_jobs)
        _count_native(left, right, total, even_edges(len(left), threads))
        return total
    right = _in_one_piece(right)
    for start in range(0, right.shape[1], _BLOCK_BYTES):
        block = slice(start, start + _BLOCK_BYTES)
        count = _across_numpy if numkong is None else _across(right[:, block])

        def add_tile(first: int, last: int, block: slice = block, count: Any = count) -> None:
            # lines in one piece of memory need not be brought together
            step = _TILE_LINES if isinstance(left, Sequence) else max(1, last - first)
            for k in range(first, last, step):
                tile = slice(k, min(k + step, last))
                if isinstance(left, Sequence):
                    lines = np.stack([line[block] for line in left[tile]])
                else:
                    lines = np.ascontiguousarray(left[tile, block])
                counted = count(lines, right[:, block])
                np.add(total[tile], counted, out=total[tile], casting="unsafe")

        threads = _threads(total.size, right, n_jobs)
        share(even_edges(len(left), threads), add_tile)
    return total


def merge_lines(lines: Bits, n: int, left: int, right: int, n_jobs: int = 1) -> Counts:
    """Merge two of the first ``n`` lines in place: ``left ∧ right`` comes after them, and is taken
    from both. How often it is true with each of them as it was before.
    """
    n_bytes = lines.shape[1]
    is_small = _dtype(lines) is np.int32 and _threads(n, lines, n_jobs) == 1
    if native is not None and is_small:
        joint = np.empty(n, np.int32)
        native.native_merge_lines(_way, address(lines), n, n_bytes, left, right, address(joint))
        return joint
    both = lines[left] & lines[right]
    counted = count_across(lines[:n], both[None], n_jobs)[:, 0]
    lines[left] ^= both
    lines[right] ^= both
    lines[n] = both
    return counted


def counting_way() -> int:
    """Return how C counts bits on this machine."""
    return _way


def counts_dtype(n_rows: int) -> type[np.int32] | type[np.int64]:
    """The type that holds counts of ``n_rows`` rows."""
    return np.int32 if n_rows <= 8 * _BLOCK_BYTES else np.int64


def _n_bytes(lines: Lines) -> int:
    """Bytes of a line."""
    return len(lines[0]) if len(lines) else 0


def _in_one_piece(lines: Lines) -> Bits:
    if isinstance(lines, np.ndarray):
        return lines
    return np.array(lines, np.uint8).reshape(len(lines), _n_bytes(lines))


def _dtype(lines: Lines) -> type[np.int32] | type[np.int64]:
    return counts_dtype(8 * _n_bytes(lines))


def _row_blocks(bits: Bits) -> Iterator[Bits]:
    for start in range(0, bits.shape[1], _BLOCK_BYTES):
        yield bits[:, start : start + _BLOCK_BYTES]


def _mirror(counted: Counts) -> None:
    # Below the diagonal the kernel leaves zeros or, with threads, some of the counts: the larger
    # one of two cells is right. Tile by tile, so that no temporary is as large as the matrix.
    for start in range(0, len(counted), _TILE):
        stop = min(start + _TILE, len(counted))
        tile = counted[start:stop, start:stop]
        np.maximum(tile, tile.T, out=tile)
        counted[stop:, start:stop] = counted[start:stop, stop:].T


def _symmetric(bits: Bits, n_jobs: int) -> NDArray[np.int32]:
    m = len(bits)
    out = numkong.zeros((m, m), dtype="uint32")
    share(
        _triangle(bits, n_jobs),
        lambda start, stop: numkong.dots_symmetric(
            bits, dtype="uint1", out=out, start_row=start, end_row=stop
        ),
    )
    return np.asarray(out).view(np.int32)  # of at most 2^30 rows


def _triangle(lines: Lines, n_jobs: int) -> list[int]:
    """Row ranges of about equal numbers of pairs: row i of the triangle has m − i of them."""
    m = len(lines)
    threads = _threads(m * m // 2, lines, n_jobs)
    return [round(m * (1 - math.sqrt(1 - k / threads))) for k in range(threads + 1)]


def _count_native(
    left: Lines,
    right: Lines,
    total: Counts,
    edges: list[int],
    *,
    triangle: bool = False,
) -> None:
    """Add counts to a total, a range of its rows on each thread."""
    one, other = addresses(left), addresses(right)
    n_right, n_bytes = len(right), _n_bytes(right)
    lines, others, out = address(one), address(other), address(total)
    is_wide = total.dtype == np.int64

    def count(start: int, stop: int) -> None:
        if native.native_count(
            _way, lines, start, stop, others, n_right, n_bytes, out, is_wide, triangle
        ):
            raise MemoryError("no memory is left to count in")

    share(edges, count)


def _across(right: Bits) -> Callable[[Bits, Bits], NDArray[np.uint32]]:
    packed = numkong.dots_pack(right, dtype="uint1")
    return lambda lines, _: np.asarray(numkong.dots_packed(lines, packed))


def _threads(n_pairs: int, lines: Lines, n_jobs: int) -> int:
    n_bits = 8 * _n_bytes(lines)
    return max(1, min(n_jobs, n_pairs * n_bits // _PAIRS_PER_THREAD))


def _symmetric_numpy(bits: Bits) -> Counts:
    words = bits.view(np.uint64)
    upper = np.zeros((len(bits), len(bits)), np.int64)
    for line in range(len(bits)):
        upper[line, line:] = _ones(words[line] & words[line:])
    return upper


def _across_numpy(left: Bits, right: Bits) -> Counts:
    words = right.view(np.uint64)
    rows = [_ones(line & words) for line in left.view(np.uint64)]
    return np.array(rows, np.int64).reshape(len(left), len(right))


def _ones(words: NDArray[np.uint64]) -> Counts:
    return np.asarray(np.bitwise_count(words).sum(axis=-1, dtype=np.int64))
