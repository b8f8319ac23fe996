"""The data and models that commands read, and the options about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from conjunct import counting, estimators, files
from conjunct import data as data_
from conjunct.cli.options import Format, data_option
from conjunct.cli.terminal import file_of, name_of, show_rows_read, time_step
from conjunct.errors import InputError

if TYPE_CHECKING:
    from conjunct.counting import Engine
    from conjunct.data import Binarizer, BooleanData, Ids, Preparation, TagCleaner
    from conjunct.estimators import UFC, FeatureConstructor, InvertibleConstructor
    from conjunct.files import ReadOptions, Stream

# delimiters that are hard to type in a shell
_SPELLED = {r"\t": "\t", "tab": "\t", "space": " "}


@dataclass(frozen=True)
class DataInput:
    """The way in which a command reads its data."""

    options: ReadOptions
    binarizer: Binarizer | None = None
    cleaner: TagCleaner | None = None
    has_weights: bool = False
    """True if the column that names the rows holds their weights."""

    def read_weights_from(self, column: str | None) -> DataInput:
        """Return this input with a column of weights."""
        if column is None:
            return self
        if self.options.id is not None:
            raise InputError("use either --id or --weights, not both")
        return replace(self, options=replace(self.options, id=column), has_weights=True)

    def with_weights(self, table: BooleanData) -> tuple[BooleanData, dict[str, list[float]]]:
        """Return the table without its weights, and the weights as a parameter of ``fit``."""
        if not self.has_weights or table.ids is None:
            return table, {}
        weights = []
        for row, text in enumerate(table.ids.values):
            weight = data_.number(text)
            if weight is None:
                raise InputError(
                    f"column {table.ids.name!r}, row {row}: {text!r} is not a number: --weights "
                    "needs numbers"
                )
            weights.append(weight)
        return replace(table, ids=None), {"sample_weight": weights}

    def only_tags(self) -> DataInput:
        """Return this input with the column of tags alone, if there is one."""
        tags = self.options.tags
        if tags is None or self.options.columns is not None:
            return self
        return replace(self, options=replace(self.options, columns=[tags]))

    def read(self, data: Path, model: FeatureConstructor | None = None) -> BooleanData:
        """Return a Boolean table; for a model its columns, prepared as they were for it."""
        name, names = name_of(data), None
        preparing: DataInput | Preparation = self
        if model is not None:
            preparing = model.preparation_
            if hasattr(model, "feature_names_in_"):
                names = list(model.feature_names_in_)
        with time_step(f"read {name}"), show_rows_read(f"Reading {name}") as progress:
            return files.read_boolean(
                file_of(data),
                **asdict(self.options),
                binarizer=preparing.binarizer,
                cleaner=preparing.cleaner,
                names=names,
                progress=progress,
            )

    def naming_cells_of(
        self, data: Path, if_empty: str = "fill it in or drop the row"
    ) -> AbstractContextManager[None]:
        """Add the file and the line to errors about cells of the data."""
        return files.naming_cells_of(file_of(data), self.options, if_empty)


def _make_input(
    format_: Format | None = data_option(
        "File format, if the extension does not show it: csv, tsv, text, parquet, arrow, excel, "
        "database, jsonl, json, arff, baskets, svmlight or long.",
        "--format",
        metavar="FORMAT",
    ),
    columns: list[str] | None = data_option(
        "Columns (or tags) to read, such as a,b; may be repeated.", metavar="NAMES"
    ),
    exclude: list[str] | None = data_option("Columns (or tags) to ignore.", metavar="NAMES"),
    id_: str | None = data_option("Column that identifies the rows.", "--id", metavar="NAME"),
    separator: str | None = data_option(
        "Delimiter between cells, or between the tags of a basket.", metavar="TEXT"
    ),
    tags: str | None = data_option(
        "Column with the tags of each row, such as water;tree or a JSON list.", metavar="NAME"
    ),
    tag_separator: str | None = data_option("Delimiter between tags, with --tags.", metavar="TEXT"),
    null: list[str] | None = data_option(
        "Text that marks a missing cell, such as ?.", metavar="TEXT"
    ),
    sheet: str | None = data_option("Sheet of a spreadsheet (default: the first).", metavar="NAME"),
    table: str | None = data_option("Table of a database that has several.", metavar="NAME"),
    header: bool | None = data_option(
        "Whether the first line is a header (default: inferred).", "--header/--no-header"
    ),
) -> DataInput:
    return DataInput(
        files.ReadOptions(
            format_,
            columns or None,
            exclude or (),
            id_,
            _SPELLED.get(separator or "", separator),
            tags,
            null or (),
            _SPELLED.get(tag_separator or "", tag_separator),
            sheet,
            table,
            header,
        )
    )


def _make_preparing_input(
    binning: Literal["quantile", "width", "kmeans"] = data_option(
        "Bin numbers into equally many rows, into equal widths, or by k-means.", default="quantile"
    ),
    bins: int = data_option("Number of bins per numeric column.", default=4),
    cumulative: bool = data_option(
        "Make age ≥ 30 instead of age in [30, 45).", "--cumulative", default=False
    ),
    edges: list[str] | None = data_option(
        "Bin edges of a column, such as age=30,45,60.", metavar="NAME=NUMBERS"
    ),
    min_frequency: float = data_option(
        "Group values rarer than this count (or share, if below 1).", default=1
    ),
    max_categories: int = data_option(
        "Maximum number of tags per categorical column; the rarest are grouped.", default=20
    ),
    rare_categories: Literal["group", "drop"] = data_option(
        "Group rare values, or drop them.", default="group"
    ),
    categorical: list[str] | None = data_option(
        "Columns to read as categories, even if they hold numbers or dates.", metavar="NAMES"
    ),
    clean_tags: bool = data_option(
        "Merge spellings of tags, as conjunct tags does.", "--clean-tags", default=False
    ),
    synonyms: Path | None = data_option("File that maps tags to their preferred names."),
    **reading: Any,
) -> DataInput:
    binarizer = data_.Binarizer(
        binning,
        n_bins=bins,
        cumulative=cumulative,
        edges=dict(map(_parse_edges, edges)) if edges else None,
        min_frequency=min_frequency,
        max_categories=max_categories,
        rare_categories=rare_categories,
        categorical=[name for given in categorical or () for name in given.split(",")],
    )
    binarizer.settings()
    cleaner = None
    if clean_tags or synonyms is not None:
        known = None if synonyms is None else files.read_synonyms(synonyms)
        cleaner = data_.TagCleaner(synonyms=known)
    return DataInput(_make_input(**reading).options, binarizer, cleaner)


def _parse_edges(given: str) -> tuple[str, list[float]]:
    column, _, numbers = given.rpartition("=")
    try:
        return column, [float(number) for number in numbers.split(",")]
    except ValueError:
        raise InputError(f"--edges must be like age=30,45,60; got {given!r}") from None


READING_OPTIONS = (_make_input,)
"""The options about reading, for `takes`; the command gets a `DataInput`."""
PREPARING_OPTIONS = (_make_input, _make_preparing_input)
"""These, and the options that make raw columns Boolean."""


@dataclass(frozen=True)
class StreamInput:
    """Files that are read as one stream, in place of a ``DataInput``."""

    source: DataInput
    files: Sequence[Path]
    memory: str | None = None
    scheduler: str | None = None
    engine: str | None = None

    @property
    def cluster(self) -> Engine | None:
        """The engine that counts the rows, unless it is this process."""
        if self.scheduler is None and self.engine is None:
            return None
        return counting.ENGINES[self.engine or "dask"]

    def read(self, data: Path) -> Stream:
        """Return all files, of which ``data`` is the first, as a stream."""
        words = name_of(data) if len(self.files) == 1 else f"{len(self.files)} files"
        with time_step(f"looked through {words}"), show_rows_read(f"Reading {words}") as progress:
            found = files.stream(
                *map(file_of, self.files),
                **asdict(self.source.options),
                memory=self.memory,
                binarizer=self.source.binarizer,
                cleaner=self.source.cleaner,
                progress=progress,
            )
        # the bar ends here; the next one shows iterations
        found = replace(found, progress=None)
        return found if self.cluster is None else replace(found, engine=self.cluster.name)

    @contextmanager
    def naming_cells_of(self, data: Path, if_empty: str = "") -> Iterator[None]:
        """Connect to the cluster; a stream names its cells without help."""
        from conjunct.memory import parse_bytes

        if self.cluster is None:
            yield
            return
        memory = None if self.memory is None else parse_bytes(self.memory)
        address = None if self.scheduler == "local" else self.scheduler
        with self.cluster.connect(address, memory):
            yield


def read_model(file: Path) -> FeatureConstructor:
    """Return the model in a file."""
    with time_step(f"read {file}"):
        return estimators.load(file)


def require_chunks(model: FeatureConstructor, file: Path) -> InvertibleConstructor:
    """Return the model if it has chunks, and raise otherwise."""
    if not isinstance(model, estimators.InvertibleConstructor):
        raise InputError(
            f"{file}: a {type(model).__name__} model has no chunks: use a model written by "
            "conjunct fit or path"
        )
    return model


def require_ufc(model: FeatureConstructor, file: Path, otherwise: str) -> UFC:
    """Return the model if it is a UFC, and raise otherwise."""
    if not isinstance(model, estimators.UFC):
        kind = type(model).__name__
        raise InputError(f"{file}: a {kind} model {otherwise}: use a model written by conjunct fit")
    return model


def check_id_name(ids: Ids | None, *columns: str) -> None:
    """Refuse a column of ids with the name of an output column."""
    if ids is not None and ids.name in columns:
        raise InputError(
            f"the --id column has the name of an output column, {ids.name!r}: rename it"
        )


def set_column_options(model: FeatureConstructor, **given: Any) -> None:
    """Set parameters of the columns that a model returns, unless they are None."""
    for name, value in given.items():
        if value is None:
            continue
        if not isinstance(model, estimators.InvertibleConstructor):
            option, kind = f"--{name.replace('_', '-')}", type(model).__name__
            raise InputError(f"{option} does not apply to a {kind} model")
        setattr(model, name, value)
