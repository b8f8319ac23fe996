"""``conjunct fit``: from a table to a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from conjunct.cli.options import Ascii, DataFile

# mean literals of a feature beyond which nobody reads them
_LONG = 10


def fit(
    data: DataFile,
    out: Annotated[Path, typer.Option(help="Model file to write (JSON).", show_default=False)],
    threshold: Annotated[
        float | None,
        typer.Option(help="Replace pairs with a correlation above this, instead of by risk."),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(help="Risk of replacing a pair that is independent; 0.001 if not given."),
    ] = None,
    max_iter: Annotated[
        int | None, typer.Option(help="Number of iterations. Without it, --stop decides.")
    ] = None,
    prune: Annotated[
        bool,
        typer.Option(
            "--prune/--no-prune",
            help="Leave out pairs that are too rare for the test (expected frequency below 5).",
        ),
    ] = True,
    search: Annotated[
        Literal["batch", "pairwise"],
        typer.Option(help="What an iteration replaces: many pairs, or the best one."),
    ] = "batch",
    max_length: Annotated[
        int | None, typer.Option(help="Make no feature with more literals than this.")
    ] = None,
    stop: Annotated[
        Literal["rms", "none"],
        typer.Option(help="End before RMS rises, or when no pair is left."),
    ] = "rms",
    jobs: Annotated[
        int | None, typer.Option(help="Threads for counting; -1 for all processors.")
    ] = None,
    ascii_: Ascii = False,
) -> None:
    """Construct features from a table and save them as a model.

    \b
    Examples:
      $ conjunct fit zoo.csv --out model.json
      $ conjunct fit zoo.csv --search pairwise --max-length 3 --out model.json
      $ conjunct fit zoo.csv --threshold 0.4 --max-iter 2 --out model.json
    """
    from conjunct import UFC
    from conjunct.cli import terminal
    from conjunct.cli.rendering import before_and_after, constructed, feature_table
    from conjunct.cli.words import summary
    from conjunct.errors import InputError
    from conjunct.io.atomic import check_target
    from conjunct.io.tables import naming_cells_of, read_table

    if threshold is not None and alpha is not None:
        raise InputError("--threshold and --alpha exclude each other: give one of them")
    if check_target(out) == data.resolve():
        raise InputError(f"{out} is the data: name another file for the model")
    table = read_table(data)
    with naming_cells_of(data), terminal.progress("Constructing", max_iter) as callback:
        model = UFC(
            "risk" if threshold is None else threshold,
            alpha=0.001 if alpha is None else alpha,
            max_iter=max_iter,
            prune=prune,
            search=search,
            max_length=max_length,
            stop="rms" if stop == "rms" else None,
            n_jobs=jobs,
            style="ascii" if ascii_ else "unicode",
            callback=callback,
        ).fit(table)
    model.save(out)
    if max_length is None and model.history_[-1].length > _LONG:
        terminal.note("the formulas are long: --max-length 4 keeps them readable")
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
