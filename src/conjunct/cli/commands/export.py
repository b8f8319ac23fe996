"""``conjunct export``: features for use without conjunct."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from conjunct.cli.help import OUTPUT
from conjunct.cli.options import DIALECTS, Dialect, Form
from conjunct.cli.outputs import Output, speaks

Target = Literal["sql", "view", "table", "dbt", "python", "onnx", "json", "schema"]
Cells = Literal["boolean", "integer", "text"]
NamesOrNumber = Literal["pattern", "formula", "number"]


@speaks
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
    import sys

    from conjunct.cli.progress import step
    from conjunct.cli.standard_streams import is_printed
    from conjunct.errors import InputError
    from conjunct.files import write_atomically

    content = _content(model, to, dialect, table, into, source, names, keep, form)
    text = content if isinstance(content, str) else None
    printed = is_printed(out)
    if out is not None and not printed:
        with step(f"wrote {out}"):
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


def _content(
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
    from conjunct.cli.commands.transform import adapt
    from conjunct.errors import InputError
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
        adapt(fitted, names=names)
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
