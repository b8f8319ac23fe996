"""Commands that test where chunks are more common: ``compare`` and ``describe``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conjunct.cli.inputs import DataInput, read_model, require_chunks, with_reading_options
from conjunct.cli.options import (
    OUTPUT,
    READ,
    WRITTEN,
    Command,
    Correction,
    DataFile,
    ModelFile,
    add_options,
    parse_alpha,
)
from conjunct.cli.outputs import Output, records, with_output_options
from conjunct.cli.terminal import DASH, file_of, name_of, time_step
from conjunct.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from conjunct.data import BooleanData
    from conjunct.estimators import LosslessConstructor
    from conjunct.files import ReadOptions

ResultOut = Annotated[
    Path | None,
    typer.Option(help=f"{WRITTEN}.", show_default=False, rich_help_panel=OUTPUT),
]


def with_test_options(command: Command) -> Command:
    """Give a command ``--alpha`` and ``--correction``; it gets them as ``test``."""
    return add_options(command, "test", _make_test)


def _make_test(
    alpha: Annotated[
        str,
        typer.Option(metavar="NUMBER|none", help="Largest adjusted p-value; none: whatever it is."),
    ] = "0.05",
    correction: Annotated[
        Correction, typer.Option(help="Correct p-values for the number of tests.")
    ] = "holm",
) -> dict[str, Any]:
    return {"alpha": parse_alpha(alpha), "correction": None if correction == "none" else correction}


def _read_model(model: Path, out: Path | None) -> LosslessConstructor:
    """Return a model that has chunks, after a check that the result can be written."""
    from conjunct.files import check_table_target, check_target

    if out is not None:
        check_table_target(out)
        if check_target(out) == model.resolve():
            raise InputError(f"{out} is the model: name another file for the result")
    return require_chunks(read_model(model), model)


def _save(found: dict[str, list[Any]], out: Path | None) -> str | None:
    """Write what was found, if that is wanted, and return a sentence about it."""
    import polars as pl

    from conjunct.files import write_table

    if out is None:
        return None
    with time_step(f"wrote {out}"):
        write_table(out, pl.DataFrame(found))
    return f"Saved as {out}."


def _render_test(sides: str, test: dict[str, Any]) -> str:
    """Return the test in words."""
    from conjunct.ufc import CORRECTIONS

    name = test["correction"]
    corrected = "no" if name is None else CORRECTIONS[name].summary
    at_most = "" if test["alpha"] is None else f", p at most {test['alpha']:g}"
    return f"Fisher's exact test, {sides}; {corrected} correction{at_most}."


def _render_p(p: float) -> str:
    """Return a p-value in ASCII."""
    return f"{p:.2g}" if p else "< 1e-300"


_SHOWN = 20


@with_output_options
@with_reading_options
@with_test_options
def compare(
    model: ModelFile,
    first: Annotated[Path, typer.Argument(metavar="X", help=f"{READ}.", show_default=False)],
    second: Annotated[
        Path,
        typer.Argument(metavar="Y", help="Another. - is standard input.", show_default=False),
    ],
    out: ResultOut = None,
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
    from conjunct import compare as compare_tables
    from conjunct.explain import count

    if first == second == DASH:
        raise InputError("X and Y cannot both be standard input: name a file for one of them")
    fitted = _read_model(model, out)
    tables = []
    for data in (first, second):
        table = source.read_for(fitted, data)
        if fitted.missing == "raise":
            with source.naming_cells_of(data):
                table.refuse_missing()
        tables.append(table)
    with time_step("compare_tables chunks"):
        found = compare_tables(fitted, *tables, **test, backend="dict")
    saved = _save(found, out)
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
        _difference_table(found) if n_found else "No chunk is significantly more common in one.",
        None
        if n_found <= _SHOWN
        else f"The {_SHOWN} of {n_found} with the least p; --out writes all.",
        _render_test("two-sided", test),
        saved,
    )


def _difference_table(found: dict[str, list[Any]]) -> Table:
    from conjunct.cli.tables import LONGEST, cell, plain_table
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
            _render_p(row["p_adjusted"]),
        )
    return table


_LONGEST_LABEL = 24


@with_output_options
@with_reading_options
@with_test_options
def describe(
    model: ModelFile,
    data: DataFile,
    out: ResultOut = None,
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
    from conjunct.explain import count, listed

    fitted = _read_model(model, out)
    if Path(by).is_file():
        table = source.read_for(fitted, data)
        labels = _read_label_file(Path(by), table)
    else:
        labels = _read_label_column(by, data, source.options)
        table = _exclude_labels(by, source, fitted).read_for(fitted, data)
    with source.naming_cells_of(data), time_step("described groups"):
        found = describe_groups(fitted, table, labels, top=top, **test, backend="dict")
    saved = _save(found, out)
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
        _group_table(found) if found["group"] else None,
        f"No chunk is significantly more common in {listed(without, 10, _LONGEST_LABEL)}."
        if without
        else None,
        _render_test("one-sided", test),
        saved,
    )


def _exclude_labels(by: str, source: DataInput, model: LosslessConstructor) -> DataInput:
    """Return an input without the column of labels, unless the model has it."""
    from dataclasses import replace

    options, prepared = source.options, model.preparation_
    if options.tags or by == options.id or by in map(prepared.source_of, model._primitive_names()):
        return source
    return replace(source, options=replace(options, exclude=[*options.exclude, by]))


def _read_label_column(by: str, data: Path, given: ReadOptions) -> list[Any]:
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


def _read_label_file(file: Path, rows: BooleanData) -> list[Any]:
    """Return the labels of rows, in their order; or by their ids, where the file has them."""
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


def _group_table(found: dict[str, list[Any]]) -> Table:
    from conjunct.cli.tables import LONGEST, cell, plain_table
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
            _render_p(row["p_adjusted"]),
        )
    return table
