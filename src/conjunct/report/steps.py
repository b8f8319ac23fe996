"""The vocabulary step by step: what a script needs to show it after any number of merges."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from conjunct.explain import shortened, takes_one_pair
from conjunct.expressions import pattern_text
from conjunct.report import limits
from conjunct.report.examples import row_label
from conjunct.report.model_on_rows import ModelOnRows

_NAME_LENGTH = 60


@dataclass(frozen=True)
class Steps:
    """A run as plain values. A prefix of its merges is a vocabulary too, exactly.

    ``data`` holds for the script: ``names``, in their order, and ``supports`` by number; ``steps``,
    the merges of each iteration as ``[left, right, both, left only, right only]`` (-1 where empty);
    ``sizes`` and ``bits`` after each; the ``rows`` of the map by their columns; the patterns
    ``coloured``.
    """

    n_steps: int
    n_left_out: int
    unit: str
    n_rows: int
    data: dict[str, Any]


def steps(shown: ModelOnRows) -> Steps | None:
    """The course of a run that replaced pairs; ``None`` if it replaced none."""
    fitted = shown.model.feature_set_
    if not fitted.merges:
        return None
    by_step: dict[int, list[list[int]]] = {}
    for merge in fitted.merges[: limits.STEPS]:
        numbers = merge.left, merge.right, merge.both, merge.left_only, merge.right_only
        by_step.setdefault(merge.iteration, []).append([-1 if n is None else n for n in numbers])
    rows = _sample(shown)
    columns = shown.true_columns(rows)
    supports = shown.lineage_supports
    touched = sorted({number for some in by_step.values() for one in some for number in one} - {-1})
    known = sorted({*touched, *(k for some in columns for k in some)})
    history = shown.model.history_[: 1 + len(by_step)]
    primitives = fitted.lineage.primitives
    data = {
        "names": [
            [k, shortened(pattern_text([name]), _NAME_LENGTH)]
            for name, k in sorted((primitives[k], k) for k in known if k < len(primitives))
        ],
        "supports": [[k, supports[k]] for k in known],
        "steps": list(by_step.values()),
        "sizes": [line.n_features for line in history],
        "evidence": [] if isnan(history[0].evidence) else [round(k.evidence) for k in history],
        "rows": [[row_label(shown, row), some] for row, some in zip(rows, columns, strict=True)],
        "coloured": _coloured(shown),
    }
    unit = "merge" if takes_one_pair(shown.model) else "iteration"
    left_out = max(0, len(fitted.merges) - limits.STEPS)
    return Steps(len(by_step), left_out, unit, len(rows), data)


def _sample(shown: ModelOnRows) -> list[int]:
    """Rows spread evenly over all of them, few enough for a page."""
    cells = int(shown.primitives.supports().sum())
    wide = limits.MAP_CELLS * shown.n_rows // max(1, cells)
    n = max(1, min(shown.n_rows, limits.MAP_ROWS, wide))
    return [int(row) for row in np.linspace(0, shown.n_rows - 1, n).round()]


def _coloured(shown: ModelOnRows) -> list[list[int]]:
    """The patterns that get a colour: those that saved most, or are most common."""
    position = {name: k for k, name in enumerate(shown.model.feature_set_.lineage.primitives)}
    found = shown.summary.chunks if shown.by_pattern else shown.summary.constructed
    patterns: dict[tuple[str, ...], None] = {}
    for one in found:
        if len(one.pattern) > 1:
            patterns[one.pattern] = None
        if len(patterns) == limits.COLOURS:
            break
    return [[position[name] for name in some] for some in patterns]
