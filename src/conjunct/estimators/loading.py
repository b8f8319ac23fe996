"""A model file back into the estimator that wrote it."""

from __future__ import annotations

import os

from conjunct.errors import ModelFileError
from conjunct.estimators.cat import CAT
from conjunct.estimators.constructor import FeatureConstructor
from conjunct.estimators.fringe import Fringe
from conjunct.estimators.id2of3 import ID2of3
from conjunct.estimators.ufc import UFC
from conjunct.estimators.ufc_path import UFCPath
from conjunct.estimators.ufringe import UFringe
from conjunct.estimators.xofn import XofN
from conjunct.files import read_model

_KINDS: dict[str, type[FeatureConstructor]] = {
    kind.__name__: kind for kind in (UFC, UFCPath, UFringe, Fringe, CAT, ID2of3, XofN)
}


def load(path: str | os.PathLike[str]) -> FeatureConstructor:
    """Read a model file, whatever estimator wrote it."""
    model = read_model(path)
    if model.kind not in _KINDS:
        raise ModelFileError(f"{path}: a model of unknown kind {model.kind!r}")
    return _KINDS[model.kind]._from_model_file(model, str(path))
