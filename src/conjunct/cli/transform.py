"""``conjunct transform``: a model applied to a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conjunct.cli.inputs import DataInput, reads_data
from conjunct.cli.options import DataFile, ModelFile


@reads_data
def transform(
    model: ModelFile,
    data: DataFile,
    out: Annotated[
        Path,
        typer.Option(
            help="Table to write: .csv, .tsv, .jsonl (also .gz, .zst), .parquet or .arrow.",
            show_default=False,
        ),
    ],
    *,
    source: DataInput,
) -> None:
    """Write the features of a model for the rows of a table.

    The columns of the model are found by name, in any order; others are left aside. Raw data is
    made Boolean, and tags are cleaned, as they were for the model.

    \b
    Examples:
      $ conjunct transform model.json zoo.csv --out features.csv
      $ conjunct transform model.json zoo.csv --out features.parquet
    """
    from conjunct import load
    from conjunct.cli.terminal import write
    from conjunct.errors import InputError
    from conjunct.io.atomic import check_target
    from conjunct.io.writing import table_extension, write_table

    table_extension(out)
    if check_target(out) == model.resolve():
        raise InputError(f"{out} is the model: name another file for the features")
    fitted = load(model)
    table = source.read_for(fitted, data)
    with source.naming_cells_of(data):
        features = fitted.transform(table)
    write_table(out, features.to_frame("polars"))
    n_rows, n_features = features.shape
    write(f"Saved {n_features} features of {n_rows} rows as {out}.")
