"""Readable features from Boolean data, without labels.

>>> from conjunct import UFC, datasets
>>> spect = datasets.load_spect()
>>> model = UFC().fit(spect.values)
>>> len(model.features_)
48
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from conjunct.binarize import Binarizer, BooleanTable, DataSummary, TagCleaner
    from conjunct.construction.criteria import Bits, Risk, Threshold
    from conjunct.construction.stops import Never, Relative, Rms, ShorterBits
    from conjunct.errors import (
        CellError,
        ClusterError,
        ConjunctError,
        ConjunctWarning,
        InputError,
        ModelFileError,
    )
    from conjunct.estimators import (
        UFC,
        ClusteringTree,
        Fringe,
        UFCPath,
        UFringe,
        correlated_pairs,
        load,
    )
    from conjunct.evaluation import (
        closest_point,
        complexity,
        description_length,
        mean_length,
        overlapping_index,
        pareto_front,
        rms,
    )
    from conjunct.experiments import stability
    from conjunct.expressions import And, Constant, Expression, Not, Or, Primitive, parse
    from conjunct.plots import (
        plot_ancestry,
        plot_correlation,
        plot_front,
        plot_history,
        plot_stability,
    )
    from conjunct.report import Report

# Where each public name lives. Modules are imported when a name is first used, so that
# ``import conjunct`` and ``conjunct --help`` stay quick.
_HOMES = {
    "conjunct.binarize": ("Binarizer", "BooleanTable", "DataSummary", "TagCleaner"),
    "conjunct.construction.criteria": ("Bits", "Risk", "Threshold"),
    "conjunct.construction.stops": ("Never", "Relative", "Rms", "ShorterBits"),
    "conjunct.errors": (
        "CellError",
        "ClusterError",
        "ConjunctError",
        "ConjunctWarning",
        "InputError",
        "ModelFileError",
    ),
    "conjunct.estimators": (
        "UFC",
        "UFCPath",
        "ClusteringTree",
        "Fringe",
        "UFringe",
        "correlated_pairs",
        "load",
    ),
    "conjunct.evaluation": (
        "closest_point",
        "complexity",
        "description_length",
        "mean_length",
        "overlapping_index",
        "pareto_front",
        "rms",
    ),
    "conjunct.experiments": ("stability",),
    "conjunct.expressions": ("And", "Constant", "Expression", "Not", "Or", "Primitive", "parse"),
    "conjunct.plots": (
        "plot_ancestry",
        "plot_correlation",
        "plot_front",
        "plot_history",
        "plot_stability",
    ),
    "conjunct.report": ("Report",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_SUBMODULES = ("datasets", "evaluation", "experiments", "expressions", "io", "plots")

__all__ = [
    "UFC",
    "And",
    "Binarizer",
    "Bits",
    "BooleanTable",
    "CellError",
    "ClusterError",
    "ClusteringTree",
    "ConjunctError",
    "ConjunctWarning",
    "Constant",
    "DataSummary",
    "Expression",
    "Fringe",
    "InputError",
    "ModelFileError",
    "Never",
    "Not",
    "Or",
    "Primitive",
    "Relative",
    "Report",
    "Risk",
    "Rms",
    "ShorterBits",
    "TagCleaner",
    "Threshold",
    "UFCPath",
    "UFringe",
    "closest_point",
    "complexity",
    "correlated_pairs",
    "description_length",
    "load",
    "mean_length",
    "overlapping_index",
    "pareto_front",
    "parse",
    "plot_ancestry",
    "plot_correlation",
    "plot_front",
    "plot_history",
    "plot_stability",
    "rms",
    "stability",
]


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        return getattr(importlib.import_module(_HOME_OF[name]), name)
    if name in _SUBMODULES:
        return importlib.import_module(f"conjunct.{name}")
    raise AttributeError(f"module 'conjunct' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, *_SUBMODULES])
