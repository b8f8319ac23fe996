"""What commands read besides the model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from conjunct.estimators.base import FeatureConstructor


def columns_of_model(model: FeatureConstructor, data: Path) -> pl.DataFrame:
    """The columns of a file that the model was fitted on, in its order."""
    import numpy as np

    from conjunct.cli.rendering import listed
    from conjunct.cli.terminal import note
    from conjunct.errors import InputError
    from conjunct.io.tables import read_table

    table = read_table(data)
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
