"""Files of any known kind to Boolean tables and data frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from conjunct.data import SOURCES, Binarizer, BooleanData, BooleanRule, TagCleaner
from conjunct.errors import CellError, InputError
from conjunct.files.choosing import file_to_read, format_of
from conjunct.files.formats.base import Format, ReadOptions, Scan, check_kinds, picked
from conjunct.files.raw import Progress, StrPath, existing_file, one_line_errors
from conjunct.files.survey import Survey, located, warn_of_others
from conjunct.files.tags import NumbersError

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
    tag_separator: str | None = None,
    sheet: str | None = None,
    binarizer: Binarizer | None = None,
    cleaner: TagCleaner | None = None,
    names: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> BooleanData:
    """Read a file of any known kind as a Boolean table, batch by batch into packed columns.

    Parameters
    ----------
    path : path
        Wide tables end in .csv, .tsv, .parquet, .arrow, .feather, .json, .jsonl, .xlsx, .ods or
        .arff,
        transactions in .dat or .basket, SVMlight in .svm or .svmlight; text may be compressed
        (.gz, .zst).
    format : str, optional
        ``"csv"``, ``"tsv"``, ``"parquet"``, ``"arrow"``, ``"json"``, ``"jsonl"``, ``"excel"``,
        ``"arff"``, ``"baskets"`` or ``"svmlight"``, whatever the name ends in; ``"long"`` for a
        table of ids and tags.
    columns, exclude : sequence of str
        Columns (or tags) to read, and not to read.
    id : str, optional
        Column that names the rows: not a feature.
    separator : str, optional
        What stands between cells; in baskets, between tags.
    tags : str, optional
        Column that holds the tags of a row: ``water;tree``, ``["water", "tree"]``, or a list.
    null_values : sequence of str
        Words that stand for a missing cell, besides the empty one. In columns of numbers, dates
        and yes or no, words such as ``n/a`` do without being named.
    tag_separator : str, optional
        What stands between the tags of a cell, with ``tags``.
    sheet : str, optional
        Sheet of a spreadsheet; by default the first.
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
    BooleanData
        With the fitted Binarizer or TagCleaner in its ``preparation``.

    Raises
    ------
    InputError
        In one line that names the file, the line and the column.
    """
    options = ReadOptions(
        format, columns, exclude, id, separator, tags, null_values, tag_separator, sheet
    )
    known = set() if names is None else set(names)
    with one_line_errors(path):
        existing_file(path)
        kind = format_of(path, options.format)
        kind.check(path, options)
        file = file_to_read(path, kind, options)
        table = _read_tags(file, kind, options, binarizer, progress)
        if table is None:
            if names is not None and binarizer is None and cleaner is None:
                binarizer = Binarizer.fitted({}, [(name, [BooleanRule(name)]) for name in names])
            wide = kind.numbers or kind.table(file)
            survey = Survey([file], [wide], options, binarizer or Binarizer(), progress)
            if names is not None and cleaner is not None:
                survey.wanted = lambda name: cleaner.clean(name) in known
            table = survey.look().table()
    if cleaner is not None:
        is_fitted = hasattr(cleaner, "mapping_")
        table = table.cleaned(cleaner if is_fitted else table.fit_cleaner(clone(cleaner)))
    if names is None:
        return table
    if table.tags:
        warn_of_others(path, [name for name in table.names if name not in known], "tags")
    return table.aligned(names)


def _read_tags(
    file: Path,
    kind: Format,
    options: ReadOptions,
    binarizer: Binarizer | None,
    progress: Progress | None,
) -> BooleanData | None:
    """The tags asked for; None if the file has columns that are no tags."""
    if not kind.holds_tags(options) or (kind.numbers is not None and hasattr(binarizer, "rules_")):
        return None
    try:
        table = kind.tags(file, options, progress)
    except NumbersError:
        return None
    if options.columns is None and not options.exclude:
        return table
    return table.aligned(replace(options, id=None).selected(table.names, file))


def read_table(
    path: StrPath,
    *,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    separator: str | None = None,
    null_values: Sequence[str] = (),
    sheet: str | None = None,
) -> pl.DataFrame:
    """Read a wide table as it is. A column of 0/1 or true/false is Boolean; an empty cell is null.

    Other columns come as numbers, dates or text: whether they will do is for the reader to say.

    Raises
    ------
    InputError
        For whatever is not a table, in one line that names the file and the place.
    """
    options = ReadOptions(format, columns, exclude, None, separator, None, null_values, None, sheet)
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
            frame = frame.head(max(0, frame.height - wide.n_blank_at_the_end(file, options)))
        return pl.DataFrame(
            {name: wide.typed(frame.get_column(name).alias("cells")) for name in chosen}
        )

    with one_line_errors(path):
        existing_file(path)
        wide = format_of(path, options.format).table(path)
        file = file_to_read(path, wide, options)
        return wide.read(file, options, use)[0]


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
            error.problem, error.advice = "the cell has no value", if_empty
        else:
            error.advice = "write 0/1 or true/false, or leave the column out"
        kind = format_of(path, options.format)
        raise located(error, kind, Path(path), options, error.row) from None


class FileSource:
    """How ``BooleanData.of`` reads a path."""

    name = "file"
    summary = "tables and tags in files"

    def read(self, address: Any, **options: Any) -> BooleanData:
        return read_boolean(address, **options)


SOURCES.enter(FileSource())
