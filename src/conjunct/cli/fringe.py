"""``conjunct fringe``: uFRINGE, from a table to a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from conjunct.cli.inputs import DataInput, prepares_data
from conjunct.cli.options import Ascii, DataFile, MissingOrFalse


@prepares_data
def fringe(
    data: DataFile,
    out: Annotated[Path, typer.Option(help="Model file to write (JSON).", show_default=False)],
    max_features: Annotated[
        int, typer.Option(help="End with the iteration that reaches this number of features.")
    ] = 300,
    min_samples_leaf: Annotated[
        int, typer.Option(help="Rows that each cluster of a tree must have.")
    ] = 4,
    max_depth: Annotated[
        int | None, typer.Option(help="Most conditions from the root of a tree to a leaf.")
    ] = None,
    strategy: Annotated[
        Literal["fringe", "root", "root-fringe"],
        typer.Option(help="Join the last two conditions of a path, the first two, or the ends."),
    ] = "fringe",
    redundant: Annotated[
        Literal["keep", "drop"],
        typer.Option(help="Keep or drop doubles, equal or empty columns and repeated literals."),
    ] = "keep",
    missing: MissingOrFalse = "raise",
    jobs: Annotated[
        int | None, typer.Option(help="Threads for counting; -1 for all processors.")
    ] = None,
    ascii_: Ascii = False,
    *,
    source: DataInput,
) -> None:
    """Construct features from clustering trees and save a model.

    \b
    Examples:
      $ conjunct fringe zoo.csv --out model.json
      $ conjunct fringe zoo.csv --max-features 60 --out model.json
      $ conjunct fringe zoo.csv --redundant drop --out model.json
    """
    from conjunct import UFringe
    from conjunct.cli.constructing import construct

    model = UFringe(
        max_features,
        min_samples_leaf=min_samples_leaf,
        max_depth=max_depth,
        strategy=strategy,
        redundant=redundant,
        missing=missing,
        n_jobs=jobs,
        style="ascii" if ascii_ else "unicode",
    )
    construct(model, data, source, out)
