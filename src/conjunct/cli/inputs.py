"""Options about data that every command that reads some shares."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from conjunct.cli.extending import Command, extended
from conjunct.cli.help import DATA
from conjunct.cli.options import Format
from conjunct.cli.standard_streams import file_of, name_of

if TYPE_CHECKING:
    from conjunct.data import Binarizer, BooleanData, TagCleaner
    from conjunct.estimators import FeatureConstructor
    from conjunct.files import ReadOptions

# separators that are hard to give at a prompt
_SPELLED = {r"\t": "\t", "tab": "\t", "space": " "}


@dataclass(frozen=True)
class DataInput:
    """How a command was told to read its data."""

    options: ReadOptions
    binarizer: Binarizer | None = None
    cleaner: TagCleaner | None = None
    has_weights: bool = False
    """Whether the column that names the rows says how often each counts."""

    def weighted_by(self, column: str | None) -> DataInput:
        """The same, where a column says how often each row counts."""
        from conjunct.errors import InputError

        if column is None:
            return self
        if self.options.id is not None:
            raise InputError("--id and --weights exclude each other: give one of them")
        return replace(self, options=replace(self.options, id=column), has_weights=True)

    def with_weights(self, table: BooleanData) -> tuple[BooleanData, dict[str, list[float]]]:
        """The table, and what to tell ``fit`` of how often each row counts."""
        from conjunct.data import number
        from conjunct.errors import InputError

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

    def read(self, data: Path) -> BooleanData:
        """The data as a Boolean table."""
        return self._read(data, self.binarizer, self.cleaner, None)

    def read_for(self, model: FeatureConstructor, data: Path) -> BooleanData:
        """The features that a model was fitted on, prepared as they were for it."""
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
        from dataclasses import asdict

        from conjunct.cli.progress import rows_read, step
        from conjunct.files import read_boolean

        name = name_of(data)
        with step(f"read {name}"), rows_read(f"Reading {name}") as progress:
            return read_boolean(
                file_of(data),
                **asdict(self.options),
                binarizer=binarizer,
                cleaner=cleaner,
                names=names,
                progress=progress,
            )


def reads_data(command: Command) -> Command:
    """Give a command the options about reading; it gets them as ``source: DataInput``."""
    return extended(command, "source", _reading)


def prepares_data(command: Command) -> Command:
    """The options about reading, and those about making columns Boolean and tags uniform."""
    return extended(command, "source", _reading, _preparing)


def _reading(
    format_: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="Kind of file, if its name does not say.",
            show_default=False,
            rich_help_panel=DATA,
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Columns (or tags) to read: a,b or given twice.",
            show_default=False,
            rich_help_panel=DATA,
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Columns (or tags) to leave out.",
            show_default=False,
            rich_help_panel=DATA,
        ),
    ] = None,
    id_: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="NAME",
            help="Column that names the rows.",
            show_default=False,
            rich_help_panel=DATA,
        ),
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Between cells; in baskets, between tags.",
            show_default=False,
            rich_help_panel=DATA,
        ),
    ] = None,
    tags: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Column with the tags of each row: water;tree or a JSON list.",
            show_default=False,
            rich_help_panel=DATA,
        ),
    ] = None,
    tag_separator: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Between the tags of a cell, with --tags.",
            show_default=False,
            rich_help_panel=DATA,
        ),
    ] = None,
    null: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD",
            help="Word that stands for a missing cell, such as ?.",
            show_default=False,
            rich_help_panel=DATA,
        ),
    ] = None,
    sheet: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Sheet of a spreadsheet; else the first.",
            show_default=False,
            rich_help_panel=DATA,
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
        )
    )


def _preparing(
    numbers: Annotated[
        Literal["quantile", "width", "kmeans"],
        typer.Option(
            help="Where to cut numbers: equally many rows, equal widths, or means.",
            rich_help_panel=DATA,
        ),
    ] = "quantile",
    bins: Annotated[
        int, typer.Option(help="Intervals of a column of numbers.", rich_help_panel=DATA)
    ] = 4,
    cumulative: Annotated[
        bool,
        typer.Option(
            "--cumulative", help="Make age ≥ 30 instead of age in [30, 45).", rich_help_panel=DATA
        ),
    ] = False,
    edges: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBERS",
            help="Where to cut one column: age=30,45,60.",
            show_default=False,
            rich_help_panel=DATA,
        ),
    ] = None,
    min_frequency: Annotated[
        float,
        typer.Option(
            help="Words on fewer rows (below 1: a smaller share) are rare.", rich_help_panel=DATA
        ),
    ] = 1,
    max_categories: Annotated[
        int,
        typer.Option(
            help="Features of a column of words; the rarest are put together.", rich_help_panel=DATA
        ),
    ] = 20,
    rare: Annotated[
        Literal["group", "drop"],
        typer.Option(help="Put rare words together, or leave them out.", rich_help_panel=DATA),
    ] = "group",
    words: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Columns to take as words, even if they hold numbers or dates.",
            show_default=False,
            rich_help_panel=DATA,
        ),
    ] = None,
    clean_tags: Annotated[
        bool,
        typer.Option(
            "--clean-tags",
            help="Merge spellings of tags, as conjunct tags shows.",
            rich_help_panel=DATA,
        ),
    ] = False,
    synonyms: Annotated[
        Path | None,
        typer.Option(
            help="File of tags and what to call them.", show_default=False, rich_help_panel=DATA
        ),
    ] = None,
    **reading: Any,
) -> DataInput:
    from conjunct.data import Binarizer, TagCleaner
    from conjunct.files import read_synonyms

    binarizer = Binarizer(
        numbers,
        n_bins=bins,
        cumulative=cumulative,
        edges=dict(map(_edges, edges)) if edges else None,
        min_frequency=min_frequency,
        max_categories=max_categories,
        rare=rare,
        words=[name for given in words or () for name in given.split(",")],
    )
    binarizer.settings()
    cleaner = None
    if clean_tags or synonyms is not None:
        cleaner = TagCleaner(synonyms=None if synonyms is None else read_synonyms(synonyms))
    return DataInput(_reading(**reading).options, binarizer, cleaner)


def _edges(given: str) -> tuple[str, list[float]]:
    from conjunct.errors import InputError

    column, _, numbers = given.rpartition("=")
    try:
        return column, [float(number) for number in numbers.split(",")]
    except ValueError:
        raise InputError(f"--edges must be like age=30,45,60; got {given!r}") from None
