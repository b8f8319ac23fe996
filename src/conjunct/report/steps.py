"""Rows as chunks: a run as plain values, step by step, for the slider and the map."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from conjunct.estimators import RowGroups
from conjunct.explain import shorten
from conjunct.expressions import pattern_text
from conjunct.report import limits
from conjunct.report.model_on_rows import ModelOnRows

_NAME_LENGTH = 60


@dataclass(frozen=True)
class Steps:
    """A run as plain values. A prefix of its merges is a vocabulary too, exactly.

    ``data`` holds for the script: ``names``, in their order; ``steps``, the merges of each
    iteration as ``[left, right, both, left only, right only, rows with all the tags]`` (-1 where
    empty); the ``rows`` of the map by their columns and group; the patterns ``coloured``, and the
    names of the largest ``groups``, which are coloured too.
    """

    n_steps: int
    n_left_out: int
    n_rows: int
    data: dict[str, Any]


def list_steps(shown: ModelOnRows, groups: RowGroups | None = None) -> Steps | None:
    """Return a run that replaced pairs step by step; ``None`` if it replaced none."""
    fitted = shown.model.feature_set_
    if not fitted.merges:
        return None
    by_step: dict[int, list[list[int]]] = {}
    tables = fitted.pattern_tables
    position = {name: k for k, name in enumerate(shown.names)}
    for k, merge in enumerate(fitted.merges[: limits.STEPS]):
        numbers = merge.left, merge.right, merge.both, merge.left_only, merge.right_only
        made = [-1 if n is None else n for n in numbers]
        if tables is not None:
            rows_with_all = tables[k][3]
        else:
            tags = {tag for n in numbers[:2] for tag in fitted.lineage.pattern(n)}
            rows_with_all = len(shown.rows_with([position[tag] for tag in tags]))
        by_step.setdefault(merge.iteration, []).append([*made, rows_with_all])
    rows = _sample_rows(shown)
    columns = shown.true_columns(rows)
    touched = {number for some in by_step.values() for one in some for number in one[:5]}
    known = touched.union(*columns)
    named = sorted((name, k) for k, name in enumerate(shown.names) if k in known)
    data = {
        "names": [[k, shorten(pattern_text([name]), _NAME_LENGTH)] for name, k in named],
        "steps": list(by_step.values()),
        "rows": [
            [shown.row_label(row), some, 0 if groups is None else int(groups.labels_[row])]
            for row, some in zip(rows, columns, strict=True)
        ],
        "coloured": _patterns_with_colour(shown),
        "groups": [
            shorten(group.name, limits.NAME_LENGTH)
            for group in (() if groups is None else groups.groups_[: limits.COLOURS])
        ],
    }
    left_out = max(0, len(fitted.merges) - limits.STEPS)
    return Steps(len(by_step), left_out, len(rows), data)


def _sample_rows(shown: ModelOnRows) -> list[int]:
    """Return rows spread evenly over all of them, few enough for a page."""
    cells = int(shown.primitives.supports().sum())
    wide = limits.MAP_CELLS * shown.n_rows // max(1, cells)
    n = max(1, min(shown.n_rows, limits.MAP_ROWS, wide))
    return [int(row) for row in np.linspace(0, shown.n_rows - 1, n).round()]


def _patterns_with_colour(shown: ModelOnRows) -> list[list[int]]:
    """Return the patterns that get a colour: the strongest, or the most common."""
    position = {name: k for k, name in enumerate(shown.names)}
    summary = shown.summary
    every: Iterable[tuple[str, ...]] = (one.tags for one in summary.findings)
    if not shown.by_pattern:
        every = (one.pattern for one in summary.new_features if len(one.pattern) > 1)
    patterns = list(islice(dict.fromkeys(every), limits.COLOURS))
    return [[position[name] for name in some] for some in patterns]
