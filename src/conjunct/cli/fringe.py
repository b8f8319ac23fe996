"""``conjunct fringe``: uFRINGE, from a table to a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from conjunct.cli.options import Ascii, DataFile


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
    jobs: Annotated[
        int | None, typer.Option(help="Threads for counting; -1 for all processors.")
    ] = None,
    ascii_: Ascii = False,
) -> None:
    """Construct features from the paths of clustering trees and save them as a model.

    \b
    Examples:
      $ conjunct fringe zoo.csv --out model.json
      $ conjunct fringe zoo.csv --max-features 60 --redundant drop --out model.json
    """
    from conjunct import UFringe
    from conjunct.cli import terminal
    from conjunct.cli.rendering import before_and_after, constructed, feature_table
    from conjunct.cli.words import summary
    from conjunct.errors import InputError
    from conjunct.io.atomic import check_target
    from conjunct.io.tables import naming_cells_of, read_table

    if check_target(out) == data.resolve():
        raise InputError(f"{out} is the data: name another file for the model")
    table = read_table(data)
    with naming_cells_of(data), terminal.progress("Constructing", None) as callback:
        model = UFringe(
            max_features,
            min_samples_leaf=min_samples_leaf,
            max_depth=max_depth,
            strategy=strategy,
            redundant=redundant,
            n_jobs=jobs,
            style="ascii" if ascii_ else "unicode",
            callback=callback,
        ).fit(table)
    model.save(out)
    if terminal.ascii_only():
        model.set_params(style="ascii")
    limit = 20
    more = len(constructed(model)) - limit
    terminal.write(
        feature_table(model, limit) if model.n_iter_ else None,
        f"The {limit} most common; conjunct show lists {more} more." if more > 0 else None,
        before_and_after(model),
        summary(model),
        f"Saved as {out}.",
    )
