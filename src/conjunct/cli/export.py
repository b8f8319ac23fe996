"""``conjunct export``: features for use without conjunct."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def export(
    model: Annotated[
        Path | None,
        typer.Argument(
            metavar="MODEL", help="Model file that fit has written.", show_default=False
        ),
    ] = None,
    to: Annotated[
        Literal["sql", "python", "json", "schema"],
        typer.Option(
            help="A SELECT, a Python function, the model as JSON, "
            "or the JSON Schema of model files (which needs no MODEL)."
        ),
    ] = "sql",
    dialect: Annotated[
        Literal["duckdb", "postgres", "sqlite", "bigquery", "snowflake", "spark"],
        typer.Option(help="Which SQL."),
    ] = "duckdb",
    table: Annotated[
        list[str] | None,
        typer.Option(help="Table to select from; data if not given. Twice for schema and table."),
    ] = None,
    source: Annotated[
        Literal["boolean", "integer"],
        typer.Option(help="What the columns of the table hold: Booleans, or 0 and 1."),
    ] = "boolean",
    columns: Annotated[
        Literal["formula", "number"],
        typer.Option(help="What to call the features: by formula, or f0, f1 and so on."),
    ] = "formula",
    keep: Annotated[
        list[str] | None, typer.Option(help="Column to select as it is; may be given again.")
    ] = None,
    form: Annotated[
        Literal["built", "nested", "dnf", "simplified"],
        typer.Option(help="As constructed, or another form, equal on rows without missing cells."),
    ] = "built",
    out: Annotated[
        Path | None,
        typer.Option(help="File to write. Without it, the result is printed.", show_default=False),
    ] = None,
) -> None:
    """Write features as SQL, as a Python function or as JSON.

    \b
    Examples:
      $ conjunct export model.json --dialect sqlite --table animals
      $ conjunct export model.json --to python --out features.py
      $ conjunct export --to schema --out model-schema.json
    """
    import sys
    from importlib.util import find_spec

    from conjunct import load
    from conjunct.cli.terminal import write
    from conjunct.errors import InputError
    from conjunct.io.atomic import write_atomically
    from conjunct.io.model import model_schema

    if to == "schema":
        text = model_schema().decode()
    elif model is None:
        raise InputError("name the model file to export")
    else:
        fitted = load(model)
        if to == "sql":
            if find_spec("sqlglot") is None:
                raise InputError('SQL needs sqlglot: pip install "conjunct[sql]"')
            text = fitted.to_sql(
                table or "data",
                dialect=dialect,
                source=source,
                columns=columns,
                keep=keep or (),
                form=form,
            )
        elif to == "python":
            text = fitted.to_python(columns=columns, form=form)
        else:
            text = fitted.to_json()
    if out is None:
        sys.stdout.write(text)
        return
    write_atomically(out, lambda part: part.write_text(text, encoding="utf-8"))
    write(f"Saved as {out}.")
