"""``conjunct datasets``: the bundled data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from conjunct.cli.options import TableOut
from conjunct.cli.outputs import Output, speaks

if TYPE_CHECKING:
    from rich.console import RenderableType

    from conjunct.datasets import Dataset


def _names(incomplete: str) -> list[tuple[str, str]]:
    """The data sets that a name may be completed to."""
    from conjunct.datasets import DATASETS

    return [(d.name, d.description) for d in DATASETS if d.name.startswith(incomplete)]


@speaks
def datasets(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="Data set to write.",
            show_default=False,
            autocompletion=_names,
        ),
    ] = None,
    out: TableOut = None,
    *,
    output: Output,
) -> None:
    """List the bundled data sets, or write one of them as a table.

    \b
    Examples:
      $ conjunct datasets
      $ conjunct datasets zoo --out zoo.csv
      $ conjunct datasets --json
    """
    import sys

    from conjunct.cli.progress import step
    from conjunct.cli.standard_streams import is_printed
    from conjunct.cli.terminal import note
    from conjunct.datasets import DATASETS, find
    from conjunct.errors import InputError
    from conjunct.files import as_csv, read_table, write_table

    if name is None:
        if out is not None:
            raise InputError("--out needs the name of a data set: see conjunct datasets")
        output.tell(lambda: {"datasets": [_document(d) for d in DATASETS]}, *_listed())
        return
    dataset = find(name)
    note(f"{dataset.attribution}; {dataset.licence}")
    table = read_table(dataset.path)
    if out is not None and not is_printed(out):
        with step(f"wrote {out}"):
            write_table(out, table)
        output.tell(
            lambda: _document(dataset) | {"saved": {"table": str(out)}},
            f"Saved {table.height} rows and {table.width} columns as {out}.",
        )
    elif output.json:
        output.print(_document(dataset))
    else:
        sys.stdout.write(as_csv(table))


def _document(dataset: Dataset) -> dict[str, Any]:
    described = ("name", "rows", "columns", "has_missing", "description", "attribution", "licence")
    return {key: getattr(dataset, key) for key in described}


def _listed() -> tuple[RenderableType, ...]:
    from conjunct.cli.rendering import plain_table
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
    return table, "\n".join(sources)
