"""``conjunct chunks``: the rows of a table, each as its chunks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from conjunct.cli.help import OUTPUT
from conjunct.cli.inputs import DataInput, reads_data
from conjunct.cli.options import WRITTEN, DataFile, ModelFile
from conjunct.cli.outputs import Output, speaks

if TYPE_CHECKING:
    import polars as pl

    from conjunct.data import Ids
    from conjunct.estimators import FeatureConstructor, LosslessConstructor

# Spelled out, since the help must not wait for NumPy; a test compares them with the library's.
ChunkForm = Literal["lists", "text", "long"]


@speaks
@reads_data
def chunks(
    model: ModelFile,
    data: DataFile,
    out: Annotated[
        Path | None,
        typer.Option(
            help=f"{WRITTEN}. Without it, CSV is printed, or JSON lines with --form lists.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    form: Annotated[
        ChunkForm,
        typer.Option(
            help="A text a row (book + tv · person), a line a chunk, or lists of tags.",
            rich_help_panel=OUTPUT,
        ),
    ] = "text",
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Write each row of a table as its chunks.

    They are its tags, in groups that belong together. Every tag of every row is in one chunk,
    also in rows with combinations that training never saw. Columns are found as in conjunct
    transform; --id keeps a column that names the rows.

    \b
    Examples:
      $ conjunct chunks model.json zoo.csv
      $ conjunct chunks model.json zoo.csv --form long --out chunks.csv
      $ conjunct chunks model.json zoo.csv --form lists --out chunks.jsonl
    """
    import sys

    from conjunct import load
    from conjunct.cli.progress import step
    from conjunct.cli.standard_streams import is_printed
    from conjunct.files import as_csv, write_table

    _check_target(out, model, form, output.json)
    with step(f"read {model}"):
        fitted = lossless(load(model), model)
    table = source.read_for(fitted, data)
    with source.naming_cells_of(data), step("read rows as chunks"):
        frame = _frame(fitted, table, form, table.ids)
    if out is None or is_printed(out):
        sys.stdout.write(frame.write_ndjson() if form == "lists" else as_csv(frame))
        return
    with step(f"wrote {out}"):
        write_table(out, frame)
    output.tell(
        lambda: {"n_rows": table.n_rows, "form": form, "saved": {"table": str(out)}},
        f"Saved the chunks of {table.n_rows} rows as {out}.",
    )


def _frame(
    model: LosslessConstructor, table: Any, form: ChunkForm, ids: Ids | None
) -> pl.DataFrame:
    """The chunks as a table, the names of the rows before them."""
    import polars as pl

    from conjunct.errors import InputError

    column = "chunk" if form == "long" else "chunks"
    if ids is not None and ids.name == column:
        raise InputError(f"the column that names the rows is called {column!r}: rename it")
    if form == "long":
        long: pl.DataFrame = model.chunks(table, "long", backend="polars")
        rows = long["row"]
        if ids is None:
            # as people count, and as conjunct show --rows does
            return long.with_columns(rows + 1)
        names = pl.Series(ids.name, ids.values, pl.String).gather(rows)
        return pl.DataFrame([names, long["chunk"]])
    if form == "text":
        made = pl.Series(column, model.chunks(table, "text", backend="dict")["chunks"], pl.String)
    else:
        made = pl.Series(column, model.chunks(table), pl.List(pl.List(pl.String)))
    named = [] if ids is None else [pl.Series(ids.name, ids.values, pl.String)]
    return pl.DataFrame([*named, made])


def lossless(model: FeatureConstructor, file: Path) -> LosslessConstructor:
    """The model, if it has chunks."""
    from conjunct.errors import InputError
    from conjunct.estimators import LosslessConstructor

    if not isinstance(model, LosslessConstructor):
        raise InputError(
            f"{file}: a model of kind {type(model).__name__} has no chunks: it adds features to "
            f"the columns; use one that conjunct fit or path has written"
        )
    return model


def _check_target(out: Path | None, model: Path, form: ChunkForm, json: bool) -> None:
    from conjunct.cli.standard_streams import is_printed
    from conjunct.errors import InputError
    from conjunct.files import check_table_target, check_target

    if out is None or is_printed(out):
        if json:
            raise InputError("--json needs --out: without it, the chunks are printed")
        return
    check_table_target(out, lists=form == "lists")
    if check_target(out) == model.resolve():
        raise InputError(f"{out} is the model: name another file for the chunks")
