"""Commands for the curation of tags: ``suggest`` and ``relations``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from conjunct.cli.inputs import DataInput, find_relations, read_model, with_reading_options
from conjunct.cli.options import DataFile, ModelFile, TableOut
from conjunct.cli.outputs import Output, with_output_options
from conjunct.cli.terminal import is_printed, time_step, write_text
from conjunct.errors import InputError
from conjunct.expressions import pattern_text

if TYPE_CHECKING:
    import polars as pl

    from conjunct.data import Ids
    from conjunct.features import Suggestion

_SHOWN = 10


@with_output_options
@with_reading_options
def suggest(
    model: ModelFile,
    data: DataFile,
    out: TableOut = None,
    top: Annotated[int, typer.Option(min=1, help="Maximum number of tags per row and kind.")] = 5,
    min_score: Annotated[
        float, typer.Option(help="Suggest tags with at least this probability.", min=0, max=1)
    ] = 0.5,
    doubtful: Annotated[
        bool,
        typer.Option("--doubtful/--no-doubtful", help="List doubtful tags after missing ones."),
    ] = True,
    *,
    source: DataInput,
    output: Output,
) -> None:
    """List tags that rows probably lack, and doubtful tags.

    Each line has a row, a tag, the probability that the row has it given its other tags, and the
    tags that speak most for it, or against it if it is doubtful. --id keeps a column that names
    the rows.

    \b
    Examples:
      $ conjunct suggest model.json zoo.csv
      $ conjunct suggest model.json zoo.csv --min-score 0.8 --no-doubtful
      $ conjunct suggest model.json zoo.csv --top 3 --out suggestions.csv
    """
    from conjunct.estimators import UFC
    from conjunct.explain import count
    from conjunct.files import as_csv, check_table_target, check_target, write_table

    if out is None or is_printed(out):
        if output.json:
            raise InputError("--json needs --out: without it, the suggestions are printed as CSV")
    else:
        check_table_target(out)
        if check_target(out) == model.resolve():
            raise InputError(f"{out} is the model: name another file for the suggestions")
    fitted = read_model(model)
    if not isinstance(fitted, UFC):
        raise InputError(
            f"{model}: a model of kind {type(fitted).__name__} has no suggestions: use one that "
            f"conjunct fit has written"
        )
    table = source.read_for(fitted, data)
    with source.naming_cells_of(data), time_step("looked for tags"):
        found = {"missing": fitted.suggest(table, top, min_score=min_score)}
        if doubtful:
            found["doubtful"] = fitted.doubtful(table, top)
    frame = _suggestion_frame(found, table.ids)
    if out is None or is_printed(out):
        write_text(as_csv(frame))
        return
    with time_step(f"wrote {out}"):
        write_table(out, frame)
    n_tags = {kind: sum(map(len, rows)) for kind, rows in found.items()}
    output.tell(
        lambda: {"n_rows": table.n_rows, **n_tags, "saved": {"table": str(out)}},
        f"Saved {' and '.join(f'{n:,} {kind}' for kind, n in n_tags.items())} tags of "
        f"{count(table.n_rows, 'row')} as {out}.",
    )


def _suggestion_frame(found: dict[str, list[list[Suggestion]]], ids: Ids | None) -> pl.DataFrame:
    import polars as pl

    columns = ("kind", "tag", "score", "because")
    name = "row" if ids is None else ids.name
    if name in columns:
        raise InputError(f"the column that names the rows is called {name!r}: rename it")
    lines = [
        (
            str(row + 1) if ids is None else ids.values[row],
            kind,
            one.tag,
            round(one.score, 3),
            pattern_text(one.because, keep_order=True),
        )
        for row in range(len(found["missing"]))
        for kind, rows in found.items()
        for one in rows[row]
    ]
    text: Any = pl.String
    schema = {name: text, **dict.fromkeys(columns, text), "score": pl.Float64}
    return pl.DataFrame(lines, schema=schema, orient="row")


@with_output_options
@with_reading_options
def relations(
    data: DataFile,
    out: TableOut = None,
    kind: Annotated[
        str | None,
        typer.Option(help="Only these: implies, same, avoid or alike.", show_default=False),
    ] = None,
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Show which tags imply, equal or avoid others.

    Tags that are rarely together but occur with the same other tags are alike, as synonyms are.
    Only relations that are worth their price in bits (docs/evidence.md) are listed, with the
    numbers of rows behind them. Implications that follow from others are left out.

    \b
    Examples:
      $ conjunct relations zoo.csv
      $ conjunct relations zoo.csv --kind implies
      $ conjunct relations zoo.csv --out relations.csv
    """
    from conjunct.cli.tables import cell, plain_table
    from conjunct.explain import RELATION_KINDS, count
    from conjunct.files import check_table_target, write_table

    if kind is not None and kind not in RELATION_KINDS:
        raise InputError(f"--kind must be {', '.join(RELATION_KINDS)}; got {kind!r}")
    if out is not None:
        check_table_target(out)
    table = source.read(data)
    with source.naming_cells_of(data), time_step("compared tags"):
        found = [one for one in find_relations(table) if kind in (None, one.kind)]
    if out is not None:
        import polars as pl

        fields = ("kind", "left", "right", "rows", "evidence", "sentence")
        columns = dict(zip(fields, zip(*found, strict=True), strict=True)) if found else {}
        schema: Any = dict.fromkeys(fields, pl.String) | {"rows": pl.Int64, "evidence": pl.Float64}
        with time_step(f"wrote {out}"):
            write_table(out, pl.DataFrame(columns, schema=schema))
    parts = []
    for each, head in RELATION_KINDS.items():
        some = [one for one in found if one.kind == each]
        lines = plain_table(f"{head}: {len(some):,}", ">bits")
        for one in some[:_SHOWN]:
            lines.add_row(cell(one.sentence), f"{one.evidence:,.0f}")
        if len(some) > _SHOWN:
            lines.add_row(f"… and {len(some) - _SHOWN:,} more", "")
        if some:
            parts.append(lines)
    output.tell(
        lambda: {
            "n_rows": table.n_rows,
            "relations": [one._asdict() for one in found],
            "saved": {"table": None if out is None else str(out)},
        },
        f"{count(table.n_rows, 'row')}, {count(len(table.names), 'tag')}: "
        f"{count(len(found), 'relation')}.",
        *parts,
        f"Saved {count(len(found), 'relation')} as {out}." if out is not None else None,
    )
