"""``conjunct path``: every threshold at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from conjunct.cli.help import OUTPUT
from conjunct.cli.inputs import DataInput, prepares_data
from conjunct.cli.options import (
    Ascii,
    DataFile,
    Jobs,
    KeepColumns,
    Missing,
    ReportFile,
    VariablesFile,
    read_variables_option,
)
from conjunct.cli.outputs import Output, speaks

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from conjunct.estimators import UFCPath
    from conjunct.ufc import Solution

_SHOWN = 10


@speaks
@prepares_data
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
    from conjunct.cli import progress, terminal
    from conjunct.cli.commands.report import save_report
    from conjunct.cli.constructing import IF_EMPTY, saved_as
    from conjunct.cli.documents import path_document

    _check_targets(data, out, solutions, figure, report)
    said = read_variables_option(variables)
    table = source.read(data)
    width = max_threshold - min_threshold
    bar = progress.bar("Following λ", max(width, 0.0))
    with source.naming_cells_of(data, IF_EMPTY), progress.step("followed λ"), bar as update:
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
            variables=said,
            max_solutions=max_solutions,
            max_seconds=max_seconds,
            n_jobs=jobs,
            style="ascii" if ascii_ or (terminal.ascii_only() and not output.json) else "unicode",
            callback=advance,
        ).fit(table)
    _save(model, out, solutions, figure)
    if report is not None:
        save_report(model, table, report, title=f"Features of {data.name}")
    files = {"model": out, "solutions": solutions, "figure": figure, "report": report}
    output.tell(
        lambda: path_document(model, table, files),
        *_told(model),
        saved_as(*files.values()),
    )


def _save(model: UFCPath, out: Path | None, solutions: Path | None, figure: Path | None) -> None:
    from conjunct.cli.progress import step
    from conjunct.files import write_table

    if out is not None:
        with step(f"wrote {out}"):
            model.save(out)
    if solutions is not None:
        with step(f"wrote {solutions}"):
            write_table(solutions, model.get_solutions("polars"))
    if figure is not None:
        with step(f"drew {figure}"):
            _draw(model, figure)


def _told(model: UFCPath) -> Iterator[RenderableType]:
    from conjunct.cli.features import feature_table
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
        yield feature_table(summary, summary.chunks[:_SHOWN], heading="chunk")
    yield (
        f"Closest point: uFC({best.threshold:g}, {best.iterations}), for every λ from "
        f"{best.min_threshold:.4f} up to {best.max_threshold:.4f}. {summary.found} "
        f"{summary.scores} {summary.length}".rstrip()
    )


def _check_targets(data: Path, *targets: Path | None) -> None:
    """Before any work: each file can be written, none is the data, and no two are the same."""
    from conjunct.cli.constructing import check_model_target
    from conjunct.errors import InputError
    from conjunct.files import check_target

    out, solutions, figure, report = targets
    check_model_target(out, data)
    known = {data.resolve()}
    for target in targets:
        if target is not None:
            if (real := check_target(target)) in known:
                raise InputError(f"{target} is named twice: give each file a name of its own")
            known.add(real)
    if report is not None:
        from conjunct.files import check_page_target

        check_page_target(report)
    if solutions is not None:
        from conjunct.files import check_table_target

        check_table_target(solutions)
    if figure is not None and figure.suffix not in (".svg", ".png"):
        raise InputError(f"{figure}: a figure is written as .svg or .png")


def _draw(model: UFCPath, figure: Path) -> None:
    from conjunct.plots import plot_front, save_chart

    save_chart(plot_front(model.solutions_, model.front_, model.closest_point_), figure)


def _front_table(model: UFCPath, around: int = 4) -> Table:
    from conjunct.cli.rendering import plain_table
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
