"""Commands that construct features: ``demo``, ``fit``, ``fringe`` and ``path``."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from conjunct.cli.inputs import (
    Checkpoint,
    DataInput,
    EngineName,
    Memory,
    Scheduler,
    StreamInput,
    with_preparing_options,
)
from conjunct.cli.options import (
    Ascii,
    DataFile,
    DataFiles,
    FeatureNames,
    Jobs,
    KeepColumns,
    Missing,
    MissingOrFalse,
    ModelOut,
    ReportFile,
    VariablesFile,
    WithFormulas,
    counting_option,
    data_option,
    option,
    output_option,
    read_variables_option,
    threshold_option,
    with_rule_options,
)
from conjunct.cli.outputs import (
    Output,
    check_targets,
    list_files,
    model_document,
    path_document,
    save,
    save_report,
    with_output_options,
)
from conjunct.cli.terminal import (
    ascii_only,
    note,
    show_bar,
    show_iterations,
    show_rounds,
    showable,
    time_step,
    write,
)
from conjunct.errors import ConjunctWarning, InputError
from conjunct.parameters import whole

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from conjunct.columns import CostEstimate
    from conjunct.data import BooleanData
    from conjunct.estimators import UFC, FeatureConstructor, RowGroups, UFCPath
    from conjunct.files import Stream
    from conjunct.ufc import Indicators, Solution

_DEMO_DATA = ("coco_val2017", "coco_street")
_DEMO_REPORT = "coco_street"
_PATH_SHOWN = 10
# Literals per feature above which few people read a formula.
_LONG = 10
# Seconds per iteration above which the cost is printed beforehand.
_LONG_SECONDS = 10
# What to do about an empty cell where there is --missing.
_IF_EMPTY = "fill it, leave its row out or choose --missing false"


@with_output_options
def demo(
    out: Annotated[Path, output_option("Folder for models and report.", "--out", "-o")] = Path(
        "conjunct-demo"
    ),
    *,
    output: Output,
) -> None:
    """Find what belongs together in bundled photographs.

    \b
    Examples:
      $ conjunct demo
      $ conjunct demo --out models
    """
    from conjunct import UFC
    from conjunct.cli.tables import render_summary
    from conjunct.datasets import find
    from conjunct.files import read_boolean

    try:
        out.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(f"{out} is a file: name a folder for the models") from None
    models, tables = {}, {}
    for name in _DEMO_DATA:
        with time_step(f"wrote {out / name}.json"):
            tables[name] = read_boolean(find(name).path)
            models[name] = UFC().fit(tables[name])
            models[name].save(out / f"{name}.json")
    page = out / f"{_DEMO_REPORT}.html"
    has_page = True
    try:
        title = "Objects in street photographs"
        save_report(models[_DEMO_REPORT], tables[_DEMO_REPORT], page, title=title)
    except InputError as error:  # a library for reports is not installed
        note(str(error))
        has_page = False

    def render_models() -> Iterator[RenderableType | None]:
        for name, model in models.items():
            if ascii_only():
                model.set_params(formula_style="ascii")
            yield f"{name}: {find(name).description}"
            yield from render_summary(model, tables[name])

    output.tell(
        lambda: {
            "models": {name: model_document(model) for name, model in models.items()},
            "saved": {name: str(out / f"{name}.json") for name in models}
            | ({"report": str(page)} if has_page else {}),
        },
        *render_models(),
        f"A report: open {page} in a browser." if has_page else None,
        f"The models are in {out}. Next:\n"
        f"  conjunct show {out / _DEMO_REPORT}.json\n"
        "  conjunct fit YOUR.csv --out model.json\n"
        "  conjunct chunks model.json YOUR.csv",
    )


@with_output_options
@with_preparing_options
@with_rule_options
def fit(
    data: DataFiles,
    out: ModelOut = None,
    report: ReportFile = None,
    feature_names: Annotated[
        FeatureNames,
        output_option(
            "What transform calls its columns: chair + dining table, or chair ∧ dining table."
        ),
    ] = "tags",
    keep_columns: KeepColumns = False,
    formulas: WithFormulas = False,
    ascii_: Ascii = False,
    storage: Annotated[
        Literal["auto", "dense", "sparse"],
        counting_option("Store columns as one bit per cell, or as lists of rows for rare ones."),
    ] = "auto",
    jobs: Jobs = None,
    memory: Memory = None,
    scheduler: Scheduler = None,
    engine: EngineName = None,
    checkpoint: Checkpoint = None,
    missing: Missing = "pairwise",
    groups: Annotated[
        bool,
        output_option(
            "Also show what kinds of rows there are, as conjunct groups does.", "--groups"
        ),
    ] = False,
    weights: Annotated[
        str | None,
        data_option("Column of whole numbers: how often each row counts.", metavar="NAME"),
    ] = None,
    *,
    rule: dict[str, Any],
    source: DataInput,
    output: Output,
) -> None:
    """Find the tags that belong together, and save them as a model.

    Several files with the same columns are one table. To see first how columns are read, use
    conjunct look FILE. The paper's rules are --criterion risk and --criterion NUMBER.

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
    from conjunct import UFC, RowGroups

    check_targets({"data": data}, model=out, checkpoint=checkpoint, report=report)
    streams = len(data) > 1 or any(x is not None for x in (memory, scheduler, engine))
    if streams and weights is not None:
        options = "--memory, --scheduler and --engine"
        raise InputError(f"--weights needs the table in memory: leave {options} out")
    if weights is not None and report is not None:
        raise InputError("--report shows rows one by one, without --weights: leave one of them out")
    for name, is_given in (("--report", report is not None), ("--groups", groups)):
        if streams and is_given:
            raise InputError(f"{name} shows rows and needs the table in memory: leave it out")
    model = UFC(
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
    progress = show_iterations(rule["max_iter"])
    _construct(
        model,
        data[0],
        out,
        reader,
        output,
        progress,
        report,
        formulas=formulas,
        checkpoint=checkpoint,
        groups=RowGroups(variables=model.variables, missing=missing, n_jobs=jobs)
        if groups
        else None,
    )
    if checkpoint is not None and out is not None:
        # the model is there now
        checkpoint.unlink(missing_ok=True)


@with_output_options
@with_preparing_options
def fringe(
    data: DataFile,
    out: ModelOut = None,
    max_features: Annotated[
        int, option("End with the iteration that reaches this number of features.")
    ] = 300,
    min_samples_leaf: Annotated[int, option("Rows that each cluster of a tree must have.")] = 4,
    max_depth: Annotated[
        int | None, option("Most conditions from the root of a tree to a leaf.")
    ] = None,
    strategy: Annotated[
        Literal["fringe", "root", "root-fringe"],
        option("Join the last two conditions of a path, the first two, or the ends."),
    ] = "fringe",
    drop_redundant: Annotated[
        bool,
        option(
            "Drop duplicates, equal or empty columns and repeated literals.", "--drop-redundant"
        ),
    ] = False,
    missing: MissingOrFalse = "false",
    jobs: Jobs = None,
    report: ReportFile = None,
    ascii_: Ascii = False,
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Construct features from clustering trees and save a model.

    \b
    Examples:
      $ conjunct fringe zoo.csv --out model.json
      $ conjunct fringe zoo.csv --max-features 60 --out model.json
      $ conjunct fringe zoo.csv --drop-redundant --out model.json
    """
    from conjunct import UFringe

    model = UFringe(
        max_features,
        min_samples_leaf=min_samples_leaf,
        max_depth=max_depth,
        strategy=strategy,
        drop_redundant=drop_redundant,
        missing=missing,
        n_jobs=jobs,
        formula_style="ascii" if ascii_ else "unicode",
    )
    progress = show_iterations(n_features=max_features)
    _construct(model, data, out, source, output, progress, report)


@with_output_options
@with_preparing_options
def path(
    data: DataFile,
    out: Annotated[
        Path | None,
        output_option(
            "Model file to write (JSON): that of --chunks, or the closest point. Without it, "
            "nothing is saved.",
            "--out",
            "-o",
        ),
    ] = None,
    solutions: Annotated[
        Path | None,
        output_option(
            "Table to write, such as .csv or .parquet: each number of chunks, or all solutions."
        ),
    ] = None,
    figure: Annotated[
        Path | None,
        output_option("Figure to write, .svg or .png: the evidence of the chunks, or the front."),
    ] = None,
    over: Annotated[
        Literal["chunks", "thresholds"],
        option("Follow the number of chunks, or the paper's thresholds λ."),
    ] = "chunks",
    chunks: Annotated[int | None, option("Keep this number of chunks (default: all).")] = None,
    min_threshold: Annotated[
        float | None, threshold_option("The lowest threshold (default: 0.002).")
    ] = None,
    max_threshold: Annotated[
        float | None, threshold_option("The highest threshold (default: 0.5).")
    ] = None,
    max_iter: Annotated[
        int | None, threshold_option("The largest number of iterations (default: 20).")
    ] = None,
    prune: Annotated[
        bool | None,
        threshold_option(
            "Leave out pairs with an expected frequency below 5 (default: no).",
            "--prune/--no-prune",
        ),
    ] = None,
    max_solutions: Annotated[
        int | None,
        threshold_option("Stop after this many solutions and keep them (default: 10000)."),
    ] = None,
    max_seconds: Annotated[
        float | None,
        threshold_option("Stop after this many seconds and keep what was found (default: 600)."),
    ] = None,
    missing: Missing = "pairwise",
    variables: VariablesFile = None,
    jobs: Jobs = None,
    keep_columns: KeepColumns = False,
    report: ReportFile = None,
    ascii_: Ascii = False,
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Show what each number of chunks brings, or follow every threshold of the paper at once.

    One run has every vocabulary: fewer chunks are the beginning of more. With --over
    thresholds, all distinct solutions for a range of thresholds are found; the best is the one
    closest to no overlap and no growth.

    \b
    Examples:
      $ conjunct path zoo.csv
      $ conjunct path zoo.csv --chunks 5 --out model.json
      $ conjunct path zoo.csv --solutions sizes.csv --figure evidence.svg
      $ conjunct path zoo.csv --over thresholds --figure front.svg
      $ conjunct path zoo.csv --over thresholds --prune --max-seconds 60
    """
    from conjunct import UFC, UFCPath

    check_targets({"data": data}, model=out, solutions=solutions, figure=figure, report=report)
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
        "formula_style": "ascii" if ascii_ or (ascii_only() and not output.json) else "unicode",
    }
    if over == "chunks" and limits:
        name = next(iter(limits)).replace("_", "-")
        raise InputError(f"--{name} needs --over thresholds")
    if chunks is not None:
        whole(0).check("--chunks", chunks)
    if over == "thresholds" and chunks is not None:
        raise InputError("--chunks needs --over chunks: leave one of them out")
    files = {"model": out, "solutions": solutions, "figure": figure, "report": report}
    table = source.read(data)
    if over == "thresholds":
        model = UFCPath(**limits, **options)
        _follow_thresholds(model, data, source, table, files, output)
    else:
        by_evidence = UFC(**options)
        _follow_sizes(by_evidence, data, source, table, files, output, chunks)


def _follow_sizes(
    model: UFC,
    data: Path,
    source: DataInput,
    table: BooleanData,
    files: dict[str, Path | None],
    output: Output,
    chunks: int | None,
) -> None:
    """Print what each number of chunks brings, and save the model of one of them."""
    from conjunct.cli.outputs import data_document, files_as_json, records
    from conjunct.plots import plot_history

    with (
        source.naming_cells_of(data, _IF_EMPTY),
        time_step("constructed features"),
        show_iterations(None) as callback,
    ):
        model.fit(table, callback=callback)
    n_merges = model.n_iter_
    shown = _readable_sizes(n_merges)
    if chunks is not None:
        shown = sorted({*shown, min(chunks, n_merges)})
    with time_step("measured each size"):
        columns = model.get_path(table, sizes=shown, backend="dict")
    chosen = model if chunks is None else model.truncate(X_train=table, max_chunks=chunks)
    _save_path_files(
        chosen,
        data,
        table,
        files,
        lambda: model.get_path(backend="polars"),
        lambda: plot_history(model.history_, title="What the chunks bring", bits=True),
    )
    output.tell(
        lambda: {
            "sizes": records(columns),
            "model": model_document(chosen),
            "data": data_document(table),
            "saved": files_as_json(files),
        },
        f"One run, {n_merges:,} chunk{'s' * (n_merges != 1)}: each line is the beginning of the "
        "next.",
        _size_table(columns, chosen.n_iter_),
        model.stop_reason_,
        None
        if chunks is not None
        else f"For fewer: conjunct path {data} --chunks N --out model.json",
        list_files(*files.values()),
    )


def _readable_sizes(last: int) -> list[int]:
    """Return numbers of chunks to list: few and round ones, and the last."""
    sizes = [1, 2, 3, 5]
    while sizes[-1] < last:
        # 10, 20, 50, 100, …
        sizes.append(2 * sizes[-1] if str(sizes[-1])[0] != "2" else sizes[-1] * 5 // 2)
    return sorted({0, last, *(size for size in sizes if size < last)})


def _size_table(columns: dict[str, list[Any]], chosen: int) -> Table:
    from conjunct.cli.tables import plain_table

    table = plain_table(
        "", ">chunks", ">features", "newest chunk", ">evidence", ">total", ">length", wrapped=3
    )
    for n, features, newest, evidence, total, length in zip(*columns.values(), strict=True):
        table.add_row(
            "kept" if n == chosen else "",
            f"{n:,}",
            f"{features:,}",
            showable(newest or "–"),
            f"{evidence:,.1f}" if n else "–",
            f"{total:,.1f}",
            "–" if math.isnan(length) else f"{length:,.0f}",
        )
    return table


def _follow_thresholds(
    model: UFCPath,
    data: Path,
    source: DataInput,
    table: BooleanData,
    files: dict[str, Path | None],
    output: Output,
) -> None:
    """Print the solutions around the closest point, and save the model of that."""
    from conjunct.plots import plot_front

    highest = model.max_threshold
    bar = show_bar("Following λ", max(highest - model.min_threshold, 0.0))
    with source.naming_cells_of(data, _IF_EMPTY), time_step("followed λ"), bar as update:
        n_found = 0

        def advance(solution: Solution) -> None:
            nonlocal n_found
            n_found += 1
            low = solution.min_threshold
            update(highest - low, f"{n_found} solutions, down to {low:.3f}")

        model.fit(table, callback=advance)
    _save_path_files(
        model,
        data,
        table,
        files,
        lambda: model.get_solutions("polars"),
        lambda: plot_front(model.solutions_, model.front_, model.closest_point_),
    )
    output.tell(
        lambda: path_document(model, table, files),
        *_render_path(model),
        list_files(*files.values()),
    )


def _save_path_files(
    model: UFC | UFCPath,
    data: Path,
    table: BooleanData,
    files: dict[str, Path | None],
    make_table: Callable[[], Any],
    draw: Callable[[], Any],
) -> None:
    from conjunct.files import write_table

    save(files["model"], model.save)
    save(files["solutions"], lambda file: write_table(file, make_table()))
    if (figure := files["figure"]) is not None:
        from conjunct.plots import save_chart

        with time_step(f"drew {figure}"):
            save_chart(draw(), figure)
    if (report := files["report"]) is not None:
        save_report(model, table, report, title=f"Findings in {data.name}")


def _render_path(model: UFCPath) -> Iterator[RenderableType]:
    from conjunct.cli.tables import finding_table
    from conjunct.explain import Summary

    summary = Summary(model)
    best = model.closest_point_
    covered = "" if model.complete_ else f" (only λ from {model.covered_from_:.4f} up)"
    yield (
        f"{len(model.solutions_)} distinct solutions{covered}, {len(model.front_)} of them on the "
        "Pareto front. On the front, around the closest point:"
    )
    yield _front_table(model)
    if summary.findings:
        yield "The strongest findings of the closest point:"
        yield finding_table(summary.findings[:_PATH_SHOWN])
    yield (
        f"Closest point: uFC({best.threshold:g}, {best.iterations}), for every λ from "
        f"{best.min_threshold:.4f} up to {best.max_threshold:.4f}. {summary.overview} "
        f"{summary.scores} {summary.length}".rstrip()
    )


def _front_table(model: UFCPath, around: int = 4) -> Table:
    from conjunct.cli.tables import plain_table
    from conjunct.explain import place_of_closest

    front = model.front_
    best = place_of_closest(front)
    table = plain_table("", ">λ", ">iterations", ">features", ">length", ">OI", ">C0", ">distance")
    for k in range(max(0, best - around), min(len(front), best + around + 1)):
        solution = model.closest_point_ if k == best else front[k]
        table.add_row(
            "closest" if k == best else "",
            f"{solution.threshold:g}",
            str(solution.iterations),
            str(solution.n_features),
            f"{solution.length:.2f}",
            f"{solution.oi:.3f}",
            f"{solution.c0:.3f}",
            f"{solution.distance:.4f}",
        )
    return table


def _construct(
    model: FeatureConstructor,
    data: Path,
    out: Path | None,
    source: DataInput | StreamInput,
    output: Output,
    progress: AbstractContextManager[Callable[[Indicators], None]],
    report: Path | None = None,
    *,
    formulas: bool = False,
    checkpoint: Path | None = None,
    groups: RowGroups | None = None,
) -> None:
    """Fit a model to the table in a file, save it, and print what was constructed."""
    from conjunct import UFC
    from conjunct.cli.commands.compare import group_table
    from conjunct.cli.tables import data_tables, render_summary, score_table
    from conjunct.explain import Summary

    check_targets({"data": data}, model=out, report=report)
    table: BooleanData | Stream
    options: dict[str, Any] = {} if checkpoint is None else {"checkpoint": checkpoint}
    weights: dict[str, Any] = {}
    if isinstance(source, DataInput):
        table, weights = source.with_weights(source.read(data))
        options |= weights
    else:
        table = source.read(data)
    if isinstance(model, UFC):
        model.on_cost_estimate = _on_cost_estimate
    with (
        source.naming_cells_of(data, _IF_EMPTY),
        time_step("constructed features"),
        progress as callback,
    ):
        model.fit(table, callback=callback, **options)
    if groups is not None:
        with warnings.catch_warnings(), time_step("found groups"), show_rounds() as on_round:
            # notes about the data were printed
            warnings.simplefilter("ignore", ConjunctWarning)
            groups.fit(table, callback=on_round, **weights)
    save(out, model.save)
    unbounded = model.get_params().get("max_length", 0) is None and not model.has_tag_names
    if unbounded and model.history_[-1].length > _LONG:
        note("the formulas are long: --max-length 4 keeps them readable")
    if report is not None:
        save_report(model, table, report, title=f"Findings in {data.name}", groups=groups)
    if output.json:
        document = model_document(model, data=table, saved={"model": out, "report": report})
        output.print(document | ({} if groups is None else {"groups": groups.groups_}))
        return
    if ascii_only():
        model.set_params(formula_style="ascii")
    scores: list[RenderableType | None] = []
    if not model.has_tag_names:  # the paper's rules have its scores
        steps = [("before", model.history_[0]), ("after", model.history_[-1])]
        scores = [score_table(steps), Summary(model).scores or None]
    write(
        *render_summary(model, table, out, formulas=formulas),
        *data_tables(table),
        *scores,
        None if groups is None else "Kinds of rows",
        None if groups is None else group_table(groups),
        list_files(out, report),
    )


def _on_cost_estimate(cost: CostEstimate) -> None:
    """Print what a long fit will take, before it begins."""
    if cost.seconds > _LONG_SECONDS:
        note(f"this takes {cost}")
