"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="Table of 0/1 or true/false with a line of column names: "
        ".csv, .tsv (also .gz) or .parquet.",
        show_default=False,
    ),
]
ModelFile = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="Model file that fit has written.", show_default=False),
]
Ascii = Annotated[bool, typer.Option("--ascii", help="Write sky & ~building, not sky ∧ ¬building.")]
