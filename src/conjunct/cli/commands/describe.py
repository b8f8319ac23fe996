"""``conjunct describe``: what groups of rows are, in chunks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conjunct.cli.comparing import FoundOut, tests_chunks
from conjunct.cli.inputs import DataInput, reads_data
from conjunct.cli.options import DataFile, ModelFile
from conjunct.cli.outputs import Output, speaks

if TYPE_CHECKING:
    from rich.table import Table

    from conjunct.data import BooleanData
    from conjunct.estimators import LosslessConstructor
    from conjunct.files import ReadOptions

_LONGEST_LABEL = 24


@speaks
@reads_data
@tests_chunks
def describe(
    model: ModelFile,
    data: DataFile,
    out: FoundOut = None,
    *,
    by: Annotated[
        str,
        typer.Option(
            metavar="COLUMN|FILE",
            help="Labels of the rows: a column of DATA, or a table with one column, a label a "
            "row, or two, one of which is that of --id.",
            show_default=False,
        ),
    ],
    top: Annotated[int, typer.Option(help="Most chunks of a group.")] = 5,
    test: dict[str, Any],
    source: DataInput,
    output: Output,
) -> None:
    """Show what groups of rows are, in chunks.

    The groups are yours, such as classes or clusters. Each has the chunks that are significantly
    more common in it than in the other rows. Each chunk is tested in each group, one-sided. Rows
    without a label are left out.

    \b
    Examples:
      $ conjunct fit zoo.csv --exclude milk --out traits.json
      $ conjunct describe traits.json zoo.csv --by milk
      $ conjunct describe traits.json zoo.csv --by milk --top 3 --out milk.csv
    """
    from conjunct import describe_groups
    from conjunct.cli.comparing import how_tested, load_with_chunks, save
    from conjunct.cli.documents import records
    from conjunct.cli.progress import step
    from conjunct.explain import count, listed

    fitted = load_with_chunks(model, out)
    if Path(by).is_file():
        table = source.read_for(fitted, data)
        labels = _labels_of_file(Path(by), table)
    else:
        labels = _labels_of_column(by, data, source.options)
        table = _leaving_out(by, source, fitted).read_for(fitted, data)
    with source.naming_cells_of(data), step("described groups"):
        found = describe_groups(fitted, table, labels, top=top, **test, backend="dict")
    saved = save(found, out)
    groups = dict.fromkeys(str(label) for label in labels if label is not None and label == label)
    without = [label for label in groups if label not in set(map(str, found["group"]))]
    output.tell(
        lambda: {
            "n_rows": table.n_rows,
            "n_groups": len(groups),
            **test,
            "chunks": records(found),
            "without": without,
            "saved": {"table": None if out is None else str(out)},
        },
        f"{count(table.n_rows, 'row')} in {count(len(groups), 'group')}.",
        _table(found) if found["group"] else None,
        f"No chunk is significantly more common in {listed(without, 10, _LONGEST_LABEL)}."
        if without
        else None,
        how_tested("one-sided", test),
        saved,
    )


def _leaving_out(by: str, source: DataInput, model: LosslessConstructor) -> DataInput:
    """Reads all but the labels, unless the model has them: no need to say that it does not."""
    from dataclasses import replace

    options, prepared = source.options, model.preparation_
    if options.tags or by == options.id or by in map(prepared.source_of, model._primitive_names()):
        return source
    return replace(source, options=replace(options, exclude=[*options.exclude, by]))


def _labels_of_column(by: str, data: Path, given: ReadOptions) -> list[Any]:
    from conjunct.cli.standard_streams import file_of
    from conjunct.files import read_table

    table = read_table(
        file_of(data),
        format=given.format,
        columns=[by],
        separator=given.separator,
        null_values=given.null_values,
        sheet=given.sheet,
    )
    return table.get_column(by).to_list()


def _labels_of_file(file: Path, rows: BooleanData) -> list[Any]:
    """The labels of rows, in their order; or by their ids, where the file has them."""
    from conjunct.errors import InputError
    from conjunct.files import read_table

    table = read_table(file)
    ids = rows.ids
    names = [name for name in table.columns if ids is None or name != ids.name]
    if len(names) != 1:
        raise InputError(
            f"{file} has {table.width} columns: keep the labels, and the column of --id if rows "
            f"are known by it"
        )
    labels = table.get_column(names[0]).to_list()
    if ids is None or table.width == 1:
        return labels
    keys = table.get_column(ids.name)
    if keys.n_unique() < len(keys):
        raise InputError(f"{file}: {ids.name!r} must name each row once")
    by_id = dict(zip(map(str, keys), labels, strict=True))
    if not by_id.keys() & set(ids.values):
        raise InputError(f"{file}: no {ids.name!r} is one of the data")
    return [by_id.get(value) for value in ids.values]


def _table(found: dict[str, list[Any]]) -> Table:
    from conjunct.cli.comparing import p_text
    from conjunct.cli.documents import records
    from conjunct.cli.rendering import LONGEST, cell, plain_table
    from conjunct.explain import share, shortened

    table = plain_table("group", "chunk", ">in it", ">outside", ">lift", ">p", wrapped=1)
    before = None
    for row in records(found):
        same = before is not None and row["group"] == before
        before = row["group"]
        table.add_row(
            "" if same else cell(shortened(str(before), _LONGEST_LABEL)),
            cell(shortened(row["pattern"], LONGEST)),
            share(row["share"]),
            share(row["share_outside"]),
            f"{row['lift']:.1f}",
            p_text(row["p_adjusted"]),
        )
    return table
