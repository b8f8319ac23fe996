"""Print and save what a command found: as text, as JSON, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from conjunct.cli.options import Command, add_options, output_option
from conjunct.cli.terminal import (
    DASH,
    as_options,
    ascii_only,
    set_volume,
    time_step,
    write,
    write_text,
)
from conjunct.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from conjunct.data import BooleanData
    from conjunct.estimators import FeatureConstructor, UFCPath
    from conjunct.explain import Finding, Formulas
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
        write_text(text + "\n")


def with_output_options(command: Command) -> Command:
    """Give a command ``--json``, ``--quiet`` and ``--verbose``; it gets an ``output``."""
    return add_options(command, "output", _make_output, _make_quiet_output)


def with_json_option(command: Command) -> Command:
    """Give a command that only prints ``--json`` and ``--verbose``; it gets an ``output``."""
    return add_options(command, "output", _make_output)


def _make_output(
    json: Annotated[
        bool, output_option("Print the result as JSON, for other programs.", "--json")
    ] = False,
    verbose: Annotated[
        bool, output_option("Say each step and how long it took.", "--verbose", "-v")
    ] = False,
) -> Output:
    set_volume(1 if verbose else 0)
    return Output(json)


def _make_quiet_output(
    quiet: Annotated[bool, output_option("Print errors only.", "--quiet", "-q")] = False,
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
    from conjunct.estimators import InvertibleConstructor, formula_columns
    from conjunct.explain import Summary
    from conjunct.ufc import Rule

    summary = Summary(model, as_options)
    # a truncated model has no counts of rows
    has_chunks = isinstance(model, InvertibleConstructor)
    has_code = has_chunks and model.feature_set_.has_code
    features = model.get_features("dict")
    if formulas is not None:
        features |= formula_columns(formulas, model.formula_style)
    parameters = {
        name: value.record() if isinstance(value, Rule) else value
        for name, value in model.get_params(deep=False).items()
        if name not in model.unsaved_parameters
    }
    document = {
        "kind": type(model).__name__,
        "summary": summary.text,
        "stop_reason": summary.stop_reason,
        "description_length": model.description_length_ if has_code else None,
        "baseline_length": model.baseline_length_ if has_code else None,
        "parameters": parameters,
        "n_rows": model.feature_set_.n_rows,
        "columns": list(model.feature_set_.lineage.primitives),
        "variables": model.variables_ if has_chunks else {},
        "threshold": getattr(model, "threshold_", None),
        "findings": list(map(_finding_document, summary.findings)),
        "copies": [asdict(one) | {"sentence": one.sentence} for one in summary.copies],
        "features": records(features),
        "suppressed": records(model.get_features("dict", suppressed=True)),
        "merges": records(model.get_rules("dict")) if has_chunks else [],
        "history": model.history_,
    }
    if data is not None:
        document["data"] = data_document(data)
    if saved is not None:
        document["saved"] = files_as_json(saved)
    return document


def _finding_document(finding: Finding) -> dict[str, Any]:
    folded = list(map(_finding_document, finding.folded))
    return {
        "name": finding.name,
        "tags": finding.tags,
        "rows": finding.rows,
        "share": finding.share,
        "lift": finding.lift,
        "evidence": finding.evidence,
        "contrast": finding.contrast._asdict(),
        "sentence": finding.sentence,
        "part_of": finding.part_of.name if finding.part_of else None,
        "folded": folded,
    }


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
        "saved": files_as_json(saved),
    }


def data_document(table: BooleanData | Stream) -> dict[str, Any]:
    """Return the size of what was read as JSON."""
    from conjunct.data import DataSummary
    from conjunct.files import Stream

    if isinstance(table, Stream):
        n_rows, n_features = table.shape
        return {"n_files": len(table.rows), "n_rows": n_rows, "n_features": n_features}
    return asdict(DataSummary.of(table))


def files_as_json(saved: Mapping[str, Path | None]) -> dict[str, str | None]:
    """Return the files that were written as JSON; null for one that was not wanted."""
    return {what: None if path is None else str(path) for what, path in saved.items()}


def _solution_document(solution: Solution) -> dict[str, Any]:
    derived = {"threshold": solution.threshold, "distance": solution.distance}
    return derived | asdict(solution)


def records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def check_targets(read: Mapping[str, Path | Sequence[Path]], **targets: Path | None) -> None:
    """Check before any work that each file can be written, and over no other one.

    ``read`` and ``targets`` say what the files are: a model, a table of results, a page.
    """
    from conjunct.files import check_page_target, check_table_target, check_target

    taken = {
        file.resolve(): f"{file} is the {what}"
        for what, files in read.items()
        for file in ([files] if isinstance(files, Path) else files)
    }
    for what, target in targets.items():
        if target is None:
            continue
        if what in ("model", "checkpoint") and target == DASH:
            option = "out" if what == "model" else what
            raise InputError(
                f"a {what} is written to a file: give --{option} a name such as {what}.json"
            )
        place = check_target(target)
        if place in taken:
            raise InputError(f"{taken[place]}: name another file for the {what}")
        taken[place] = f"{target} is the {what}"
        if what in ("report", "page"):
            check_page_target(target)
        elif what in ("result", "labels", "solutions"):
            check_table_target(target)
        elif what == "figure" and target.suffix not in (".svg", ".png"):
            raise InputError(f"{target}: a figure is written as .svg or .png")


def save(out: Path | None, write: Callable[[Path], object]) -> None:
    """Write a file, if it is wanted, and say with ``--verbose`` how long it took."""
    if out is not None:
        with time_step(f"wrote {out}"):
            write(out)


def save_report(model: FeatureConstructor, table: Any, out: Path, **options: Any) -> None:
    """Write the page of a fitted model."""
    try:
        from conjunct.report import Report
    except ImportError as error:
        raise InputError(str(error)) from None
    with time_step(f"wrote {out}"):
        Report(model, table, **options).save(out)


def list_files(*files: Path | None) -> str:
    """Return which files were written."""
    names = [str(file) for file in files if file is not None]
    if not names:
        return "Not saved: add --out model.json to keep the model."
    return f"Saved as {', '.join(names)}."
