"""Commands that construct features: ``demo``, ``fit``, ``fringe`` and ``path``."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from conjunct import datasets, estimators, explain, files
from conjunct.cli import outputs, terminal
from conjunct.cli.options import (
    ASCII,
    DATA_FILE,
    JOBS,
    KEEP_COLUMNS,
    MISSING,
    MODEL_OUT,
    PREPARING_OPTIONS,
    REPORT_FILE,
    RULE_OPTIONS,
    VARIABLES,
    WITH_FORMULAS,
    DataInput,
    FeatureNames,
    Missing,
    StreamInput,
    counting_option,
    data_option,
    option,
    output_option,
    read_variables_option,
    takes,
    threshold_option,
)
from conjunct.errors import ConjunctWarning, InputError
from conjunct.parameters import whole

if TYPE_CHECKING:
    from rich.console import RenderableType

    from conjunct.columns import CostEstimate
    from conjunct.data import BooleanData
    from conjunct.estimators import UFC, FeatureConstructor, RowGroups, UFCPath
    from conjunct.files import Stream
    from conjunct.ufc import Indicators, Solution

_DEMO_DATA = ("coco_val2017", "coco_street")
_DEMO_REPORT = "coco_street"
_PATH_SHOWN = 10
_AROUND = 4  # solutions shown on each side of the closest one
_LONG = 10  # literals per feature: few people read longer formulas
_LONG_SECONDS = 10  # estimated cost that is printed before a fit
_NAMES_OF_COUNTS = {"freq", "frequency", "count", "counts", "n"}
_IF_EMPTY = "fill it in, drop the row, or use --missing false"


@takes(output=outputs.OUTPUT_OPTIONS)
def demo(
    out: Path = output_option(
        "Folder for the models and the report.", "--out", "-o", default=Path("conjunct-demo")
    ),
    *,
    output: outputs.Output,
) -> None:
    """Find tags that belong together in bundled photographs.

    \b
    Examples:
      $ conjunct demo
      $ conjunct demo --out models
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(f"{out} is a file: choose a folder for the models") from None
    models, tables = {}, {}
    for name in _DEMO_DATA:
        with terminal.time_step(f"wrote {out / name}.json"):
            tables[name] = files.read_boolean(datasets.find(name).path)
            models[name] = estimators.UFC().fit(tables[name])
            models[name].save(out / f"{name}.json")
    saved = {name: out / f"{name}.json" for name in models}
    page = out / f"{_DEMO_REPORT}.html"
    try:
        title = "Objects in street photographs"
        outputs.save_report(models[_DEMO_REPORT], tables[_DEMO_REPORT], page, title=title)
        saved["report"] = page
    except InputError as error:  # a library for reports is not installed
        terminal.note(str(error))

    def render_models() -> Iterator[RenderableType | None]:
        for name, model in models.items():
            if terminal.ascii_only():
                model.set_params(formula_style="ascii")
            yield f"{name}: {datasets.find(name).description}"
            yield from outputs.render_summary(model, tables[name])

    output.show(
        lambda: {
            "models": {name: outputs.model_document(model) for name, model in models.items()},
            "saved": saved,
        },
        *render_models(),
        f"Report: open {page} in a browser." if "report" in saved else None,
        f"The models are in {out}. Next steps:\n"
        f"  conjunct show {out / _DEMO_REPORT}.json\n"
        "  conjunct fit YOUR.csv --out model.json\n"
        "  conjunct chunks model.json YOUR.csv",
    )


@takes(rule=RULE_OPTIONS, source=PREPARING_OPTIONS, output=outputs.OUTPUT_OPTIONS)
def fit(
    data: list[Path] = DATA_FILE,
    out: Path | None = MODEL_OUT,
    report: Path | None = REPORT_FILE,
    feature_names: FeatureNames = output_option(
        "Column names in transform: chair + dining table, or chair ∧ dining table.", default="tags"
    ),
    keep_columns: bool = KEEP_COLUMNS,
    formulas: bool = WITH_FORMULAS,
    ascii_: bool = ASCII,
    storage: Literal["auto", "dense", "sparse"] = counting_option(
        "Store one bit per cell, or lists of rows for rare columns.", default="auto"
    ),
    jobs: int | None = JOBS,
    memory: str | None = counting_option("Memory limit, such as 500MB; the rows stay on disk."),
    scheduler: str | None = counting_option(
        "Count on a cluster: its address, or local to start one on this machine."
    ),
    engine: Literal["dask", "spark"] | None = counting_option("Cluster engine (default: dask)."),
    checkpoint: Path | None = counting_option(
        "Checkpoint file; an interrupted run resumes from it."
    ),
    missing: Missing = MISSING,
    groups: bool = output_option(
        "Also find groups of similar rows, as conjunct groups does.", "--groups", default=False
    ),
    weights: str | None = data_option("Column of row weights (whole numbers).", metavar="NAME"),
    *,
    rule: dict[str, Any],
    source: DataInput,
    output: outputs.Output,
) -> None:
    """Find the tags that belong together, and save them as a model.

    Several files with the same columns are read as one table. conjunct look FILE shows how columns
    are read. The paper's rules are --criterion risk and --criterion NUMBER.

    \b
    Examples:
      $ conjunct fit zoo.csv
      $ conjunct fit zoo.csv --out model.json --report report.html
      $ conjunct fit zoo.csv --groups --report report.html
      $ conjunct fit zoo.csv --max-length 3 --formulas --out model.json
      $ conjunct fit zoo.csv --factor 2 --out model.json
      $ conjunct fit zoo.csv --keep-columns --out model.json
      $ conjunct fit zoo.csv --criterion risk --test exact --correction holm
      $ conjunct fit zoo.csv --criterion 0.4 --max-iter 2 --no-prune
      $ conjunct fit zoo.csv --criterion risk --max-length 4 --storage sparse
      $ conjunct fit zoo.csv --missing false --out model.json
      $ conjunct fit zoo.csv --memory 2GB --checkpoint run.json --out model.json
    """
    outputs.check_targets({"data": data}, model=out, checkpoint=checkpoint, report=report)
    streams = len(data) > 1 or any(x is not None for x in (memory, scheduler, engine))
    for name, given in (("weights", weights), ("report", report), ("groups", groups or None)):
        if streams and given is not None:
            raise InputError(
                f"--{name} needs one table in memory: use one file, without --memory, --scheduler "
                "and --engine"
            )
    if weights is not None and report is not None:
        raise InputError("use either --report or --weights, not both: a report ignores weights")
    model = estimators.UFC(
        **rule,
        feature_names=feature_names,
        keep_columns=keep_columns,
        missing=missing,
        storage=storage,
        n_jobs=jobs,
        formula_style="ascii" if ascii_ else "unicode",
    )
    reader: DataInput | StreamInput = source.read_weights_from(weights)
    if streams:
        reader = StreamInput(source, data, memory, scheduler, engine)
    kinds = None
    if groups:
        kinds = estimators.RowGroups(variables=model.variables, missing=missing, n_jobs=jobs)
    _construct(
        model,
        data[0],
        out,
        reader,
        output,
        terminal.show_iterations(rule["max_iter"]),
        report,
        formulas=formulas,
        checkpoint=checkpoint,
        groups=kinds,
    )
    if checkpoint is not None and out is not None:
        checkpoint.unlink(missing_ok=True)  # the model is saved now


@takes(source=PREPARING_OPTIONS, output=outputs.OUTPUT_OPTIONS)
def fringe(
    data: Path = DATA_FILE,
    out: Path | None = MODEL_OUT,
    max_features: int = option(
        "Stop after the iteration that reaches this number of features.", default=300
    ),
    min_samples_leaf: int = option("Minimum number of rows per leaf.", default=4),
    max_depth: int | None = option("Maximum depth of a tree."),
    strategy: Literal["fringe", "root", "root-fringe"] = option(
        "Join the last two conditions of a path, the first two, or the first and the last.",
        default="fringe",
    ),
    drop_redundant: bool = option(
        "Drop duplicate or empty features, and repeated literals.",
        "--drop-redundant",
        default=False,
    ),
    missing: Literal["raise", "false"] = data_option(
        "Reject missing cells, or treat them as false.", default="false"
    ),
    jobs: int | None = JOBS,
    report: Path | None = REPORT_FILE,
    ascii_: bool = ASCII,
    *,
    source: DataInput,
    output: outputs.Output,
) -> None:
    """Construct features from clustering trees and save a model.

    \b
    Examples:
      $ conjunct fringe zoo.csv --out model.json
      $ conjunct fringe zoo.csv --max-features 60 --out model.json
      $ conjunct fringe zoo.csv --drop-redundant --out model.json
    """
    model = estimators.UFringe(
        max_features,
        min_samples_leaf=min_samples_leaf,
        max_depth=max_depth,
        strategy=strategy,
        drop_redundant=drop_redundant,
        missing=missing,
        n_jobs=jobs,
        formula_style="ascii" if ascii_ else "unicode",
    )
    _construct(
        model, data, out, source, output, terminal.show_iterations(n_features=max_features), report
    )


@takes(source=PREPARING_OPTIONS, output=outputs.OUTPUT_OPTIONS)
def path(
    data: Path = DATA_FILE,
    out: Path | None = output_option(
        "Model file to write (JSON): the model with the first N chunks, or of the closest point. "
        "Without it, nothing is saved.",
        "--out",
        "-o",
    ),
    solutions: Path | None = output_option(
        "Table to write (.csv, .parquet, …): one row per number of chunks, or per solution."
    ),
    figure: Path | None = output_option(
        "Figure to write (.svg, .png): evidence by number of chunks, or the Pareto front."
    ),
    over: Literal["chunks", "thresholds"] = option(
        "Vary the number of chunks, or the paper's threshold λ.", default="chunks"
    ),
    chunks: int | None = option("Keep the first N chunks (default: all)."),
    min_threshold: float | None = threshold_option("Minimum threshold (default: 0.002)."),
    max_threshold: float | None = threshold_option("Maximum threshold (default: 0.5)."),
    max_iter: int | None = threshold_option("Maximum number of iterations (default: 20)."),
    prune: bool | None = threshold_option(
        "Skip pairs with an expected frequency below 5 (default: no).", "--prune/--no-prune"
    ),
    max_solutions: int | None = threshold_option("Maximum number of solutions (default: 10,000)."),
    max_seconds: float | None = threshold_option(
        "Time limit in seconds; solutions found by then are kept (default: 600)."
    ),
    missing: Missing = MISSING,
    variables: Path | None = VARIABLES,
    jobs: int | None = JOBS,
    keep_columns: bool = KEEP_COLUMNS,
    report: Path | None = REPORT_FILE,
    ascii_: bool = ASCII,
    *,
    source: DataInput,
    output: outputs.Output,
) -> None:
    """Compare models with fewer or more chunks, or all thresholds of the paper.

    One run contains all of these models: its first N merges give the model with N chunks. With
    --over thresholds, all distinct solutions for a range of thresholds are found. The best solution
    is the one closest to no overlap and no growth.

    \b
    Examples:
      $ conjunct path zoo.csv
      $ conjunct path zoo.csv --chunks 5 --out model.json
      $ conjunct path zoo.csv --solutions sizes.csv --figure evidence.svg
      $ conjunct path zoo.csv --over thresholds --figure front.svg
      $ conjunct path zoo.csv --over thresholds --prune --max-seconds 60
    """
    targets = {"model": out, "solutions": solutions, "figure": figure, "report": report}
    outputs.check_targets({"data": data}, **targets)
    limits: dict[str, Any] = {
        "min_threshold": min_threshold,
        "max_threshold": max_threshold,
        "max_iter": max_iter,
        "prune": prune,
        "max_solutions": max_solutions,
        "max_seconds": max_seconds,
    }
    limits = {name: value for name, value in limits.items() if value is not None}
    options: dict[str, Any] = {
        "keep_columns": keep_columns,
        "missing": missing,
        "variables": read_variables_option(variables),
        "n_jobs": jobs,
    }
    if ascii_ or (terminal.ascii_only() and not output.json):
        options["formula_style"] = "ascii"
    if over == "chunks" and limits:
        name = next(iter(limits)).replace("_", "-")
        raise InputError(f"--{name} needs --over thresholds")
    if chunks is not None:
        whole(0).check("--chunks", chunks)
    if over == "thresholds" and chunks is not None:
        raise InputError("--chunks needs --over chunks")
    table = source.read(data)
    with source.naming_cells_of(data, _IF_EMPTY):
        if over == "thresholds":
            found = _follow_thresholds(estimators.UFCPath(**limits, **options), table)
        else:
            found = _follow_sizes(estimators.UFC(**options), table, data, chunks)
    outputs.save(out, found.model.save)
    outputs.save_table(solutions, found.make_table)
    if figure is not None:
        from conjunct.plots import save_chart

        with terminal.time_step(f"drew {figure}"):
            save_chart(found.draw(), figure)
    if report is not None:
        outputs.save_report(found.model, table, report, title=f"Findings in {data.name}")
    output.show(
        lambda: {**found.document(), "data": outputs.data_document(table), "saved": targets},
        *found.parts,
        outputs.list_files(*targets.values()),
    )


class _Path(NamedTuple):
    """A path: the chosen model, and the table, chart, JSON and text about all models."""

    model: UFC | UFCPath
    make_table: Callable[[], Any]
    draw: Callable[[], Any]
    document: Callable[[], dict[str, Any]]
    parts: Sequence[RenderableType | None]


def _follow_sizes(model: UFC, table: BooleanData, data: Path, chunks: int | None) -> _Path:
    """Fit once, and compare models by their number of chunks."""
    from conjunct.plots import plot_history

    with terminal.time_step("constructed features"), terminal.show_iterations(None) as callback:
        model.fit(table, callback=callback)
    n_merges = model.n_iter_
    # a few round numbers of chunks, and the last: 10, 20, 50, 100, …
    sizes = [1, 2, 3, 5]
    while sizes[-1] < n_merges:
        sizes.append(2 * sizes[-1] if str(sizes[-1])[0] != "2" else sizes[-1] * 5 // 2)
    shown = {0, n_merges, *(size for size in sizes if size < n_merges)}
    if chunks is not None:
        shown.add(min(chunks, n_merges))
    with terminal.time_step("measured each size"):
        columns = model.get_path(table, sizes=sorted(shown), backend="dict")
    chosen = model if chunks is None else model.truncate(X_train=table, max_chunks=chunks)
    rows = [
        (
            "kept" if n == chosen.n_iter_ else "",
            f"{n:,}",
            f"{features:,}",
            newest or "–",
            f"{evidence:,.1f}" if n else "–",
            f"{total:,.1f}",
            "–" if math.isnan(length) else f"{length:,.0f}",
        )
        for n, features, newest, evidence, total, length in zip(*columns.values(), strict=True)
    ]
    headings = ("", ">chunks", ">features", "newest chunk", ">evidence", ">total", ">length")
    fewer = f"For fewer chunks: conjunct path {data} --chunks N --out model.json"
    return _Path(
        chosen,
        lambda: model.get_path(backend="polars"),
        lambda: plot_history(model.history_, title="Evidence of the chunks", bits=True),
        lambda: {"sizes": outputs.records(columns), "model": outputs.model_document(chosen)},
        (
            f"One run, {explain.count(n_merges, 'chunk')}: each line adds chunks to the one above.",
            outputs.Table(headings, rows, wrapped=3),
            model.stop_reason_,
            fewer if chunks is None else None,
        ),
    )


def _follow_thresholds(model: UFCPath, table: BooleanData) -> _Path:
    """Find the solutions for all thresholds, and choose the closest point."""
    from conjunct.plots import plot_front

    highest = model.max_threshold
    bar = terminal.show_bar("Following λ", max(highest - model.min_threshold, 0.0))
    with terminal.time_step("followed λ"), bar as update:
        n_found = 0

        def advance(solution: Solution) -> None:
            nonlocal n_found
            n_found += 1
            low = solution.min_threshold
            update(highest - low, f"{n_found} solutions, down to {low:.3f}")

        model.fit(table, callback=advance)
    best, front = model.closest_point_, model.front_

    def as_document(solution: Solution) -> dict[str, Any]:
        derived = {"threshold": solution.threshold, "distance": solution.distance}
        return derived | asdict(solution)

    return _Path(
        model,
        lambda: model.get_solutions("polars"),
        lambda: plot_front(model.solutions_, front, best),
        lambda: {
            "n_solutions": len(model.solutions_),
            "complete": model.complete_,
            "covered_from": model.covered_from_,
            "closest_point": as_document(best),
            "front": list(map(as_document, front)),
            "model": outputs.model_document(model),
        },
        tuple(_render_path(model)),
    )


def _render_path(model: UFCPath) -> Iterator[RenderableType]:
    summary = explain.Summary(model)
    best, front = model.closest_point_, model.front_
    covered = "" if model.complete_ else f" (only λ ≥ {model.covered_from_:.4f})"
    yield (
        f"{len(model.solutions_)} distinct solutions{covered}, {len(front)} of them on the "
        "Pareto front. The solutions around the closest point:"
    )
    place = explain.place_of_closest(front)
    shown = range(max(0, place - _AROUND), min(len(front), place + _AROUND + 1))
    rows = [
        (
            "closest" if k == place else "",
            f"{solution.threshold:g}",
            str(solution.iterations),
            str(solution.n_features),
            f"{solution.length:.2f}",
            f"{solution.oi:.3f}",
            f"{solution.c0:.3f}",
            f"{solution.distance:.4f}",
        )
        for k, solution in ((k, best if k == place else front[k]) for k in shown)
    ]
    headings = (">λ", ">iterations", ">features", ">length", ">OI", ">C0", ">distance")
    yield outputs.Table(("", *headings), rows)
    if summary.findings:
        yield "The strongest findings of the closest point:"
        yield outputs.finding_table(summary.findings[:_PATH_SHOWN])
    yield (
        f"Closest point: uFC({best.threshold:g}, {best.iterations}), for every λ from "
        f"{best.min_threshold:.4f} up to {best.max_threshold:.4f}. {summary.overview} "
        f"{summary.scores} {summary.length}".rstrip()
    )


def _construct(
    model: FeatureConstructor,
    data: Path,
    out: Path | None,
    source: DataInput | StreamInput,
    output: outputs.Output,
    progress: AbstractContextManager[Callable[[Indicators], None]],
    report: Path | None = None,
    *,
    formulas: bool = False,
    checkpoint: Path | None = None,
    groups: RowGroups | None = None,
) -> None:
    """Fit a model to the table in a file, save it, and print the result."""
    from conjunct.cli.commands.compare import group_table

    outputs.check_targets({"data": data}, model=out, report=report)
    table: BooleanData | Stream
    options: dict[str, Any] = {} if checkpoint is None else {"checkpoint": checkpoint}
    weights: dict[str, Any] = {}
    if isinstance(source, DataInput):
        table, weights = source.with_weights(source.read(data))
        options |= weights
    else:
        table = source.read(data)
    if isinstance(model, estimators.UFC):
        advice = ""
        is_stream = isinstance(table, files.Stream)
        if is_stream and model.search is None and explain.takes_one_pair(model):
            advice = "; --search batch needs fewer passes over the rows, for slightly other chunks"
        model.on_cost_estimate = partial(_on_cost_estimate, advice)
    with (
        source.naming_cells_of(data, _IF_EMPTY),
        terminal.time_step("constructed features"),
        progress as callback,
    ):
        model.fit(table, callback=callback, **options)
    if groups is not None:
        with (
            warnings.catch_warnings(),
            terminal.time_step("found groups"),
            terminal.show_rounds() as on_round,
        ):
            # notes about the data were already printed
            warnings.simplefilter("ignore", ConjunctWarning)
            groups.fit(table, callback=on_round, **weights)
    outputs.save(out, model.save)
    if isinstance(model, estimators.UFC) and not isinstance(table, files.Stream) and not weights:
        _note_counts(table)
    unbounded = model.get_params().get("max_length", 0) is None and not model.has_tag_names
    if unbounded and model.history_[-1].length > _LONG:
        terminal.note("the formulas are long: use --max-length 4 for shorter ones")
    if report is not None:
        outputs.save_report(model, table, report, title=f"Findings in {data.name}", groups=groups)
    if output.json:
        document = outputs.model_document(
            model, table=table, saved={"model": out, "report": report}
        )
        output.print_json(document | ({} if groups is None else {"groups": groups.groups_}))
        return
    if terminal.ascii_only():
        model.set_params(formula_style="ascii")
    scores: list[RenderableType | None] = []
    if not model.has_tag_names:  # the paper's rules are judged by its scores
        steps = [("before", model.history_[0]), ("after", model.history_[-1])]
        scores = [outputs.score_table(steps), explain.Summary(model).scores or None]
    terminal.write(
        *outputs.render_summary(model, table, out, formulas=formulas),
        *outputs.data_tables(table),
        *scores,
        *(() if groups is None else ("Groups of rows", group_table(groups))),
        outputs.list_files(out, report),
    )


def _note_counts(table: BooleanData) -> None:
    """Print a note about a column that may count rows: without it, all rows are distinct."""
    binarizer = table.preparation.binarizer
    rules = () if binarizer is None else binarizer.rules_
    counts = [rule for rule in rules if rule.column.casefold() in _NAMES_OF_COUNTS]
    # a column that gives only one tag has two values: these are not counts
    if table.ids is not None or len(counts) != 1 or len(counts[0].names()) < 2:
        return
    own = {*counts[0].names()}
    rest = table.columns.select(k for k, name in enumerate(table.names) if name not in own)
    if rest.n_columns and rest.count_distinct_rows() == rest.n_rows:
        name = counts[0].column
        terminal.note(
            f"without {name}, all rows are distinct: if {name} counts rows, use --weights {name}"
        )


def _on_cost_estimate(advice: str, cost: CostEstimate) -> None:
    """Print the estimated cost of a long fit before it begins."""
    if cost.seconds > _LONG_SECONDS:
        terminal.note(f"this takes {cost}{advice}")
