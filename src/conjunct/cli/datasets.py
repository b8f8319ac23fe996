"""``conjunct datasets``: the bundled data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def datasets(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Data set to write.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Table to write: .csv, .tsv (also .gz) or .parquet. Without it, CSV is printed.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """List the bundled data sets, or write one of them as a table.

    \b
    Examples:
      $ conjunct datasets
      $ conjunct datasets zoo --out zoo.csv
    """
    import sys

    from conjunct.cli.terminal import note, write
    from conjunct.datasets import find
    from conjunct.errors import InputError
    from conjunct.io.tables import as_csv, read_table, write_table

    if name is None:
        if out is not None:
            raise InputError("--out needs the name of a data set: see conjunct datasets")
        _list()
        return
    dataset = find(name)
    note(f"{dataset.attribution}; {dataset.licence}")
    table = read_table(dataset.path)
    if out is None:
        sys.stdout.write(as_csv(table))
        return
    write_table(out, table)
    write(f"Saved {table.height} rows and {table.width} columns as {out}.")


def _list() -> None:
    from conjunct.cli.rendering import plain_table
    from conjunct.cli.terminal import write
    from conjunct.datasets import DATASETS

    table = plain_table("name", ">rows", ">columns", "licence", "content", wrapped=4)
    for dataset in DATASETS:
        missing = ", some missing" if dataset.has_missing else ""
        table.add_row(
            dataset.name,
            str(dataset.rows),
            str(dataset.columns),
            dataset.licence,
            f"{dataset.description}{missing}",
        )
    sources = [f"{dataset.name}: {dataset.attribution}." for dataset in DATASETS]
    write(table, "\n".join(sources))
