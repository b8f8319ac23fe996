"""A model file back into the estimator that wrote it."""

from __future__ import annotations

import os

from conjunct import estimators
from conjunct.errors import ModelFileError
from conjunct.estimators.constructor import FeatureConstructor
from conjunct.files import read_model

# by name: those of trees load scikit-learn's, which takes longer than to read a model
_KINDS = ("UFC", "UFCPath", "UFringe", "Fringe", "CAT", "ID2of3", "XofN")


def load(path: str | os.PathLike[str]) -> FeatureConstructor:
    """Read a model file, whatever estimator wrote it."""
    model = read_model(path)
    if model.kind not in _KINDS:
        raise ModelFileError(f"{path}: a model of unknown kind {model.kind!r}")
    kind: type[FeatureConstructor] = getattr(estimators, model.kind)
    return kind._from_model_file(model, str(path))
