"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from conjunct.cli.help import COUNTING, DATA, OUTPUT
from conjunct.registry import described, summaries

# Spelled out, since the help must not wait for polars; a test compares them with the registry.
READ = (
    "Table (.csv, .tsv, .xlsx, .ods, .parquet, .arrow, .json, .jsonl, .arff), transactions "
    "(.dat, .basket) or .svmlight; text may be compressed (.gz, .zst)"
)
WRITTEN = "Table to write: .csv, .tsv, .jsonl (also .gz, .zst), .parquet or .arrow"
SPARSE = ".npz or .svmlight"

_DATA = typer.Argument(
    metavar="DATA",
    help=f"{READ}. - is standard input.",
    show_default=False,
)
DataFile = Annotated[Path, _DATA]
DataFiles = Annotated[list[Path], _DATA]
ModelFile = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="Model file that fit has written.", show_default=False),
]
ModelOut = Annotated[
    Path | None,
    typer.Option(
        help="Model file to write (JSON). Without it, nothing is saved.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
TableOut = Annotated[
    Path | None,
    typer.Option(
        help=f"{WRITTEN}. Without it, CSV is printed.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(help="Threads for counting; -1 for all processors.", rich_help_panel=COUNTING),
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report",
        help="Page to write (HTML) that shows and explains it.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Ascii = Annotated[
    bool,
    typer.Option(
        "--ascii", help="Write sky & ~building, not sky ∧ ¬building.", rich_help_panel=OUTPUT
    ),
]
WithFormulas = Annotated[
    bool,
    typer.Option(
        "--formulas",
        help="Show the exact formulas, with what features deny.",
        rich_help_panel=OUTPUT,
    ),
]

KeepColumns = Annotated[
    bool,
    typer.Option(
        "--keep-columns",
        help="transform and export give the columns, then the features of two tags or more.",
        rich_help_panel=OUTPUT,
    ),
]

Missing = Annotated[
    Literal["raise", "false", "pairwise"],
    typer.Option(
        help="Refuse missing cells, take them as false, or keep them missing.",
        rich_help_panel=DATA,
    ),
]
MissingOrFalse = Annotated[
    Literal["raise", "false"],
    typer.Option(help="Refuse missing cells, or take them as false.", rich_help_panel=DATA),
]

VariablesFile = Annotated[
    Path | None,
    typer.Option(
        "--variables",
        metavar="FILE|none",
        help='Which columns exclude each other: a JSON file such as {"colour": ["red", "blue"]}, '
        "or none. By default the values of each raw column do, and what is recognised.",
        show_default=False,
        rich_help_panel=DATA,
    ),
]


def read_variables_option(given: Path | None) -> Any:
    """Return what ``--variables`` says, as UFC takes it."""
    from conjunct.files import read_variables

    if given is None:
        return None
    return False if str(given) == "none" else read_variables(given)


CRITERIA = summaries("conjunct.ufc.criteria")
STOPS = summaries("conjunct.ufc.stops")
DIALECTS = summaries("conjunct.export.dialects")
if TYPE_CHECKING:
    Measure: TypeAlias = str
    Test: TypeAlias = str
    Correction: TypeAlias = str
    Stop: TypeAlias = str
    Format: TypeAlias = str
    Dialect: TypeAlias = str
else:
    Measure = Literal[tuple(summaries("conjunct.ufc.association.measures"))]
    Test = Literal[tuple(summaries("conjunct.ufc.association.significance"))]
    Correction = Literal["none", *summaries("conjunct.ufc.association.corrections")]
    Stop = Literal[tuple(STOPS)]
    Format = Literal[
        tuple(
            name
            for name, told in described("conjunct.files.formats").items()
            if told.get("is_read", True)
        )
    ]
    Dialect = Literal[tuple(DIALECTS)]

# Spelled out, since the help must not wait for NumPy; a test compares them with the library's.
Search = Literal["batch", "pairwise"]
Form = Literal["built", "nested", "dnf", "simplified"]
Names = Literal["pattern", "formula"]
Unseen = Literal["warn", "keep"]
