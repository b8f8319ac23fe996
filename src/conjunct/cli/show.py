"""``conjunct show``: what a model file holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from conjunct.cli.inputs import DataInput, reads_data
from conjunct.cli.options import Ascii, ModelFile

if TYPE_CHECKING:
    from conjunct.estimators.base import FeatureConstructor
    from conjunct.reading import Formulas


@reads_data
def show(
    model: ModelFile,
    form: Annotated[
        Literal["built", "nested", "dnf", "simplified"],
        typer.Option(
            help="How to write formulas: as constructed, with common parts taken out, "
            "as a disjunction of conjunctions, or as short as possible."
        ),
    ] = "built",
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
            metavar="FORMULA",
            help="Explain one feature: its formula, or its number in the model.",
            show_default=False,
        ),
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="With --feature: the rows of this table behind it, and its nearest features.",
            show_default=False,
        ),
    ] = None,
    graph: Annotated[
        Literal["text", "mermaid", "dot"] | None,
        typer.Option(help="With --feature: only its ancestry, in this format.", show_default=False),
    ] = None,
    ascii_: Ascii = False,
    latex: Annotated[bool, typer.Option("--latex", help="Write formulas for LaTeX.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, for other programs.")] = False,
    *,
    source: DataInput,
) -> None:
    """Show the features of a model, or explain one of them.

    \b
    Examples:
      $ conjunct show model.json
      $ conjunct show model.json --form simplified
      $ conjunct show model.json --feature "aquatic & ~fins" --rows zoo.csv
      $ conjunct show model.json --json
    """
    import sys

    from conjunct import load
    from conjunct.cli import terminal
    from conjunct.errors import InputError

    if ascii_ and latex:
        raise InputError("--ascii and --latex exclude each other: give one of them")
    if feature is None and (rows is not None or graph is not None):
        raise InputError("--rows and --graph need a --feature")
    fitted = load(model)
    title = repr(fitted)
    if ascii_ or latex:
        fitted.set_params(style="latex" if latex else "ascii")
    elif terminal.ascii_only() and not json:
        fitted.set_params(style="ascii")
    if feature is not None:
        sys.stdout.write(_one(fitted, _position(fitted, feature), rows, graph, source))
        return
    formulas = None
    if given is not None:
        with source.naming_cells_of(given):
            formulas = fitted.formulas(form, given=source.read_for(fitted, given))
    elif form != "built":
        formulas = fitted.formulas(form)
    if json:
        sys.stdout.write(_json(fitted, formulas) + "\n")
    else:
        _tables(title, fitted, formulas)


def _tables(title: str, model: FeatureConstructor, formulas: Formulas | None) -> None:
    from conjunct.cli.rendering import feature_table, kept, listed, preparation_table, score_table
    from conjunct.cli.terminal import write
    from conjunct.cli.words import summary

    unchanged = kept(model)
    write(
        title,
        summary(model),
        preparation_table(model.preparation_),
        feature_table(model, formulas=formulas) if model.n_iter_ else None,
        _lengths(formulas) if formulas else None,
        f"Kept as they were: {listed(unchanged, len(unchanged))}." if unchanged else None,
        score_table((f"iteration {line.iteration}", line) for line in model.history_),
    )


def _lengths(formulas: Formulas) -> str:
    where = "" if formulas.equivalent == "always" else f"; equivalent {formulas.equivalent} only"
    return (
        f"Form: {formulas.form}{where}. Mean length (C1) "
        f"{formulas.length_before:.2f} as built, {formulas.length_after:.2f} in this form."
    )


def _position(model: FeatureConstructor, feature: str) -> int:
    """A feature by its formula; a number is one of a feature unless a column is called so."""
    number = feature.isdecimal() and feature not in model.feature_set_.lineage.primitives
    return model.feature_set_.position(int(feature) if number else feature)


def _one(
    model: FeatureConstructor,
    position: int,
    rows: Path | None,
    graph: Literal["text", "mermaid", "dot"] | None,
    source: DataInput,
) -> str:

    if graph is not None:
        return model.ancestry(position, graph)
    ancestry = "Ancestry:\n" + model.ancestry(position)
    if rows is None:
        parts = [str(model.explain(position)), ancestry]
        neighbours = model.nearest(position, n=3)
    else:
        data = source.read_for(model, rows)
        with source.naming_cells_of(rows):
            behind = model.rows(position, data).tolist()
        # as people count, from the first row of data
        numbers = ", ".join(str(row + 1) for row in behind)
        behind_it = f"Rows of {rows} ({len(behind)}): {numbers or 'none'}\n"
        parts = [str(model.explain(position, data)), ancestry, behind_it]
        neighbours = model.nearest(position, data, n=3)
    nearest = [f"  {x.feature} ({x.similarity:.2f})\n" for x in neighbours]
    if nearest:
        parts.append(f"Nearest, by {neighbours[0].by}:\n" + "".join(nearest))
    return "\n".join(parts)


def _json(model: FeatureConstructor, formulas: Formulas | None) -> str:
    import msgspec

    from conjunct.estimators.rules import formula_columns

    rules = model.get_rules("dict")
    if formulas is not None:
        rules |= formula_columns(formulas, model.style)
    content = {
        "kind": type(model).__name__,
        "parameters": {k: v for k, v in model.get_params().items() if k not in model._unsaved},
        "n_rows": model.feature_set_.n_rows,
        "columns": list(model.feature_set_.lineage.primitives),
        "threshold": getattr(model, "threshold_", None),
        "features": _rows(rules),
        "suppressed": _rows(model.get_rules("dict", suppressed=True)),
        "history": model.history_,
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=1).decode()


def _rows(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
