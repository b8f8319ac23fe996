"""``conjunct fringe``: uFRINGE, from a table to a model file."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from conjunct.cli.inputs import DataInput, prepares_data
from conjunct.cli.options import Ascii, DataFile, Jobs, MissingOrFalse, ModelOut, ReportFile
from conjunct.cli.outputs import Output, speaks


@speaks
@prepares_data
def fringe(
    data: DataFile,
    out: ModelOut = None,
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
    jobs: Jobs = None,
    report: ReportFile = None,
    ascii_: Ascii = False,
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Construct features from clustering trees and save a model.

    \b
    Examples:
      $ conjunct fringe zoo.csv --out model.json
      $ conjunct fringe zoo.csv --max-features 60 --out model.json
      $ conjunct fringe zoo.csv --redundant drop --out model.json
    """
    from conjunct import UFringe
    from conjunct.cli import progress
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
    watched = progress.iterations(n_features=max_features)
    construct(model, data, out, source, output, watched, report)
