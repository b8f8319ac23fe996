"""Tables larger than memory: files that are read some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from conjunct.columns import (
    Columns,
    PackedColumns,
    Positions,
    SparseColumns,
    StorageKind,
    concat_parts,
    concat_rows,
    line_bytes,
    pack_columns,
)
from conjunct.counting import (
    ENGINES,
    DiskPartitions,
    Partitions,
    ReadPart,
    ScratchFile,
    StreamedRows,
)
from conjunct.data import (
    Binarizer,
    BooleanData,
    CellRules,
    ColumnRule,
    Mask,
    Preparation,
    TagCleaner,
    apply_rules,
)
from conjunct.errors import CellError, InputError
from conjunct.files import raw
from conjunct.files.cells import BooleanCells, read_with_rules
from conjunct.files.formats.base import (
    Format,
    ReadOptions,
    TableFormat,
    columns_as_text,
    find_source,
    is_boolean,
    recognise_format,
    select_columns,
)
from conjunct.files.raw import Progress, StrPath, one_line_errors
from conjunct.files.reading import Survey, choose_tags, keep_other_columns
from conjunct.memory import available_bytes, byte_text, parse_bytes, resident_bytes

if TYPE_CHECKING:
    import polars as pl

# The size of a page on disk: enough rows for the counting kernel, few enough for any memory.
_PAGE_BYTES = 1 << 24

# The packed size of a partition on Dask.
_PARTITION_BYTES = 1 << 25

# The minimum memory for counting, in addition to that of Python and its libraries.
_LEAST_BYTES = 1 << 25

# The size of each row number in a list of rows.
_LIST_BYTES = 4


@dataclass(frozen=True, eq=False)
class Stream(StreamedRows):
    """Files with the same columns as one table, which is read some rows at a time.

    It yields parts of the rows as :class:`BooleanData`. ``conjunct.files.stream`` makes it.

    Attributes
    ----------
    names : tuple of str
        Names of the features.
    n_rows : int
        Number of rows of all files.
    memory : int
        Memory limit of the process during a fit, in bytes.
    engine : str
        The place that counts rows: ``"disk"``, or the workers of ``"dask"`` or ``"spark"``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from conjunct.files import stream
    >>> _ = Path("tags.csv").write_text("sky,sea\\n1,0\\n1,1\\n")
    >>> [part.names for part in stream("tags.csv")]
    [('sky', 'sea')]
    """

    rows: tuple[FileRows, ...]
    names: tuple[str, ...]
    memory: int
    preparation: Preparation = field(default_factory=Preparation)
    engine: str = "disk"
    progress: Progress | None = None

    @property
    def head(self) -> BooleanData:
        """Return the features without rows."""
        return BooleanData.without_rows(self.names, CellRules(), self.preparation)

    @property
    def n_rows(self) -> int:
        return sum(map(len, self.rows))

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, len(self.names)

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        files = "1 file" if len(self.rows) == 1 else f"{len(self.rows)} files"
        return f"Stream({files}, {self.n_rows} rows, {len(self.names)} features)"

    def __iter__(self) -> Iterator[BooleanData]:
        for rows in self.rows:
            for table in rows.tables():
                yield self._prepare(table)

    def to_dask(self) -> Stream:
        """Return the same rows for workers of Dask, which need access to the files."""
        return replace(self, engine="dask")

    def to_spark(self) -> Stream:
        """Return the same rows for executors of Spark, which need access to the files."""
        return replace(self, engine="spark")

    def partitions(
        self, read: ReadPart, n_jobs: int | None = None, storage: StorageKind = "auto"
    ) -> Partitions:
        """Return the rows in parts: on disk, or on the workers of an engine."""
        if self.engine != "disk":
            return self._distribute(read, storage)
        scratch = ScratchFile()
        for part in concat_parts(self._read_stores(read), _PAGE_BYTES):
            scratch.append(part)
        left = self.memory - resident_bytes()
        if left < _LEAST_BYTES:
            needed = byte_text(resident_bytes() + _LEAST_BYTES)
            raise InputError(
                f"memory of {byte_text(self.memory)} is too little, because Python and its "
                f"libraries already use most of it: allow at least {needed}"
            )
        return DiskPartitions(scratch, left, n_jobs, storage)

    def _read_stores(self, read: ReadPart) -> Iterator[Columns]:
        n_read = 0
        for rows in self.rows:
            first = rows.start
            # errors outside this generator are not errors of the file
            with one_line_errors(rows.file):
                for table in rows.tables():
                    try:
                        yield read(self._prepare(table))
                    except CellError as error:
                        raise rows.locate_error(error, first) from None
                    first += table.n_rows
                    n_read += table.n_rows
                    if self.progress is not None:
                        self.progress(n_read, self.n_rows)

    def _distribute(self, read: ReadPart, storage: StorageKind) -> Partitions:
        bits = max(1, _PARTITION_BYTES * 8 // max(len(self.names), 1))
        n_rows = max(1, bits // raw.BATCH_ROWS) * raw.BATCH_ROWS
        quiet = replace(self, progress=None)
        parts = [
            partial(_read_part, replace(quiet, rows=(part,)), read)
            for rows in self.rows
            for part in rows.split(n_rows)
        ]
        largest = min(n_rows, max(map(len, self.rows), default=0))
        # the size of lists of tags is not known in advance
        holds_tags = any(rows.rules is None for rows in self.rows)
        part_bytes = 0 if holds_tags else len(self.names) * largest // 8
        return ENGINES[self.engine].from_tasks(parts, len(self.names), storage, part_bytes)

    def _prepare(self, table: BooleanData) -> BooleanData:
        cleaner = self.preparation.cleaner
        table = table if cleaner is None else table.clean(cleaner)
        return replace(table, preparation=self.preparation)


def _read_part(stream: Stream, read: ReadPart) -> Columns:
    return concat_rows(list(stream._read_stores(read)))


def stream(
    *paths: StrPath,
    memory: str | int | None = None,
    binarizer: Binarizer | None = None,
    cleaner: TagCleaner | None = None,
    progress: Progress | None = None,
    **reading: Any,
) -> Stream:
    """Open files as one table that is read some rows at a time, for tables larger than memory.

    A first pass through all files finds the features. A column that is not Boolean must fit in
    memory, unless the ``binarizer`` is fitted.

    Parameters
    ----------
    *paths : path
        Files with the same columns, or with tags, in the order of the rows.
    memory : str or int, optional
        Memory limit of the process during a fit: ``"500MB"``, ``"2GiB"``, or bytes. The default is
        the memory already used plus half of the free memory.
    binarizer, cleaner, progress
        As in :func:`read_boolean`.
    **reading
        Other options of :func:`read_boolean`: format, columns, exclude, id, separator, tags,
        null_values, tag_separator, sheet, table, header.

    Returns
    -------
    Stream
        Data for ``UFC().fit``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from conjunct.files import stream
    >>> _ = Path("tags.csv").write_text("sky,sea\\n1,0\\n1,1\\n")
    >>> stream("tags.csv", memory="1GB")
    Stream(1 file, 2 rows, 2 features)
    """
    if not paths:
        raise InputError("name a file to read")
    options = ReadOptions(**reading).expect(None, binarizer)
    allowed = resident_bytes() + available_bytes() // 2 if memory is None else parse_bytes(memory)
    sources = []
    for path in paths:
        with one_line_errors(path):
            sources.append(find_source(path, options))
    if cleaner is None:
        options, binarizer = keep_other_columns(*sources[0], options, binarizer)
    tagged = [kind.holds_tags(options) for _, kind in sources]
    if any(tagged) != all(tagged):
        raise InputError(
            f"{sources[tagged.index(True)][0]} contains tags, and "
            f"{sources[tagged.index(False)][0]} does not"
        )
    if not all(tagged):
        files, formats = zip(*((file, kind.table(file)) for file, kind in sources), strict=True)
        survey = Survey(files, formats, options, binarizer or Binarizer(), progress, allowed).scan()
        names = tuple(survey.binarizer.get_feature_names_out())
        rules = survey.rules or {}
        each = zip(files, survey.n_rows, survey.ways, strict=True)
        rows = tuple(FileRows(file, options, n, names, rules, way) for file, n, way in each)
        preparation = Preparation(survey.binarizer).drop_idle_binarizer()
        found = Stream(rows, names, allowed, preparation, progress=progress)
    else:
        if binarizer is not None and hasattr(binarizer, "rules_"):
            raise InputError(
                f"{sources[0][0]}: a fitted Binarizer is for tables, and this is read as tags; "
                "SVMlight files with numbers cannot be read in batches"
            )
        found = _stream_tags(sources, options, allowed, progress)
    return found if cleaner is None else _clean_stream(found, cleaner)


def _stream_tags(
    sources: Sequence[tuple[Path, Format]],
    options: ReadOptions,
    memory: int,
    progress: Progress | None,
) -> Stream:
    tags: set[str] = set()
    n_rows: list[int] = []
    for file, kind in sources:
        n_rows.append(0)
        with one_line_errors(file):
            for batch in kind.tag_batches(file, options):
                tags.update(batch.tags)
                n_rows[-1] += batch.n_rows
                if progress is not None:
                    progress(sum(n_rows), None)
    files = [file for file, _ in sources]
    if not tags:
        raise InputError(f"{files[0]} {sources[0][1].no_tags}")
    names = tuple(choose_tags(sorted(tags), *sources[0], options))
    rows = (FileRows(f, options, n, names, None) for f, n in zip(files, n_rows, strict=True))
    return Stream(tuple(rows), names, memory, progress=progress)


def _clean_stream(found: Stream, cleaner: TagCleaner) -> Stream:
    if found.preparation.binarizer is not None:
        raise InputError(
            "only tags can be cleaned: some columns are not Boolean, or were left out; "
            "name the columns that are tags"
        )
    if not hasattr(cleaner, "mapping_"):
        counts = np.zeros(len(found.names), np.int64)
        for table in found:
            counts += table.supports()
        known = dict(zip(found.names, counts.tolist(), strict=True))
        cleaner = clone(cleaner).fit_counts(known)
    clean = found.head.clean(cleaner)
    return replace(found, names=clean.names, preparation=clean.preparation)


@dataclass(frozen=True)
class FileRows:
    """Some rows of a file, with the rules of their features."""

    file: Path
    options: ReadOptions
    n_rows: int
    """The number of rows of the file, without blank lines at its end."""
    names: tuple[str, ...]
    """The names of the features."""
    rules: Mapping[str, Sequence[ColumnRule]] | None
    """The rules of the columns of a table; None if tags become features."""
    way: int = 0
    """The first way to read the file that works."""
    start: int = 0
    stop: int | None = None

    def split(self, n_rows: int) -> Iterator[FileRows]:
        """Yield the same rows in parts of ``n_rows``."""
        for start in range(self.start, self._end, n_rows):
            yield replace(self, start=start, stop=min(start + n_rows, self._end))

    @property
    def _end(self) -> int:
        return self.n_rows if self.stop is None else self.stop

    def __len__(self) -> int:
        return self._end - self.start

    def locate_error(self, error: CellError, first_row: int) -> InputError:
        """Return an error about a cell of a part that starts at ``first_row``, with its place."""
        kind = recognise_format(self.file, self.options)
        where = self.file, self.options, first_row + error.row, error.column
        return kind.error_at(*where, f"{error.problem}; {error.advice}")

    def tables(self) -> Iterator[BooleanData]:
        """Yield the rows in batches. Errors about cells count rows from the first."""
        kind = recognise_format(self.file, self.options)
        if self.rules is None:
            return self._tag_tables(kind)
        return self._wide_tables(kind.table(self.file), self.rules)

    def _wide_tables(
        self, wide: TableFormat, rules: Mapping[str, Sequence[ColumnRule]]
    ) -> Iterator[BooleanData]:
        scan = wide.scan(self.file, self.options, self.way, columns_as_text(rules))
        frame = select_columns(wide.complete(scan, rules).frame, rules)
        cells = {name: BooleanCells() for name in rules}

        def apply(batch: pl.DataFrame) -> Iterator[tuple[Mask, Mask | None]]:
            for name, of_column in rules.items():
                column = batch.get_column(name)
                read = cells[name].read(column) if is_boolean(of_column) else None
                if read is None:
                    yield from apply_rules(of_column, read_with_rules(column, of_column))
                else:
                    yield read

        first = self.start
        for batch in wide.batches(self.file, self.options, frame.slice(first, len(self))):
            try:
                columns = pack_columns(apply(batch), batch.height)
            except CellError as error:
                raise self.locate_error(error, first) from None
            first += batch.height
            yield BooleanData(self.names, columns)

    def _tag_tables(self, kind: Format) -> Iterator[BooleanData]:
        position = {tag: k for k, tag in enumerate(self.names)}
        first = 0
        for batch in kind.tag_batches(self.file, self.options):
            start, stop = max(self.start - first, 0), min(self._end - first, batch.n_rows)
            if start < stop:
                codes = np.array([position.get(tag, -1) for tag in batch.tags], np.int64)
                here = (batch.rows >= start) & (batch.rows < stop) & (codes >= 0)
                shape = stop - start, len(self.names)
                columns = _place_tags(batch.rows[here] - start, codes[here], shape)
                yield BooleanData(self.names, columns, tags=True)
            first += batch.n_rows
            if first >= self._end:
                return


def _place_tags(rows: Positions, codes: Positions, shape: tuple[int, int]) -> Columns:
    """Return columns with these true cells: as lists or packed bits, whichever is smaller."""
    n_rows, n_tags = shape
    if _LIST_BYTES * len(rows) < n_tags * line_bytes(n_rows):
        ones = np.ones(len(rows), np.bool_)
        return SparseColumns.from_matrix(sp.coo_array((ones, (rows, codes)), shape=shape))
    bits = np.zeros((n_tags, line_bytes(n_rows)), np.uint8)
    np.bitwise_or.at(bits, (codes, rows // 8), (1 << rows % 8).astype(np.uint8))
    return PackedColumns(bits, n_rows)
