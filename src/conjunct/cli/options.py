"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

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
        help="Model file to write (JSON). Without it, nothing is saved.", show_default=False
    ),
]
Prune = Annotated[
    bool,
    typer.Option(
        "--prune/--no-prune",
        help="Leave out pairs that are too rare for the test (expected frequency below 5).",
    ),
]
Jobs = Annotated[int | None, typer.Option(help="Threads for counting; -1 for all processors.")]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report", help="Page to write (HTML) that shows and explains it.", show_default=False
    ),
]
Ascii = Annotated[bool, typer.Option("--ascii", help="Write sky & ~building, not sky ∧ ¬building.")]

Missing = Annotated[
    Literal["raise", "false", "pairwise"],
    typer.Option(help="Refuse missing cells, take them as false, or keep them missing."),
]
MissingOrFalse = Annotated[
    Literal["raise", "false"], typer.Option(help="Refuse missing cells, or take them as false.")
]

# Spelled out, since the help must not wait for NumPy; a test compares them with the library's.
Measure = Literal["phi", "jaccard", "cosine", "yule_q", "lift", "pmi", "npmi", "mutual_information"]
Test = Literal["normal", "exact"]
Correction = Literal["none", "bonferroni", "holm", "bh", "by"]
Form = Literal["built", "nested", "dnf", "simplified"]
