"""The data and models that commands read, and the options about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from conjunct.cli.options import Format, counting_option, data_option
from conjunct.cli.terminal import file_of, name_of, show_rows_read, time_step
from conjunct.errors import InputError

if TYPE_CHECKING:
    from conjunct.counting import Engine
    from conjunct.data import Binarizer, BooleanData, Ids, TagCleaner
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
        from conjunct.data import number

        if not self.has_weights or table.ids is None:
            return table, {}
        weights = []
        for row, text in enumerate(table.ids.values):
            weight = number(text)
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

    def read(self, data: Path) -> BooleanData:
        """Return the data as a Boolean table."""
        return self._read(data, self.binarizer, self.cleaner, None)

    def read_for(self, model: FeatureConstructor, data: Path) -> BooleanData:
        """Return the columns that a model was fitted on, prepared as they were for it."""
        prepared = model.preparation_
        named = hasattr(model, "feature_names_in_")
        names = list(model.feature_names_in_) if named else None
        return self._read(data, prepared.binarizer, prepared.cleaner, names)

    def naming_cells_of(
        self, data: Path, if_empty: str = "fill it in or drop the row"
    ) -> AbstractContextManager[None]:
        """Add the file and the line to errors about cells of the data."""
        from conjunct.files import naming_cells_of

        return naming_cells_of(file_of(data), self.options, if_empty)

    def _read(
        self,
        data: Path,
        binarizer: Binarizer | None,
        cleaner: TagCleaner | None,
        names: Sequence[str] | None,
    ) -> BooleanData:
        from conjunct.files import read_boolean

        name = name_of(data)
        with time_step(f"read {name}"), show_rows_read(f"Reading {name}") as progress:
            return read_boolean(
                file_of(data),
                **asdict(self.options),
                binarizer=binarizer,
                cleaner=cleaner,
                names=names,
                progress=progress,
            )


def _make_input(
    format_: Annotated[
        Format | None,
        data_option(
            "File format, if the extension does not show it: csv, tsv, text, parquet, arrow, "
            "excel, database, jsonl, json, arff, baskets, svmlight or long.",
            "--format",
            metavar="FORMAT",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        data_option("Columns (or tags) to read, such as a,b; may be repeated.", metavar="NAMES"),
    ] = None,
    exclude: Annotated[
        list[str] | None, data_option("Columns (or tags) to ignore.", metavar="NAMES")
    ] = None,
    id_: Annotated[
        str | None, data_option("Column that identifies the rows.", "--id", metavar="NAME")
    ] = None,
    separator: Annotated[
        str | None,
        data_option("Delimiter between cells, or between the tags of a basket.", metavar="TEXT"),
    ] = None,
    tags: Annotated[
        str | None,
        data_option(
            "Column with the tags of each row, such as water;tree or a JSON list.", metavar="NAME"
        ),
    ] = None,
    tag_separator: Annotated[
        str | None, data_option("Delimiter between tags, with --tags.", metavar="TEXT")
    ] = None,
    null: Annotated[
        list[str] | None, data_option("Text that marks a missing cell, such as ?.", metavar="TEXT")
    ] = None,
    sheet: Annotated[
        str | None, data_option("Sheet of a spreadsheet (default: the first).", metavar="NAME")
    ] = None,
    table: Annotated[
        str | None, data_option("Table of a database that has several.", metavar="NAME")
    ] = None,
    header: Annotated[
        bool | None,
        data_option(
            "Whether the first line is a header (default: inferred).", "--header/--no-header"
        ),
    ] = None,
) -> DataInput:
    from conjunct.files import ReadOptions

    return DataInput(
        ReadOptions(
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
    binning: Annotated[
        Literal["quantile", "width", "kmeans"],
        data_option("Bin numbers into equally many rows, into equal widths, or by k-means."),
    ] = "quantile",
    bins: Annotated[int, data_option("Number of bins per numeric column.")] = 4,
    cumulative: Annotated[
        bool, data_option("Make age ≥ 30 instead of age in [30, 45).", "--cumulative")
    ] = False,
    edges: Annotated[
        list[str] | None,
        data_option("Bin edges of a column, such as age=30,45,60.", metavar="NAME=NUMBERS"),
    ] = None,
    min_frequency: Annotated[
        float, data_option("Group values rarer than this count (or share, if below 1).")
    ] = 1,
    max_categories: Annotated[
        int, data_option("Maximum number of tags per categorical column; the rarest are grouped.")
    ] = 20,
    rare_categories: Annotated[
        Literal["group", "drop"], data_option("Group rare values, or drop them.")
    ] = "group",
    categorical: Annotated[
        list[str] | None,
        data_option(
            "Columns to read as categories, even if they hold numbers or dates.", metavar="NAMES"
        ),
    ] = None,
    clean_tags: Annotated[
        bool, data_option("Merge spellings of tags, as conjunct tags does.", "--clean-tags")
    ] = False,
    synonyms: Annotated[
        Path | None, data_option("File that maps tags to their preferred names.")
    ] = None,
    **reading: Any,
) -> DataInput:
    from conjunct.data import Binarizer, TagCleaner
    from conjunct.files import read_synonyms

    binarizer = Binarizer(
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
        cleaner = TagCleaner(synonyms=None if synonyms is None else read_synonyms(synonyms))
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

Memory = Annotated[
    str | None, counting_option("Memory limit, such as 500MB; the rows stay on disk.")
]
Scheduler = Annotated[
    str | None,
    counting_option("Count on a cluster: its address, or local for one on this machine."),
]
EngineName = Annotated[
    Literal["dask", "spark"] | None, counting_option("Cluster engine (default: dask).")
]
Checkpoint = Annotated[
    Path | None, counting_option("Checkpoint file; an interrupted run resumes from it.")
]


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
        from conjunct.counting import ENGINES

        if self.scheduler is None and self.engine is None:
            return None
        return ENGINES[self.engine or "dask"]

    def read(self, data: Path) -> Stream:
        """Return all files, of which ``data`` is the first, as a stream."""
        from conjunct.files import stream

        words = name_of(data) if len(self.files) == 1 else f"{len(self.files)} files"
        with time_step(f"looked through {words}"), show_rows_read(f"Reading {words}") as progress:
            found = stream(
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
        cluster = self.cluster
        if cluster is None:
            yield
            return
        from conjunct.memory import parse_bytes

        memory = None if self.memory is None else parse_bytes(self.memory)
        address = None if self.scheduler == "local" else self.scheduler
        with cluster.connect(address, memory):
            yield


def read_model(file: Path) -> FeatureConstructor:
    """Return the model in a file."""
    from conjunct import load

    with time_step(f"read {file}"):
        return load(file)


def require_chunks(model: FeatureConstructor, file: Path) -> InvertibleConstructor:
    """Return the model if it has chunks, and raise otherwise."""
    from conjunct.estimators import InvertibleConstructor

    if not isinstance(model, InvertibleConstructor):
        raise InputError(
            f"{file}: a {type(model).__name__} model has no chunks: use a model written by "
            "conjunct fit or path"
        )
    return model


def require_ufc(model: FeatureConstructor, file: Path, otherwise: str) -> UFC:
    """Return the model if it is a UFC, and raise otherwise."""
    from conjunct.estimators import UFC

    if not isinstance(model, UFC):
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
    from conjunct.estimators import InvertibleConstructor

    for name, value in given.items():
        if value is None:
            continue
        if not isinstance(model, InvertibleConstructor):
            option, kind = f"--{name.replace('_', '-')}", type(model).__name__
            raise InputError(f"{option} does not apply to a {kind} model")
        setattr(model, name, value)
