"""``conjunct report``: a model on its data as one page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conjunct.cli.help import OUTPUT
from conjunct.cli.inputs import DataInput, reads_data
from conjunct.cli.options import DataFile, ModelFile
from conjunct.cli.outputs import Output, speaks

if TYPE_CHECKING:
    from conjunct.data import BooleanData
    from conjunct.estimators import FeatureConstructor
    from conjunct.paper import Stability

N_SAMPLES = 20
"""Bootstrap samples for ``--stability``."""


@speaks
@reads_data
def report(
    model: ModelFile,
    data: DataFile,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="Page to write (HTML).",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ],
    title: Annotated[
        str | None, typer.Option(help="What the page is called.", show_default=False)
    ] = None,
    images: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN|DIR",
            help="Column with the file of each row's image, or folder with images called by --id.",
            show_default=False,
        ),
    ] = None,
    stability: Annotated[
        bool,
        typer.Option("--stability", help="Tell how often features come back in new samples."),
    ] = False,
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Show a model on its data as one page for a browser.

    The page needs nothing else: no network, and no files beside it.

    \b
    Examples:
      $ conjunct report model.json zoo.csv -o report.html
      $ conjunct report model.json zoo.csv --title Animals -o report.html
    """
    from conjunct import load
    from conjunct.cli.progress import step
    from conjunct.cli.standard_streams import name_of
    from conjunct.errors import InputError
    from conjunct.files import check_page_target, check_target

    if check_target(out) in (model.resolve(), data.resolve()):
        raise InputError(f"{out} is the model or the data: name another file for the page")
    check_page_target(out)
    with step(f"read {model}"):
        fitted = load(model)
    table = source.read_for(fitted, data)
    options: dict[str, Any] = {"title": title or f"Features of {Path(name_of(data)).name}"}
    with source.naming_cells_of(data), step(f"wrote {out}"):
        if images is not None:
            options["images"] = _images(images, fitted, data, source)
        if stability:
            options["stability"] = _stability(fitted, table)
        save_report(fitted, table, out, **options)
    output.tell(lambda: {"saved": {"report": str(out)}}, f"Saved as {out}.")


def check_report_target(report: Path | None, *others: Path | None) -> None:
    """Before any work: the page can be written, and over nothing that is read or written."""
    from conjunct.errors import InputError
    from conjunct.files import check_page_target, check_target

    if report is None:
        return
    real = check_target(report)
    if any(other is not None and real == other.resolve() for other in others):
        raise InputError(f"{report} is named twice: give each file a name of its own")
    check_page_target(report)


def save_report(model: FeatureConstructor, table: Any, out: Path, **options: Any) -> None:
    """Write the page of a fitted model."""
    from conjunct.cli.progress import step
    from conjunct.errors import InputError

    try:
        from conjunct.report import Report
    except ImportError as error:
        raise InputError(str(error)) from None
    with step(f"wrote {out}"):
        Report(model, table, **options).save(out)


def _images(
    given: str, model: FeatureConstructor, data: Path, source: DataInput
) -> str | list[Path | None]:
    """A folder, or the files that a column names, which stand beside the data."""
    from conjunct.errors import InputError

    if Path(given).is_dir():
        return given
    by_column = replace(source, options=replace(source.options, id=given))
    try:
        ids = by_column.read_for(model, data).ids
    except InputError as error:
        raise InputError(f"--images: {given!r} is no folder, and as a column: {error}") from None
    files = () if ids is None else ids.values
    return [data.parent / file if file else None for file in files]


def _stability(model: FeatureConstructor, table: BooleanData) -> Stability:
    from conjunct import UFC, Threshold, UFCPath
    from conjunct import stability as measured
    from conjunct.cli import progress

    again = model
    if isinstance(model, UFCPath):
        # the solution chosen, not the choice: a path for each run would take very long
        rule = Threshold(model.threshold_ or 0.0, prune=model.prune)
        again = UFC(rule, max_iter=model.n_iter_)
    with (
        progress.step(f"made {N_SAMPLES} runs on samples of the rows"),
        progress.bar("Constructing on samples", N_SAMPLES) as update,
    ):
        return measured(
            table,
            again,
            kind="bootstrap",
            n_runs=N_SAMPLES,
            progress=lambda done, total: update(done, f"run {done} of {total}"),
        )
