"""Commands about data alone: ``tags`` and ``datasets``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conjunct.cli.inputs import DataInput, with_reading_options
from conjunct.cli.options import OUTPUT, DataFile, TableOut
from conjunct.cli.outputs import Output, saved_document, with_output_options
from conjunct.cli.terminal import is_printed, note, time_step
from conjunct.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from conjunct.data import Merged, Proposal, TagCleaner
    from conjunct.datasets import Dataset

_SHOWN = 20


@with_output_options
@with_reading_options
def tags(
    data: DataFile,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Table of the clean tags to write, 0/1.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    synonyms: Annotated[
        Path | None,
        typer.Option(
            help="Tags and what to call them: a JSON object, a table with from and to, "
            "or a review in which accept says yes.",
            show_default=False,
        ),
    ] = None,
    plurals: Annotated[
        bool, typer.Option("--plurals/--no-plurals", help="Merge plurals into singulars.")
    ] = True,
    similarity: Annotated[
        float, typer.Option(help="Propose tags that are at least this alike (100: equal).")
    ] = 85,
    review: Annotated[
        Path | None,
        typer.Option(
            help="Table of proposals to write, for --synonyms.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Clean tags, say what was merged, and propose what looks alike.

    Case, punctuation, spaces and plurals are merged; what only looks alike never is before a
    person has said so: write yes under accept in the review and give it back as --synonyms.

    \b
    Examples:
      $ conjunct tags zoo.csv
      $ conjunct tags zoo.csv --review review.csv
      $ conjunct tags zoo.csv --synonyms review.csv --out clean.csv
    """
    from conjunct.data import TagCleaner
    from conjunct.explain import count
    from conjunct.files import read_synonyms, write_review, write_table

    known = None if synonyms is None else read_synonyms(synonyms)
    raw = source.read(data)
    cleaner = raw.fit_cleaner(TagCleaner(plurals=plurals, synonyms=known))
    clean = raw.cleaned(cleaner)
    merges = cleaner.merges()
    with time_step("compared tags"):
        proposals = _propose_merges(cleaner, similarity)
    if review is not None:
        with time_step(f"wrote {review}"):
            write_review(review, proposals)
    if out is not None:
        with time_step(f"wrote {out}"):
            write_table(out, clean.to("polars"))
    output.tell(
        lambda: {
            "n_rows": raw.n_rows,
            "n_spellings": len(raw.names),
            "n_tags": len(clean.names),
            "merges": [merged._asdict() for merged in merges],
            "proposals": [pair._asdict() for pair in proposals],
            "saved": saved_document({"table": out, "review": review}),
        },
        f"{raw.n_rows} rows, {len(raw.names)} spellings of {len(clean.names)} tags.",
        _merge_table(merges) if merges else "No spelling was merged.",
        _proposal_table(proposals) if proposals else "No two tags look alike.",
        f"Saved {count(len(proposals), 'proposal')} as {review}: "
        "write yes under accept where you agree."
        if review is not None
        else None,
        f"Saved {len(clean.names)} tags of {clean.n_rows} rows as {out}." if out else None,
    )


def _propose_merges(cleaner: TagCleaner, similarity: float) -> list[Proposal]:
    try:
        return cleaner.proposals(similarity)
    except ImportError as error:
        note(str(error))
        return []


def _merge_table(merges: list[Merged]) -> Table:
    from conjunct.cli.tables import cell, plain_table

    table = plain_table("merged", "into", ">rows")
    for merged in merges[:_SHOWN]:
        table.add_row(cell(merged.tag), cell(merged.into), str(merged.rows))
    if len(merges) > _SHOWN:
        table.add_row("…", f"and {len(merges) - _SHOWN} more", "")
    return table


def _proposal_table(proposals: list[Proposal]) -> Table:
    from conjunct.cli.tables import cell, plain_table

    table = plain_table("looks like", "", ">alike", ">rows", "")
    for pair in proposals[:_SHOWN]:
        table.add_row(
            cell(pair.tag),
            cell(pair.into),
            f"{pair.similarity:.0f}",
            str(pair.rows),
            f"and {pair.rows_into}",
        )
    if len(proposals) > _SHOWN:
        table.add_row("…", f"and {len(proposals) - _SHOWN} more", "", "", "")
    return table


def _complete_name(incomplete: str) -> list[tuple[str, str]]:
    """Return the data sets that a name may be completed to."""
    from conjunct.datasets import DATASETS

    return [(d.name, d.description) for d in DATASETS if d.name.startswith(incomplete)]


@with_output_options
def datasets(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="Data set to write.",
            show_default=False,
            autocompletion=_complete_name,
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
    from conjunct.datasets import DATASETS, find
    from conjunct.files import as_csv, read_table, write_table

    if name is None:
        if out is not None:
            raise InputError("--out needs the name of a data set: see conjunct datasets")
        output.tell(lambda: {"datasets": [_document(d) for d in DATASETS]}, *_list_datasets())
        return
    dataset = find(name)
    note(f"{dataset.attribution}; {dataset.licence}")
    table = read_table(dataset.path)
    if out is not None and not is_printed(out):
        with time_step(f"wrote {out}"):
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
    keys = ("name", "rows", "columns", "has_missing", "description", "attribution", "licence")
    return {key: getattr(dataset, key) for key in keys}


def _list_datasets() -> tuple[RenderableType, ...]:
    from conjunct.cli.tables import plain_table
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
