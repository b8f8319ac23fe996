"""Commands that _construct features: ``demo``, ``fit``, ``fringe`` and ``path``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

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
    COUNTING,
    DATA,
    OUTPUT,
    Ascii,
    DataFile,
    DataFiles,
    Jobs,
    KeepColumns,
    Missing,
    MissingOrFalse,
    ModelOut,
    Names,
    ReportFile,
    VariablesFile,
    WithFormulas,
    read_variables_option,
    with_rule_options,
)
from conjunct.cli.outputs import (
    Output,
    check_model_target,
    check_outputs,
    check_report_target,
    list_saved,
    model_document,
    path_document,
    save_report,
    with_output_options,
)
from conjunct.cli.terminal import (
    ascii_only,
    note,
    show_bar,
    show_iterations,
    time_step,
    write,
)
from conjunct.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from conjunct.columns import Need
    from conjunct.data import BooleanData
    from conjunct.estimators import FeatureConstructor, UFCPath
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
    out: Annotated[
        Path, typer.Option(help="Folder for models and report.", rich_help_panel=OUTPUT)
    ] = Path("conjunct-demo"),
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
                model.set_params(style="ascii")
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
    names: Annotated[
        Names,
        typer.Option(
            help="What transform calls its columns: chair + dining table, or chair ∧ dining table.",
            rich_help_panel=OUTPUT,
        ),
    ] = "pattern",
    keep_columns: KeepColumns = False,
    formulas: WithFormulas = False,
    ascii_: Ascii = False,
    store: Annotated[
        Literal["auto", "bits", "sparse"],
        typer.Option(
            help="Hold columns at one bit a cell, or as lists of rows for rare ones.",
            rich_help_panel=COUNTING,
        ),
    ] = "auto",
    jobs: Jobs = None,
    memory: Memory = None,
    scheduler: Scheduler = None,
    engine: EngineName = None,
    checkpoint: Checkpoint = None,
    missing: Missing = "raise",
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Column of whole numbers: how often each row counts.",
            show_default=False,
            rich_help_panel=DATA,
        ),
    ] = None,
    *,
    rule: dict[str, Any],
    source: DataInput,
    output: Output,
) -> None:
    """Find the tags that belong together, and save them as a model.

    Several files with the same columns are one table. The paper's rules are --criterion risk
    and --criterion NUMBER.

    \b
    Examples:
      $ conjunct fit zoo.csv
      $ conjunct fit zoo.csv --out model.json --report report.html
      $ conjunct fit zoo.csv --max-length 3 --formulas --out model.json
      $ conjunct fit zoo.csv --factor 2 --out model.json
      $ conjunct fit zoo.csv --keep-columns --out model.json
      $ conjunct fit zoo.csv --criterion risk --test exact --correction holm
      $ conjunct fit zoo.csv --criterion 0.4 --max-iter 2 --no-prune
      $ conjunct fit zoo.csv --criterion risk --max-length 4 --store sparse
      $ conjunct fit zoo.csv --missing pairwise --out model.json
      $ conjunct fit zoo.csv --memory 2GB --checkpoint run.json --out model.json
    """
    from conjunct import UFC

    check_outputs(data, out, checkpoint)
    streams = len(data) > 1 or any(x is not None for x in (memory, scheduler, engine))
    if streams and weights is not None:
        options = "--memory, --scheduler and --engine"
        raise InputError(f"--weights needs the table in memory: leave {options} out")
    if weights is not None and report is not None:
        raise InputError("--report shows rows one by one, without --weights: leave one of them out")
    if streams and report is not None:
        raise InputError("--report shows rows and needs the table in memory: leave it out")
    model = UFC(
        **rule,
        names=names,
        keep_columns=keep_columns,
        missing=missing,
        store=store,
        checkpoint=checkpoint,
        n_jobs=jobs,
        style="ascii" if ascii_ else "unicode",
    )
    reader: DataInput | StreamInput = source.weighted_by(weights)
    if streams:
        reader = StreamInput(source, data, memory, scheduler, engine)
    progress = show_iterations(rule["max_iter"])
    _construct(model, data[0], out, reader, output, progress, report, formulas=formulas)
    if checkpoint is not None and out is not None:
        # the model is there now
        checkpoint.unlink(missing_ok=True)


@with_output_options
@with_preparing_options
def fringe(
    data: DataFile,
    out: ModelOut = None,
    max_features: Annotated[
        int, typer.Option(help="End with the iteration that reaches this number of features.")
    ] = 300,
    min_samples_leaf: Annotated[
        int, typer.Option(help="Rows that each cluster of a tree must have.")
    ] = 4,
    max_depth: Annotated[
        int | None, typer.Option(help="Most conditions from the root of a tree to a leaf.")
    ] = None,
    strategy: Annotated[
        Literal["fringe", "root", "root-fringe"],
        typer.Option(help="Join the last two conditions of a path, the first two, or the ends."),
    ] = "fringe",
    redundant: Annotated[
        Literal["keep", "drop"],
        typer.Option(help="Keep or drop doubles, equal or empty columns and repeated literals."),
    ] = "keep",
    missing: MissingOrFalse = "raise",
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
      $ conjunct fringe zoo.csv --redundant drop --out model.json
    """
    from conjunct import UFringe

    model = UFringe(
        max_features,
        min_samples_leaf=min_samples_leaf,
        max_depth=max_depth,
        strategy=strategy,
        redundant=redundant,
        missing=missing,
        n_jobs=jobs,
        style="ascii" if ascii_ else "unicode",
    )
    progress = show_iterations(n_features=max_features)
    _construct(model, data, out, source, output, progress, report)


@with_output_options
@with_preparing_options
def path(
    data: DataFile,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Model file to write (JSON): the closest point. Without it, nothing is saved.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    solutions: Annotated[
        Path | None,
        typer.Option(
            help="Table of all solutions to write, such as .csv or .parquet.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            help="Figure of the front to write: .svg or .png.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    min_threshold: Annotated[float, typer.Option(help="The lowest threshold.")] = 0.002,
    max_threshold: Annotated[float, typer.Option(help="The highest threshold.")] = 0.5,
    max_iter: Annotated[int, typer.Option(help="The largest number of iterations.")] = 20,
    prune: Annotated[
        bool,
        typer.Option(
            "--prune/--no-prune",
            help="Leave out pairs with an expected frequency below 5.",
        ),
    ] = False,
    missing: Missing = "raise",
    variables: VariablesFile = None,
    max_solutions: Annotated[
        int,
        typer.Option(help="Stop after this many solutions; what was found is kept."),
    ] = 10_000,
    max_seconds: Annotated[
        float,
        typer.Option(help="Stop after this many seconds; what was found is kept."),
    ] = 600,
    jobs: Jobs = None,
    keep_columns: KeepColumns = False,
    report: ReportFile = None,
    ascii_: Ascii = False,
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Follow every threshold at once and find the best compromise.

    All distinct solutions for a range of thresholds are found; the best is the one closest to no
    overlap and no growth.

    \b
    Examples:
      $ conjunct path zoo.csv
      $ conjunct path zoo.csv --out model.json --figure front.svg
      $ conjunct path zoo.csv --solutions solutions.csv
      $ conjunct path zoo.csv --prune --max-seconds 60
    """
    from conjunct import UFCPath
    from conjunct.files import write_table

    _check_path_targets(data, out, solutions, figure, report)
    known_variables = read_variables_option(variables)
    table = source.read(data)
    width = max_threshold - min_threshold
    bar = show_bar("Following λ", max(width, 0.0))
    with source.naming_cells_of(data, _IF_EMPTY), time_step("followed λ"), bar as update:
        n_found = 0

        def advance(solution: Solution) -> None:
            nonlocal n_found
            n_found += 1
            low = solution.min_threshold
            update(max_threshold - low, f"{n_found} solutions, down to {low:.3f}")

        model = UFCPath(
            min_threshold,
            max_threshold,
            max_iter,
            prune,
            keep_columns=keep_columns,
            missing=missing,
            variables=known_variables,
            max_solutions=max_solutions,
            max_seconds=max_seconds,
            n_jobs=jobs,
            style="ascii" if ascii_ or (ascii_only() and not output.json) else "unicode",
            callback=advance,
        ).fit(table)
    if out is not None:
        with time_step(f"wrote {out}"):
            model.save(out)
    if solutions is not None:
        with time_step(f"wrote {solutions}"):
            write_table(solutions, model.get_solutions("polars"))
    if figure is not None:
        from conjunct.plots import plot_front, save_chart

        with time_step(f"drew {figure}"):
            save_chart(plot_front(model.solutions_, model.front_, model.closest_point_), figure)
    if report is not None:
        save_report(model, table, report, title=f"Features of {data.name}")
    files = {"model": out, "solutions": solutions, "figure": figure, "report": report}
    output.tell(
        lambda: path_document(model, table, files),
        *_render_path(model),
        list_saved(*files.values()),
    )


def _render_path(model: UFCPath) -> Iterator[RenderableType]:
    from conjunct.cli.tables import feature_table
    from conjunct.explain import Summary

    summary = Summary(model)
    best = model.closest_point_
    covered = "" if model.complete_ else f" (only λ from {model.covered_from_:.4f} up)"
    yield (
        f"{len(model.solutions_)} distinct solutions{covered}, {len(model.front_)} of them on the "
        "Pareto front. On the front, around the closest point:"
    )
    yield _front_table(model)
    if summary.chunks:
        yield "The strongest chunks of the closest point:"
        yield feature_table(summary, summary.chunks[:_PATH_SHOWN], heading="chunk")
    yield (
        f"Closest point: uFC({best.threshold:g}, {best.iterations}), for every λ from "
        f"{best.min_threshold:.4f} up to {best.max_threshold:.4f}. {summary.found} "
        f"{summary.scores} {summary.length}".rstrip()
    )


def _check_path_targets(data: Path, *targets: Path | None) -> None:
    """Check before any work that each file can be written, and over no other file."""
    from conjunct.files import check_page_target, check_table_target, check_target

    out, solutions, figure, report = targets
    check_model_target(out, data)
    known = {data.resolve()}
    for target in targets:
        if target is not None:
            if (real := check_target(target)) in known:
                raise InputError(f"{target} is named twice: give each file a name of its own")
            known.add(real)
    if report is not None:
        check_page_target(report)
    if solutions is not None:
        check_table_target(solutions)
    if figure is not None and figure.suffix not in (".svg", ".png"):
        raise InputError(f"{figure}: a figure is written as .svg or .png")


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
) -> None:
    """Fit a model to the table in a file, save it, and print what was constructed."""
    from conjunct import UFC
    from conjunct.cli.tables import data_tables, render_summary, score_table
    from conjunct.explain import Summary

    check_model_target(out, data)
    check_report_target(report, data, out)
    table: BooleanData | Stream
    weights: dict[str, Any] = {}
    if isinstance(source, DataInput):
        table, weights = source.with_weights(source.read(data))
    else:
        table = source.read(data)
    if isinstance(model, UFC):
        model._tell_cost = _on_cost_estimate
    with (
        source.naming_cells_of(data, _IF_EMPTY),
        time_step("constructed features"),
        progress as callback,
    ):
        model.set_params(callback=callback)
        model.fit(table, **weights)
    if out is not None:
        with time_step(f"wrote {out}"):
            model.save(out)
    unbounded = model.get_params().get("max_length", 0) is None and not model._by_pattern
    if unbounded and model.history_[-1].length > _LONG:
        note("the formulas are long: --max-length 4 keeps them readable")
    if report is not None:
        save_report(model, table, report, title=f"Features of {data.name}")
    if output.json:
        output.print(model_document(model, data=table, saved={"model": out, "report": report}))
        return
    if ascii_only():
        model.set_params(style="ascii")
    scores: list[RenderableType | None] = []
    if not model._by_pattern:  # the paper's rules have its scores
        steps = [("before", model.history_[0]), ("after", model.history_[-1])]
        scores = [score_table(steps), Summary(model).scores or None]
    write(
        *render_summary(model, table, out, formulas=formulas),
        *data_tables(table),
        *scores,
        list_saved(out, report),
    )


def _on_cost_estimate(cost: Need) -> None:
    """Print what a long fit will take, before it begins."""
    if cost.seconds > _LONG_SECONDS:
        note(f"this takes {cost}")
