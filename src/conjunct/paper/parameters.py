"""Figures 6 and 8 and §5.4: how λ and limit_iter act on OI, C0, RMS and length."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from conjunct.paper.outcome import Outcome
from conjunct.paper.published import KENDALL_P_VALUE
from conjunct.paper.study import Study
from conjunct.plots import plot_curves
from conjunct.ufc import Solution

THRESHOLDS = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5)
LIMITS = (1, 2, 3, 5, 10, 20)
GRID = tuple(round(0.002 * k, 3) for k in range(1, 251))  # §5.3


def by_iterations(study: Study) -> Outcome:
    """Figure 6a: OI and C0 against limit_iter, for several λ."""
    rows = [
        {
            "threshold": threshold,
            "limit_iter": limit,
            "oi": found.oi,
            "c0": found.c0,
            "rms": found.rms,
        }
        for threshold in THRESHOLDS
        for limit, found in _along(study, threshold)
    ]
    text = (
        "The overlap falls fast and settles; the complexity does the reverse. The smaller λ, the "
        "less overlap and the more features."
    )
    charts = {
        f"-{field}": lambda field=field, y=y: _curves(
            rows, "limit_iter", field, "threshold", y, f"{y} by limit_iter on {study.name}"
        )
        for field, y in (("oi", "OI"), ("c0", "C0"))
    }
    title = f"OI and C0 by number of iterations on {study.name}"
    return Outcome("figure-6a-by-iterations", title, text + study.coverage, rows, charts)


def by_threshold(study: Study) -> Outcome:
    """Figure 6b: OI and C0 against λ, for several limit_iter."""
    rows = [
        {"limit_iter": limit, "threshold": threshold, "oi": found.oi, "c0": found.c0}
        for limit in LIMITS
        for threshold in GRID
        if (found := _found(study, threshold, limit)) is not None
    ]
    text = "At the 250 λ of the paper. Between two neighbouring r of the data nothing changes."
    charts = {
        f"-{field}": lambda field=field, y=y: _curves(
            rows, "threshold", field, "limit_iter", y, f"{y} by λ on {study.name}"
        )
        for field, y in (("oi", "OI"), ("c0", "C0"))
    }
    title = f"OI and C0 by λ on {study.name}"
    return Outcome("figure-6b-by-threshold", title, text + study.coverage, rows, charts)


def rms_by_iterations(study: Study) -> Outcome:
    """Figure 8: RMS against limit_iter, from 0 on, for several λ."""
    rows = [
        {"threshold": threshold, "limit_iter": limit, "rms": found.rms}
        for threshold in THRESHOLDS
        for limit, found in _along(study, threshold)
    ]
    text = "RMS falls for a few iterations and then rises: there the RMS stop ends a run."

    def chart() -> Any:
        title = f"RMS by limit_iter on {study.name}"
        return _curves(rows, "limit_iter", "rms", "threshold", "RMS", title)

    title = f"RMS by number of iterations on {study.name}"
    return Outcome("figure-8-rms-by-iterations", title, text + study.coverage, rows, {"": chart})


def dependence(study: Study) -> Outcome:
    """§5.4: Kendall's test between C0 and C1 over limit_iter, for each λ."""
    from scipy.stats import kendalltau

    rows: list[dict[str, Any]] = []
    for threshold in GRID:
        line = [_found(study, threshold, limit) for limit in range(1, study.path.max_iter + 1)]
        found = [solution for solution in line if solution is not None]
        if len(found) < len(line):
            continue
        c0, c1 = [s.c0 for s in found], [s.length for s in found]
        varies = len(set(c0)) > 1 and len(set(c1)) > 1
        tau, p = kendalltau(c0, c1) if varies else (math.nan, math.nan)
        rows.append(
            {
                "threshold": threshold,
                "distinct_values": len(set(c0)),
                "tau": float(tau),
                "p_value": float(p),
                "published_p_value": KENDALL_P_VALUE,
            }
        )
    tested = [row for row in rows if row["tau"] == row["tau"]]
    untested = len(rows) - len(tested)
    text = (f"At {untested} λ nothing changes, so nothing can be tested. " if untested else "") + (
        f"The largest p-value is {max(row['p_value'] for row in tested):.2g}, "
        f"{sum(row['p_value'] < 1e-8 for row in tested)} of {len(tested)} are below 1e-8; the "
        f"smallest τ is {min(row['tau'] for row in tested):.2f}. The paper prints p-values of the "
        f"order of 1e-9."
        if tested
        else ""
    )
    title = f"Dependence of C0 and C1 on {study.name}"
    return Outcome("section-5.4-kendall", title, text + study.coverage, rows)


def _along(study: Study, threshold: float) -> Iterator[tuple[int, Any]]:
    """What each limit_iter gives at one λ, the primitives first."""
    yield 0, study.primitives
    for limit in range(1, study.path.max_iter + 1):
        found = _found(study, threshold, limit)
        if found is not None:
            yield limit, found


def _found(study: Study, threshold: float, limit: int) -> Solution | None:
    path = study.path
    covered = path.complete_ or threshold >= path.covered_from_
    return path.result_of(threshold, limit) if covered else None


def _curves(rows: list[dict[str, Any]], x: str, y: str, series: str, name: str, title: str) -> Any:
    words = {"threshold": "threshold λ", "limit_iter": "limit_iter"}
    drawn = [{x: row[x], y: row[y], "series": f"{row[series]:g}"} for row in rows]
    by_threshold = x == "threshold"
    return plot_curves(
        drawn,
        x,
        y,
        title=title,
        x_title=words[x],
        y_title=name,
        legend=words[series],
        steps=by_threshold,
        points=not by_threshold,
    )
