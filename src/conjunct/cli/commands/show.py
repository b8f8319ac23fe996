"""``conjunct show``: what a model file holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from conjunct.cli.help import OUTPUT
from conjunct.cli.inputs import DataInput, reads_data
from conjunct.cli.options import Ascii, Form, ModelFile, WithFormulas
from conjunct.cli.outputs import Document, Output, answers
from conjunct.cli.standard_streams import name_of
from conjunct.cli.terminal import showable
from conjunct.expressions import pattern_text

if TYPE_CHECKING:
    from conjunct.data import BooleanData
    from conjunct.estimators import FeatureConstructor
    from conjunct.explain import Explanation, Formulas, Neighbour

GraphFormat = Literal["text", "mermaid", "dot"]
_ROWS_SHOWN = 100
_KEPT_SHOWN = 50
_FEATURES_SHOWN = 500


@answers
@reads_data
def show(
    model: ModelFile,
    formulas: WithFormulas = False,
    form: Annotated[
        Form | None,
        typer.Option(
            help="How to write formulas, which implies --formulas: as constructed, with common "
            "parts taken out, as a disjunction of conjunctions, or as short as possible.",
            show_default=False,
        ),
    ] = None,
    given: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="Training data: with --form simplified, leave out what never occurs in it.",
            show_default=False,
        ),
    ] = None,
    feature: Annotated[
        str | None,
        typer.Option(
            metavar="FEATURE",
            help="Explain one feature: its name, its formula, or its number in the model.",
            show_default=False,
        ),
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="With --feature: the rows of this table behind it, a formula without what never "
            "occurs in this table, and its nearest features.",
            show_default=False,
        ),
    ] = None,
    graph: Annotated[
        GraphFormat | None,
        typer.Option(help="With --feature: only its ancestry, in this format.", show_default=False),
    ] = None,
    ascii_: Ascii = False,
    latex: Annotated[
        bool, typer.Option("--latex", help="Write formulas for LaTeX.", rich_help_panel=OUTPUT)
    ] = False,
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Show the features of a model, or explain one of them.

    \b
    Examples:
      $ conjunct show model.json
      $ conjunct show model.json --formulas
      $ conjunct show model.json --form simplified
      $ conjunct show model.json --feature 18 --rows zoo.csv
      $ conjunct show model.json --json
    """
    from conjunct import load
    from conjunct.cli import terminal
    from conjunct.cli.documents import model_document
    from conjunct.cli.progress import step
    from conjunct.errors import InputError

    if ascii_ and latex:
        raise InputError("--ascii and --latex exclude each other: give one of them")
    if feature is None and (rows is not None or graph is not None):
        raise InputError("--rows and --graph need a --feature")
    with step(f"read {model}"):
        fitted = load(model)
    title = repr(fitted)
    if ascii_ or latex:
        fitted.set_params(style="latex" if latex else "ascii")
    elif terminal.ascii_only() and not output.json:
        fitted.set_params(style="ascii")
    if feature is not None:
        _one(fitted, _position(fitted, feature), rows, graph, source, output)
        return
    in_form = None
    if given is not None:
        with source.naming_cells_of(given):
            in_form = fitted.formulas(form or "built", given=source.read_for(fitted, given))
    elif form not in (None, "built"):
        in_form = fitted.formulas(form)
    if output.json:
        output.print(model_document(fitted, formulas=in_form))
    else:
        _tables(title, fitted, in_form, wanted=formulas or latex or form is not None)


def _tables(
    title: str, model: FeatureConstructor, formulas: Formulas | None, *, wanted: bool
) -> None:
    from conjunct.cli.constructing import FINDINGS_SHOWN
    from conjunct.cli.features import feature_table
    from conjunct.cli.rendering import LONGEST, preparation_table, score_table
    from conjunct.cli.terminal import as_options, is_verbose, write
    from conjunct.explain import Summary, listed

    summary = Summary(model, as_options)
    features, kept = summary.constructed, listed(summary.kept, _KEPT_SHOWN, LONGEST)
    listed_features = features[:_FEATURES_SHOWN]
    has_scores = is_verbose() or not summary.by_pattern
    lines = ((f"iteration {line.iteration}", line) for line in model.history_)
    write(
        title,
        summary.text,
        feature_table(summary, summary.chunks[:FINDINGS_SHOWN], heading="chunk")
        if summary.chunks
        else None,
        preparation_table(model.preparation_),
        summary.variables or None,
        feature_table(summary, listed_features, with_formulas=wanted, formulas=formulas)
        if features
        else None,
        f"The {_FEATURES_SHOWN} of {len(features):,} that "
        f"{'save most' if summary.chunks else 'are most common'}; --json lists all."
        if len(features) > _FEATURES_SHOWN
        else None,
        summary.marks or None,
        _lengths(formulas) if formulas else None,
        f"Kept as they were: {kept}." if kept else None,
        score_table(lines) if has_scores else None,
    )


def _lengths(formulas: Formulas) -> str:
    where = "" if formulas.equivalent == "always" else f"; equivalent {formulas.equivalent} only"
    return (
        f"Form: {formulas.form}{where}. Mean length (C1) "
        f"{formulas.length_before:.2f} as built, {formulas.length_after:.2f} in this form."
    )


def _position(model: FeatureConstructor, feature: str) -> int:
    """A feature by its name or formula; a number is one of a feature, unless a column is called so.

    ``car + truck`` also stands for what is left of it: no two features have the same pattern.
    """
    fitted = model.feature_set_
    number = feature.isdecimal() and feature not in fitted.lineage.primitives
    if feature not in fitted.pattern_texts:
        plain = list(map(pattern_text, fitted.patterns))
        if plain.count(feature) == 1:
            return plain.index(feature)
    return fitted.position(int(feature) if number else feature)


def _one(
    model: FeatureConstructor,
    position: int,
    rows: Path | None,
    graph: GraphFormat | None,
    source: DataInput,
    output: Output,
) -> None:
    import sys

    data = None if rows is None else source.read_for(model, rows)
    with source.naming_cells_of(rows or Path()):
        found = _explained(model, position, data)
    drawn = model.ancestry(position, graph or "text")
    if output.json:
        output.print(_document(found, drawn))
    elif graph is not None:
        sys.stdout.write(drawn)
    else:
        sys.stdout.write("\n".join(_parts(found, drawn, rows)))


@dataclass(frozen=True)
class _Explained:
    explanation: Explanation
    neighbours: list[Neighbour]
    # as people count, from the first row of data; None without data
    rows: list[int] | None


def _explained(model: FeatureConstructor, position: int, data: BooleanData | None) -> _Explained:
    rows = None if data is None else (model.rows(position, data) + 1).tolist()
    return _Explained(model.explain(position, data), model.nearest(position, data, n=3), rows)


def _document(found: _Explained, ancestry: str) -> Document:
    return asdict(found.explanation) | {
        "rows": found.rows,
        "nearest": [neighbour._asdict() for neighbour in found.neighbours],
        "ancestry": ancestry,
    }


def _parts(found: _Explained, ancestry: str, rows: Path | None) -> Iterator[str]:
    yield str(found.explanation)
    yield f"Ancestry:\n{ancestry}"
    if rows is not None and found.rows is not None:
        numbers = ", ".join(map(str, found.rows[:_ROWS_SHOWN]))
        more = len(found.rows) - _ROWS_SHOWN
        others = f" and {more} more; --json lists all" if more > 0 else ""
        name = showable(name_of(rows))
        yield f"Rows of {name} ({len(found.rows)}): {numbers or 'none'}{others}\n"
    if found.neighbours:
        nearest = [f"  {x.feature} ({x.similarity:.2f})\n" for x in found.neighbours]
        yield f"Nearest, by {found.neighbours[0].by}:\n" + "".join(nearest)
