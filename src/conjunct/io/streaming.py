"""Tables that are not read into memory: files, one after the other, some rows at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from conjunct.binarize.binarizer import Binarizer
from conjunct.binarize.cleaning import cleaned
from conjunct.binarize.fitting import rules_for
from conjunct.binarize.preparation import Preparation
from conjunct.binarize.rules import BooleanRule, Dropped, Rule
from conjunct.binarize.table import BooleanTable
from conjunct.binarize.tags import TagCleaner
from conjunct.errors import CellError, InputError
from conjunct.io.batches import (
    FileRows,
    TagRecipe,
    WideRecipe,
    frame_batches,
    is_wide,
    nth_scan,
    tag_batches,
    wide_of,
)
from conjunct.io.cells import column_of
from conjunct.io.files import BATCH_ROWS, Progress, StrPath, filled_file
from conjunct.io.formats import format_of
from conjunct.io.packed import BooleanCells
from conjunct.io.tables import check_columns, one_line_errors, rules_by_column
from conjunct.io.wide import (
    AsText,
    ReadOptions,
    Scan,
    check_kinds,
    nothing,
    picked,
    tell_remark,
    words_of,
)
from conjunct.stores import Partitions
from conjunct.stores.memory import available_bytes, byte_text, parse_bytes, resident_bytes
from conjunct.stores.paged import PagedPartitions
from conjunct.stores.parts import Part, joined_parts, united
from conjunct.stores.scratch import ScratchFile
from conjunct.stores.sizing import StoreKind

if TYPE_CHECKING:
    import polars as pl

Read = Callable[[BooleanTable], Part]
"""The columns of some rows."""

# What is written at a time: enough rows for the counting kernel, few enough for any memory.
_PAGE_BYTES = 1 << 24
# Rows of a partition on Dask are as many as take about this much, packed.
_PARTITION_BYTES = 1 << 25
# The least that is left for counting beside what Python and the libraries take.
_LEAST_BYTES = 1 << 25
_CELL_BYTES = 64


@dataclass(frozen=True, eq=False)
class Stream:
    """Files as one table with the same columns, read some rows at a time whenever it is used.

    Iterating gives one :class:`BooleanTable` after the other. ``conjunct.io.stream`` makes it.

    Attributes
    ----------
    names : tuple of str
        Names of the features.
    n_rows : int
        Rows of all files.
    memory : int
        Bytes that the process may take while a model is fitted.
    on_dask : bool
        Whether the rows are counted on the workers of Dask.
    """

    rows: tuple[FileRows, ...]
    names: tuple[str, ...]
    memory: int
    preparation: Preparation = field(default_factory=Preparation)
    on_dask: bool = False
    progress: Progress | None = None

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

    def __iter__(self) -> Iterator[BooleanTable]:
        for rows in self.rows:
            for table in rows.tables():
                yield self._finished(table)

    def to_dask(self) -> Stream:
        """The same rows, to be read and counted by the workers of Dask, who must see the files."""
        return replace(self, on_dask=True)

    def partitions(
        self, read: Read, n_jobs: int | None = None, store: StoreKind = "auto"
    ) -> Partitions:
        """The rows in parts: on disk, or on the workers of Dask."""
        if self.on_dask:
            return self._on_workers(read, store)
        scratch = ScratchFile()
        for part in joined_parts(self._stores(read), _PAGE_BYTES):
            scratch.append(part)
        left = self.memory - resident_bytes()
        if left < _LEAST_BYTES:
            taken = byte_text(resident_bytes() + _LEAST_BYTES)
            raise InputError(
                f"memory of {byte_text(self.memory)} is too little: Python and its libraries have "
                f"most of it already; allow {taken} or more"
            )
        return PagedPartitions(scratch, left, n_jobs, store)

    def _stores(self, read: Read) -> Iterator[Part]:
        n_read = 0
        for rows in self.rows:
            first = rows.start
            # what goes wrong with what is yielded goes wrong elsewhere
            with one_line_errors(rows.file):
                for table in rows.tables():
                    try:
                        yield read(self._finished(table))
                    except CellError as error:
                        raise rows.located(error, first) from None
                    first += table.n_rows
                    n_read += table.n_rows
                    if self.progress is not None:
                        self.progress(n_read, self.n_rows)

    def _on_workers(self, read: Read, store: StoreKind) -> Partitions:
        from conjunct.stores.dask import DaskPartitions, task

        bits = max(1, _PARTITION_BYTES * 8 // max(len(self.names), 1))
        n_rows = max(1, bits // BATCH_ROWS) * BATCH_ROWS
        quiet = replace(self, progress=None)
        parts = [
            task(_read_part)(replace(quiet, rows=(part,)), read)
            for rows in self.rows
            for part in rows.split(n_rows)
        ]
        largest = min(n_rows, max(map(len, self.rows), default=0))
        # tags are read as lists, which take what they take
        wide = all(isinstance(rows.recipe, WideRecipe) for rows in self.rows)
        part_bytes = len(self.names) * largest // 8 if wide else 0
        return DaskPartitions(parts, len(self.names), store, part_bytes)

    def _finished(self, table: BooleanTable) -> BooleanTable:
        cleaner = self.preparation.cleaner
        table = table if cleaner is None else cleaned(table, cleaner)
        return replace(table, preparation=self.preparation)


def _read_part(stream: Stream, read: Read) -> Part:
    return united(list(stream._stores(read)))


def stream(
    *paths: StrPath,
    memory: str | int | None = None,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    id: str | None = None,
    separator: str | None = None,
    tags: str | None = None,
    null_values: Sequence[str] = (),
    binarizer: Binarizer | None = None,
    cleaner: TagCleaner | None = None,
    progress: Progress | None = None,
) -> Stream:
    """Files as one table that is read some rows at a time, for tables larger than memory.

    Looks through all files once, to find the names of the features and what to make of columns
    that are not Boolean; a column of these must fit in memory, unless the ``binarizer`` is fitted.

    Parameters
    ----------
    *paths : path
        Files with the same columns, or with tags: one table, in the order given.
    memory : str or int, optional
        How much memory the process may take while a model is fitted: ``"500MB"``, ``"2GiB"``, or
        bytes. By default half of what is free, and what it has already.
    format, columns, exclude, id, separator, tags, null_values, binarizer, cleaner, progress
        As in :func:`read_boolean`.

    Returns
    -------
    Stream
        What ``UFC().fit`` takes.
    """
    if not paths:
        raise InputError("name a file to read")
    options = ReadOptions(format, columns, exclude, id, separator, tags, null_values)
    allowed = resident_bytes() + available_bytes() // 2 if memory is None else parse_bytes(memory)
    files = []
    for path in paths:
        with one_line_errors(path):
            files.append(filled_file(path))
    for file in files:
        kind = format_of(file, options.format).wide
        if kind is not None:
            tell_remark(kind, file, options)
    wide = [is_wide(file, options) for file in files]
    if any(wide) != all(wide):
        raise InputError(
            f"{files[wide.index(False)]} holds tags, and {files[wide.index(True)]} not"
        )
    if all(wide):
        found = _WideSurvey(files, options, binarizer, allowed, progress).stream()
    else:
        if binarizer is not None and hasattr(binarizer, "rules_"):
            raise InputError(
                f"{files[0]}: a fitted Binarizer is for tables, and this is read as tags; numbers "
                "in SVMlight files are read as a whole only"
            )
        found = _survey_tags(files, options, allowed, progress)
    return found if cleaner is None else _cleaned_by(found, cleaner)


def _survey_tags(
    files: Sequence[Path], options: ReadOptions, memory: int, progress: Progress | None
) -> Stream:
    tags: set[str] = set()
    n_rows: list[int] = []
    for file in files:
        n_rows.append(0)
        with one_line_errors(file):
            for batch in tag_batches(file, options):
                tags.update(batch.tags)
                n_rows[-1] += batch.n_rows
                if progress is not None:
                    progress(sum(n_rows), None)
    if not tags:
        raise InputError(f"{files[0]} holds no tag at all")
    names = sorted(tags)
    if options.columns is not None or options.exclude:
        names = replace(options, id=None).selected(names, files[0])
    recipe = TagRecipe(tuple(names))
    rows = (FileRows(f, options, recipe, n) for f, n in zip(files, n_rows, strict=True))
    return Stream(tuple(rows), recipe.names, memory, progress=progress)


def _cleaned_by(found: Stream, cleaner: TagCleaner) -> Stream:
    if found.preparation.binarizer is not None:
        raise InputError(
            "only tags can be cleaned: some columns are not Boolean, or were left out; "
            "name those that are tags"
        )
    if not hasattr(cleaner, "mapping_"):
        counts: Counter[str] = Counter()
        for table in found:
            supports = table.supports()
            counts.update(dict(zip(table.names, supports.tolist(), strict=True)))
        # in the order of the columns, and tags on no row too
        known = {name: counts[name] for name in found.names}
        cleaner = clone(cleaner).fit_counts(known)
    nothing = BooleanTable(found.names, np.zeros((len(found.names), 0), np.uint8), 0)
    names = cleaned(nothing, cleaner).names
    return replace(found, names=names, preparation=Preparation(cleaner=cleaner))


@dataclass
class _WideSurvey:
    """What is found out about wide tables before their rows are used."""

    files: Sequence[Path]
    options: ReadOptions
    binarizer: Binarizer | None
    memory: int
    progress: Progress | None
    scans: list[int] = field(default_factory=list)
    n_rows: list[int] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)

    def stream(self) -> Stream:
        rules = None if self.binarizer is None else rules_by_column(self.binarizer)
        cells: dict[str, BooleanCells] = {}
        for file in self.files:
            with one_line_errors(file):
                self._look_through(file, rules, cells)
        binarizer = self.binarizer or Binarizer()
        if rules is None:
            found = [(name, self._found(name, cells)) for name in self.columns]
            binarizer = Binarizer.fitted(binarizer.get_params(), found)
            rules = rules_by_column(binarizer) or {}
        names = tuple(binarizer.get_feature_names_out())
        recipe = WideRecipe(names, rules)
        each = zip(self.files, self.n_rows, self.scans, strict=True)
        rows = tuple(FileRows(f, self.options, recipe, n, scan) for f, n, scan in each)
        preparation = Preparation(binarizer).if_needed()
        return Stream(rows, names, self.memory, preparation, progress=self.progress)

    def _look_through(
        self, file: Path, rules: dict[str, list[Rule]] | None, cells: dict[str, BooleanCells]
    ) -> None:
        """Find a way to read the file, its rows, and which columns are Boolean."""
        import polars as pl

        wide = wide_of(file, self.options)
        failed: BaseException | None = None
        for n in count():
            try:
                as_text = nothing if rules is None else words_of(rules)
                scan = wide.completed(nth_scan(wide, file, self.options, n, as_text), rules or ())
                self._check_columns(file, scan.names, rules)
                n_rows = self._look_at(file, scan, cells)
            except StopIteration:
                break
            except pl.exceptions.PolarsError as error:
                failed = error
                continue
            self.scans.append(n)
            self.n_rows.append(n_rows)
            return
        raise wide.explain(file, self.options, failed or InputError("there is no way to read it"))

    def _check_columns(
        self, file: Path, names: Sequence[str], rules: dict[str, list[Rule]] | None
    ) -> None:
        if rules is not None:
            check_columns(file, list(rules), names)
            self.columns = list(rules)
            return
        chosen = self.options.selected(names, file)
        if not self.columns:
            self.columns = chosen
        if set(chosen) != set(self.columns):
            other = sorted(set(chosen) ^ set(self.columns))[0]
            lacking, having = (file, self.files[0])[:: 1 if other in self.columns else -1]
            raise InputError(
                f"{lacking} has no column {other!r}, and {having} has: they must agree"
            )

    def _look_at(self, file: Path, scan: Scan, cells: dict[str, BooleanCells]) -> int:
        import polars as pl

        frame, last = scan.frame, scan.names[-1]
        wide = wide_of(file, self.options)
        schema = picked(frame, self.columns).collect_schema()
        check_kinds(file, schema)
        settings = (self.binarizer or Binarizer()).settings()
        if not self.n_rows:
            cells.update((n, BooleanCells()) for n in self.columns if n not in settings.edges)
        declared = [name for name in cells if schema[name] == pl.Boolean]
        for column in picked(frame, declared).head(BATCH_ROWS).collect().iter_columns():
            cells[column.name].read(column)
        looked_at = {n: c for n, c in cells.items() if schema[n] != pl.Boolean or not c.seen}
        n_rows, n_missing_last = 0, 0
        seen = picked(frame, dict.fromkeys([*looked_at, last]))
        for batch in seen.collect_batches(chunk_size=BATCH_ROWS):
            for name in [n for n, c in looked_at.items() if c.read(batch.get_column(n)) is None]:
                del cells[name], looked_at[name]
            n_rows += batch.height
            n_missing_last += batch.get_column(last).null_count()
            if self.progress is not None:
                self.progress(sum(self.n_rows) + n_rows, None)
        if n_missing_last and wide.reads_short_rows:
            n_rows -= wide.n_blank_at_the_end(file, self.options)
        wide.check_whole(file, scan, n_rows)
        if not n_rows:
            raise InputError(f"{file} has column names but no rows")
        return n_rows

    def _found(self, name: str, cells: dict[str, BooleanCells]) -> list[Rule] | Dropped:
        """The rules of a column; one that is not Boolean is read as a whole."""
        if name in cells and cells[name].seen:
            return [BooleanRule(name)]
        needed = sum(self.n_rows) * _CELL_BYTES
        if needed > self.memory:
            raise InputError(
                f"column {name!r} is not Boolean, and to cut it takes {byte_text(needed)}: allow "
                f"more memory, or fit a Binarizer to a sample and pass it as binarizer="
            )
        column = wide_of(self.files[0], self.options).column(self._whole(name).alias(name))
        return rules_for(column, (self.binarizer or Binarizer()).settings())

    def _whole(self, name: str) -> pl.Series:
        import polars as pl

        parts = self._parts(name, nothing)
        kinds = {part.dtype for part in parts}
        if pl.String in kinds and len(kinds) > 1:
            # words in one file: numbers in the others are words too, as they are written there
            parts = self._parts(name, lambda other: other == name)
            parts = [
                part if part.dtype == pl.String else pl.Series("cells", column_of(part).cells())
                for part in parts
            ]
        return pl.concat([part.to_frame() for part in parts], how="vertical_relaxed").to_series()

    def _parts(self, name: str, as_text: AsText) -> list[pl.Series]:
        parts = []
        for file, n_rows, n in zip(self.files, self.n_rows, self.scans, strict=True):
            wide = wide_of(file, self.options)
            scan = nth_scan(wide, file, self.options, n, as_text)
            frame = picked(scan.frame, [name]).head(n_rows)
            with one_line_errors(file):
                batches = frame_batches(wide, file, self.options, frame)
                parts += [batch.to_series().alias("cells") for batch in batches]
        return parts
