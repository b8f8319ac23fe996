"""Commands that present a model: ``show``, ``report`` and ``export``."""

from __future__ import annotations

import warnings
from dataclasses import asdict, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from conjunct import estimators, explain, files
from conjunct.cli import outputs, terminal
from conjunct.cli.options import (
    ASCII,
    DATA_FILE,
    MODEL_FILE,
    READING_OPTIONS,
    WITH_FORMULAS,
    DataInput,
    Dialect,
    Form,
    argument,
    option,
    output_option,
    read_model,
    takes,
)
from conjunct.errors import ConjunctWarning, InputError

if TYPE_CHECKING:
    from conjunct.data import BooleanData
    from conjunct.estimators import FeatureConstructor
    from conjunct.explain import Formulas
    from conjunct.paper import Stability

GraphFormat = Literal["text", "mermaid", "dot"]
Order = Literal["evidence", "lift", "rows"]
_ROWS_SHOWN = 100
_KEPT_SHOWN = 50
_FINDINGS_SHOWN = 20
_FEATURES_SHOWN = 500


@takes(source=READING_OPTIONS, output=outputs.JSON_OPTIONS)
def show(
    model: Path = MODEL_FILE,
    formulas: bool = WITH_FORMULAS,
    form: Form | None = option(
        "Form of the formulas: as constructed, with common parts factored out, as a disjunction of "
        "conjunctions, or as short as possible."
    ),
    train: Path | None = option(
        "Training data, for --form simplified: combinations that it lacks are ignored.",
        metavar="DATA",
    ),
    feature: str | None = option(
        "Explain one feature: its name, its formula, or its number in the model.", metavar="FEATURE"
    ),
    rows: Path | None = option(
        "With --feature: show its rows in this table, its formula simplified for this table, and "
        "its most similar features.",
        metavar="DATA",
    ),
    order: Order = option("Sort by evidence, lift or number of rows.", default="evidence"),
    graph: GraphFormat | None = option("With --feature: print only its ancestry, in this format."),
    ascii_: bool = ASCII,
    latex: bool = output_option("Write formulas for LaTeX.", "--latex", default=False),
    *,
    source: DataInput,
    output: outputs.Output,
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
        raise InputError("use either --ascii or --latex, not both")
    if feature is None and (rows is not None or graph is not None):
        raise InputError("--rows and --graph need --feature")
    fitted = read_model(model)
    title = repr(fitted)
    if ascii_ or latex:
        fitted.set_params(formula_style="latex" if latex else "ascii")
    elif terminal.ascii_only() and not output.json:
        fitted.set_params(formula_style="ascii")
    if feature is not None:
        number = feature.isdecimal() and feature not in fitted.feature_set_.lineage.primitives
        wanted = int(feature) if number else feature
        _explain_feature(fitted, wanted, rows, graph, source, output)
        return
    in_form = None
    if train is not None:
        with source.naming_cells_of(train):
            in_form = fitted.formulas(form or "built", X_train=source.read(train, fitted))
    elif form not in (None, "built"):
        in_form = fitted.formulas(form)
    if output.json:
        output.print_json(outputs.model_document(fitted, formulas=in_form))
    else:
        _print_features(
            title, fitted, in_form, wanted=formulas or latex or form is not None, order=order
        )


def _print_features(
    title: str, model: FeatureConstructor, formulas: Formulas | None, *, wanted: bool, order: Order
) -> None:
    summary = explain.Summary(model, terminal.as_options)
    findings = explain.find(model.feature_set_, order).findings
    has_features = wanted or terminal.is_verbose() or not summary.by_pattern
    features = summary.new_features if has_features else ()
    table_of = partial(outputs.feature_table, summary, with_formulas=wanted, formulas=formulas)
    kept = explain.join_names(summary.remaining_columns, _KEPT_SHOWN, outputs.LONGEST)
    has_scores = terminal.is_verbose() or not summary.by_pattern
    in_form = None
    if formulas:
        is_always = formulas.equivalent == "always"
        where = "" if is_always else f"; equivalent {formulas.equivalent} only"
        in_form = (
            f"Form: {formulas.form}{where}. Mean length (C1) "
            f"{formulas.length_before:.2f} as built, {formulas.length_after:.2f} in this form."
        )
    lines = ((f"iteration {line.iteration}", line) for line in model.history_)
    terminal.write(
        title,
        summary.text,
        *outputs.show_first(
            _FINDINGS_SHOWN, "findings", findings, outputs.finding_table, "; --json lists all"
        ),
        summary.name_copies(findings[:_FINDINGS_SHOWN]) or None,
        outputs.preparation_table(model.preparation_),
        summary.variables or None,
        *outputs.show_first(_FEATURES_SHOWN, "features", features, table_of, "; --json lists all"),
        (features and summary.marks) or None,
        in_form,
        f"In no chunk: {kept}." if kept and model.feature_set_.merges else None,
        outputs.score_table(lines) if has_scores else None,
    )


def _explain_feature(
    model: FeatureConstructor,
    feature: int | str,
    rows: Path | None,
    graph: GraphFormat | None,
    source: DataInput,
    output: outputs.Output,
) -> None:
    found_rows: list[int] | None = None
    data = None if rows is None else source.read(rows, model)
    with source.naming_cells_of(rows or Path()):
        if data is not None:
            # numbered from 1
            found_rows = (model.find_rows(feature, data) + 1).tolist()
        explanation = model.explain(feature, data)
        nearest = model.similar_features(feature, data, n=3)
    ancestry = model.ancestry(feature, graph or "text")
    if output.json:
        output.print_json(
            asdict(explanation)
            | {
                "rows": found_rows,
                "similar_features": [neighbour._asdict() for neighbour in nearest],
                "ancestry": ancestry,
            }
        )
        return
    if graph is not None:
        terminal.write_text(ancestry)
        return
    parts = [str(explanation), f"Ancestry:\n{ancestry}"]
    if rows is not None and found_rows is not None:
        numbers = ", ".join(map(str, found_rows[:_ROWS_SHOWN]))
        more = len(found_rows) - _ROWS_SHOWN
        others = f" and {more} more; --json lists all" if more > 0 else ""
        name = terminal.showable(terminal.name_of(rows))
        parts.append(f"Rows of {name} ({len(found_rows)}): {numbers or 'none'}{others}\n")
    if nearest:
        lines = [f"  {x.feature} ({x.similarity:.2f})\n" for x in nearest]
        parts.append(f"Most similar, by {nearest[0].by}:\n" + "".join(lines))
    terminal.write_text("\n".join(parts))


N_SAMPLES = 20
"""Bootstrap samples for ``--stability``."""


@takes(source=READING_OPTIONS, output=outputs.OUTPUT_OPTIONS)
def report(
    model: Path = MODEL_FILE,
    data: Path = DATA_FILE,
    out: Path = output_option("HTML report to write.", "--out", "-o", default=...),
    title: str | None = option("Title of the report."),
    images: str | None = option(
        "Column with the image file of each row, or folder of images named by --id.",
        metavar="COLUMN|DIR",
    ),
    stability: bool = option(
        "Show how often features recur in bootstrap samples.", "--stability", default=False
    ),
    *,
    source: DataInput,
    output: outputs.Output,
) -> None:
    """Write a report of a model and its data, as one HTML page.

    The page is self-contained: it needs no network and no other files.

    \b
    Examples:
      $ conjunct report model.json zoo.csv -o report.html
      $ conjunct report model.json zoo.csv --title Animals -o report.html
    """
    outputs.check_targets({"model": model, "data": data}, page=out)
    fitted = read_model(model)
    table = source.read(data, fitted)
    options: dict[str, Any] = {"title": title or f"Findings in {Path(terminal.name_of(data)).name}"}
    with source.naming_cells_of(data), terminal.time_step(f"wrote {out}"):
        if images is not None:
            options["images"] = _find_images(images, fitted, data, source)
        if stability:
            options["stability"] = _measure_stability(fitted, table)
        outputs.save_report(fitted, table, out, **options)
    output.show(lambda: {"saved": {"report": out}}, f"Saved as {out}.")


def _find_images(
    given: str, model: FeatureConstructor, data: Path, source: DataInput
) -> str | list[Path | None]:
    """Return the folder of images, or the image files that a column names."""
    if Path(given).is_dir():
        return given
    by_column = replace(source, options=replace(source.options, id=given))
    try:
        ids = by_column.read(data, model).ids
    except InputError as error:
        raise InputError(f"--images: {given!r} is neither a folder nor a column: {error}") from None
    folder = data.parent.resolve()
    # a cell may name any file on the machine: only those in the folder of the data are opened
    named = [file and (folder / file).resolve() for file in (() if ids is None else ids.values)]
    files = [file if file and folder in file.parents else None for file in named]
    if n_outside := sum(map(bool, named)) - sum(map(bool, files)):
        warnings.warn(
            f"images outside {folder} are ignored (in {n_outside:,} rows): move them there",
            ConjunctWarning,
            stacklevel=2,
        )
    return files


def _measure_stability(model: FeatureConstructor, table: BooleanData) -> Stability:
    from conjunct.paper import stability
    from conjunct.ufc import Threshold

    again = model
    if isinstance(model, estimators.UFCPath):
        # only the chosen threshold: a whole path in each run would take too long
        rule = Threshold(model.threshold_ or 0.0, prune=model.prune)
        again = estimators.UFC(rule, max_iter=model.n_iter_)
    with (
        terminal.time_step(f"ran {N_SAMPLES} times on samples of the rows"),
        terminal.show_bar("Constructing on samples", N_SAMPLES) as update,
    ):
        return stability(
            table,
            again,
            kind="bootstrap",
            n_runs=N_SAMPLES,
            progress=lambda done, total: update(done, f"run {done} of {total}"),
        )


Target = Literal["sql", "view", "table", "dbt", "python", "onnx", "json", "schema"]
ColumnType = Literal["boolean", "integer", "text"]
FeatureNames = Literal["tags", "formula", "number"]


@takes(output=outputs.OUTPUT_OPTIONS)
def export(
    model: Path | None = argument("[MODEL]", "Model file written by fit.", default=None),
    out: Path | None = output_option(
        "File to write. Without it, the result is printed.", "--out", "-o"
    ),
    to: Target = option(
        "Export a SELECT query, a view, a table, a dbt model, a Python function, ONNX (to a "
        "file), the model as JSON, or the JSON Schema of model files (without MODEL).",
        default="sql",
    ),
    dialect: Dialect = option(
        f"SQL dialect: {', '.join(get_args(Dialect))}.", default="duckdb", metavar="NAME"
    ),
    table: list[str] | None = option(
        "Table to select from (default: data). Use twice for schema and table.", metavar="NAME"
    ),
    into: list[str] | None = option(
        "View or table to create (default: features). Use twice for schema and table.",
        metavar="NAME",
    ),
    column_type: ColumnType | None = option(
        "Type of the columns in the table: Booleans, 0 and 1, or text (default: Booleans, or the "
        "types in the training data; in SQLite and MySQL also text)."
    ),
    feature_names: FeatureNames | None = option(
        "Feature names: chair + dining table, chair ∧ dining table, or f0, f1 and so on (default: "
        "as in transform)."
    ),
    keep: list[str] | None = option("Column to select unchanged; may be repeated.", metavar="NAME"),
    form: Form = option(
        "Form of the formulas; all forms agree on rows without missing cells.", default="built"
    ),
    findings: bool = option(
        "Export findings instead of features: true in rows with all their tags.",
        "--findings",
        default=False,
    ),
    *,
    output: outputs.Output,
) -> None:
    """Write features as SQL, Python, ONNX or JSON.

    \b
    Examples:
      $ conjunct export model.json --dialect sqlite --table animals
      $ conjunct export model.json --to view --table animals --into chunks
      $ conjunct export model.json --to dbt --table animals --out features.sql
      $ conjunct export model.json --to python --out features.py
      $ conjunct export model.json --to onnx --out features.onnx
      $ conjunct export model.json --dialect postgres --feature-names number
      $ conjunct export model.json --findings --table animals
      $ conjunct export --to schema --out model-schema.json
    """
    content: str | bytes
    if into and to not in ("view", "table"):
        raise InputError("--into needs --to view or --to table")
    if findings and to not in ("sql", "view", "table", "dbt"):
        raise InputError(f"--findings needs SQL: --to {to} writes all features")
    if to == "schema":
        content = files.model_schema().decode()
    elif model is None:
        raise InputError("MODEL is missing: which model file should be exported?")
    else:
        fitted = read_model(model)
        if to == "json":
            content = fitted.to_json()
        elif to == "python":
            content = fitted.to_python(feature_names=feature_names, form=form)
        elif to == "onnx":
            _require("onnx", "ONNX", '"conjunct[onnx]"')
            graph = fitted.to_onnx(feature_names=feature_names, form=form)
            content = graph.SerializeToString()
        else:
            _require("sqlglot", "SQL", "sqlglot")
            content = fitted.to_sql(
                table or "data",
                dialect=dialect,
                column_type=column_type,
                feature_names=feature_names,
                keep=keep or (),
                form=form,
                kind="select" if to == "sql" else to,
                into=into or "features",
                findings=findings,
            )
    text = content if isinstance(content, str) else None
    saved = None if terminal.is_printed(out) else out
    if saved is not None:
        with terminal.time_step(f"wrote {saved}"):
            data = content.encode() if isinstance(content, str) else content
            files.write_atomically(saved, lambda part: part.write_bytes(data))
    elif text is None:
        raise InputError("ONNX is not text: use --out to write a file")
    elif not output.json:
        terminal.write_text(text)
        return
    output.show(lambda: {"to": to, "text": text, "saved": {"file": saved}}, f"Saved as {saved}.")


def _require(library: str, what: str, install: str) -> None:
    if find_spec(library) is None:
        raise InputError(f"{what} needs {library}: pip install {install}")
