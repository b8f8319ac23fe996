"""Reproduce the paper's tables and figures, and an experiment beyond them, as files.

Table 3, figures 6 to 8 and 11, and §5.4 cover every λ and limit_iter. Figures 9 and 10 and tables
4 and 5 are about the risk-based heuristic.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import Any

from conjunct.errors import InputError
from conjunct.estimators import UFC, UFringe
from conjunct.files import write_atomically
from conjunct.paper.study import (
    ALPHA,
    ALPHAS,
    INDICATORS,
    KENDALL_P_VALUE,
    OTHER_RUN,
    RISK_BASED,
    Outcome,
    Study,
    bootstrap_stability,
    format_cell,
    indicators_of,
    noise_stability,
    paper_values,
)
from conjunct.plots import plot_curves, plot_front, plot_fronts, plot_trajectories, save_chart
from conjunct.ufc import Indicators, Solution


def table_of_indicators(study: Study) -> Outcome:
    """Make table 3: indicators of the primitives, uFC*, another uFC and uFRINGE."""
    best = study.path.closest_point_
    threshold, limit_iter = OTHER_RUN
    other = study.fit(UFC(threshold, max_iter=limit_iter))
    fringe = study.fit(UFringe())
    rows = [
        {
            "strategy": strategy,
            **indicators_of(line),
            **paper_values(INDICATORS, study.name, strategy),
        }
        for strategy, line in (
            ("primitives", study.primitives),
            (star(best), best),
            (f"uFC({threshold:g}, {limit_iter})", other.history_[-1]),
            ("uFRINGE", fringe.history_[-1]),
        )
    ]
    text = (
        "uFC* is the closest point of the path, and uFC is another run with fixed parameters. "
        "uFRINGE stops at 300 features. Its tree parameters are not published; here, leaves have "
        "at least 4 rows."
    )
    return study.outcome("table-3-indicators", "Indicators", text, rows)


def star(best: Solution) -> str:
    """Return the paper's name for the closest point: uFC*(λ, limit_iter)."""
    return f"uFC*({best.threshold:g}, {best.iterations})"


THRESHOLDS = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5)
LIMITS = (1, 2, 3, 5, 10, 20)
GRID = tuple(round(0.002 * k, 3) for k in range(1, 251))  # §5.3


def by_iterations(study: Study) -> Outcome:
    """Make figure 6a: OI and C0 against limit_iter, for several λ."""
    rows = _follow_iterations(study, "oi", "c0", "rms")
    text = (
        "The overlap falls fast and levels off, while the complexity rises. A smaller λ gives "
        "less overlap and more features."
    )
    charts = _draw_curves(study, rows, "limit_iter", "threshold", "OI", "C0")
    title = "OI and C0 by number of iterations"
    return study.outcome("figure-6a-by-iterations", title, text, rows, charts)


def by_threshold(study: Study) -> Outcome:
    """Make figure 6b: OI and C0 against λ, for several limit_iter."""
    rows = [
        {"limit_iter": limit, "threshold": threshold, "oi": found.oi, "c0": found.c0}
        for limit in LIMITS
        for threshold in GRID
        if (found := _result_of(study, threshold, limit)) is not None
    ]
    text = "For the paper's 250 values of λ. Nothing changes between two neighbouring values of r."
    charts = _draw_curves(study, rows, "threshold", "limit_iter", "OI", "C0")
    return study.outcome("figure-6b-by-threshold", "OI and C0 by λ", text, rows, charts)


def rms_by_iterations(study: Study) -> Outcome:
    """Make figure 8: RMS against limit_iter, from 0 on, for several λ."""
    rows = _follow_iterations(study, "rms")
    text = "RMS falls for a few iterations and then rises. The RMS stop ends a run at that point."
    charts = _draw_curves(study, rows, "limit_iter", "threshold", "RMS")
    title = "RMS by number of iterations"
    return study.outcome("figure-8-rms-by-iterations", title, text, rows, charts)


def dependence(study: Study) -> Outcome:
    """Make §5.4: Kendall's test between C0 and C1 over limit_iter, for each λ."""
    from scipy.stats import kendalltau

    rows: list[dict[str, Any]] = []
    for threshold in GRID:
        line = [_result_of(study, threshold, limit) for limit in range(1, study.path.max_iter + 1)]
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
    text = f"For {untested} values of λ, C0 or C1 is constant. " if untested else ""
    if tested:
        text += (
            f"The largest p-value is {max(row['p_value'] for row in tested):.2g}, and "
            f"{sum(row['p_value'] < 1e-8 for row in tested)} of {len(tested)} are below 1e-8. The "
            f"smallest τ is {min(row['tau'] for row in tested):.2f}. The paper prints p-values of "
            "the order of 1e-9."
        )
    return study.outcome("section-5.4-kendall", "Dependence of C0 and C1", text, rows)


def _follow_iterations(study: Study, *names: str) -> list[dict[str, Any]]:
    """Return indicators by limit_iter, from 0, for several λ."""
    limits = range(1, study.path.max_iter + 1)
    return [
        {"threshold": threshold, "limit_iter": limit}
        | {name: getattr(line, name) for name in names}
        for threshold in THRESHOLDS
        for limit, line in enumerate(
            [study.primitives, *(_result_of(study, threshold, limit) for limit in limits)]
        )
        if line is not None
    ]


def _result_of(study: Study, threshold: float, limit: int) -> Solution | None:
    path = study.path
    covered = path.complete_ or threshold >= path.covered_from_
    return path.result_of(threshold, limit) if covered else None


def _draw_curves(
    study: Study, rows: list[dict[str, Any]], x: str, series: str, *names: str
) -> dict[str, Callable[[], Any]]:
    """Return charts of indicators against x, with a curve for each value of ``series``."""
    words = {"threshold": "threshold λ", "limit_iter": "limit_iter"}
    by_threshold = x == "threshold"

    def draw(name: str) -> Any:
        y = name.lower()
        return plot_curves(
            [{x: row[x], y: row[y], "series": f"{row[series]:g}"} for row in rows],
            x,
            y,
            title=f"{name} by {'λ' if by_threshold else x} on {study.name}",
            x_title=words[x],
            y_title=name,
            legend=words[series],
            steps=by_threshold,
            points=not by_threshold,
        )

    return {f"-{name.lower()}" if names[1:] else "": partial(draw, name) for name in names}


def solutions(study: Study) -> Outcome:
    """Make figure 7: all solutions, their front and the closest point, also magnified."""
    path = study.path
    best = path.closest_point_
    columns = path.get_solutions("dict")
    text = (
        f"{len(path.solutions_)} distinct solutions, {len(path.front_)} of them on the front. The "
        f"closest point is {star(best)}, at a distance of {best.distance:.4f} from (0, 0)."
    )
    draw = partial(plot_front, path.solutions_, path.front_, best)
    return study.outcome(
        "figure-7-solutions",
        "Solutions, Pareto front and closest point",
        text,
        [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        _both_views(draw, f"Solutions on {study.name}"),
    )


def pruning_fronts(study: Study) -> Outcome:
    """Make figure 11: the front with and without pruning, also magnified."""
    fronts = {"not pruned": study.path.front_, "pruned": study.path_with_pruning.front_}
    rows = [
        {
            "front": name,
            "threshold": solution.threshold,
            "iterations": solution.iterations,
            **indicators_of(solution),
            "distance": solution.distance,
        }
        for name, front in fronts.items()
        for solution in front
    ]
    worse = points_beyond(fronts["not pruned"], fronts["pruned"])
    reach = max(solution.c0 for solution in fronts["pruned"])
    text = f"The pruned front ends at C0 = {reach:.3f}. " + (
        f"Up to there, it dominates or equals the other front except at {len(worse)} of its "
        f"{sum(s.c0 <= reach for s in fronts['not pruned'])} points: "
        f"C0 = {', '.join(f'{s.c0:.3f}' for s in worse)}."
        if worse
        else "Up to there, it dominates or equals the other front everywhere."
    )
    draw = partial(plot_fronts, fronts)
    return study.outcome(
        "figure-11-pruned-fronts",
        "Pareto fronts with and without pruning",
        text,
        rows,
        _both_views(draw, f"Pruned and unpruned fronts on {study.name}"),
    )


def _both_views(draw: Callable[..., Any], title: str) -> dict[str, Callable[[], Any]]:
    return {
        "-a": partial(draw, title=title),
        "-b-magnified": partial(draw, title=f"{title}, magnified", magnified=True),
    }


def points_beyond(front: Sequence[Solution], other: Sequence[Solution]) -> list[Solution]:
    """Return points of a front, up to the end of ``other``, that ``other`` does not dominate."""
    reach = max(solution.c0 for solution in other)
    return [
        point
        for point in front
        if point.c0 <= reach and not any(s.oi <= point.oi and s.c0 <= point.c0 for s in other)
    ]


def risk_runs(study: Study) -> Outcome:
    """Make figure 9: the runs for the paper's ten α, the closest point and the front."""
    rows, reach, draw = _try_alphas(study, "")
    text = (
        f"The paper's ten α. The distance from (0, 0) is "
        f"{study.path.closest_point_.distance:.4f} for the closest point, and {reach} for the runs."
    )
    title = "Risk-based runs and the closest point"
    return study.outcome("figure-9-risk-based", title, text, rows, {"": draw})


def risk_and_pruning(study: Study) -> Outcome:
    """Make figure 10: the same as figure 9, without (a) and with (b) pruning."""
    plain, reach, draw = _try_alphas(study, ", not pruned")
    pruned, reach_pruned, draw_pruned = _try_alphas(study, ", pruned", prune=True)
    text = " ".join(
        f"{words} pruning, the distance from (0, 0) is {between} for the runs, and "
        f"{path.closest_point_.distance:.4f} for the closest point of the path."
        for words, between, path in (
            ("Without", reach, study.path),
            ("With", reach_pruned, study.path_with_pruning),
        )
    )
    title = "Risk-based runs without and with pruning"
    charts = {"-a": draw, "-b-pruned": draw_pruned}
    return study.outcome("figure-10-risk-and-pruning", title, text, [*plain, *pruned], charts)


def _try_alphas(
    study: Study, how: str, *, prune: bool = False
) -> tuple[list[dict[str, Any]], str, Callable[[], Any]]:
    """Return rows for the paper's ten α, the range of distances, and a function for the chart."""
    path = study.path_with_pruning if prune else study.path
    runs = {alpha: study.fit_risk(alpha, prune=prune) for alpha in ALPHAS}
    ends = [run.history_[-1] for run in runs.values()]
    rows = [
        {
            "alpha": alpha,
            "pruned": prune,
            "threshold": run.threshold_,
            "iterations": run.n_iter_,
            **indicators_of(end),
            "distance": math.hypot(end.oi, end.c0),
        }
        for (alpha, run), end in zip(runs.items(), ends, strict=True)
    ]
    distances = [row["distance"] for row in rows]
    draw = partial(
        plot_front,
        path.solutions_,
        path.front_,
        path.closest_point_,
        title=f"Risk-based runs on {study.name}{how}",
        marked={"risk-based, ten α": ends},
        magnified=True,
    )
    return rows, f"between {min(distances):.4f} and {max(distances):.4f}", draw


def table_of_risk(study: Study) -> Outcome:
    """Make table 4: primitives, the closest point and the risk-based run."""
    best, run = study.path.closest_point_, study.fit_risk(ALPHA)
    common = len(set(study.path.solution(best).features_) & set(run.features_))
    found = run.history_[-1]
    lines: dict[str, tuple[Any, ...]] = {
        "primitives": (study.primitives, None, None, None),
        star(best): (best, best.threshold, best.iterations, common),
        f"uFCα({ALPHA:g})": (found, run.threshold_, run.n_iter_, common),
    }
    rows = [
        {
            "strategy": strategy,
            "threshold": threshold,
            "iterations": iterations,
            "features": line.n_features,
            "common": n_common,
            "length": line.length,
            "oi": line.oi,
            "c0": line.c0,
            **paper_values(RISK_BASED, study.name, strategy),
        }
        for strategy, (line, threshold, iterations, n_common) in lines.items()
    ]
    text = (
        f"Of the {best.n_features} features of the closest point and the {found.n_features} of the "
        f"risk-based run, {common} are the same."
    )
    title = "Closest point and risk-based run"
    return study.outcome("table-4-closest-and-risk", title, text, rows)


def table_of_features(study: Study) -> Outcome:
    """Make table 5: both feature sets side by side, with common features marked."""
    best = study.path.closest_point_
    ours, theirs = study.path.solution(best).features_, study.fit_risk(ALPHA).features_
    common = set(ours) & set(theirs)
    shared = [feature for feature in ours if feature in common]
    left = [*shared, *(feature for feature in ours if feature not in common)]
    right = [*shared, *(feature for feature in theirs if feature not in common)]
    rows = [
        {
            "primitives": name,
            star(best): None if one is None else str(one),
            f"uFCα({ALPHA:g})": None if other is None else str(other),
            "common": one is not None and one == other,
        }
        for name, one, other in zip_longest(study.names, left, right)
    ]
    text = f"{len(common)} features are in both sets; they come first."
    title = "Features of the closest point and of the risk-based run"
    return study.outcome("table-5-features", title, text, rows)


# options of UFC by name; all runs use pruning and the RMS stop
RUNS: dict[str, dict[str, Any]] = {
    "pairwise, α = 0.001": {"alpha": 0.001},
    "pairwise, α = 0.05": {"alpha": 0.05},
    "pairwise, α = 0.001, at most 4 literals": {"alpha": 0.001, "max_length": 4},
}


def beyond_the_front(studies: Sequence[Study]) -> Outcome:
    """Compare runs with ``search="pairwise"`` with the best solution for any λ."""
    rows: list[dict[str, Any]] = []
    texts, charts = [], {}
    for study in studies:
        best, pruned = study.path.closest_point_, study.path_with_pruning.closest_point_
        ways: dict[str, tuple[Indicators, ...]] = {}
        ends: dict[str, Indicators] = {}
        for name, options in RUNS.items():
            pairwise = {**options, "search": "pairwise", "prune": True}
            stop = study.fit_risk(**pairwise).n_iter_
            # 1.5 times the iterations of the RMS stop
            ways[name] = study.fit_risk(**pairwise, max_iter=stop * 3 // 2 + 1).history_
            ends[name] = ways[name][stop]
        lines: dict[str, Indicators | Solution] = {
            "primitives": study.primitives,
            f"best of all λ: {star(best)}": best,
            f"best of all λ, pruned: {star(pruned)}": pruned,
            **ends,
        }
        covered_from = max(study.path.covered_from_, study.path_with_pruning.covered_from_)
        rows += [
            {
                "data": study.name,
                "solution": name,
                **indicators_of(line),
                "distance": math.hypot(line.oi, line.c0),
                "path_covered_from": covered_from,
            }
            for name, line in lines.items()
        ]
        texts.append(_compare_ends(study, min((best, pruned), key=lambda x: x.distance), ends))
        # the name of a user's data set may be invalid as a file name
        charts[f"-{study.name}" if studies[1:] else ""] = partial(
            plot_trajectories,
            study.path.front_,
            ways,
            ends,
            title=f"One pair at a time on {study.name}",
        )
    title = "One pair at a time, and the front of the path"
    return Outcome("beyond-the-front", title, " ".join(texts), rows, charts)


def _compare_ends(study: Study, best: Solution, ends: Mapping[str, Indicators]) -> str:
    """Return a sentence that compares the runs with the best solution of the path."""
    words = []
    for name, end in ends.items():
        distance = math.hypot(end.oi, end.c0)
        verdict = "better" if distance < best.distance else "worse"
        words.append(
            f"{name}: {verdict}, {distance:.4f} with {end.n_features} features of "
            f"{end.length:.2f} literals"
        )
    return (
        f"On {study.name}, the distance of the path from (0, 0) is {best.distance:.4f}, with "
        f"{best.n_features} features of {best.length:.2f} literals; {'; '.join(words)}."
        f"{study.coverage}"
    )


EXPERIMENTS: tuple[Callable[[Study], Outcome], ...] = (
    table_of_indicators,
    by_iterations,
    by_threshold,
    solutions,
    dependence,
    rms_by_iterations,
    risk_runs,
    table_of_risk,
    table_of_features,
    risk_and_pruning,
    pruning_fronts,
    noise_stability,
    bootstrap_stability,
)

# number of solutions to follow: without pruning, coco_val2017 has very many
BEYOND = {"spect": None, "zoo": None, "coco_street": None, "coco_val2017": 1000}


def outcomes(study: Study | None = None) -> Iterator[Outcome]:
    """Run the paper's experiments on a data set, and compare with merging one pair at a time.

    By default, run the experiments on ``spect``, and the comparison on four bundled data sets.

    Examples
    --------
    >>> from conjunct.paper import Study, outcomes
    >>> next(outcomes(Study.of_bundled("zoo"))).name
    'table-3-indicators'
    """
    own = Study.of_bundled("spect") if study is None else study
    for experiment in EXPERIMENTS:
        yield experiment(own)
    if study is not None:
        yield beyond_the_front([own])
        return
    others = [Study.of_bundled(name, most) for name, most in BEYOND.items() if name != own.name]
    yield beyond_the_front([own, *others])


MAX_SOLUTIONS = 20_000  # for tables of unknown size


def reproduce(
    out: str | os.PathLike[str],
    X: Any = None,
    *,
    name: str = "data",
    watch: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """Write each table and figure as CSV, SVG and PNG, and ``index.html`` to show them.

    Parameters
    ----------
    out : path
        Folder to write to; created if it does not exist.
    X : any container that estimators take, optional
        By default ``spect``, the only data set of the paper that is still available.
    name : str, default="data"
        Name of ``X`` in titles.
    watch : callable, optional
        Called with each outcome after it is written.

    Examples
    --------
    >>> from conjunct import datasets, paper
    >>> written = paper.reproduce("tables", datasets.load_zoo().values[:, :5])  # doctest: +SKIP
    """
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{folder} is a file: choose a folder for the results") from None
    written = []
    study = None if X is None else Study.of(X, name, MAX_SOLUTIONS)
    for outcome in outcomes(study):
        text = outcome.csv()
        write_atomically(
            folder / f"{outcome.name}.csv", partial(Path.write_text, data=text, encoding="utf-8")
        )
        for ending, chart in outcome.charts.items():
            file = f"{outcome.name}{ending}"
            save_chart(chart(), folder / f"{file}.svg", folder / f"{file}.png")
        written.append(outcome)
        watch(outcome)
    page = index_page(written, "spect" if study is None else name)
    write_atomically(folder / "index.html", lambda part: part.write_text(page, "utf-8"))
    return written


_MAX_ROWS = 60

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #1b1b1b; background: #fff }
h2 { margin-top: 3rem; font-size: 1.25rem }
img { max-width: 30rem; width: 100%; margin: .5rem 1rem .5rem 0; vertical-align: top }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: .85rem; margin: 1rem 0 }
th, td { padding: .2rem .7rem; border-bottom: 1px solid #ddd; text-align: left }
td { vertical-align: top }
td.number { text-align: right; font-variant-numeric: tabular-nums }
nav li { margin: .15rem 0 }
@media print { nav { display: none } section { break-inside: avoid } }
"""


def index_page(outcomes: Sequence[Outcome], name: str) -> str:
    """Return the whole page as text."""
    title = escape(f"The paper's tables and figures on {name}")
    links = "\n".join(
        f'<li><a href="#{escape(outcome.name)}">{escape(outcome.title)}</a></li>'
        for outcome in outcomes
    )
    sections = "\n".join(map(_section, outcomes))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{title}</h1>\n"
        "<p>Rizoiu, Velcin, Lallich: <cite>Unsupervised Feature Construction for Improving Data "
        "Representation and Semantics</cite>. Columns that begin with <i>published</i> are the "
        "paper's own values.</p>\n"
        f"<nav><ul>\n{links}\n</ul></nav>\n{sections}\n</body>\n</html>\n"
    )


def _section(outcome: Outcome) -> str:
    name, table = escape(outcome.name), ""
    figures = "\n".join(
        f'<img src="{escape(outcome.name + ending)}.svg" '
        f'alt="{escape(outcome.title + ending.replace("-", " "))}">'
        for ending in outcome.charts
    )
    if len(outcome.rows) <= _MAX_ROWS:
        columns = outcome.columns
        heads = "".join(f"<th>{escape(column.replace('_', ' '))}</th>" for column in columns)
        lines = "\n".join(
            "<tr>" + "".join(_cell(row.get(column)) for column in columns) + "</tr>"
            for row in outcome.rows
        )
        table = f'<div class="wide"><table>\n<tr>{heads}</tr>\n{lines}\n</table></div>'
    return (
        f'<section id="{name}">\n<h2>{escape(outcome.title)}</h2>\n'
        f"<p>{escape(outcome.text)}</p>\n{figures}\n{table}\n"
        f'<p><a href="{name}.csv">{name}.csv</a>, {len(outcome.rows)} rows</p>\n</section>'
    )


def _cell(value: object) -> str:
    if isinstance(value, float) and value == value and abs(value) >= 1e-4:
        return f'<td class="number">{value:.3f}</td>'
    kind = ' class="number"' if isinstance(value, int | float) else ""
    return f"<td{kind}>{escape(format_cell(value))}</td>"
