"""Print and save what a command found: as text, as JSON, or not at all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conjunct.cli.options import OUTPUT, Command, add_options
from conjunct.cli.terminal import DASH, as_options, ascii_only, set_volume, time_step, write
from conjunct.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from conjunct.data import BooleanData
    from conjunct.estimators import FeatureConstructor, UFCPath
    from conjunct.explain import Formulas
    from conjunct.files import Stream
    from conjunct.ufc import Solution

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Output:
    """The destination of a result: text or JSON on standard output."""

    json: bool = False

    def tell(self, document: Callable[[], Document], *parts: RenderableType | None) -> None:
        """Print the result as text, or the document as JSON."""
        if self.json:
            self.print(document())
        else:
            write(*parts)

    def print(self, document: Document) -> None:
        """Print one JSON document to standard output; NaN is null."""
        import json

        import msgspec

        text = msgspec.json.format(msgspec.json.encode(document), indent=1).decode()
        if ascii_only():
            text = json.dumps(json.loads(text), indent=1)
        sys.stdout.write(text + "\n")


def with_output_options(command: Command) -> Command:
    """Give a command ``--json``, ``--quiet`` and ``--verbose``; it gets an ``output``."""
    return add_options(command, "output", _make_output, _make_quiet_output)


def with_json_option(command: Command) -> Command:
    """Give a command that only prints ``--json`` and ``--verbose``; it gets an ``output``."""
    return add_options(command, "output", _make_output)


def _make_output(
    json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the result as JSON, for other programs.", rich_help_panel=OUTPUT
        ),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose", "-v", help="Say each step and how long it took.", rich_help_panel=OUTPUT
        ),
    ] = False,
) -> Output:
    set_volume(1 if verbose else 0)
    return Output(json)


def _make_quiet_output(
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", help="Say nothing, unless it is an error.", rich_help_panel=OUTPUT
        ),
    ] = False,
    *,
    json: bool,
    verbose: bool,
) -> Output:
    if quiet and verbose:
        raise InputError("--quiet and --verbose exclude each other: give one of them")
    output = _make_output(json, verbose)
    if quiet:
        set_volume(-1)
    return output


def model_document(
    model: FeatureConstructor,
    *,
    formulas: Formulas | None = None,
    data: BooleanData | Stream | None = None,
    saved: Mapping[str, Path | None] | None = None,
) -> dict[str, Any]:
    """Return a fitted model as JSON: what it is, what it was made from, and its features."""
    from conjunct.estimators import LosslessConstructor, formula_columns
    from conjunct.explain import Summary
    from conjunct.ufc import Rule

    summary = Summary(model, as_options)
    # a truncated model has no counts of rows
    has_chunks = isinstance(model, LosslessConstructor)
    has_code = has_chunks and model.feature_set_.has_code
    rules = model.get_rules("dict")
    if formulas is not None:
        rules |= formula_columns(formulas, model.style)
    parameters = {
        name: value.record() if isinstance(value, Rule) else value
        for name, value in model.get_params(deep=False).items()
        if name not in model._unsaved
    }
    document = {
        "kind": type(model).__name__,
        "summary": summary.text,
        "outcome": summary.outcome,
        "description_length": model.description_length_ if has_code else None,
        "baseline_length": model.baseline_length_ if has_code else None,
        "parameters": parameters,
        "n_rows": model.feature_set_.n_rows,
        "columns": list(model.feature_set_.lineage.primitives),
        "variables": model.variables_ if has_chunks else {},
        "threshold": getattr(model, "threshold_", None),
        "features": records(rules),
        "suppressed": records(model.get_rules("dict", suppressed=True)),
        "history": model.history_,
    }
    if data is not None:
        document["data"] = data_document(data)
    if saved is not None:
        document["saved"] = saved_document(saved)
    return document


def path_document(model: UFCPath, data: BooleanData, saved: Mapping[str, Path | None]) -> Document:
    """Return a path as JSON: its front and its closest point, which is the model."""
    return {
        "n_solutions": len(model.solutions_),
        "complete": model.complete_,
        "covered_from": model.covered_from_,
        "closest_point": _solution_document(model.closest_point_),
        "front": [_solution_document(solution) for solution in model.front_],
        "model": model_document(model),
        "data": data_document(data),
        "saved": saved_document(saved),
    }


def data_document(table: BooleanData | Stream) -> dict[str, Any]:
    """Return the size of what was read as JSON."""
    from conjunct.data import DataSummary
    from conjunct.files import Stream

    if isinstance(table, Stream):
        n_rows, n_features = table.shape
        return {"n_files": len(table.rows), "n_rows": n_rows, "n_features": n_features}
    return asdict(DataSummary.of(table))


def saved_document(saved: Mapping[str, Path | None]) -> dict[str, str | None]:
    """Return the files that were written as JSON; null for one that was not wanted."""
    return {what: None if path is None else str(path) for what, path in saved.items()}


def _solution_document(solution: Solution) -> dict[str, Any]:
    derived = {"threshold": solution.threshold, "distance": solution.distance}
    return derived | asdict(solution)


def records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def check_model_target(out: Path | None, data: Path) -> None:
    """Check before any work that the model can be written, and not over the data."""
    from conjunct.files import check_target

    if out == DASH:
        raise InputError("a model is written to a file: give --out a name such as model.json")
    if out is not None and check_target(out) == data.resolve():
        raise InputError(f"{out} is the data: name another file for the model")


def check_report_target(report: Path | None, *others: Path | None) -> None:
    """Check before any work that the page can be written, and over no other file."""
    from conjunct.files import check_page_target, check_target

    if report is None:
        return
    real = check_target(report)
    if any(other is not None and real == other.resolve() for other in others):
        raise InputError(f"{report} is named twice: give each file a name of its own")
    check_page_target(report)


def check_outputs(files: Sequence[Path], out: Path | None, checkpoint: Path | None) -> None:
    """Refuse to write over the data, or two things to one file."""
    from conjunct.files import check_target

    taken = {file.resolve(): f"{file} is the data" for file in files}
    for target, what, option in ((out, "model", "out"), (checkpoint, "checkpoint", "checkpoint")):
        if target is None:
            continue
        if target == DASH:
            raise InputError(
                f"a {what} is written to a file: give --{option} a name such as {what}.json"
            )
        place = check_target(target)
        if place in taken:
            raise InputError(f"{taken[place]}: name another file for the {what}")
        taken[place] = f"{target} is the {what}"


def save_report(model: FeatureConstructor, table: Any, out: Path, **options: Any) -> None:
    """Write the page of a fitted model."""
    try:
        from conjunct.report import Report
    except ImportError as error:
        raise InputError(str(error)) from None
    with time_step(f"wrote {out}"):
        Report(model, table, **options).save(out)


def list_saved(*files: Path | None) -> str:
    """Return which files were written."""
    names = [str(file) for file in files if file is not None]
    if not names:
        return "Not saved: add --out model.json to keep the model."
    return f"Saved as {', '.join(names)}."
