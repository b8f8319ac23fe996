"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from conjunct.cli.help import COUNTING, DATA, OUTPUT

_DATA = typer.Argument(
    metavar="DATA",
    help="Table (.csv, .tsv, .parquet, .arrow, .jsonl, .arff), transactions (.dat, .basket) "
    "or .svmlight; text may be compressed (.gz, .zst). - is standard input.",
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
        help="Table to write: .csv, .tsv, .jsonl (also .gz, .zst), .parquet or .arrow. "
        "Without it, CSV is printed.",
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

# Spelled out, since the help must not wait for NumPy; a test compares them with the library's.
Measure = Literal["phi", "jaccard", "cosine", "yule_q", "lift", "pmi", "npmi", "mutual_information"]
Test = Literal["normal", "exact"]
Correction = Literal["none", "bonferroni", "holm", "bh", "by"]
Search = Literal["batch", "pairwise", "thorough"]
Stop = Literal["bits", "never", "relative", "rms"]
Form = Literal["built", "nested", "dnf", "simplified"]
Names = Literal["pattern", "formula"]
Unseen = Literal["warn", "keep"]
CRITERIA = {
    "bits": "join what makes the description of the data shortest",
    "risk": "the paper's uFCα: join what is significantly correlated",
    "threshold": "a number: the paper's λ, which the correlation must exceed",
}
STOPS = {
    "bits": "when no pair makes the description of the data shorter",
    "never": "only when no pair is left that may be joined",
    "relative": "before what is left to replace and what was added together rise",
    "rms": "the paper's: before the RMS of overlap (OI) and growth (C0) rises",
}
