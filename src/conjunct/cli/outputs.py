"""Print and save what a command found: as text, as JSON, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from conjunct.cli.options import output_option
from conjunct.cli.terminal import (
    DASH,
    as_options,
    ascii_only,
    is_printed,
    set_volume,
    showable,
    time_step,
    write,
    write_text,
)
from conjunct.errors import InputError

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType
    from rich.table import Table as RichTable
    from rich.text import Text

    from conjunct.data import BooleanData
    from conjunct.estimators import FeatureConstructor, UFCPath
    from conjunct.explain import Finding, Formulas
    from conjunct.files import Stream
    from conjunct.ufc import Solution

Document = Mapping[str, Any]

LONGEST = 240
"""Characters of a name or formula in a table."""
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_BAR_WIDTH = 10


@dataclass(frozen=True)
class Output:
    """The destination of a result: text or JSON on standard output."""

    json: bool = False

    def show(self, document: Callable[[], Document], *parts: RenderableType | None) -> None:
        """Print the result as text, or the document as JSON."""
        if self.json:
            self.print_json(document())
        else:
            write(*parts)

    def print_json(self, document: Document) -> None:
        """Print one JSON document to standard output; NaN is null."""
        import json

        import msgspec

        # of all values only paths are unknown to msgspec
        encoded = msgspec.json.encode(document, enc_hook=str)
        text = msgspec.json.format(encoded, indent=1).decode()
        if ascii_only():
            text = json.dumps(json.loads(text), indent=1)
        write_text(text + "\n")

    def check_table(
        self, out: Path | None, what: str, model: Path, *, lists: bool = False, sparse: bool = False
    ) -> None:
        """Check before any work that a table can be written, and not over the model."""
        from conjunct.files import check_table_target, check_target, is_sparse_file

        if out is None or is_printed(out):
            if self.json:
                raise InputError(f"--json needs --out: without it, the {what} are printed")
            return
        if not (sparse and is_sparse_file(out)):
            check_table_target(out, lists=lists)
        if check_target(out) == model.resolve():
            raise InputError(f"{out} is the model: choose another file for the {what}")

    def table(
        self, out: Path | None, frame: pl.DataFrame, document: Callable[[], Document], text: str
    ) -> None:
        """Print a table as CSV; or write it to a file, and print what was written."""
        from conjunct.files import as_csv

        if is_printed(out):
            write_text(as_csv(frame))
            return
        save_table(out, lambda: frame)
        self.show(lambda: {**document(), "saved": {"table": out}}, f"{text} as {out}.")


def _make_output(
    json: Annotated[bool, output_option("Print the result as JSON.", "--json")] = False,
    verbose: Annotated[
        bool, output_option("Print each step and how long it took.", "--verbose", "-v")
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
        raise InputError("use either --quiet or --verbose, not both")
    output = _make_output(json, verbose)
    if quiet:
        set_volume(-1)
    return output


JSON_OPTIONS = (_make_output,)
"""``--json`` and ``--verbose``, for `takes`; the command gets an `Output`."""
OUTPUT_OPTIONS = (_make_output, _make_quiet_output)
"""These and ``--quiet``, for commands that do more than print."""


@dataclass(frozen=True)
class Table:
    """A table with a line under its headings; ``>`` before one aligns its column right.

    Where the terminal is too narrow, the column at position ``wrapped`` runs over several lines.
    At most ``most`` rows are shown.
    """

    headings: Sequence[str]
    rows: Iterable[Sequence[RenderableType]]
    wrapped: int = 0
    most: int | None = None

    def __rich__(self) -> RichTable:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
        for position, heading in enumerate(self.headings):
            table.add_column(
                showable(heading.lstrip(">")),
                justify="right" if heading.startswith(">") else "left",
                no_wrap=position != self.wrapped,
                overflow="fold",
            )
        rows = list(self.rows)
        for row in rows[: self.most]:
            # text from data may look like markup or hold control characters
            table.add_row(*(Text(showable(x)) if isinstance(x, str) else x for x in row))
        if (n_more := len(rows) - len(rows[: self.most])) > 0:
            table.add_row(f"… and {n_more:,} more")
        return table


def draw_bar(share: float) -> Text:
    """Draw a share of 1 as a bar of blocks, which is visible unless the share is 0."""
    from rich.text import Text

    if ascii_only():
        return Text("#" * (max(1, round(share * _BAR_WIDTH)) if share else 0))
    eighths = max(1, round(share * _BAR_WIDTH * 8)) if share else 0
    return Text("█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip(), "cyan")


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
        document["saved"] = saved
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


def path_document(model: UFCPath) -> dict[str, Any]:
    """Return a path as JSON: its front and its closest point, which is the model."""
    return {
        "n_solutions": len(model.solutions_),
        "complete": model.complete_,
        "covered_from": model.covered_from_,
        "closest_point": _solution_document(model.closest_point_),
        "front": [_solution_document(solution) for solution in model.front_],
        "model": model_document(model),
    }


def data_document(table: BooleanData | Stream) -> dict[str, Any]:
    """Return the size of what was read as JSON."""
    from conjunct.data import DataSummary
    from conjunct.files import Stream

    if isinstance(table, Stream):
        n_rows, n_features = table.shape
        return {"n_files": len(table.rows), "n_rows": n_rows, "n_features": n_features}
    return asdict(DataSummary.of(table))


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
            raise InputError(f"--{option} needs a file name, such as {what}.json")
        place = check_target(target)
        if place in taken:
            raise InputError(f"{taken[place]}: choose another file for the {what}")
        taken[place] = f"{target} is the {what}"
        if what in ("report", "page"):
            check_page_target(target)
        elif what in ("result", "labels", "solutions"):
            check_table_target(target)
        elif what == "figure" and target.suffix not in (".svg", ".png"):
            raise InputError(f"{target}: the file name of a figure must end in .svg or .png")


def save(out: Path | None, write: Callable[[Path], object]) -> None:
    """Write a file unless it is None, and print with ``--verbose`` how long it took."""
    if out is not None:
        with time_step(f"wrote {out}"):
            write(out)


def save_table(out: Path | None, frame: Callable[[], pl.DataFrame]) -> None:
    """Write a table unless the file is None."""
    from conjunct.files import write_table

    save(out, lambda file: write_table(file, frame()))


def save_report(model: FeatureConstructor, table: Any, out: Path, **options: Any) -> None:
    """Write the page of a fitted model."""
    try:
        from conjunct.report import Report
    except ImportError as error:
        raise InputError(str(error)) from None
    with time_step(f"wrote {out}"):
        Report(model, table, **options).save(out)


def list_files(*files: Path | None) -> str:
    """Return a sentence about the files that were written."""
    names = [str(file) for file in files if file is not None]
    if not names:
        return "Not saved: add --out model.json to keep the model."
    return f"Saved as {', '.join(names)}."
