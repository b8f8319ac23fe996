"""Files of any known kind to Boolean tables and data frames."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sklearn.base import clone

from conjunct.binarize.binarizer import Binarizer
from conjunct.binarize.cleaning import cleaned, fit_cleaner
from conjunct.binarize.rules import BooleanRule, Rule
from conjunct.binarize.table import BooleanTable
from conjunct.binarize.tags import TagCleaner
from conjunct.errors import CellError, ConjunctWarning, InputError
from conjunct.io import baskets
from conjunct.io.files import Progress, StrPath, existing_file, filled_file, reason
from conjunct.io.formats import LONG, format_of, wide_format_of
from conjunct.io.packed import Job, read_packed
from conjunct.io.svmlight import read_svmlight
from conjunct.io.wide import (
    AsText,
    ReadOptions,
    Scan,
    WideFormat,
    check_kinds,
    nothing,
    picked,
    tell_remark,
    words_of,
)

if TYPE_CHECKING:
    import polars as pl

_AS_THEY_ARE = ReadOptions()


def read_boolean(
    path: StrPath,
    *,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    id: str | None = None,
    separator: str | None = None,
    tags: str | None = None,
    null_values: Sequence[str] = (),
    binarizer: Binarizer | None = None,
    cleaner: TagCleaner | None = None,
    names: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> BooleanTable:
    """Read a file of any known kind as a Boolean table, batch by batch into packed columns.

    Parameters
    ----------
    path : path
        Wide tables end in .csv, .tsv, .parquet, .arrow, .feather, .jsonl or .arff, transactions
        in .dat or .basket, SVMlight in .svm or .svmlight; text may be compressed (.gz, .zst).
    format : str, optional
        ``"csv"``, ``"tsv"``, ``"parquet"``, ``"arrow"``, ``"jsonl"``, ``"arff"``, ``"baskets"``
        or ``"svmlight"``, whatever the name ends in; ``"long"`` for a table of ids and tags.
    columns, exclude : sequence of str
        Columns (or tags) to read, and not to read.
    id : str, optional
        Column that names the rows: not a feature.
    separator : str, optional
        What stands between cells; in baskets and with ``tags``, what stands between tags.
    tags : str, optional
        Column that holds the tags of a row: ``water;tree``, ``["water", "tree"]``, or a list.
    null_values : sequence of str
        Words that stand for a missing cell, besides the empty one.
    binarizer : Binarizer, optional
        Makes other columns Boolean: as it is if it is fitted, else fitted here.
    cleaner : TagCleaner, optional
        Merges spellings of tags: as it is if it is fitted, else fitted here.
    names : sequence of str, optional
        The features a model wants, in its order; others are left aside with a warning.
    progress : callable, optional
        Called with the rows read so far and about how many there are (or None).

    Returns
    -------
    BooleanTable
        With the fitted Binarizer or TagCleaner in its ``preparation``.

    Raises
    ------
    InputError
        In one line that names the file, the line and the column.
    """
    options = ReadOptions(format, columns, exclude, id, separator, tags, null_values)
    with one_line_errors(path):
        source = _source(path, options, binarizer, progress)
        if isinstance(source, BooleanTable):
            return _matched(
                cleaned_table(selected_tags(source, options, path), cleaner), names, path
            )
        return _read_wide(source, binarizer, cleaner, names, progress)


def read_table(
    path: StrPath,
    *,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    separator: str | None = None,
    null_values: Sequence[str] = (),
) -> pl.DataFrame:
    """Read a wide table as it is. A column of 0/1 or true/false is Boolean; an empty cell is null.

    Other columns come as numbers, dates or text: whether they will do is for the reader to say.

    Raises
    ------
    InputError
        For whatever is not a table, in one line that names the file and the place.
    """
    options = ReadOptions(format, columns, exclude, None, separator, None, null_values)
    frame = read_frame(path, options)
    if not frame.height:
        raise InputError(f"{path} has column names but no rows")
    return frame


def read_frame(path: StrPath, options: ReadOptions) -> pl.DataFrame:
    """A wide table as it is, which may have no rows."""
    import polars as pl

    def use(scan: Scan) -> pl.DataFrame:
        chosen = options.selected(scan.names, file)
        check_kinds(file, picked(scan.frame, chosen).collect_schema())
        frame = scan.frame.collect()
        if frame.height and frame[:, -1].null_count() and wide.reads_short_rows:
            frame = frame.head(frame.height - wide.n_blank_at_the_end(file, options))
        return pl.DataFrame(
            {name: wide.typed(frame.get_column(name).alias("cells")) for name in chosen}
        )

    with one_line_errors(path):
        file = existing_file(path)
        wide = wide_format_of(path, options.format)
        tell_remark(wide, filled_file(file), options)
        return wide.read(filled_file(file), options, use)


@contextmanager
def naming_cells_of(
    path: StrPath,
    options: ReadOptions = _AS_THEY_ARE,
    if_empty: str = "fill it or leave its row out",
) -> Iterator[None]:
    """Add the file and the line to an error about a cell of the table read from ``path``."""
    try:
        yield
    except CellError as error:
        if error.value is None or error.value != error.value:
            problem, advice = "the cell is empty", if_empty
        else:
            problem = error.problem
            advice = "write 0/1 or true/false, or leave the column out"
        wide = format_of(path, options.format).wide
        raise _located(error, Path(path), wide, options, problem, advice) from None


@dataclass(frozen=True)
class _WideSource:
    """A file with a wide table in it."""

    file: Path
    format: WideFormat
    options: ReadOptions


class _InMemory(WideFormat):
    """A table that is there already."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame

    def scans(self, file: Path, options: ReadOptions, as_text: AsText = nothing) -> Iterator[Scan]:
        yield Scan(self.frame.lazy(), self.frame.columns, self.frame.height)


def _source(
    path: StrPath, options: ReadOptions, binarizer: Binarizer | None, progress: Progress | None
) -> BooleanTable | _WideSource:
    """Tags as a table; a wide table as where it is."""
    existing_file(path)
    kind = format_of(path, options.format)
    if kind.wide is None and (options.tags is not None or options.format == LONG):
        raise InputError(f"{path}: {kind.name} has no columns to take tags from")
    if kind.name == "baskets":
        if options.id is not None:
            raise InputError(f"{path}: baskets have no column {options.id!r}")
        file = filled_file(path, "a transaction a line")
        return baskets.read_tags(file, baskets.basket_batches(file, options), None, progress)
    if kind.wide is None:
        rules = None if binarizer is None else rules_by_column(binarizer)
        found = read_svmlight(filled_file(path, "a row a line"), rules, progress)
        if isinstance(found, BooleanTable):
            return found
        return _WideSource(Path(path), _InMemory(found), options)
    file = filled_file(path)
    tell_remark(kind.wide, file, options)
    if options.format == LONG:
        return baskets.read_long(file, kind.wide, options, progress)
    if options.tags is not None:
        batches = baskets.tag_column_batches(file, kind.wide, options)
        return baskets.read_tags(file, batches, options.id, progress)
    return _WideSource(file, kind.wide, options)


def _read_wide(
    source: _WideSource,
    binarizer: Binarizer | None,
    cleaner: TagCleaner | None,
    names: Sequence[str] | None,
    progress: Progress | None,
) -> BooleanTable:
    file, options = source.file, source.options
    if binarizer is None and cleaner is None and names is not None:
        binarizer = Binarizer.fitted({}, [(name, [BooleanRule(name)]) for name in names])

    rules = None if binarizer is None else rules_by_column(binarizer)

    def use(scan: Scan) -> BooleanTable:
        if rules is not None:
            scan = source.format.completed(scan, rules)
        chosen = options.selected(scan.names, file)
        if rules is not None:
            known = set(binarizer.feature_names_in_) if binarizer is not None else set()
            check_columns(file, list(rules), scan.names)
            _warn_of_others(file, [name for name in chosen if name not in known], "columns")
            chosen = list(rules)
        elif names is not None and cleaner is not None:
            chosen = [name for name in chosen if cleaner.clean(name) in set(names)]
        job = Job(file, source.format, options, chosen, binarizer or Binarizer(), rules, progress)
        return read_packed(job, scan)

    try:
        as_text = nothing if rules is None else words_of(rules)
        table = source.format.read(file, options, use, as_text)
    except CellError as error:
        raise _located(error, file, source.format, options, error.problem, error.advice) from None
    return _matched(cleaned_table(table, cleaner), names, file)


def rules_by_column(binarizer: Binarizer) -> dict[str, list[Rule]] | None:
    """The rules of a fitted Binarizer."""
    if not hasattr(binarizer, "rules_"):
        return None
    rules: dict[str, list[Rule]] = {}
    for rule in binarizer.rules_:
        rules.setdefault(rule.column, []).append(rule)
    return rules


def check_columns(file: Path, wanted: Sequence[str], there: Sequence[str]) -> None:
    absent = [name for name in wanted if name not in there]
    if absent:
        raise InputError(f"{file} lacks columns of the model: {_listed(absent)}")


def cleaned_table(table: BooleanTable, cleaner: TagCleaner | None) -> BooleanTable:
    if cleaner is None:
        return table
    is_fitted = hasattr(cleaner, "mapping_")
    return cleaned(table, cleaner if is_fitted else fit_cleaner(table, clone(cleaner)))


def selected_tags(table: BooleanTable, options: ReadOptions, path: StrPath) -> BooleanTable:
    """The tags asked for."""
    if options.columns is None and not options.exclude:
        return table
    return table.aligned(replace(options, id=None).selected(table.names, Path(path)))


def _matched(table: BooleanTable, names: Sequence[str] | None, path: StrPath) -> BooleanTable:
    """The features that a model wants."""
    if names is None:
        return table
    known = set(names)
    if table.tags:
        others = [name for name in table.names if name not in known]
        _warn_of_others(path, others, "tags")
    return table.aligned(names)


def _warn_of_others(path: StrPath, others: Sequence[str], what: str) -> None:
    if others:
        warnings.warn(
            f"{what} of {path} that the model does not use: {_listed(others)}",
            ConjunctWarning,
            stacklevel=2,
        )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:10]))
    return f"{shown} and {len(names) - 10} more" if len(names) > 10 else shown


def _located(
    error: CellError,
    file: Path,
    wide: WideFormat | None,
    options: ReadOptions,
    problem: str,
    advice: str,
) -> InputError:
    place = f"row {error.row + 1}" if wide is None else wide.place(file, options, error.row)
    return InputError(f"{file}, {place}, column {error.column!r}: {problem}; {advice}")


@contextmanager
def one_line_errors(path: StrPath) -> Iterator[None]:
    import polars as pl

    try:
        yield
    # polars panics over some damaged Arrow files: not an Exception, but no more than bad input
    except (OSError, EOFError, pl.exceptions.PanicException) as error:
        raise InputError(f"{path} cannot be read: {reason(error)}") from None
