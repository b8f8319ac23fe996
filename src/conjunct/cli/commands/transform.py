"""``conjunct transform``: a model applied to a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conjunct.cli.help import OUTPUT
from conjunct.cli.inputs import DataInput, reads_data
from conjunct.cli.options import SPARSE, WRITTEN, DataFile, ModelFile, Names, Unseen
from conjunct.cli.outputs import Output, speaks

if TYPE_CHECKING:
    from conjunct.estimators import FeatureConstructor


@speaks
@reads_data
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
    import sys

    from conjunct import load
    from conjunct.cli.progress import step
    from conjunct.cli.standard_streams import is_printed
    from conjunct.files import as_csv, is_sparse_file, write_sparse, write_table

    _check_target(out, model, output.json)
    with step(f"read {model}"):
        fitted = load(model)
    adapt(fitted, names=names, unseen=unseen, keep_columns=keep_columns)
    table = source.read_for(fitted, data)
    with source.naming_cells_of(data), step("computed features"):
        features = fitted.transform(table)
    if out is not None and is_sparse_file(out):
        with step(f"wrote {out}"):
            write_sparse(out, features)
    else:
        _check_room(*features.shape)
        frame = features.to("polars")
        if out is None or is_printed(out):
            sys.stdout.write(as_csv(frame))
            return
        with step(f"wrote {out}"):
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


def adapt(model: FeatureConstructor, **told: Any) -> None:
    """Set what a model is told about the columns that it makes, where that is given."""
    from conjunct.errors import InputError
    from conjunct.estimators import LosslessConstructor

    for name, value in told.items():
        if value is None:
            continue
        if not isinstance(model, LosslessConstructor):
            option, kind = f"--{name.replace('_', '-')}", type(model).__name__
            raise InputError(f"{option} does not go with a model of kind {kind}")
        setattr(model, name, value)


def _check_room(n_rows: int, n_features: int) -> None:
    """Whether a table can be written: where it cannot, polars would end the process."""
    from conjunct.memory import available_bytes

    # as bits, as bytes and as text, of which polars has some at a time
    if 3 * n_rows * n_features + (64 << 20) > available_bytes():
        raise MemoryError


def _check_target(out: Path | None, model: Path, json: bool) -> None:
    from conjunct.cli.standard_streams import is_printed
    from conjunct.errors import InputError
    from conjunct.files import check_table_target, check_target, is_sparse_file

    if out is None or is_printed(out):
        if json:
            raise InputError("--json needs --out: without it, the features are printed as CSV")
        return
    if not is_sparse_file(out):
        check_table_target(out)
    if check_target(out) == model.resolve():
        raise InputError(f"{out} is the model: name another file for the features")
