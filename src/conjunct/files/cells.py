"""Cells of batches of files: text as numbers, Booleans in one spelling, and lists of tags."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conjunct.columns import (
    Bits,
    Columns,
    PackedColumns,
    SparseColumns,
    is_sparse,
    line_bytes,
    pack_column,
)
from conjunct.data import (
    BLANKS,
    BooleanData,
    CategoryRule,
    Column,
    ColumnRule,
    Ids,
    Mask,
    TagsRule,
    from_series,
    infer_all,
    is_yes_or_no,
    meaning,
)
from conjunct.errors import InputError

if TYPE_CHECKING:
    import polars as pl

_WHOLE = re.compile(r"[+-]?\d{1,18}")

# codes, not numbers: 007
_CODE = r"^0\d\d"

Split = Callable[[str], list[str]]
_SEPARATORS = "\t;|,"

# rows of a block: a new tag adds a line to a block, and more rows start a new block
_BLOCK_ROWS = 1 << 16
_BLOCK_BYTES = _BLOCK_ROWS // 8

# below this size, pairs are not packed, because the number of tags is not yet known
_FEW_BYTES = 1 << 26
_PAIR_BYTES = 16


def read_column(cells: pl.Series, *, as_words: bool = False) -> Column:
    """Read a column, converting text of plain numbers, which is quick. Rules infer other kinds.

    ``as_words`` keeps text as words, even if they look like numbers.
    """
    import polars as pl

    name, cells = cells.name, cells.alias("cells")
    if cells.dtype == pl.String and not as_words:
        text = cells.str.strip_chars(BLANKS).replace("", None)
        numbers = text.cast(pl.Float64, strict=False)
        if numbers.count() and numbers.null_count() == text.null_count():
            # codes stay words, and 0/1 may be Booleans
            is_code = text.str.contains(_CODE).any()
            cells = cells if is_code or numbers.is_in([0.0, 1.0]).all() else numbers
    column = from_series(name, nw.from_native(cells, series_only=True))
    return column.as_text() if as_words else column


def read_with_rules(cells: pl.Series, rules: Sequence[ColumnRule]) -> Column:
    """Read a column for rules: as words if they need the original spelling."""
    rule = rules[0]
    is_text = isinstance(rule, TagsRule) or (
        isinstance(rule, CategoryRule) and rule.part is None and rule.written == "words"
    )
    return read_column(cells, as_words=is_text and not cells.dtype.is_nested())


def parse_text(column: pl.Series) -> pl.Series:
    """Convert text to Booleans, numbers or dates if all of it fits."""
    import polars as pl

    if column.dtype != pl.String:
        return column
    text = read_column(column, as_words=True)
    read = infer_all(text)
    if read is None:
        return column
    if read.kind == "date":
        is_day = not any(":" in word for word in text.words)
        moments = pl.Series(column.name, read.values)
        return moments.cast(pl.Date) if is_day else moments
    cells = pl.Series(column.name, read.values).set(pl.Series(read.missing), None)
    is_whole = read.kind == "number" and all(map(_WHOLE.fullmatch, text.words))
    return cells.cast(pl.Int64, strict=False) if is_whole else cells


def align_to_bytes(batches: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield the same rows in batches of multiples of 8 rows, except for the last."""
    import polars as pl

    carried: pl.DataFrame | None = None
    for batch in batches:
        rows = batch if carried is None else pl.concat([carried, batch])
        whole = rows.height // 8 * 8
        if whole:
            yield rows.head(whole)
        carried = rows.tail(rows.height - whole) if whole < rows.height else None
    if carried is not None:
        yield carried


class BooleanCells:
    """Reader of Boolean cells in one spelling of yes and no. With ``keep``, it packs them."""

    def __init__(self, *, keep: bool = False) -> None:
        self._keep = keep
        self._words: set[str] = set()
        self._values: list[Bits] = []
        self._known: list[Bits | None] = []
        self.seen = False
        """True after a cell that is not empty."""

    def read(self, cells: pl.Series) -> tuple[Mask, Mask | None] | None:
        """Return which cells are true, and which are missing. Return None if one is not Boolean."""
        import polars as pl

        # polars reads a name such as ^a.*$ as a pattern, even for a single column
        cells = cells.alias("cells")
        is_text = cells.dtype in (pl.String, pl.Categorical, pl.Enum)
        read = self._read_words(cells.cast(pl.String)) if is_text else _read_booleans(cells)
        self.seen = self.seen or read is None or read[1] is None or not read[1].all()
        if read is not None and self._keep:
            values, missing = read
            self._values.append(np.packbits(values, bitorder="little"))
            known = None if missing is None else np.packbits(~missing, bitorder="little")
            self._known.append(known)
        return read

    def line(self, n_rows: int) -> tuple[Bits, Bits | None]:
        """Return the kept cells as bits, and the known cells if some are missing.

        All batches except the last one must have multiples of 8 rows.
        """

        def join(parts: Sequence[Bits]) -> Bits:
            line = np.zeros(line_bytes(n_rows), np.uint8)
            packed = np.concatenate(parts)[: len(line)]
            line[: len(packed)] = packed
            return line

        if all(known is None for known in self._known):
            return join(self._values), None
        pairs = zip(self._values, self._known, strict=True)
        parts = [np.full(len(v), 255, np.uint8) if known is None else known for v, known in pairs]
        # the last byte of a part may be set beyond the last row
        return join(self._values), join(parts) & pack_column(np.ones(n_rows, np.bool_))

    def _read_words(self, cells: pl.Series) -> tuple[Mask, Mask | None] | None:
        # blank cells are missing, even in quotes
        words = [word for word in cells.unique().drop_nulls().to_list() if word.strip()]
        # no spelling of yes and no has many words
        if len(words) > 20 or any(meaning(word) is None for word in words):
            return None
        self._words |= {word.strip().casefold() for word in words}
        if not is_yes_or_no(self._words):
            return None
        missing = ~cells.is_in(words).fill_null(False).to_numpy()
        values = cells.is_in([word for word in words if meaning(word)])
        return values.fill_null(False).to_numpy(), missing if missing.any() else None


def _read_booleans(cells: pl.Series) -> tuple[Mask, Mask | None] | None:
    """Return which cells are true, and which are missing. Return None if one is not 0 or 1."""
    import polars as pl

    # avoid operations of polars, whose overhead dominates in short columns
    is_full = cells.null_count() == 0
    missing = None if is_full else cells.is_null().to_numpy()
    if cells.dtype == pl.Boolean:
        return (cells if is_full else cells.fill_null(False)).to_numpy(), missing
    if cells.dtype == pl.Null:
        return np.zeros(len(cells), np.bool_), missing
    if not cells.dtype.is_numeric():
        return None
    numbers = (cells if is_full else cells.fill_null(0)).to_numpy()
    true = numbers == 1
    is_boolean = true | (numbers == 0)
    if cells.dtype.is_float():
        is_nan = np.isnan(numbers)
        if is_nan.any():
            missing = is_nan if missing is None else missing | is_nan
            is_boolean |= is_nan
    return (true, missing) if is_boolean.all() else None


@dataclass(frozen=True)
class TagBatch:
    """Some rows of tags: pairs of ``rows``, counted from the first one, and ``tags``."""

    n_rows: int
    rows: NDArray[np.int64]
    tags: list[str]
    ids: list[str]
    expected: int | None
    """The estimated number of rows of the file."""


class NumbersError(InputError):
    """A file of tags contains numbers."""


class BadCellError(Exception):
    """A cell that is not a list of tags."""

    def __init__(self, why: object, row: int) -> None:
        super().__init__(why)
        self.row = row


def split_cells(cells: Sequence[Any], split: Split) -> tuple[NDArray[np.int64], list[str]]:
    """Return the tags of all cells, and the number of the cell of each tag."""
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


def find_splitter(cells: Sequence[str], separator: str | None, otherwise: Split) -> Split:
    """Return a function that splits cells at the separator, as JSON, or at a separator in them."""
    if separator is None:
        filled = [cell for cell in cells if cell.strip()]
        if filled and all(cell.lstrip().startswith("[") for cell in filled):
            return _split_json
        separator = next((s for s in _SEPARATORS if any(s in cell for cell in cells)), None)
    if separator is None:
        return otherwise
    if not separator.strip(" "):
        return str.split
    between = separator
    return lambda cell: [tag for part in cell.split(between) if (tag := part.strip())]


def _split_json(cell: str) -> list[str]:
    tags = msgspec.json.decode(cell, type=list[str | int | float]) if cell.strip() else []
    return _clean_tags(tags)


def _clean_tags(cell: Any) -> list[str]:
    tags = cell if isinstance(cell, list) else [cell]
    return [text for tag in tags if tag is not None and (text := str(tag).strip())]


class TagPacker:
    """Collector of pairs of a row and a tag, which become bits once these take less memory."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._blocks: list[Bits] = []
        self._pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._n_pairs = 0
        self._n_rows = 0

    @property
    def n_tags(self) -> int:
        return len(self._codes)

    def add(self, rows: NDArray[np.int64], tags: list[str]) -> None:
        """Add pairs of rows and tags."""
        index = self._codes
        for tag in dict.fromkeys(tags):
            index.setdefault(tag, len(index))
        codes = np.fromiter(map(index.__getitem__, tags), np.int64, len(tags))
        self._pairs.append((rows, codes))
        self._n_pairs += len(rows)
        self._n_rows = max(self._n_rows, int(rows.max()) + 1)
        packed = len(index) * line_bytes(self._n_rows)
        if self._blocks or _PAIR_BYTES * self._n_pairs > max(_FEW_BYTES, packed):
            self._pack()

    def table(self, n_rows: int, ids: Ids | None = None) -> BooleanData:
        """Return the table, with tags in code-point order."""
        names = sorted(self._codes)
        order = np.array([self._codes[name] for name in names], np.intp)
        if not self._blocks and is_sparse(self._n_pairs, n_rows, len(names)):
            place = np.argsort(order)
            rows, codes = (np.concatenate(part) for part in zip(*self._pairs, strict=True))
            self._pairs.clear()
            ones = np.ones(len(rows), np.bool_), (rows, place[codes])
            matrix = sp.coo_array(ones, shape=(n_rows, len(names)))
            columns: Columns = SparseColumns.from_matrix(matrix)
            return BooleanData(tuple(names), columns, ids=ids, tags=True)
        self._pack()
        values = np.zeros((len(names), line_bytes(n_rows)), np.uint8)
        while self._blocks:
            block = self._blocks.pop()
            start = len(self._blocks) * _BLOCK_BYTES
            for k, code in enumerate(order.tolist()):
                if code < len(block):
                    target = values[k, start : start + _BLOCK_BYTES]
                    target[:] = block[code, : len(target)]
        columns = PackedColumns(values, n_rows)
        return BooleanData(tuple(names), columns, ids=ids, tags=True)

    def _pack(self) -> None:
        """Set the bits of the pairs in blocks of rows, which grow with the number of tags."""
        while self._pairs:
            rows, codes = self._pairs.pop()
            blocks = rows // _BLOCK_ROWS
            for number in np.unique(blocks).tolist():
                here = blocks == number
                row, code = rows[here] % _BLOCK_ROWS, codes[here]
                while len(self._blocks) <= number:
                    self._blocks.append(np.zeros((0, _BLOCK_BYTES), np.uint8))
                block, n_lines = self._blocks[number], int(code.max()) + 1
                if len(block) < n_lines:
                    # grow by half, because adding single lines would copy the block each time
                    size = max(n_lines, len(block) * 3 // 2)
                    grown = np.zeros((size, _BLOCK_BYTES), np.uint8)
                    grown[: len(block)] = block
                    self._blocks[number] = block = grown
                bit = np.left_shift(1, row % 8).astype(np.uint8)
                np.bitwise_or.at(block, (code, row // 8), bit)
