"""Tables for the terminal: data, features, example rows and scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from conjunct.cli.outputs import LONGEST, Table, draw_bar
from conjunct.cli.terminal import as_options, console, showable
from conjunct.data import BooleanData, DataSummary
from conjunct.estimators import InvertibleConstructor
from conjunct.explain import Summary, column_preparations, count, data_facts, label, shorten
from conjunct.expressions import CHUNKS_BETWEEN, pattern_text
from conjunct.files import Stream

if TYPE_CHECKING:
    from conjunct.data import Preparation
    from conjunct.estimators import Chunk, FeatureConstructor
    from conjunct.explain import FeatureFacts, Finding, Formulas
    from conjunct.ufc import Indicators

_COLUMNS_SHOWN = 20
FINDINGS_SHOWN = 5
_SHORT_NAME = 72  # characters of a chunk that is named in full
_FEATURES_SHOWN = 10
# Example rows: how many are read, how many are shown, and the characters that fit on a line of 80.
_LOOKED_AT = 1024
_EXAMPLES_SHOWN = 3
_SHORT = 66
# Characters of the parents of a feature, and those of the other columns beside them.
_LEAST_ROOM = 20
_OTHER_COLUMNS = 54


def data_tables(table: BooleanData | Stream) -> tuple[Table, Table | None]:
    """Return what was read in numbers, and how other columns were made Boolean."""
    facts = (
        [
            ("files", count(len(table.rows))),
            ("rows", count(table.n_rows)),
            ("tags" if table.preparation.binarizer else "columns", count(len(table.names))),
            ("counted", "from disk" if table.engine == "disk" else f"on {table.engine.title()}"),
        ]
        if isinstance(table, Stream)
        else data_facts(DataSummary.of(table))
    )
    return Table(("data", ""), facts, wrapped=1), preparation_table(table.preparation)


def preparation_table(preparation: Preparation) -> Table | None:
    """Return what is done to each raw column, if anything is."""
    columns = column_preparations(preparation)
    rows = [(shorten(column, LONGEST), text) for column, text in columns.items()]
    heading = "made Boolean" if preparation.binarizer else "cleaned"
    return Table(("column", heading), rows, wrapped=1, most=_COLUMNS_SHOWN) if rows else None


def score_table(lines: Iterable[tuple[str, Indicators]]) -> Table:
    """Return indicators, one labelled line each."""
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
    """Return a table of features with their tags and, if wanted, their formulas.

    Where a rule adds features and replaces nothing, the formula is the feature.
    """
    fitted, style = summary.model.feature_set_, summary.model.formula_style
    by_formula = not fitted.merges
    given = dict(zip(fitted.features, formulas.expressions, strict=True)) if formulas else {}
    origins = fitted.origins()
    more = (">evidence", *((">length", ">r") if with_formulas else ()))
    headings = ("feature", ">rows", "", *((">length", ">iter") if by_formula else more))
    rows = []
    for feature in features:
        expression = given.get(feature.number, fitted.lineage.expression(feature.number))
        formula = label(expression, style, LONGEST)
        name: RenderableType = Text(showable(shorten(feature.text, LONGEST)))
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
    """Return a name with smaller lines below it."""
    details = Text("\n".join(map(showable, lines)), "dim")
    return Group(Text(showable(shorten(name, LONGEST))), Padding(details, (0, 0, 0, 2)))


def finding_table(findings: Sequence[Finding]) -> Table:
    """Return findings with their sentences, and what is folded into each in a line or two."""
    rows = []
    for one in findings:
        lines = [one.sentence]
        if (chunk := one.part_of) is not None:
            size = len(chunk.tags)
            whole = chunk.name if len(chunk.name) <= _SHORT_NAME else f"a chunk of {size} tags"
            lines.append(f"Part of {whole}, in {count(chunk.rows, 'row')}.")
        lines += [copies.sentence for copies in one.copies]
        short = [other for other in one.also if len(other.tags) <= len(one.tags)][:1]
        lines += [f"Also: {other.name}. {other.sentence}" for other in short]
        lift = f"×{one.lift:.1f}" if one.lift < 99.95 else f"×{one.lift:,.0f}"
        rows.append((_with_details(one.name, lines), f"{one.rows:,}", draw_bar(one.share), lift))
    return Table(("finding", ">rows", "", ">lift"), rows)


def _with_origin(summary: Summary, number: int, formula: str) -> RenderableType:
    """Return the formula and, on a line below it, its parents unless they are columns."""
    fitted = summary.model.feature_set_
    parents = fitted.parents(number)
    if not any(map(fitted.iteration, parents)):
        return Text(showable(formula))
    left, right = map(summary.formula, parents)
    room = max(_LEAST_ROOM, console().width - _OTHER_COLUMNS)
    # each gets half, and what the other does not need
    half = room // 2
    shown = (
        shorten(left, max(half, room - len(right))),
        shorten(right, max(half, room - len(left))),
    )
    words = showable(f"  from {' and '.join(shown)}")
    return Group(Text(showable(formula)), Text(words, "dim", no_wrap=True, overflow="ellipsis"))


def example_table(model: FeatureConstructor, data: object) -> RichTable | None:
    """Return two or three rows as their chunks; ``None`` where the rows are not in memory."""
    if not isinstance(model, InvertibleConstructor) or not isinstance(data, BooleanData):
        return None
    head = data
    if data.n_rows > _LOOKED_AT:
        ids = data.ids and data.ids._replace(values=data.ids.values[:_LOOKED_AT])
        head = replace(data, columns=data.columns.first_rows(_LOOKED_AT), ids=ids)
    rows = model.chunks(head)
    table = RichTable.grid(padding=(0, 2))
    for k in _choose_examples(rows):
        name = f"row {k + 1}" if head.ids is None else shorten(head.ids.values[k], 20)
        chunks = shorten(_join_chunks(rows[k]), LONGEST)
        table.add_row(Text(showable(f"  {name}")), Text(showable(chunks)))
    return table if table.row_count else None


def _choose_examples(rows: list[list[Chunk]]) -> list[int]:
    """Choose rows that fit on a line, have chunks of several tags, and share none of these."""
    large = [{chunk for chunk in chunks if len(chunk) > 1} for chunks in rows]

    def rank(k: int) -> tuple[bool, int, bool, int]:
        return len(_join_chunks(rows[k])) > _SHORT, -min(len(large[k]), 2), len(rows[k]) < 2, k

    shown: set[Chunk] = set()
    chosen: list[int] = []
    for k in sorted((k for k, chunks in enumerate(large) if chunks), key=rank):
        if len(chosen) < _EXAMPLES_SHOWN and not large[k] & shown:
            chosen.append(k)
            shown |= large[k]
    return sorted(chosen)


def _join_chunks(chunks: list[Chunk]) -> str:
    return CHUNKS_BETWEEN.join(map(pattern_text, chunks))


def render_summary(
    model: FeatureConstructor,
    table: BooleanData | Stream,
    out: Path | None = None,
    *,
    formulas: bool = False,
) -> Iterator[RenderableType | None]:
    """Yield what was found, some rows as chunks, why it stopped, and the description length."""
    summary = Summary(model, as_options)
    yield summary.overview
    if not summary.n_iter:
        # why is a note already
        return
    elsewhere = "" if out is None else f"; conjunct show {out} lists more"
    shown = summary.findings[:FINDINGS_SHOWN]
    if shown:
        yield finding_table(shown)
        if len(summary.findings) > FINDINGS_SHOWN:
            yield f"Top {FINDINGS_SHOWN} of {len(summary.findings):,} findings{elsewhere}."
    yield summary.name_copies(shown) or None
    features = summary.new_features
    if features and (formulas or not (summary.findings or summary.same_columns)):
        yield feature_table(summary, features[:_FEATURES_SHOWN], with_formulas=formulas)
        if len(features) > _FEATURES_SHOWN:
            yield f"Top {_FEATURES_SHOWN} of {len(features):,} features{elsewhere}."
    examples = example_table(model, table)
    if examples is not None:
        yield Group("Rows as chunks:", examples)
    yield f"{summary.plain_reason} {summary.length}".strip() or None
