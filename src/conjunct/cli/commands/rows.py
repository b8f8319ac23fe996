"""Commands that apply a model to rows: ``transform``, ``chunks`` and ``update``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from conjunct.cli.inputs import (
    DataInput,
    read_model,
    require_chunks,
    set_column_options,
    with_reading_options,
)
from conjunct.cli.options import (
    OUTPUT,
    SPARSE,
    WRITTEN,
    DataFile,
    ModelFile,
    ModelOut,
    Names,
    Unseen,
)
from conjunct.cli.outputs import Output, with_output_options
from conjunct.cli.terminal import is_printed, showable, time_step
from conjunct.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from conjunct.data import Ids
    from conjunct.estimators import UFC, LosslessConstructor, Update


@with_output_options
@with_reading_options
def transform(
    model: ModelFile,
    data: DataFile,
    out: Annotated[
        Path | None,
        typer.Option(
            help=f"{WRITTEN}; sparse: {SPARSE}. Without it, CSV is printed.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    names: Annotated[
        Names | None,
        typer.Option(
            help="What to call the columns: chair + dining table, or chair ∧ dining table. "
            "As the model was told if not given.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    unseen: Annotated[
        Unseen | None,
        typer.Option(
            help="Rows with combinations that training never saw: count them in a note, or give "
            "each combination a column. As the model was told if not given.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    keep_columns: Annotated[
        bool | None,
        typer.Option(
            "--keep-columns/--no-keep-columns",
            help="Write the columns, then the features of two tags or more. As the model was told "
            "if not given.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Write the features of a model for the rows of a table.

    The columns of the model are found by name, in any order; others are left aside. Raw data is
    made Boolean, and tags are cleaned, as they were for the model.

    \b
    Examples:
      $ conjunct transform model.json zoo.csv --out features.csv
      $ conjunct transform model.json zoo.csv --unseen keep --out features.parquet
      $ conjunct transform model.json zoo.csv --names formula
    """
    from conjunct.files import as_csv, is_sparse_file, write_sparse, write_table

    _check_rows_target(out, model, "features", " as CSV", output.json)
    fitted = read_model(model)
    set_column_options(fitted, names=names, unseen=unseen, keep_columns=keep_columns)
    table = source.read_for(fitted, data)
    with source.naming_cells_of(data), time_step("computed features"):
        features = fitted.transform(table)
    if out is not None and is_sparse_file(out):
        with time_step(f"wrote {out}"):
            write_sparse(out, features)
    else:
        _check_room(*features.shape)
        frame = features.to("polars")
        if out is None or is_printed(out):
            sys.stdout.write(as_csv(frame))
            return
        with time_step(f"wrote {out}"):
            write_table(out, frame)
    n_rows, n_features = features.shape
    output.tell(
        lambda: {
            "n_rows": n_rows,
            "n_features": n_features,
            "features": list(features.names),
            "saved": {"table": str(out)},
        },
        f"Saved {n_features} features of {n_rows} rows as {out}.",
    )


def _check_room(n_rows: int, n_features: int) -> None:
    """Check that a table fits into memory: polars would end the process."""
    from conjunct.memory import available_bytes

    # as bits, as bytes and as text, some of which polars holds at a time
    if 3 * n_rows * n_features + (64 << 20) > available_bytes():
        raise MemoryError


# Spelled out, since the help must not wait for NumPy; a test compares them with the library's.
ChunkForm = Literal["lists", "text", "long"]


@with_output_options
@with_reading_options
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
    from conjunct.files import as_csv, write_table

    _check_rows_target(out, model, "chunks", "", output.json, lists=form == "lists")
    fitted = require_chunks(read_model(model), model)
    table = source.read_for(fitted, data)
    with source.naming_cells_of(data), time_step("read rows as chunks"):
        frame = _chunk_frame(fitted, table, form, table.ids)
    if out is None or is_printed(out):
        sys.stdout.write(frame.write_ndjson() if form == "lists" else as_csv(frame))
        return
    with time_step(f"wrote {out}"):
        write_table(out, frame)
    output.tell(
        lambda: {"n_rows": table.n_rows, "form": form, "saved": {"table": str(out)}},
        f"Saved the chunks of {table.n_rows} rows as {out}.",
    )


def _chunk_frame(
    model: LosslessConstructor, table: Any, form: ChunkForm, ids: Ids | None
) -> pl.DataFrame:
    """Return the chunks as a table, the names of the rows before them."""
    import polars as pl

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
        chunks_ = pl.Series(
            column, model.chunks(table, "text", backend="dict")["chunks"], pl.String
        )
    else:
        chunks_ = pl.Series(column, model.chunks(table), pl.List(pl.List(pl.String)))
    names_ = [] if ids is None else [pl.Series(ids.name, ids.values, pl.String)]
    return pl.DataFrame([*names_, chunks_])


def _check_rows_target(
    out: Path | None, model: Path, what: str, printed: str, json: bool, *, lists: bool = False
) -> None:
    """Check before any work that a table of the rows can be written, and not over the model."""
    from conjunct.files import check_table_target, check_target, is_sparse_file

    if out is None or is_printed(out):
        if json:
            raise InputError(f"--json needs --out: without it, the {what} are printed{printed}")
        return
    if what == "chunks" or not is_sparse_file(out):
        check_table_target(out, lists=lists)
    if check_target(out) == model.resolve():
        raise InputError(f"{out} is the model: name another file for the {what}")


@with_output_options
@with_reading_options
def update(
    model: ModelFile,
    data: DataFile,
    out: ModelOut = None,
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Count new rows for the features of a model, and say whether these still pay.

    No feature is made or dropped. With --out, which may be the model itself, the counts are kept
    with it: give rows that were not counted before.

    \b
    Examples:
      $ conjunct update model.json zoo.csv
      $ conjunct update model.json zoo.csv --out model.json
    """
    from conjunct import UFC
    from conjunct.files import check_target

    if out is not None:
        check_target(out)
    fitted = read_model(model)
    if not isinstance(fitted, UFC):
        raise InputError(
            f"{model}: a model of kind {type(fitted).__name__} cannot be updated: use one that "
            "conjunct fit has written"
        )
    table = source.read_for(fitted, data)
    with source.naming_cells_of(data), time_step("counted rows"):
        found = fitted.update(table)
    if out is not None:
        with time_step(f"wrote {out}"):
            fitted.save(out)
    features = _compare_frequencies(fitted, found)
    output.tell(
        lambda: {
            "n_rows": found.n_rows,
            "pays": found.pays,
            "told": str(found),
            "bits": found.bits,
            "baseline_bits": found.baseline_bits,
            "before": found.before,
            "score": found.score,
            "features": features,
            "saved": {"model": None if out is None else str(out)},
        },
        str(found),
        _render_changes(features),
        None if out is None else f"Saved as {out}.",
    )


def _compare_frequencies(model: UFC, found: Update) -> list[dict[str, Any]]:
    names, before = model.get_feature_names_out(), model.feature_set_.frequencies
    return [
        {
            "feature": str(name),
            "support": support,
            "frequency": support / found.n_rows,
            "frequency_before": frequency,
        }
        for name, support, frequency in zip(names, found.supports, before, strict=False)
    ]


def _render_changes(features: list[dict[str, Any]]) -> str | None:
    """Return the three features whose share changed most."""

    def change(feature: dict[str, Any]) -> float:
        return -abs(float(feature["frequency"] - feature["frequency_before"]))

    most = [feature for feature in sorted(features, key=change)[:3] if change(feature)]
    if not most:
        return None
    lines = [
        f"  {showable(feature['feature'])}: in {feature['frequency']:.0%} of these rows, "
        f"{feature['frequency_before']:.0%} in training"
        for feature in most
    ]
    return "\n".join(["Changed most:", *lines])
