"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="Table (.csv, .tsv, .parquet, .arrow, .jsonl, .arff), transactions (.dat, .basket) "
        "or .svmlight; text may be compressed (.gz, .zst).",
        show_default=False,
    ),
]
ModelFile = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="Model file that fit has written.", show_default=False),
]
Ascii = Annotated[bool, typer.Option("--ascii", help="Write sky & ~building, not sky ∧ ¬building.")]
