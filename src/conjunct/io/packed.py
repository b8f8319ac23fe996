"""Wide tables read batch by batch into packed columns: the text of a file is never in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from conjunct.binarize.binarizer import Binarizer, applied
from conjunct.binarize.columns import Mask
from conjunct.binarize.fitting import rules_for
from conjunct.binarize.preparation import Preparation
from conjunct.binarize.rules import BooleanRule, Dropped, Rule, is_yes_or_no, meaning
from conjunct.binarize.table import BooleanTable, Ids, PackedLines
from conjunct.errors import InputError
from conjunct.io.files import BATCH_ROWS, Progress
from conjunct.io.wide import ReadOptions, Scan, WideFormat, check_kinds, picked
from conjunct.stores.packing import Bits, line_bytes, pack_column

if TYPE_CHECKING:
    import polars as pl

Found = list[Rule] | Dropped

# columns that are not Boolean are read whole, as many at a time as take about this much memory
_GROUP_BYTES = 1 << 28
_CELL_BYTES = 64


@dataclass(frozen=True)
class Job:
    """What to read, from where, and what to make of it: ``rules`` None are still to be found."""

    file: Path
    format: WideFormat
    options: ReadOptions
    columns: Sequence[str]
    binarizer: Binarizer
    rules: dict[str, list[Rule]] | None
    progress: Progress | None

    def may_be_boolean(self, name: str) -> bool:
        if self.rules is None:
            return name not in self.binarizer.settings().edges
        return self.rules[name] == [BooleanRule(name)]


def read_packed(job: Job, scan: Scan) -> BooleanTable:
    """The features of a wide table."""
    check_kinds(job.file, picked(scan.frame, job.columns).collect_schema())
    n_rows, bits = _boolean_columns(job, scan)
    others = [name for name in job.columns if name not in bits]
    made = dict(_other_columns(job, scan, others, n_rows))
    lines = PackedLines(n_rows)
    found: list[tuple[str, Found]] = []
    for name in job.columns:
        boolean: Found = [BooleanRule(name)]
        rules, packed = made.pop(name) if name in made else (boolean, [bits.pop(name)])
        found.append((name, rules))
        for values, observed in packed:
            lines.append_packed(values, observed)
    binarizer = job.binarizer
    if job.rules is None:
        binarizer = Binarizer.fitted(binarizer.get_params(), found)
    return BooleanTable(
        tuple(binarizer.get_feature_names_out()),
        *lines.stacked(),
        ids=_ids(job, scan, n_rows),
        preparation=Preparation(binarizer).if_needed(),
    )


def _boolean_columns(job: Job, scan: Scan) -> tuple[int, dict[str, tuple[Bits, Bits | None]]]:
    """The number of rows, and the lines of all columns of 0 and 1, yes and no."""
    boolean = {name: _BooleanColumn() for name in job.columns if job.may_be_boolean(name)}
    last = scan.names[-1]
    n_rows, n_missing_last = 0, 0
    frame = picked(scan.frame, dict.fromkeys([*boolean, last]))
    for batch in _aligned(frame.collect_batches(chunk_size=BATCH_ROWS)):
        for name in [name for name in boolean if not boolean[name].take(batch.get_column(name))]:
            del boolean[name]
        n_rows += batch.height
        n_missing_last += batch.get_column(last).null_count()
        if job.progress is not None:
            job.progress(n_rows, None if scan.n_rows is None else max(n_rows, scan.n_rows))
    if n_missing_last and job.format.reads_short_rows:
        n_rows -= job.format.n_blank_at_the_end(job.file, job.options)
    job.format.check_whole(job.file, scan, n_rows)
    if not n_rows:
        raise InputError(f"{job.file} has column names but no rows")
    lines = {name: column.lines(n_rows) for name, column in boolean.items()}
    if job.rules is None:
        # where every cell is empty, nothing says that they would be Boolean
        lines = {n: (v, seen) for n, (v, seen) in lines.items() if seen is None or seen.any()}
    return n_rows, lines


def _other_columns(
    job: Job, scan: Scan, names: Sequence[str], n_rows: int
) -> Iterator[tuple[str, tuple[Found, list[tuple[Bits, Bits | None]]]]]:
    """Rules and lines of the columns that are not Boolean, a few columns at a time."""
    step = max(1, _GROUP_BYTES // (_CELL_BYTES * n_rows))
    settings = job.binarizer.settings()
    for start in range(0, len(names), step):
        group = picked(scan.frame, names[start : start + step]).head(n_rows).collect()
        for series in group.iter_columns():
            known = None if job.rules is None else job.rules[series.name]
            column = job.format.column(series, known)
            found = rules_for(column, settings) if known is None else known
            rules = () if isinstance(found, Dropped) else found
            yield column.name, (found, [_packed(*made) for made in applied(rules, column)])


def _packed(values: Mask, missing: Mask) -> tuple[Bits, Bits | None]:
    return pack_column(values), pack_column(~missing) if missing.any() else None


class BooleanCells:
    """Whether cells say yes or no, batch after batch: the spelling must be one and the same."""

    def __init__(self) -> None:
        self._words: set[str] = set()
        self.seen = False
        """Whether some cell was not empty."""

    def read(self, cells: pl.Series) -> tuple[Mask, Mask | None] | None:
        """Which cells are true, and which missing if any is; None if one is not Boolean."""
        read = self._read(cells)
        self.seen = self.seen or read is None or read[1] is None or not read[1].all()
        return read

    def _read(self, cells: pl.Series) -> tuple[Mask, Mask | None] | None:
        import polars as pl

        # polars takes a name such as ^a.*$ for a pattern, even that of a column alone
        cells = cells.alias("cells")
        if cells.dtype in (pl.String, pl.Categorical, pl.Enum):
            return self._spelled(cells.cast(pl.String))
        missing = _missing(cells)
        values = _booleans(
            cells if missing is None or not cells.dtype.is_float() else cells.fill_nan(None)
        )
        return None if values is None else (values, missing)

    def _spelled(self, cells: pl.Series) -> tuple[Mask, Mask | None] | None:
        # blank cells are missing, however they are quoted
        words = [word for word in cells.unique().drop_nulls().to_list() if word.strip()]
        # many words are no yes and no, however spelled
        if len(words) > 20 or any(meaning(word) is None for word in words):
            return None
        self._words |= {word.strip().casefold() for word in words}
        if not is_yes_or_no(self._words):
            return None
        missing = ~cells.is_in(words).fill_null(False).to_numpy()
        values = cells.is_in([word for word in words if meaning(word)])
        return values.fill_null(False).to_numpy(), missing if missing.any() else None


def _booleans(cells: pl.Series) -> Mask | None:
    import polars as pl

    # each of polars' operations on a short column takes longer than the column
    filled = cells.null_count() == 0
    if cells.dtype == pl.Boolean:
        return (cells if filled else cells.fill_null(False)).to_numpy()
    if cells.dtype == pl.Null:
        return np.zeros(len(cells), np.bool_)
    if cells.dtype.is_numeric():
        numbers = (cells if filled else cells.fill_null(0)).to_numpy()
        true = numbers == 1
        return true if (true | (numbers == 0)).all() else None
    return None


def _missing(cells: pl.Series) -> Mask | None:
    """Which cells are null or NaN, if any is."""
    if cells.null_count():
        missing = cells.is_null()
        if cells.dtype.is_float():
            missing |= cells.is_nan().fill_null(False)
        return missing.to_numpy()
    if cells.dtype.is_float():
        missing = np.isnan(cells.to_numpy())
        return missing if missing.any() else None
    return None


class _BooleanColumn:
    """The packed cells of a column for as long as all of them say yes or no."""

    def __init__(self) -> None:
        self._cells = BooleanCells()
        self._values: list[Bits] = []
        self._observed: list[Bits | None] = []

    def take(self, cells: pl.Series) -> bool:
        """Take some cells, unless one is not Boolean."""
        read = self._cells.read(cells)
        if read is None:
            return False
        values, missing = read
        self._values.append(np.packbits(values, bitorder="little"))
        observed = None if missing is None else np.packbits(~missing, bitorder="little")
        self._observed.append(observed)
        return True

    def lines(self, n_rows: int) -> tuple[Bits, Bits | None]:
        values = _line(self._values, n_rows)
        if all(part is None for part in self._observed):
            return values, None
        parts = [
            np.full(len(part), 255, np.uint8) if seen is None else seen
            for part, seen in zip(self._values, self._observed, strict=True)
        ]
        # the last byte of a part may be filled beyond the last row
        return values, _line(parts, n_rows) & pack_column(np.ones(n_rows, np.bool_))


def _line(parts: Sequence[Bits], n_rows: int) -> Bits:
    line = np.zeros(line_bytes(n_rows), np.uint8)
    packed = np.concatenate(parts)[: len(line)]
    line[: len(packed)] = packed
    return line


def _aligned(batches: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same rows in batches of a multiple of 8, but for the last."""
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


def _ids(job: Job, scan: Scan, n_rows: int) -> Ids | None:
    name = job.options.id
    if name is None:
        return None
    import polars as pl

    column = picked(scan.frame, [name]).head(n_rows).collect().to_series().cast(pl.String)
    return Ids(name, tuple(column.fill_null("").to_list()))
