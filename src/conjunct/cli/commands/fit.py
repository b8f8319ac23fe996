"""``conjunct fit``: from a table to a model file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from conjunct.cli.help import COUNTING, DATA, OUTPUT
from conjunct.cli.inputs import DataInput, prepares_data
from conjunct.cli.options import (
    Ascii,
    DataFiles,
    Jobs,
    KeepColumns,
    Missing,
    ModelOut,
    Names,
    ReportFile,
    WithFormulas,
)
from conjunct.cli.out_of_core import Checkpoint, EngineName, Memory, Scheduler
from conjunct.cli.outputs import Output, speaks
from conjunct.cli.rule_options import chooses_rule


@speaks
@prepares_data
@chooses_rule
def fit(
    data: DataFiles,
    out: ModelOut = None,
    report: ReportFile = None,
    names: Annotated[
        Names,
        typer.Option(
            help="What transform calls its columns: chair + dining table, or chair ∧ dining table.",
            rich_help_panel=OUTPUT,
        ),
    ] = "pattern",
    keep_columns: KeepColumns = False,
    formulas: WithFormulas = False,
    ascii_: Ascii = False,
    store: Annotated[
        Literal["auto", "bits", "sparse"],
        typer.Option(
            help="Hold columns at one bit a cell, or as lists of rows for rare ones.",
            rich_help_panel=COUNTING,
        ),
    ] = "auto",
    jobs: Jobs = None,
    memory: Memory = None,
    scheduler: Scheduler = None,
    engine: EngineName = None,
    checkpoint: Checkpoint = None,
    missing: Missing = "raise",
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Column of whole numbers: how often each row counts.",
            show_default=False,
            rich_help_panel=DATA,
        ),
    ] = None,
    *,
    rule: dict[str, Any],
    source: DataInput,
    output: Output,
) -> None:
    """Find the tags that belong together, and save them as a model.

    Several files with the same columns are one table. The paper's rules are --criterion risk
    and --criterion NUMBER.

    \b
    Examples:
      $ conjunct fit zoo.csv
      $ conjunct fit zoo.csv --out model.json --report report.html
      $ conjunct fit zoo.csv --max-length 3 --formulas --out model.json
      $ conjunct fit zoo.csv --factor 2 --out model.json
      $ conjunct fit zoo.csv --keep-columns --out model.json
      $ conjunct fit zoo.csv --criterion risk --test exact --correction holm
      $ conjunct fit zoo.csv --criterion 0.4 --max-iter 2 --no-prune
      $ conjunct fit zoo.csv --criterion risk --max-length 4 --store sparse
      $ conjunct fit zoo.csv --missing pairwise --out model.json
      $ conjunct fit zoo.csv --memory 2GB --checkpoint run.json --out model.json
    """
    from conjunct import UFC
    from conjunct.cli import progress
    from conjunct.cli.constructing import construct
    from conjunct.cli.out_of_core import StreamInput, check_outputs
    from conjunct.errors import InputError

    check_outputs(data, out, checkpoint)
    apart = len(data) > 1 or any(x is not None for x in (memory, scheduler, engine))
    if apart and weights is not None:
        apart_by = "--memory, --scheduler and --engine"
        raise InputError(f"--weights needs the table in memory: leave {apart_by} out")
    if weights is not None and report is not None:
        raise InputError("--report shows rows one by one, without --weights: leave one of them out")
    if apart and report is not None:
        raise InputError("--report shows rows and needs the table in memory: leave it out")
    model = UFC(
        **rule,
        names=names,
        keep_columns=keep_columns,
        missing=missing,
        store=store,
        checkpoint=checkpoint,
        n_jobs=jobs,
        style="ascii" if ascii_ else "unicode",
    )
    reader: DataInput | StreamInput = source.weighted_by(weights)
    if apart:
        reader = StreamInput(source, data, memory, scheduler, engine)
    watched = progress.iterations(rule["max_iter"])
    construct(model, data[0], out, reader, output, watched, report, formulas=formulas)
    if checkpoint is not None and out is not None:
        # the model is there now
        checkpoint.unlink(missing_ok=True)
