"""Reading files of any known kind as Boolean tables and data frames."""

from __future__ import annotations

import copy
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self, TypeAlias, TypeVar

import msgspec
from sklearn.base import clone

from conjunct.columns import Bits, columns_of_lines, pack_column
from conjunct.data import (
    CHANGE_KINDS,
    MERGES,
    SOURCES,
    Binarizer,
    BooleanData,
    BooleanRule,
    ChangeKind,
    ColumnRule,
    Dropped,
    Ids,
    NumberRule,
    Preparation,
    Remark,
    TagCleaner,
    TagsRule,
    apply_rules,
    check_variables,
    meaning,
    rules_for,
    warn_of_guesses,
)
from conjunct.errors import CellError, ConjunctWarning, InputError
from conjunct.files import raw
from conjunct.files.cells import (
    BooleanCells,
    NumbersError,
    align_to_bytes,
    read_column,
    read_with_rules,
)
from conjunct.files.formats.base import (
    AsText,
    Format,
    ReadOptions,
    Scan,
    TableFormat,
    columns_as_text,
    find_format,
    find_source,
    frame_batches,
    is_boolean,
    list_names,
    recognise_format,
    select_columns,
)
from conjunct.files.raw import Progress, StrPath, check_exists, check_not_empty, one_line_errors
from conjunct.memory import byte_text

if TYPE_CHECKING:
    import polars as pl

_DEFAULTS = ReadOptions()
T = TypeVar("T")
Found: TypeAlias = list[ColumnRule] | Dropped
Line: TypeAlias = tuple[Bits, Bits | None]

# columns that are not Boolean are read whole, in groups of about this size
_GROUP_BYTES = 1 << 28
_CELL_BYTES = 64


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
    table: str | None = None,
    header: bool | None = None,
    binarizer: Binarizer | None = None,
    cleaner: TagCleaner | None = None,
    names: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> BooleanData:
    """Read a file of any known kind as a Boolean table, batch by batch into packed columns.

    Parameters
    ----------
    path : path
        Names of tables end in .csv, .tsv, .txt, .parquet, .arrow, .feather, .json, .jsonl, .xlsx,
        .ods, .arff, .sqlite, .db or .duckdb, those of transactions in .dat or .basket (or .txt),
        and those of SVMlight in .svm or .svmlight. Text may be compressed (.gz, .zst).
    format : str, optional
        ``"csv"``, ``"tsv"``, ``"text"``, ``"parquet"``, ``"arrow"``, ``"json"``, ``"jsonl"``,
        ``"excel"``, ``"arff"``, ``"database"``, ``"baskets"`` or ``"svmlight"``, if the name of the
        file has another ending; ``"long"`` for a table of ids and tags.
    columns, exclude : sequence of str
        Columns (or tags) to read, and columns to leave out.
    id : str, optional
        Column that names the rows, and is not a feature.
    separator : str, optional
        Separator of cells; in baskets, of tags.
    tags : str, optional
        Column that holds the tags of a row: ``water;tree``, ``["water", "tree"]``, or a list. Other
        columns become features too, and the tags are then named ``column: tag``.
    null_values : sequence of str
        Words for missing cells. Empty cells are always missing, like words such as ``n/a`` in
        columns of numbers, dates, and yes or no.
    tag_separator : str, optional
        Separator of the tags in a cell of the column ``tags``.
    sheet : str, optional
        Sheet of a spreadsheet, by default the first.
    table : str, optional
        Table of a database that has several.
    header : bool, optional
        True if the first line of a text file has the column names. By default, this is inferred
        from its cells.
    binarizer : Binarizer, optional
        Makes other columns Boolean. It is fitted first if necessary.
    cleaner : TagCleaner, optional
        Merges spellings of tags. It is fitted first if necessary.
    names : sequence of str, optional
        Features of a model, in its order. Others are ignored with a warning.
    progress : callable, optional
        Function of the number of rows read so far, and of their estimated total or None.

    Returns
    -------
    BooleanData
        Its ``preparation`` has the fitted Binarizer or TagCleaner.

    Raises
    ------
    InputError
        The message names the file, the line and the column in one line.

    Examples
    --------
    >>> from pathlib import Path
    >>> from conjunct.files import read_boolean
    >>> _ = Path("animals.csv").write_text("colour,swims\\nbrown,yes\\ngrey,no\\n")
    >>> read_boolean("animals.csv").names
    ('colour = brown', 'colour = grey', 'swims')
    """
    cells = separator, tags, null_values, tag_separator
    options = ReadOptions(format, columns, exclude, id, *cells, sheet, table, header)
    options = options.expect(names, binarizer)
    known = set() if names is None else set(names)
    with one_line_errors(path):
        file, kind = find_source(path, options)
        if cleaner is None and (names is None or binarizer is not None):
            options, binarizer = keep_other_columns(file, kind, options, binarizer)
        holds_tags = kind.holds_tags(options)
        if kind.numbers is not None and hasattr(binarizer, "rules_"):
            holds_tags = False
        try:
            found = kind.tags(file, options, progress) if holds_tags else None
        except NumbersError:
            found = None
        if found is not None:
            found = found.align(choose_tags(found.names, file, kind, options))
        else:
            if names is not None and binarizer is None and cleaner is None:
                rules: list[tuple[str, Found]] = [(name, [BooleanRule(name)]) for name in names]
                binarizer = Binarizer.from_rules({}, rules)
            wide = kind.numbers or kind.table(file)
            survey = Survey([file], [wide], options, binarizer or Binarizer(), progress)
            if names is not None and cleaner is not None:
                survey.wanted = lambda name: cleaner.clean(name) in known
            found = survey.scan().table()
    if cleaner is not None:
        is_fitted = hasattr(cleaner, "mapping_")
        found = found.clean(cleaner if is_fitted else found.fit_cleaner(clone(cleaner)))
    if names is None:
        return found
    if found.tags:
        warn_unused(path, [name for name in found.names if name not in known], "tags")
    return found.align(names)


def choose_tags(names: Sequence[str], file: Path, kind: Format, options: ReadOptions) -> list[str]:
    """Return the tags to make features from. Ignore excluded names of other columns."""
    known = _other_columns(file, kind, options)
    exclude = [name for name in options.exclude if name in names or name not in known]
    columns = None if options.columns == [options.tags] else options.columns
    if columns is None and not exclude:
        return list(names)
    chosen = replace(options, id=None, columns=columns, exclude=exclude)
    return chosen.choose_columns(names, file)


def keep_other_columns(
    file: Path, kind: Format, options: ReadOptions, binarizer: Binarizer | None
) -> tuple[ReadOptions, Binarizer | None]:
    """Return options and a Binarizer that read a column of tags with other features.

    Without other features, tags stay tags, which can be cleaned and may be numerous.
    """
    if options.tags is None or options.tag_separator is not None:
        return options, binarizer
    whole = replace(options, tags=None)
    if getattr(binarizer, "rules_", None) is not None:
        return whole, binarizer
    chosen = [name for name in options.columns or () if name != options.tags]
    known = _other_columns(file, kind, options)
    others = [name for name in known if name not in options.exclude]
    if not others or (options.columns is not None and not (chosen and set(chosen) <= set(others))):
        return options, binarizer
    start = Binarizer() if binarizer is None else clone(binarizer)
    start.set_params(tags=[*start.tags, options.tags])
    columns = None if options.columns is None else [*chosen, options.tags]
    return replace(whole, columns=columns), start


def _other_columns(file: Path, kind: Format, options: ReadOptions) -> list[str]:
    """Return the columns of a table without the tags and the ids."""
    if options.tags is None or not isinstance(kind, TableFormat):
        return []
    scan, _ = kind.text_batches(file, options, options.tags)
    return [name for name in scan.names if name not in (options.tags, options.id)]


def read_table(
    path: StrPath,
    *,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    separator: str | None = None,
    null_values: Sequence[str] = (),
    sheet: str | None = None,
    header: bool | None = None,
) -> pl.DataFrame:
    """Read a table without making it Boolean. Only columns of 0/1 or true/false are Boolean.

    Other columns are numbers, dates or text, and empty cells are null. ``header`` states whether
    the first line has the names of columns; ``None`` decides by its cells.

    Raises
    ------
    InputError
        If the file is not a table. The message names the file and the place in one line.

    Examples
    --------
    >>> from pathlib import Path
    >>> from conjunct.files import read_table
    >>> _ = Path("animals.csv").write_text("colour,legs\\nbrown,4\\n")
    >>> read_table("animals.csv").rows()
    [('brown', 4)]
    """
    cells = separator, None, null_values, None, sheet
    options = ReadOptions(format, columns, exclude, None, *cells, header=header)
    frame = read_frame(path, options)
    if not frame.height:
        raise InputError(f"{path} has column names but no rows")
    return frame


def read_frame(path: StrPath, options: ReadOptions) -> pl.DataFrame:
    """Read a table that may have no rows."""
    import polars as pl

    words = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null, pl.Date, pl.Datetime)

    def use(scan: Scan) -> pl.DataFrame:
        chosen = options.choose_columns(scan.names, file)
        for name, kind in select_columns(scan.frame, chosen).collect_schema().items():
            if not kind.is_numeric() and kind not in words:
                as_tags = f"read it as tags (tags={name!r}) or " if kind == pl.List else ""
                raise InputError(
                    f"{file}, column {name!r}: {kind} is not Boolean; {as_tags}leave the column out"
                )
        frame = scan.frame.collect()
        if frame.height and frame[:, -1].null_count() and wide.reads_short_rows:
            frame = frame.head(max(0, frame.height - wide.count_trailing_blanks(file, options)))
        return pl.DataFrame(
            {name: wide.infer_type(frame.get_column(name).alias("cells")) for name in chosen}
        )

    with one_line_errors(path):
        check_exists(path)
        wide = find_format(path, options.format).table(path)
        file, _ = find_source(path, replace(options, format=wide.name))
        return wide.read(file, options, use)[0]


class ColumnView(NamedTuple):
    """A column of a file, and how it was read."""

    column: str
    kind: str
    example: str
    missing: int
    n_features: int
    about: str
    """The rules of the features, or the reason that there are none."""
    option: str
    """The option on the command line for another reading."""


def look(
    path: StrPath, options: ReadOptions, binarizer: Binarizer | None = None
) -> tuple[BooleanData, list[ColumnView]]:
    """Read a file as a Boolean table, and describe how each column was read."""
    table = read_boolean(path, **asdict(options), binarizer=binarizer)
    if table.tags:
        example = ", ".join(next(filter(None, table.convert("baskets")), []))
        name, n_tags = options.tags or "tags", len(table.names)
        about = f"{n_tags} tags, one feature each"
        return table, [ColumnView(name, "tags", example, 0, n_tags, about, "--exclude TAG")]
    fitted = table.preparation.binarizer
    rules: dict[str, list[ColumnRule]] = {name: [BooleanRule(name)] for name in table.names}
    rules = rules if fitted is None else fitted.rules_by_column()
    dropped = {} if fitted is None else {d.column: d.reason for d in fitted.dropped_}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        examples, n_empty = _find_examples(path, options)
    n_missing = table.count_missing_cells()
    views = []
    for name, example in examples.items():
        missing = n_missing.get(name, 0) if name in rules else n_empty[name]
        made = rules.get(name, ())
        n_features = sum(len(rule.names()) for rule in made)
        about = "; ".join(rule.describe() for rule in made)
        kind, option = _describe_rules(name, made)
        if not made:
            about = dropped.get(name, "as requested")
            # no reading makes features from a column with a single value
            is_other = name in dropped and not about.startswith("every ")
            option = f"--categorical {name!r}" if is_other else ""
            if name == options.id:
                kind, about = "id", "it names the rows"
        views.append(ColumnView(name, kind, example, missing, n_features, about, option))
    return table, views


def _find_examples(path: StrPath, options: ReadOptions) -> tuple[dict[str, str], Counter[str]]:
    """Return an example cell and the number of empty cells of each column."""
    every = replace(options, tags=None, tag_separator=None, columns=None, exclude=(), id=None)
    file, kind = find_source(path, every)
    # files of tags with numbers have another format
    scan, batches = (kind.numbers or kind.table(file)).text_batches(file, every)
    examples, n_empty = dict.fromkeys(scan.names, ""), Counter[str]()
    for batch in batches:
        for cells in batch.iter_columns():
            n_empty[cells.name] += cells.null_count()
            first = next(iter(cells.drop_nulls().head(1).to_list()), None)
            if first is not None and not examples[cells.name]:
                examples[cells.name] = ", ".join(first) if isinstance(first, list) else str(first)
    return examples, n_empty


def _describe_rules(name: str, rules: Sequence[ColumnRule]) -> tuple[str, str]:
    """Return the kind of a column and the option for another reading."""
    if not rules:
        return "left out", ""
    rule = rules[0]
    if isinstance(rule, BooleanRule):
        return "yes or no", f"--exclude {name!r}"
    if isinstance(rule, TagsRule) or rule.part is not None:
        return "tags" if isinstance(rule, TagsRule) else "dates", f"--categorical {name!r}"
    if rule.written != "words":
        kind = "numbers" if isinstance(rule, NumberRule) else "values"
        return kind, f"--edges '{name}=…'"
    return "words", "--max-categories N"


def read_synonyms(path: StrPath) -> dict[str, str]:
    """Read tags and their new names from a file.

    The file is a JSON object, ``{"automobile": "car"}``, or a table with columns ``from`` and
    ``to``. If the table has a column ``accept``, as a review has, only accepted merges are read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from conjunct.files import read_synonyms
    >>> _ = Path("names.json").write_text('{"auto": "car"}')
    >>> read_synonyms("names.json")
    {'auto': 'car'}
    """
    if str(path).lower().endswith(".json"):
        return _read_json(path, dict[str, str], "tags", " and their new names")
    synonyms: dict[str, str] = {}
    for row, line in enumerate(read_review(path), start=1):
        if not line.accept or line.kind not in (None, *MERGES):
            continue
        if not line.tag or not line.into:
            raise InputError(f"{path}, row {row}: a tag is missing")
        if synonyms.setdefault(line.tag, line.into) != line.into:
            names = f"{synonyms[line.tag]!r} and {line.into!r}"
            raise InputError(f"{path}, row {row}: {line.tag!r} has two names: {names}")
    return synonyms


class ReviewLine(NamedTuple):
    """A line of a review: a proposal, and the decision or ``None``."""

    kind: ChangeKind | None
    tag: str
    into: str
    accept: bool | None


def read_review(path: StrPath) -> list[ReviewLine]:
    """Read a table with columns ``from`` and ``to``, and optionally ``kind`` and ``accept``.

    Without ``accept``, all lines are accepted.

    Examples
    --------
    >>> from pathlib import Path
    >>> from conjunct.files import read_review
    >>> _ = Path("review.csv").write_text("from,to,accept\\nauto,car,yes\\n")
    >>> read_review("review.csv")[0].into
    'car'
    """
    import polars as pl

    table = read_frame(path, ReadOptions()).cast(pl.String)
    for name in ("from", "to"):
        if name not in table.columns:
            raise InputError(f"{path} has no column {name!r}: synonyms need both from and to")
    lines = []
    for row, cells in enumerate(table.iter_rows(named=True), start=1):
        decision = (cells.get("accept") or "").strip()
        accept = True if "accept" not in cells else meaning(decision)
        if decision and accept is None:
            raise InputError(f"{path}, row {row}, column 'accept': {decision!r} is not yes or no")
        kind = cells.get("kind")
        if kind is not None and kind not in CHANGE_KINDS:
            known = ", ".join(CHANGE_KINDS)
            raise InputError(f"{path}, row {row}, column 'kind': {kind!r} is not one of {known}")
        lines.append(ReviewLine(kind, cells["from"] or "", cells["to"] or "", accept))
    return lines


def read_variables(path: StrPath) -> dict[str, list[str]]:
    """Read variables and their columns from a JSON object: ``{"colour": ["red", "blue"]}``."""
    variables = _read_json(path, dict[str, list[str]], "variables with lists of their columns")
    check_variables(variables)
    return variables


def _read_json(path: StrPath, kind: type[T], what: str, more: str = "") -> T:
    file = check_not_empty(path, f"a JSON object of {what}{more}")
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}: not a JSON object of {what} ({error})") from None


@contextmanager
def naming_cells_of(
    path: StrPath, options: ReadOptions = _DEFAULTS, if_empty: str = "fill it in, or drop the row"
) -> Iterator[None]:
    """Add the file and the line to an error about a cell of the table read from ``path``."""
    try:
        yield
    except CellError as error:
        problem = f"{error.problem}; write 0/1 or true/false, or leave the column out"
        if error.value is None or error.value != error.value:
            problem = f"the cell has no value; {if_empty}"
        kind = recognise_format(Path(path), options)
        raise kind.error_at(Path(path), options, error.row, error.column, problem) from None


class FileSource:
    """The reader of paths for ``BooleanData.from_data``."""

    name = "file"
    summary = "tables and tags in files"
    read = staticmethod(read_boolean)


@dataclass
class Survey:
    """A first pass through files with the same columns, which finds the rules of each column.

    Without ``memory``, there is one file, and its rows are kept for ``table``.
    """

    files: Sequence[Path]
    formats: Sequence[TableFormat]
    options: ReadOptions
    binarizer: Binarizer
    progress: Progress | None = None
    memory: int | None = None
    wanted: Callable[[str], bool] = lambda name: True
    """Returns True for the wanted columns among the chosen ones."""
    columns: list[str] = field(default_factory=list)
    n_rows: list[int] = field(default_factory=list)
    ways: list[int] = field(default_factory=list)
    """The first way to read each file that works."""

    def __post_init__(self) -> None:
        is_fitted = hasattr(self.binarizer, "rules_")
        self.rules = self.binarizer.rules_by_column() if is_fitted else None
        self._keep = self.memory is None
        self._boolean: dict[str, BooleanCells] = {}
        self._lines: dict[str, list[Line]] = {}
        self._ids: list[str] = []
        self._scan: Scan | None = None

    def scan(self) -> Self:
        """Read the files, and find the rules of each column unless they are given."""
        for file, wide in zip(self.files, self.formats, strict=True):
            with one_line_errors(file):
                self._scan_file(file, wide)
        try:
            self._find_rules()
        except CellError as error:
            row, k = error.row, 0
            while row >= self.n_rows[k]:
                row, k = row - self.n_rows[k], k + 1
            problem = f"{error.problem}; {error.advice}"
            where = self.files[k], self.options, row, error.column
            raise self.formats[k].error_at(*where, problem) from None
        return self

    def table(self) -> BooleanData:
        """Return the rows that were kept."""
        n_rows = sum(self.n_rows)
        lines = (line for name in self.columns for line in self._lines.pop(name))
        id_name = self.options.id
        return BooleanData(
            tuple(self.binarizer.get_feature_names_out()),
            columns_of_lines(lines, n_rows),
            ids=None if id_name is None else Ids(id_name, tuple(self._ids[:n_rows])),
            preparation=Preparation(self.binarizer).drop_idle_binarizer(),
        )

    def _scan_file(self, file: Path, wide: TableFormat) -> None:
        """Find a way to read the file, its number of rows, and its Boolean columns."""
        before = self._boolean

        def use(scan: Scan) -> int:
            self._boolean, self._ids = copy.deepcopy(before), []
            scan = wide.complete(scan, self.rules or ())
            self._choose_columns(file, scan.names)
            self._scan = scan if self._keep else None
            return self._scan_batches(file, wide, scan)

        n_rows, way = wide.read(file, self.options, use, columns_as_text(self.rules))
        self.n_rows.append(n_rows)
        self.ways.append(way)

    def _choose_columns(self, file: Path, names: Sequence[str]) -> None:
        chosen = self.options.choose_columns(names, file)
        if self.rules is None:
            chosen = [name for name in chosen if self.wanted(name)]
        else:
            absent = [name for name in self.rules if name not in names]
            if absent:
                raise InputError(f"{file} lacks columns of the model: {list_names(absent)}")
            known = set(self.binarizer.feature_names_in_)
            if self._keep:
                warn_unused(file, [name for name in chosen if name not in known], "columns")
            chosen = list(self.rules)
        if not self.n_rows:
            self.columns = chosen
            settings = self.binarizer.settings()
            fixed = {*(settings.edges or ()), *settings.categorical}
            self._boolean = {
                name: BooleanCells(keep=self._keep)
                for name in chosen
                if (name not in fixed if self.rules is None else is_boolean(self.rules[name]))
            }
        if set(chosen) != set(self.columns):
            other = sorted(set(chosen) ^ set(self.columns))[0]
            lacking, having = (file, self.files[0])[:: 1 if other in self.columns else -1]
            raise InputError(
                f"{lacking} lacks column {other!r} of {having}: files must have the same columns"
            )

    def _scan_batches(self, file: Path, wide: TableFormat, scan: Scan) -> int:
        import polars as pl

        schema = select_columns(scan.frame, self.columns).collect_schema()
        looked_at = dict(self._boolean)
        if not self._keep:
            # columns of Boolean type are skipped once a cell is known not to be empty
            declared = [name for name in looked_at if schema[name] == pl.Boolean]
            head = select_columns(scan.frame, declared).head(raw.BATCH_ROWS).collect()
            for cells in head.iter_columns():
                looked_at[cells.name].read(cells)
                if looked_at[cells.name].seen:
                    del looked_at[cells.name]
        # without rules, all columns are read, to be sure that this way works
        needed = [*looked_at]
        if self.rules is None:
            needed += [name for name in self.columns if name not in self._boolean]
        id_name = self.options.id if self._keep else None
        if id_name is not None:
            needed.append(id_name)
        last = scan.names[-1]
        n_rows, n_missing_last = 0, 0
        frame = select_columns(scan.frame, dict.fromkeys([*needed, last]))
        for batch in align_to_bytes(frame_batches(frame)):
            for name, column in [*looked_at.items()]:
                if column.read(batch.get_column(name)) is None:
                    del self._boolean[name], looked_at[name]
            if id_name is not None:
                self._ids += batch.get_column(id_name).cast(pl.String).fill_null("").to_list()
            n_rows += batch.height
            n_missing_last += batch.get_column(last).null_count()
            if self.progress is not None:
                is_known = self._keep and scan.n_rows is not None
                expected = max(n_rows, scan.n_rows or 0) if is_known else None
                self.progress(sum(self.n_rows) + n_rows, expected)
        if n_missing_last and wide.reads_short_rows:
            n_rows -= wide.count_trailing_blanks(file, self.options)
        if wide.counts_rows and scan.n_rows is not None and n_rows < scan.n_rows:
            raise InputError(
                f"{file}: only {n_rows:,} of {scan.n_rows:,} rows can be read; a column may have "
                "a type that polars lacks, such as decimal256, or two columns may share a name"
            )
        # negative if lines end in carriage returns alone, which polars does not count
        if n_rows <= 0:
            raise InputError(f"{file} has column names but no rows")
        return n_rows

    def _find_rules(self) -> None:
        """Find the rules of each column, and pack its features if rows are kept."""
        total = sum(self.n_rows)
        found: dict[str, Found] = {}
        for name, boolean in self._boolean.items():
            # a column of empty cells need not be Boolean
            if boolean.seen or self.rules is not None:
                found[name] = [BooleanRule(name)]
                if self._keep:
                    self._lines[name] = [boolean.line(total)]
        if self.rules is None or self._keep:
            settings, remarks = self.binarizer, list[tuple[str, Remark]]()
            for cells in self._read_whole([name for name in self.columns if name not in found]):
                given = None if self.rules is None else self.rules[cells.name]
                if given is None:
                    column = read_column(cells, as_words=cells.name in settings.categorical)
                    rules: Found = rules_for(column, settings, remarks)
                else:
                    column, rules = read_with_rules(cells, given), given
                found[column.name] = rules
                if self._keep:
                    made = apply_rules(() if isinstance(rules, Dropped) else rules, column)
                    self._lines[column.name] = [
                        (pack_column(values), pack_column(~missing) if missing.any() else None)
                        for values, missing in made
                    ]
            warn_of_guesses(remarks)
        if self.rules is None:
            named = [(name, found[name]) for name in self.columns]
            self.binarizer = Binarizer.from_rules(self.binarizer.get_params(), named)
            self.rules = self.binarizer.rules_by_column()

    def _read_whole(self, names: Sequence[str]) -> Iterator[pl.Series]:
        """Yield columns of all files together, reading a few at a time."""
        import polars as pl

        column_bytes = sum(self.n_rows) * _CELL_BYTES
        if names and self.memory is not None and column_bytes > self.memory:
            raise InputError(
                f"column {names[0]!r} is not Boolean, and converting it needs "
                f"{byte_text(column_bytes)} of memory: allow more, or fit a Binarizer to a sample "
                "and pass it as binarizer="
            )
        most = _GROUP_BYTES if self.memory is None else min(_GROUP_BYTES, self.memory // 4)
        step = max(1, most // column_bytes)
        for start in range(0, len(names), step):
            group = names[start : start + step]
            frames = self._read_frames(group, columns_as_text(self.rules))
            for name in group:
                parts = [frame.get_column(name) for frame in frames]
                kinds = {part.dtype for part in parts}
                if pl.String in kinds and len(kinds) > 1:
                    # if one file has words, numbers of other files are words, as spelled there
                    texts = self._read_frames([name], partial(eq, name))
                    parts = [
                        part
                        if part.dtype == pl.String
                        else pl.Series(name, read_column(part).cells(), pl.String)
                        for part in map(pl.DataFrame.to_series, texts)
                    ]
                cells = [part.alias("cells").to_frame() for part in parts]
                yield pl.concat(cells, how="vertical_relaxed").to_series().alias(name)

    def _read_frames(self, names: Sequence[str], as_text: AsText) -> list[pl.DataFrame]:
        """Return some columns of each file."""
        import polars as pl

        frames = []
        each = zip(self.files, self.formats, self.n_rows, self.ways, strict=True)
        for file, wide, n_rows, way in each:
            scan = self._scan or wide.scan(file, self.options, way, as_text)
            frame = select_columns(scan.frame, names).head(n_rows)
            with one_line_errors(file):
                frames.append(pl.concat(wide.batches(file, self.options, frame)))
        return frames


def warn_unused(path: StrPath, others: Sequence[str], what: str) -> None:
    """Warn about columns or tags that the model does not use."""
    if others:
        message = f"{what} of {path} that the model does not use: {list_names(others)}"
        warnings.warn(message, ConjunctWarning, stacklevel=2)


SOURCES.enter(FileSource())
