"""Commands that present a model: ``show``, ``report`` and ``export``."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from conjunct.cli.inputs import DataInput, read_model, set_column_options, with_reading_options
from conjunct.cli.options import (
    DIALECTS,
    OUTPUT,
    Ascii,
    DataFile,
    Dialect,
    Form,
    ModelFile,
    WithFormulas,
)
from conjunct.cli.outputs import (
    Output,
    model_document,
    save_report,
    with_json_option,
    with_output_options,
)
from conjunct.cli.terminal import (
    as_options,
    ascii_only,
    is_printed,
    is_verbose,
    name_of,
    show_bar,
    showable,
    time_step,
    write,
)
from conjunct.errors import InputError
from conjunct.expressions import pattern_text

if TYPE_CHECKING:
    from conjunct.data import BooleanData
    from conjunct.estimators import FeatureConstructor
    from conjunct.explain import Formulas
    from conjunct.paper import Stability

GraphFormat = Literal["text", "mermaid", "dot"]
_ROWS_SHOWN = 100
_KEPT_SHOWN = 50
_FEATURES_SHOWN = 500


@with_json_option
@with_reading_options
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
    if ascii_ and latex:
        raise InputError("--ascii and --latex exclude each other: give one of them")
    if feature is None and (rows is not None or graph is not None):
        raise InputError("--rows and --graph need a --feature")
    fitted = read_model(model)
    title = repr(fitted)
    if ascii_ or latex:
        fitted.set_params(style="latex" if latex else "ascii")
    elif ascii_only() and not output.json:
        fitted.set_params(style="ascii")
    if feature is not None:
        _explain_feature(fitted, _find_feature(fitted, feature), rows, graph, source, output)
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
        _print_features(title, fitted, in_form, wanted=formulas or latex or form is not None)


def _print_features(
    title: str, model: FeatureConstructor, formulas: Formulas | None, *, wanted: bool
) -> None:
    from conjunct.cli.tables import (
        FINDINGS_SHOWN,
        LONGEST,
        feature_table,
        preparation_table,
        score_table,
    )
    from conjunct.explain import Summary, listed

    summary = Summary(model, as_options)
    features, kept = summary.constructed, listed(summary.kept, _KEPT_SHOWN, LONGEST)
    listed_features = features[:_FEATURES_SHOWN]
    has_scores = is_verbose() or not summary.by_pattern
    in_form = None
    if formulas:
        where = (
            "" if formulas.equivalent == "always" else f"; equivalent {formulas.equivalent} only"
        )
        in_form = (
            f"Form: {formulas.form}{where}. Mean length (C1) "
            f"{formulas.length_before:.2f} as built, {formulas.length_after:.2f} in this form."
        )
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
        in_form,
        f"Kept as they were: {kept}." if kept else None,
        score_table(lines) if has_scores else None,
    )


def _find_feature(model: FeatureConstructor, feature: str) -> int:
    """Return the position of a feature by its name, formula or number; a column's name goes first.

    ``car + truck`` also names the feature that has these tags and denies others.
    """
    fitted = model.feature_set_
    number = feature.isdecimal() and feature not in fitted.lineage.primitives
    if feature not in fitted.pattern_texts:
        plain = list(map(pattern_text, fitted.patterns))
        if plain.count(feature) == 1:
            return plain.index(feature)
    return fitted.position(int(feature) if number else feature)


def _explain_feature(
    model: FeatureConstructor,
    position: int,
    rows: Path | None,
    graph: GraphFormat | None,
    source: DataInput,
    output: Output,
) -> None:
    found_rows: list[int] | None = None
    data = None if rows is None else source.read_for(model, rows)
    with source.naming_cells_of(rows or Path()):
        if data is not None:
            # as people count, from the first row of data
            found_rows = (model.rows(position, data) + 1).tolist()
        explanation = model.explain(position, data)
        nearest = model.nearest(position, data, n=3)
    ancestry = model.ancestry(position, graph or "text")
    if output.json:
        output.print(
            asdict(explanation)
            | {
                "rows": found_rows,
                "nearest": [neighbour._asdict() for neighbour in nearest],
                "ancestry": ancestry,
            }
        )
        return
    if graph is not None:
        sys.stdout.write(ancestry)
        return
    parts = [str(explanation), f"Ancestry:\n{ancestry}"]
    if rows is not None and found_rows is not None:
        numbers = ", ".join(map(str, found_rows[:_ROWS_SHOWN]))
        more = len(found_rows) - _ROWS_SHOWN
        others = f" and {more} more; --json lists all" if more > 0 else ""
        name = showable(name_of(rows))
        parts.append(f"Rows of {name} ({len(found_rows)}): {numbers or 'none'}{others}\n")
    if nearest:
        lines = [f"  {x.feature} ({x.similarity:.2f})\n" for x in nearest]
        parts.append(f"Nearest, by {nearest[0].by}:\n" + "".join(lines))
    sys.stdout.write("\n".join(parts))


N_SAMPLES = 20
"""Bootstrap samples for ``--stability``."""


@with_output_options
@with_reading_options
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
    from conjunct.files import check_page_target, check_target

    if check_target(out) in (model.resolve(), data.resolve()):
        raise InputError(f"{out} is the model or the data: name another file for the page")
    check_page_target(out)
    fitted = read_model(model)
    table = source.read_for(fitted, data)
    options: dict[str, Any] = {"title": title or f"Features of {Path(name_of(data)).name}"}
    with source.naming_cells_of(data), time_step(f"wrote {out}"):
        if images is not None:
            options["images"] = _find_images(images, fitted, data, source)
        if stability:
            options["stability"] = _measure_stability(fitted, table)
        save_report(fitted, table, out, **options)
    output.tell(lambda: {"saved": {"report": str(out)}}, f"Saved as {out}.")


def _find_images(
    given: str, model: FeatureConstructor, data: Path, source: DataInput
) -> str | list[Path | None]:
    """Return a folder, or the files that a column names, relative to that of the data."""
    if Path(given).is_dir():
        return given
    by_column = replace(source, options=replace(source.options, id=given))
    try:
        ids = by_column.read_for(model, data).ids
    except InputError as error:
        raise InputError(f"--images: {given!r} is no folder, and as a column: {error}") from None
    files = () if ids is None else ids.values
    return [data.parent / file if file else None for file in files]


def _measure_stability(model: FeatureConstructor, table: BooleanData) -> Stability:
    from conjunct import UFC, Threshold, UFCPath
    from conjunct import stability as measure

    again = model
    if isinstance(model, UFCPath):
        # the solution chosen, not the choice: a path for each run would take very long
        rule = Threshold(model.threshold_ or 0.0, prune=model.prune)
        again = UFC(rule, max_iter=model.n_iter_)
    with (
        time_step(f"made {N_SAMPLES} runs on samples of the rows"),
        show_bar("Constructing on samples", N_SAMPLES) as update,
    ):
        return measure(
            table,
            again,
            kind="bootstrap",
            n_runs=N_SAMPLES,
            progress=lambda done, total: update(done, f"run {done} of {total}"),
        )


Target = Literal["sql", "view", "table", "dbt", "python", "onnx", "json", "schema"]
Cells = Literal["boolean", "integer", "text"]
NamesOrNumber = Literal["pattern", "formula", "number"]


@with_output_options
def export(
    model: Annotated[
        Path | None,
        typer.Argument(
            metavar="[MODEL]", help="Model file that fit has written.", show_default=False
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write. Without it, the result is printed.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    to: Annotated[
        Target,
        typer.Option(
            help="A SELECT, a view or a table of it, a dbt model file, a Python function, "
            "ONNX (to a file), the model as JSON, or the JSON Schema of model files (which needs "
            "no MODEL)."
        ),
    ] = "sql",
    dialect: Annotated[
        Dialect,
        typer.Option(metavar="NAME", help=f"Which SQL: {', '.join(DIALECTS)}."),
    ] = "duckdb",
    table: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Table to select from; data if not given. Twice for schema and table.",
        ),
    ] = None,
    into: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="View or table to make; features if not given. Twice for schema and table.",
        ),
    ] = None,
    source: Annotated[
        Cells | None,
        typer.Option(
            help="What the columns of the table hold: Booleans, 0 and 1, or text. If not given, "
            "Booleans, or what the model was fitted on; in SQLite and MySQL also text.",
        ),
    ] = None,
    names: Annotated[
        NamesOrNumber | None,
        typer.Option(
            help="What to call the features: chair + dining table, chair ∧ dining table, or f0, "
            "f1 and so on. As transform does if not given.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Column to select as it is; may be given again."),
    ] = None,
    form: Annotated[
        Form,
        typer.Option(help="As constructed, or another form, equal on rows without missing cells."),
    ] = "built",
    *,
    output: Output,
) -> None:
    """Write features as SQL, Python, ONNX or JSON.

    \b
    Examples:
      $ conjunct export model.json --dialect sqlite --table animals
      $ conjunct export model.json --to view --table animals --into chunks
      $ conjunct export model.json --to dbt --table animals --out features.sql
      $ conjunct export model.json --to python --out features.py
      $ conjunct export model.json --to onnx --out features.onnx
      $ conjunct export model.json --dialect postgres --names number
      $ conjunct export --to schema --out model-schema.json
    """
    from conjunct.files import write_atomically

    content = _export(model, to, dialect, table, into, source, names, keep, form)
    text = content if isinstance(content, str) else None
    printed = is_printed(out)
    if out is not None and not printed:
        with time_step(f"wrote {out}"):
            data = content.encode() if isinstance(content, str) else content
            write_atomically(out, lambda part: part.write_bytes(data))
    elif text is None:
        raise InputError("ONNX is not text: name a file to write with --out")
    elif not output.json:
        sys.stdout.write(text)
        return
    output.tell(
        lambda: {"to": to, "text": text, "saved": {"file": None if printed else str(out)}},
        f"Saved as {out}.",
    )


def _export(
    model: Path | None,
    to: Target,
    dialect: Dialect,
    table: list[str] | None,
    into: list[str] | None,
    source: Cells | None,
    names: NamesOrNumber | None,
    keep: list[str] | None,
    form: Form,
) -> str | bytes:
    from importlib.util import find_spec

    from conjunct import load
    from conjunct.files import model_schema

    if into and to not in ("view", "table"):
        raise InputError("--into names what --to view or --to table makes")
    if to == "schema":
        return model_schema().decode()
    if model is None:
        raise InputError("name the model file to export")
    fitted = load(model)
    if to == "json":
        return fitted.to_json()
    columns: Literal["formula", "number"] = "formula"
    if names == "number":
        columns = "number"
    else:
        set_column_options(fitted, names=names)
    if to == "python":
        return fitted.to_python(columns=columns, form=form)
    if to == "onnx":
        if find_spec("onnx") is None:
            raise InputError('ONNX needs onnx: pip install "conjunct[onnx]"')
        encoded: bytes = fitted.to_onnx(columns=columns, form=form).SerializeToString()
        return encoded
    if find_spec("sqlglot") is None:
        raise InputError("SQL needs sqlglot: pip install sqlglot")
    return fitted.to_sql(
        table or "data",
        dialect=dialect,
        source=source,
        columns=columns,
        keep=keep or (),
        form=form,
        kind="select" if to == "sql" else to,
        into=into or "features",
    )
