"""Print and save the results of commands: as text with tables, or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from conjunct import data, estimators, explain, expressions, files, ufc
from conjunct.cli import terminal
from conjunct.cli.options import output_option
from conjunct.errors import InputError

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType
    from rich.table import Table as RichTable
    from rich.text import Text

    from conjunct.data import BooleanData, Preparation
    from conjunct.estimators import Chunk, FeatureConstructor
    from conjunct.explain import FeatureFacts, Finding, Formulas, Summary
    from conjunct.files import Stream
    from conjunct.ufc import Indicators

Document = Mapping[str, Any]
T = TypeVar("T")

LONGEST = 240
"""Characters of a name or formula in a table."""
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_BAR_WIDTH = 10
_COLUMNS_SHOWN = 20
_FINDINGS_SHOWN = 5
_SHORT_NAME = 72  # characters of the longest chunk that is named in full
_FEATURES_SHOWN = 10
_LOOKED_AT = 1024  # rows among which examples are chosen
_EXAMPLES_SHOWN = 3
_SHORT = 66  # characters of an example that fits in a line of 80
_LEAST_ROOM = 20  # characters for the parents of a feature
_OTHER_COLUMNS = 54  # characters of the other columns of that table


@dataclass(frozen=True)
class Output:
    """The destination of a result: text or JSON on standard output."""

    json: bool = False

    def show(self, document: Callable[[], Document], *parts: RenderableType | None) -> None:
        """Print the result as text, or the document as JSON."""
        if self.json:
            self.print_json(document())
        else:
            terminal.write(*parts)

    def print_json(self, document: Document) -> None:
        """Print one JSON document to standard output; NaN is null."""
        import json

        import msgspec

        # paths are the only values that msgspec cannot encode
        encoded = msgspec.json.encode(document, enc_hook=str)
        text = msgspec.json.format(encoded, indent=1).decode()
        if terminal.ascii_only():
            text = json.dumps(json.loads(text), indent=1)
        terminal.write_text(text + "\n")

    def check_table(
        self, out: Path | None, what: str, model: Path, *, lists: bool = False, sparse: bool = False
    ) -> None:
        """Check before any work that the table can be written and does not replace the model."""
        if out is None or terminal.is_printed(out):
            if self.json:
                raise InputError(f"--json needs --out: without it, the {what} are printed")
            return
        if not (sparse and files.is_sparse_file(out)):
            files.check_table_target(out, lists=lists)
        if files.check_target(out) == model.resolve():
            raise InputError(f"{out} is the model: choose another file for the {what}")

    def table(
        self, out: Path | None, frame: pl.DataFrame, document: Callable[[], Document], text: str
    ) -> None:
        """Print a table as CSV, or write it to a file and print a summary."""
        if terminal.is_printed(out):
            terminal.write_text(files.as_csv(frame))
            return
        save_table(out, lambda: frame)
        self.show(lambda: {**document(), "saved": {"table": out}}, f"{text} as {out}.")


def _make_output(
    json: bool = output_option("Print the result as JSON.", "--json", default=False),
    verbose: bool = output_option(
        "Print each step and its duration.", "--verbose", "-v", default=False
    ),
) -> Output:
    terminal.set_volume(1 if verbose else 0)
    return Output(json)


def _make_quiet_output(
    quiet: bool = output_option("Print errors only.", "--quiet", "-q", default=False),
    *,
    json: bool,
    verbose: bool,
) -> Output:
    if quiet and verbose:
        raise InputError("use either --quiet or --verbose, not both")
    output = _make_output(json, verbose)
    if quiet:
        terminal.set_volume(-1)
    return output


JSON_OPTIONS = (_make_output,)
"""``--json`` and ``--verbose``, for `takes`, which passes an `Output` to the command."""
OUTPUT_OPTIONS = (_make_output, _make_quiet_output)
"""The same and ``--quiet``, for commands that do more than print."""


@dataclass(frozen=True)
class Table:
    """A table of at most ``most`` rows; ``>`` before a heading aligns its column to the right.

    On a narrow terminal, the column at position ``wrapped`` is wrapped.
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
                terminal.showable(heading.lstrip(">")),
                justify="right" if heading.startswith(">") else "left",
                no_wrap=position != self.wrapped,
                overflow="fold",
            )
        rows = list(self.rows)
        for row in rows[: self.most]:
            # text from the data may look like markup or contain control characters
            table.add_row(*(Text(terminal.showable(x)) if isinstance(x, str) else x for x in row))
        if (n_more := len(rows) - len(rows[: self.most])) > 0:
            table.add_row(f"… and {n_more:,} more")
        return table


def show_first(
    most: int, what: str, rows: Sequence[T], table_of: Callable[[Sequence[T]], Table], rest: str
) -> Iterator[RenderableType]:
    """Yield a table of the first rows, if any, and a note about the rest, if any."""
    if rows:
        yield table_of(rows[:most])
    if len(rows) > most:
        yield f"Top {most} of {len(rows):,} {what}{rest}."


def draw_bar(share: float) -> Text:
    """Draw a share as a bar of blocks; any share above 0 is visible."""
    from rich.text import Text

    if terminal.ascii_only():
        return Text("#" * (max(1, round(share * _BAR_WIDTH)) if share else 0))
    eighths = max(1, round(share * _BAR_WIDTH * 8)) if share else 0
    return Text("█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip(), "cyan")


def data_tables(table: BooleanData | Stream) -> tuple[Table, Table | None]:
    """Return a table of the size of the data, and one of how its columns were prepared."""
    if isinstance(table, files.Stream):
        names = "tags" if table.preparation.binarizer else "columns"
        facts = [
            ("files", explain.count(len(table.rows))),
            ("rows", explain.count(table.n_rows)),
            (names, explain.count(len(table.names))),
            ("counted", "from disk" if table.engine == "disk" else f"on {table.engine.title()}"),
        ]
    else:
        facts = explain.data_facts(data.DataSummary.of(table))
    return Table(("data", ""), facts, wrapped=1), preparation_table(table.preparation)


def preparation_table(preparation: Preparation) -> Table | None:
    """Return a table of how raw columns are prepared, if any."""
    columns = explain.column_preparations(preparation)
    rows = [(explain.shorten(column, LONGEST), text) for column, text in columns.items()]
    heading = "made Boolean" if preparation.binarizer else "cleaned"
    return Table(("column", heading), rows, wrapped=1, most=_COLUMNS_SHOWN) if rows else None


def score_table(lines: Iterable[tuple[str, Indicators]]) -> Table:
    """Return a table of indicators, one row per label."""
    rows = [
        (
            name,
            str(line.n_features),
            f"{line.length:.2f}",
            *("-" if isnan(x) else f"{x:.3f}" for x in (line.oi, line.c0, line.rms)),
        )
        for name, line in lines
    ]
    return Table(("", ">features", ">length", ">OI", ">C0", ">RMS"), rows)


def feature_table(
    summary: Summary,
    features: Sequence[FeatureFacts],
    *,
    with_formulas: bool = False,
    formulas: Formulas | None = None,
) -> Table:
    """Return a table of features with their tags, formulas, or both."""
    from rich.text import Text

    fitted, style = summary.model.feature_set_, summary.model.formula_style
    by_formula = not fitted.merges
    given = dict(zip(fitted.features, formulas.expressions, strict=True)) if formulas else {}
    origins = fitted.origins()
    more = (">evidence", *((">length", ">r") if with_formulas else ()))
    headings = ("feature", ">rows", "", *((">length", ">iter") if by_formula else more))
    rows = []
    for feature in features:
        expression = given.get(feature.number, fitted.lineage.expression(feature.number))
        formula = explain.label(expression, style, LONGEST)
        name: RenderableType = Text(terminal.showable(explain.shorten(feature.text, LONGEST)))
        bits = "" if feature.evidence is None else f"{feature.evidence:,.0f}"
        numbers: tuple[str, ...] = (bits,)
        if by_formula:
            name = _with_origin(summary, feature.number, formula)
            numbers = str(expression.length), str(fitted.iteration(feature.number))
        elif with_formulas:
            name = _with_details(feature.text, [formula])
            numbers = bits, str(expression.length), f"{origins[feature.number].r:.2f}"
        rows.append((name, f"{feature.rows:,}", draw_bar(feature.share), *numbers))
    return Table(headings, rows)


def _with_details(name: str, lines: Iterable[str]) -> RenderableType:
    """Return a name with dim lines below it."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    details = Text("\n".join(map(terminal.showable, lines)), "dim")
    return Group(
        Text(terminal.showable(explain.shorten(name, LONGEST))), Padding(details, (0, 0, 0, 2))
    )


def finding_table(findings: Sequence[Finding]) -> Table:
    """Return findings with their sentences, larger chunks, copies and related findings."""
    rows = []
    for one in findings:
        lines = [one.sentence]
        if (chunk := one.part_of) is not None:
            size = len(chunk.tags)
            whole = chunk.name if len(chunk.name) <= _SHORT_NAME else f"a chunk of {size} tags"
            lines.append(f"Part of {whole}, in {explain.count(chunk.rows, 'row')}.")
        lines += [copies.sentence for copies in one.copies]
        short = [other for other in one.also if len(other.tags) <= len(one.tags)][:1]
        lines += [f"Also: {other.name}. {other.sentence}" for other in short]
        lift = f"×{one.lift:.1f}" if one.lift < 99.95 else f"×{one.lift:,.0f}"
        rows.append((_with_details(one.name, lines), f"{one.rows:,}", draw_bar(one.share), lift))
    return Table(("finding", ">rows", "", ">lift"), rows)


def _with_origin(summary: Summary, number: int, formula: str) -> RenderableType:
    """Return the formula and, below it, its parents unless they are columns."""
    from rich.console import Group
    from rich.text import Text

    fitted = summary.model.feature_set_
    parents = fitted.parents(number)
    if not any(map(fitted.iteration, parents)):
        return Text(terminal.showable(formula))
    left, right = map(summary.formula, parents)
    room = max(_LEAST_ROOM, terminal.console().width - _OTHER_COLUMNS)
    # each parent gets half of the room, and what the other one does not need
    half = room // 2
    shown = (
        explain.shorten(left, max(half, room - len(right))),
        explain.shorten(right, max(half, room - len(left))),
    )
    words = terminal.showable(f"  from {' and '.join(shown)}")
    return Group(
        Text(terminal.showable(formula)), Text(words, "dim", no_wrap=True, overflow="ellipsis")
    )


def example_table(model: FeatureConstructor, table: object) -> RichTable | None:
    """Return a few short rows that share no chunks, or ``None`` if no rows are in memory."""
    from rich.table import Table
    from rich.text import Text

    has_chunks = isinstance(model, estimators.InvertibleConstructor)
    if not (has_chunks and isinstance(table, data.BooleanData)):
        return None
    ids = table.ids and table.ids._replace(values=table.ids.values[:_LOOKED_AT])
    if table.n_rows > _LOOKED_AT:
        table = replace(table, columns=table.columns.first_rows(_LOOKED_AT), ids=ids)
    rows = model.chunks(table)
    texts = [expressions.CHUNKS_BETWEEN.join(map(expressions.pattern_text, row)) for row in rows]
    large = [{chunk for chunk in row if len(chunk) > 1} for row in rows]

    def rank(k: int) -> tuple[bool, int, bool, int]:
        return len(texts[k]) > _SHORT, -min(len(large[k]), 2), len(rows[k]) < 2, k

    shown: set[Chunk] = set()
    chosen: list[int] = []
    for k in sorted((k for k, chunks in enumerate(large) if chunks), key=rank):
        if len(chosen) < _EXAMPLES_SHOWN and not large[k] & shown:
            chosen.append(k)
            shown |= large[k]
    grid = Table.grid(padding=(0, 2))
    for k in sorted(chosen):
        name = explain.shorten(ids.values[k], 20) if ids else f"row {k + 1}"
        chunks = explain.shorten(texts[k], LONGEST)
        grid.add_row(Text(terminal.showable(f"  {name}")), Text(terminal.showable(chunks)))
    return grid if chosen else None


def render_summary(
    model: FeatureConstructor,
    table: BooleanData | Stream,
    out: Path | None = None,
    *,
    formulas: bool = False,
) -> Iterator[RenderableType | None]:
    """Yield the findings, example rows, the stop reason and the description length."""
    from rich.console import Group

    summary = explain.Summary(model, terminal.as_options)
    yield summary.overview
    if not summary.n_iter:
        return  # a note gave the reason
    elsewhere = "" if out is None else f"; conjunct show {out} lists more"
    findings = summary.findings
    yield from show_first(_FINDINGS_SHOWN, "findings", findings, finding_table, elsewhere)
    yield summary.name_copies(findings[:_FINDINGS_SHOWN]) or None
    if formulas or not (findings or summary.same_columns):
        table_of = partial(feature_table, summary, with_formulas=formulas)
        features = summary.new_features
        yield from show_first(_FEATURES_SHOWN, "features", features, table_of, elsewhere)
    examples = example_table(model, table)
    if examples is not None:
        yield Group("Rows as chunks:", examples)
    yield f"{summary.plain_reason} {summary.length}".strip() or None


def model_document(
    model: FeatureConstructor,
    *,
    formulas: Formulas | None = None,
    table: BooleanData | Stream | None = None,
    saved: Mapping[str, Path | None] | None = None,
) -> dict[str, Any]:
    """Return a fitted model as JSON: its parameters, findings, features and history."""
    summary = explain.Summary(model, terminal.as_options)
    has_chunks = isinstance(model, estimators.InvertibleConstructor)
    # a truncated model does not count rows, so it has no code
    has_code = has_chunks and model.feature_set_.has_code
    features = model.get_features("dict")
    if formulas is not None:
        features |= estimators.formula_columns(formulas, model.formula_style)
    parameters = {
        name: value.record() if isinstance(value, ufc.Rule) else value
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
    if table is not None:
        document["data"] = data_document(table)
    if saved is not None:
        document["saved"] = saved
    return document


_FINDING_KEYS = ("name", "tags", "rows", "share", "lift", "evidence", "contrast", "sentence")


def _finding_document(finding: Finding) -> dict[str, Any]:
    return {key: getattr(finding, key) for key in _FINDING_KEYS} | {
        "contrast": finding.contrast._asdict(),
        "part_of": finding.part_of and finding.part_of.name,
        "folded": list(map(_finding_document, finding.folded)),
    }


def data_document(table: BooleanData | Stream) -> dict[str, Any]:
    """Return the size of the data as JSON."""
    if isinstance(table, files.Stream):
        n_rows, n_features = table.shape
        return {"n_files": len(table.rows), "n_rows": n_rows, "n_features": n_features}
    return asdict(data.DataSummary.of(table))


def records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return a table of columns as a list of rows."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def check_targets(read: Mapping[str, Path | Sequence[Path]], **targets: Path | None) -> None:
    """Check before any work that each target can be written and replaces no other file."""
    roles = {
        file.resolve(): f"{file} is the {role}"
        for role, some in read.items()
        for file in ([some] if isinstance(some, Path) else some)
    }
    for what, target in targets.items():
        if target is None:
            continue
        if what in ("model", "checkpoint") and target == terminal.DASH:
            option = "out" if what == "model" else what
            raise InputError(f"--{option} needs a file name, such as {what}.json")
        place = files.check_target(target)
        if place in roles:
            raise InputError(f"{roles[place]}: choose another file for the {what}")
        roles[place] = f"{target} is the {what}"
        if what in ("report", "page"):
            files.check_page_target(target)
        elif what in ("result", "labels", "solutions"):
            files.check_table_target(target)
        elif what == "figure" and target.suffix not in (".svg", ".png"):
            raise InputError(f"{target}: the file name of a figure must end in .svg or .png")


def save(out: Path | None, write: Callable[[Path], object]) -> None:
    """Write a file unless it is None."""
    if out is not None:
        with terminal.time_step(f"wrote {out}"):
            write(out)


def save_table(out: Path | None, frame: Callable[[], pl.DataFrame]) -> None:
    """Write a table unless the file is None."""
    save(out, lambda file: files.write_table(file, frame()))


def save_report(model: FeatureConstructor, table: Any, out: Path, **options: Any) -> None:
    """Write the report of a fitted model."""
    try:
        from conjunct.report import Report
    except ImportError as error:
        raise InputError(str(error)) from None
    with terminal.time_step(f"wrote {out}"):
        Report(model, table, **options).save(out)


def list_files(*saved: Path | None) -> str:
    """Return a sentence that names the files written."""
    names = ", ".join(str(file) for file in saved if file is not None)
    return f"Saved as {names}." if names else "Not saved: add --out model.json to keep the model."
