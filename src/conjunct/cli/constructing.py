"""What the commands that construct features have in common: read, fit, save, tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

    from conjunct.cli.inputs import DataInput
    from conjunct.cli.out_of_core import StreamInput
    from conjunct.cli.outputs import Output
    from conjunct.columns import Need
    from conjunct.data import BooleanData
    from conjunct.estimators import FeatureConstructor
    from conjunct.files import Stream
    from conjunct.ufc import Indicators

FINDINGS_SHOWN = 5  # with what sets each apart
_FEATURES_SHOWN = 10
# Mean literals of a feature from which on few people read it.
_LONG = 10
# Seconds an iteration from which on a person wants to know beforehand.
_LONG_SECONDS = 10
# What to do about an empty cell where there is --missing.
IF_EMPTY = "fill it, leave its row out or choose --missing false"

Watched = AbstractContextManager[Callable[["Indicators"], None]]


def construct(
    model: FeatureConstructor,
    data: Path,
    out: Path | None,
    source: DataInput | StreamInput,
    output: Output,
    progress: Watched,
    report: Path | None = None,
    *,
    formulas: bool = False,
) -> None:
    """Fit a model to the table in a file, save it, and tell what was constructed."""
    from conjunct import UFC
    from conjunct.cli import terminal
    from conjunct.cli.commands.report import check_report_target, save_report
    from conjunct.cli.documents import model_document
    from conjunct.cli.inputs import DataInput
    from conjunct.cli.progress import step

    check_model_target(out, data)
    check_report_target(report, data, out)
    table: BooleanData | Stream
    weights: dict[str, Any] = {}
    if isinstance(source, DataInput):
        table, weights = source.with_weights(source.read(data))
    else:
        table = source.read(data)
    if isinstance(model, UFC):
        model._tell_cost = _tell_cost
    with source.naming_cells_of(data, IF_EMPTY), step("constructed features"), progress as callback:
        model.set_params(callback=callback)
        model.fit(table, **weights)
    if out is not None:
        with step(f"wrote {out}"):
            model.save(out)
    unbounded = model.get_params().get("max_length", 0) is None and not model._by_pattern
    if unbounded and model.history_[-1].length > _LONG:
        terminal.note("the formulas are long: --max-length 4 keeps them readable")
    if report is not None:
        save_report(model, table, report, title=f"Features of {data.name}")
    if output.json:
        output.print(model_document(model, data=table, saved={"model": out, "report": report}))
        return
    if terminal.ascii_only():
        model.set_params(style="ascii")
    terminal.write(
        *told(model, table, out, formulas=formulas),
        *_data_and_scores(model, table),
        saved_as(out, report),
    )


def check_model_target(out: Path | None, data: Path) -> None:
    """Before any work: the model can be written, and not over the data."""
    from conjunct.cli.standard_streams import DASH
    from conjunct.errors import InputError
    from conjunct.files import check_target

    if out == DASH:
        raise InputError("a model is written to a file: give --out a name such as model.json")
    if out is not None and check_target(out) == data.resolve():
        raise InputError(f"{out} is the data: name another file for the model")


def saved_as(*files: Path | None) -> str:
    """Which files were written."""
    names = [str(file) for file in files if file is not None]
    if not names:
        return "Not saved: add --out model.json to keep the model."
    return f"Saved as {', '.join(names)}."


def _tell_cost(cost: Need) -> None:
    """Say what a long fit will take, before it begins."""
    from conjunct.cli import terminal

    if cost.seconds > _LONG_SECONDS:
        terminal.note(f"this takes {cost}")


def told(
    model: FeatureConstructor,
    table: BooleanData | Stream,
    out: Path | None = None,
    *,
    formulas: bool = False,
) -> Iterator[RenderableType | None]:
    """What was found, some rows as chunks, why it stopped, and how long the description is."""
    from rich.console import Group

    from conjunct.cli.examples import example_table
    from conjunct.cli.features import feature_table
    from conjunct.cli.terminal import as_options
    from conjunct.explain import Summary

    summary = Summary(model, as_options)
    yield summary.found
    if not summary.n_iter:
        # why is a note already
        return
    heading, n_shown = "feature", _FEATURES_SHOWN
    if summary.chunks:
        heading, n_shown = "chunk", FINDINGS_SHOWN
    features = summary.chunks or summary.constructed
    if features:
        shown = features[:n_shown]
        yield feature_table(summary, shown, heading=heading, with_formulas=formulas)
    if len(features) > n_shown:
        elsewhere = "" if out is None else f"; conjunct show {out} lists all features"
        yield f"Top {n_shown} of {len(features):,} {heading}s{elsewhere}."
    examples = example_table(model, table)
    if examples is not None:
        yield Group("Rows as chunks:", examples)
    yield f"{summary.outcome} {summary.length}".strip() or None


def _data_and_scores(
    model: FeatureConstructor, table: BooleanData | Stream
) -> Iterator[RenderableType | None]:
    """What was read; and for the paper's rules, its numbers."""
    from conjunct.cli.rendering import data_tables, score_table
    from conjunct.explain import Summary

    yield from data_tables(table)
    if not model._by_pattern:
        yield score_table([("before", model.history_[0]), ("after", model.history_[-1])])
        yield Summary(model).scores or None
