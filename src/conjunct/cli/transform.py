"""``conjunct transform``: a model applied to a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from conjunct.cli.options import DataFile, ModelFile

if TYPE_CHECKING:
    import polars as pl

    from conjunct.estimators.base import FeatureConstructor


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
    from conjunct.cli.terminal import write
    from conjunct.errors import InputError
    from conjunct.io.atomic import check_target
    from conjunct.io.tables import naming_cells_of, read_table, table_extension, write_table

    table_extension(out)
    if check_target(out) == model.resolve():
        raise InputError(f"{out} is the model: name another file for the features")
    fitted = load(model)
    columns = _columns(fitted, read_table(data), data)
    with naming_cells_of(data):
        features = fitted.transform(columns)
    write_table(out, features)
    write(f"Saved {features.width} features of {features.height} rows as {out}.")


def _columns(model: FeatureConstructor, table: pl.DataFrame, data: Path) -> pl.DataFrame:
    """The columns that the model was fitted on, in its order."""
    import numpy as np

    from conjunct.cli.rendering import listed
    from conjunct.cli.terminal import note
    from conjunct.errors import InputError

    if not hasattr(model, "feature_names_in_"):
        # fitted on an array: columns go by position
        if table.width != model.n_features_in_:
            raise InputError(
                f"{data} has {table.width} columns, and the model, which has no names, "
                f"{model.n_features_in_}"
            )
        model.feature_names_in_ = np.array(table.columns, object)
    wanted = list(model.feature_names_in_)
    missing = [repr(name) for name in wanted if name not in table.columns]
    if missing:
        raise InputError(f"{data} lacks columns of the model: {listed(missing)}")
    known = set(wanted)
    extra = [repr(name) for name in table.columns if name not in known]
    if extra:
        note(f"columns of {data} that the model does not use: {listed(extra)}")
    return table.select(wanted)
