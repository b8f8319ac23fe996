"""``conjunct fit``: from a table to a model file."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from conjunct.cli.apart import Checkpoint, Memory, Scheduler
from conjunct.cli.inputs import DataInput, prepares_data
from conjunct.cli.options import (
    Ascii,
    Correction,
    DataFiles,
    Jobs,
    Measure,
    Missing,
    ModelOut,
    Prune,
    ReportFile,
    Test,
)
from conjunct.cli.outputs import Output, speaks


@speaks
@prepares_data
def fit(
    data: DataFiles,
    out: ModelOut = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Replace pairs with a --measure above this, instead of by risk."),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(help="Risk of replacing a pair that is independent; 0.001 if not given."),
    ] = None,
    max_iter: Annotated[
        int | None, typer.Option(help="Number of iterations. Without it, --stop decides.")
    ] = None,
    prune: Prune = True,
    search: Annotated[
        Literal["batch", "pairwise"],
        typer.Option(help="What an iteration replaces: many pairs, or the best one."),
    ] = "batch",
    max_length: Annotated[
        int | None, typer.Option(help="Make no feature with more literals than this.")
    ] = None,
    measure: Annotated[
        Measure,
        typer.Option(help="What --threshold is compared with; the strongest pairs come first."),
    ] = "phi",
    test: Annotated[
        Test, typer.Option(help="The paper's test, or Fisher's exact one for rare columns.")
    ] = "normal",
    correction: Annotated[
        Correction, typer.Option(help="Correct the risk for the number of pairs tested.")
    ] = "none",
    min_support: Annotated[
        float | None,
        typer.Option(help="Suppress features that are true in less than this share of rows."),
    ] = None,
    missing: Missing = "raise",
    stop: Annotated[
        Literal["rms", "relative", "none"],
        typer.Option(
            help="End before RMS rises; by the correlated columns alone, if there are very many "
            "columns; or when no pair is left."
        ),
    ] = "rms",
    store: Annotated[
        Literal["auto", "bits", "sparse"],
        typer.Option(help="Hold columns at one bit a cell, or as lists of rows for rare ones."),
    ] = "auto",
    jobs: Jobs = None,
    memory: Memory = None,
    scheduler: Scheduler = None,
    checkpoint: Checkpoint = None,
    report: ReportFile = None,
    ascii_: Ascii = False,
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Construct features from a table and save them as a model.

    Several files with the same columns are one table.

    \b
    Examples:
      $ conjunct fit zoo.csv --out model.json --report report.html
      $ conjunct fit zoo.csv --search pairwise --max-length 3 --out model.json
      $ conjunct fit zoo.csv --threshold 0.4 --max-iter 2 --out model.json
      $ conjunct fit zoo.csv --stop relative --store sparse --out model.json
      $ conjunct fit zoo.csv --test exact --correction holm --out model.json
      $ conjunct fit zoo.csv --missing pairwise --out model.json
      $ conjunct fit zoo.csv --memory 2GB --checkpoint run.json --out model.json
    """
    from conjunct import UFC
    from conjunct.cli import progress
    from conjunct.cli.apart import StreamInput, check_outputs
    from conjunct.cli.constructing import construct
    from conjunct.errors import InputError

    if threshold is not None and alpha is not None:
        raise InputError("--threshold and --alpha exclude each other: give one of them")
    check_outputs(data, out, checkpoint)
    apart = len(data) > 1 or memory is not None or scheduler is not None
    if apart and report is not None:
        raise InputError("--report shows rows and needs the table in memory: leave it out")
    model = UFC(
        "risk" if threshold is None else threshold,
        alpha=0.001 if alpha is None else alpha,
        max_iter=max_iter,
        prune=prune,
        search=search,
        max_length=max_length,
        measure=measure,
        test=test,
        correction=None if correction == "none" else correction,
        min_support=min_support,
        missing=missing,
        stop=None if stop == "none" else stop,
        store=store,
        checkpoint=checkpoint,
        n_jobs=jobs,
        style="ascii" if ascii_ else "unicode",
    )
    reader = StreamInput(source, data, memory, scheduler) if apart else source
    construct(model, data[0], out, reader, output, progress.iterations(max_iter), report)
    if checkpoint is not None and out is not None:
        # the model is there now
        checkpoint.unlink(missing_ok=True)
