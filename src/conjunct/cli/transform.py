"""``conjunct transform``: a model applied to a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conjunct.cli.options import DataFile, ModelFile


def transform(
    model: ModelFile,
    data: DataFile,
    out: Annotated[
        Path,
        typer.Option(help="Table to write: .csv, .tsv (also .gz) or .parquet.", show_default=False),
    ],
) -> None:
    """Write the features of a model for the rows of a table.

    The columns of the model are found by name, in any order; others are left aside.

    \b
    Examples:
      $ conjunct transform model.json zoo.csv --out features.csv
      $ conjunct transform model.json zoo.csv --out features.parquet
    """
    from conjunct import load
    from conjunct.cli.inputs import columns_of_model
    from conjunct.cli.terminal import write
    from conjunct.errors import InputError
    from conjunct.io.atomic import check_target
    from conjunct.io.tables import naming_cells_of, table_extension, write_table

    table_extension(out)
    if check_target(out) == model.resolve():
        raise InputError(f"{out} is the model: name another file for the features")
    fitted = load(model)
    columns = columns_of_model(fitted, data)
    with naming_cells_of(data):
        features = fitted.transform(columns)
    write_table(out, features)
    write(f"Saved {features.width} features of {features.height} rows as {out}.")
