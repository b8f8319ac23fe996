"""What the commands print with ``--json``; docs/commands.md says what each key means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conjunct.cli.outputs import Document
    from conjunct.data import BooleanData
    from conjunct.estimators import FeatureConstructor, UFCPath
    from conjunct.explain import Formulas
    from conjunct.files import Stream
    from conjunct.ufc import Solution


def model_document(
    model: FeatureConstructor,
    *,
    formulas: Formulas | None = None,
    data: BooleanData | Stream | None = None,
    saved: Mapping[str, Path | None] | None = None,
) -> dict[str, Any]:
    """A fitted model: what it is, what it was made from, and its features."""
    from conjunct.cli.terminal import as_options
    from conjunct.estimators import LosslessConstructor, formula_columns
    from conjunct.explain import Summary

    summary = Summary(model, as_options)
    # the rows of a model that was cut were not counted again
    has_chunks = isinstance(model, LosslessConstructor)
    has_code = has_chunks and model.feature_set_.has_code
    rules = model.get_rules("dict")
    if formulas is not None:
        rules |= formula_columns(formulas, model.style)
    document = {
        "kind": type(model).__name__,
        "summary": summary.text,
        "outcome": summary.outcome,
        "description_length": model.description_length_ if has_code else None,
        "baseline_length": model.baseline_length_ if has_code else None,
        "parameters": _parameters(model),
        "n_rows": model.feature_set_.n_rows,
        "columns": list(model.feature_set_.lineage.primitives),
        "variables": model.variables_ if has_chunks else {},
        "threshold": getattr(model, "threshold_", None),
        "features": records(rules),
        "suppressed": records(model.get_rules("dict", suppressed=True)),
        "history": model.history_,
    }
    if data is not None:
        document["data"] = data_document(data)
    if saved is not None:
        document["saved"] = saved_document(saved)
    return document


def path_document(model: UFCPath, data: BooleanData, saved: Mapping[str, Path | None]) -> Document:
    """A path: its front and its closest point, which is the model."""
    return {
        "n_solutions": len(model.solutions_),
        "complete": model.complete_,
        "covered_from": model.covered_from_,
        "closest_point": _solution(model.closest_point_),
        "front": [_solution(solution) for solution in model.front_],
        "model": model_document(model),
        "data": data_document(data),
        "saved": saved_document(saved),
    }


def data_document(table: BooleanData | Stream) -> dict[str, Any]:
    """What was read, in numbers."""
    from conjunct.data import DataSummary
    from conjunct.files import Stream

    if isinstance(table, Stream):
        n_rows, n_features = table.shape
        return {"n_files": len(table.rows), "n_rows": n_rows, "n_features": n_features}
    return asdict(DataSummary.of(table))


def saved_document(saved: Mapping[str, Path | None]) -> dict[str, str | None]:
    """Which files were written; null for one that was not asked for."""
    return {what: None if path is None else str(path) for what, path in saved.items()}


def _parameters(model: FeatureConstructor) -> dict[str, Any]:
    """As a model file has them: rules are objects with their name and settings."""
    from conjunct.ufc import Rule

    given = model.get_params(deep=False).items()
    return {
        name: value.record() if isinstance(value, Rule) else value
        for name, value in given
        if name not in model._unsaved
    }


def _solution(solution: Solution) -> dict[str, Any]:
    derived = {"threshold": solution.threshold, "distance": solution.distance}
    return derived | asdict(solution)


def records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """The rows of a table."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
