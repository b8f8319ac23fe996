"""The data and models that commands read, and the options about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from conjunct.cli.options import COUNTING, DATA, Command, Format, add_options
from conjunct.cli.terminal import file_of, name_of, show_rows_read, time_step
from conjunct.errors import InputError

if TYPE_CHECKING:
    from conjunct.counting import Engine
    from conjunct.data import Binarizer, BooleanData, TagCleaner
    from conjunct.estimators import FeatureConstructor, InvertibleConstructor
    from conjunct.explain import Relation
    from conjunct.files import ReadOptions, Stream

# options about data; those that are not given have no default to show
_usual = partial(typer.Option, rich_help_panel=DATA)
_given = partial(_usual, show_default=False)

# separators that are hard to type in a shell
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
            raise InputError("--id and --weights exclude each other: give one of them")
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
                    f"column {table.ids.name!r}, row {row}: {text!r} is no number, and --weights "
                    f"says how often each row counts"
                )
            weights.append(weight)
        return replace(table, ids=None), {"sample_weight": weights}

    def only_tags(self) -> DataInput:
        """Return this input without columns other than that of tags, if there is one."""
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
        self, data: Path, if_empty: str = "fill it or leave its row out"
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


def with_reading_options(command: Command) -> Command:
    """Give a command the options about reading; it gets them as ``source: DataInput``."""
    return add_options(command, "source", _make_input)


def with_preparing_options(command: Command) -> Command:
    """Give a command these and the options about preparing data, as ``source: DataInput``."""
    return add_options(command, "source", _make_input, _make_preparing_input)


def _make_input(
    format_: Annotated[
        Format | None,
        _given(
            "--format",
            metavar="KIND",
            help="Kind of file, if its name does not say: csv, tsv, text, parquet, arrow, excel, "
            "database, jsonl, json, arff, baskets, svmlight or long.",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        _given(metavar="NAMES", help="Columns (or tags) to read: a,b or given twice."),
    ] = None,
    exclude: Annotated[
        list[str] | None, _given(metavar="NAMES", help="Columns (or tags) to leave out.")
    ] = None,
    id_: Annotated[
        str | None, _given("--id", metavar="NAME", help="Column that names the rows.")
    ] = None,
    separator: Annotated[
        str | None, _given(metavar="TEXT", help="Between cells; in baskets, between tags.")
    ] = None,
    tags: Annotated[
        str | None,
        _given(metavar="NAME", help="Column with the tags of each row: water;tree or a JSON list."),
    ] = None,
    tag_separator: Annotated[
        str | None, _given(metavar="TEXT", help="Between the tags of a cell, with --tags.")
    ] = None,
    null: Annotated[
        list[str] | None,
        _given(metavar="WORD", help="Word that stands for a missing cell, such as ?."),
    ] = None,
    sheet: Annotated[
        str | None, _given(metavar="NAME", help="Sheet of a spreadsheet; else the first.")
    ] = None,
    table: Annotated[
        str | None, _given(metavar="NAME", help="Table of a database, if it has several.")
    ] = None,
    header: Annotated[
        bool | None,
        _given(
            "--header/--no-header",
            help="The first line names the columns, or does not; else its cells show it.",
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
        _usual(help="Where to cut numbers: equally many rows, equal widths, or means."),
    ] = "quantile",
    bins: Annotated[int, _usual(help="Intervals of a column of numbers.")] = 4,
    cumulative: Annotated[
        bool, _usual("--cumulative", help="Make age ≥ 30 instead of age in [30, 45).")
    ] = False,
    edges: Annotated[
        list[str] | None,
        _given(metavar="NAME=NUMBERS", help="Where to cut one column: age=30,45,60."),
    ] = None,
    min_frequency: Annotated[
        float, _usual(help="Words on fewer rows (below 1: a smaller share) are rare.")
    ] = 1,
    max_categories: Annotated[
        int, _usual(help="Features of a column of words; the rarest are put together.")
    ] = 20,
    rare_categories: Annotated[
        Literal["group", "drop"],
        typer.Option(help="Put rare words together, or leave them out.", rich_help_panel=DATA),
    ] = "group",
    categorical: Annotated[
        list[str] | None,
        _given(
            metavar="NAMES", help="Columns to take as words, even if they hold numbers or dates."
        ),
    ] = None,
    clean_tags: Annotated[
        bool, _usual("--clean-tags", help="Merge spellings of tags, as conjunct tags shows.")
    ] = False,
    synonyms: Annotated[Path | None, _given(help="File of tags and what to call them.")] = None,
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


Memory = Annotated[
    str | None,
    typer.Option(
        help="Most memory to take, such as 500MB: the rows stay on disk.", rich_help_panel=COUNTING
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Count on a cluster: its address, or local for one on this machine.",
        rich_help_panel=COUNTING,
    ),
]
EngineName = Annotated[
    Literal["dask", "spark"] | None,
    typer.Option(help="Cluster engine (default: dask).", rich_help_panel=COUNTING),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        help="File to write as the run goes on; a run that was killed goes on from it.",
        show_default=False,
        rich_help_panel=COUNTING,
    ),
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


def find_relations(data: BooleanData) -> list[Relation]:
    """Return the relations between all tags of a table."""
    import warnings

    from conjunct.errors import ConjunctWarning
    from conjunct.estimators import UFC

    model = UFC(max_iter=0, missing="pairwise")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        model.fit(data)
    return model.relations(data)


def require_chunks(model: FeatureConstructor, file: Path) -> InvertibleConstructor:
    """Return the model, which must have chunks."""
    from conjunct.estimators import InvertibleConstructor

    if not isinstance(model, InvertibleConstructor):
        raise InputError(
            f"{file}: a model of kind {type(model).__name__} has no chunks: it adds features to "
            f"the columns; use one that conjunct fit or path has written"
        )
    return model


def set_column_options(model: FeatureConstructor, **given: Any) -> None:
    """Set parameters about the columns that a model makes, unless they are None."""
    from conjunct.estimators import InvertibleConstructor

    for name, value in given.items():
        if value is None:
            continue
        if not isinstance(model, InvertibleConstructor):
            option, kind = f"--{name.replace('_', '-')}", type(model).__name__
            raise InputError(f"{option} does not go with a model of kind {kind}")
        setattr(model, name, value)
