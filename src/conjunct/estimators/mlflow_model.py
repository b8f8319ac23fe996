"""Models in MLflow's folders: the model file and the name of this module, nothing pickled."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from conjunct.errors import InputError
from conjunct.estimators.constructor import FeatureConstructor
from conjunct.estimators.loading import load
from conjunct.estimators.lossless import LosslessConstructor
from conjunct.parameters import check_choice

Output = Literal["features", "chunks"]
OUTPUTS: tuple[Output, ...] = ("features", "chunks")


def save_mlflow(
    model: FeatureConstructor, path: str | os.PathLike[str], *, output: Output = "features"
) -> None:
    """Write a fitted model as a folder that MLflow loads, registers and serves.

    Parameters
    ----------
    model : UFC, UFCPath or UFringe
        The fitted model.
    path : path
        The folder, which must not be there yet. ``mlflow.pyfunc.load_model(path).predict(frame)``
        takes data frames with the columns of the model, raw ones if it was fitted on raw data.
    output : {"features", "chunks"}, default="features"
        What ``predict`` gives: the features of each row, or a column with its chunks as text.
    """
    check_choice("output", output, OUTPUTS)
    if output == "chunks" and not isinstance(model, LosslessConstructor):
        raise InputError(f"a model of kind {type(model).__name__} has no chunks")
    try:
        from mlflow import pyfunc
    except ImportError:
        raise ImportError('MLflow is not there: pip install "conjunct[mlflow]"') from None
    from conjunct import __version__

    with TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        model.save(file)
        pyfunc.save_model(
            path,
            loader_module=__name__,
            data_path=str(file),
            model_config={"output": output},
            pip_requirements=[f"conjunct=={__version__}"],
        )


def _load_pyfunc(path: str, model_config: dict[str, Any] | None = None) -> Served:
    """What MLflow calls: the name is its own."""
    return Served(load(path), (model_config or {}).get("output", "features"))


class Served:
    """A model as MLflow calls it."""

    def __init__(self, model: FeatureConstructor, output: Output) -> None:
        self.model = model
        self.output = output

    def predict(self, model_input: Any, params: Any = None) -> Any:
        """The features, or the chunks, of the rows of a data frame."""
        binarizer = self.model.preparation_.binarizer
        rows = model_input if binarizer is None else binarizer.transform(model_input)
        if self.output == "chunks" and isinstance(self.model, LosslessConstructor):
            return self.model.chunks(rows, "text")
        return self.model.transform(rows)
