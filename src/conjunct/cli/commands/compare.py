"""``conjunct compare``: the chunks by which two tables differ."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conjunct.cli.comparing import FoundOut, tests_chunks
from conjunct.cli.inputs import DataInput, reads_data
from conjunct.cli.options import READ, ModelFile
from conjunct.cli.outputs import Output, speaks

if TYPE_CHECKING:
    from rich.table import Table

_SHOWN = 20


@speaks
@reads_data
@tests_chunks
def compare(
    model: ModelFile,
    first: Annotated[Path, typer.Argument(metavar="X", help=f"{READ}.", show_default=False)],
    second: Annotated[
        Path,
        typer.Argument(metavar="Y", help="Another. - is standard input.", show_default=False),
    ],
    out: FoundOut = None,
    *,
    test: dict[str, Any],
    source: DataInput,
    output: Output,
) -> None:
    """Show the chunks by which two tables differ.

    They are those that are significantly more common in one of them. Each chunk is tested once,
    two-sided. No row may be in both tables. Columns are found as in conjunct transform.

    \b
    Examples:
      $ conjunct compare model.json old.csv new.csv
      $ conjunct compare model.json old.csv new.csv --correction bh --out diff.csv
    """
    from conjunct import compare as compared
    from conjunct.cli.comparing import how_tested, load_with_chunks, save
    from conjunct.cli.documents import records
    from conjunct.cli.progress import step
    from conjunct.cli.standard_streams import DASH, name_of
    from conjunct.errors import InputError
    from conjunct.explain import count

    if first == second == DASH:
        raise InputError("X and Y cannot both be standard input: name a file for one of them")
    fitted = load_with_chunks(model, out)
    tables = []
    for data in (first, second):
        table = source.read_for(fitted, data)
        if fitted.missing == "raise":
            with source.naming_cells_of(data):
                table.refuse_missing()
        tables.append(table)
    with step("compared chunks"):
        found = compared(fitted, *tables, **test, backend="dict")
    saved = save(found, out)
    n_found = len(found["pattern"])
    n_x, n_y = (table.n_rows for table in tables)
    output.tell(
        lambda: {
            "n_x": n_x,
            "n_y": n_y,
            **test,
            "chunks": records(found),
            "saved": {"table": None if out is None else str(out)},
        },
        f"X is {name_of(first)} ({count(n_x, 'row')}), Y is {name_of(second)} "
        f"({count(n_y, 'row')}).",
        _table(found) if n_found else "No chunk is significantly more common in one.",
        None
        if n_found <= _SHOWN
        else f"The {_SHOWN} of {n_found} with the least p; --out writes all.",
        how_tested("two-sided", test),
        saved,
    )


def _table(found: dict[str, list[Any]]) -> Table:
    from conjunct.cli.comparing import p_text
    from conjunct.cli.documents import records
    from conjunct.cli.rendering import LONGEST, cell, plain_table
    from conjunct.explain import share, shortened

    table = plain_table("chunk", ">X", ">Y", "more in", ">times", ">p")
    for row in records(found)[:_SHOWN]:
        smaller, larger = sorted((row["share_x"], row["share_y"]))
        table.add_row(
            cell(shortened(row["pattern"], LONGEST)),
            share(row["share_x"]),
            share(row["share_y"]),
            row["more_common_in"],
            f"{larger / smaller:.1f}" if smaller else "only",
            p_text(row["p_adjusted"]),
        )
    return table
