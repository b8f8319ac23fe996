"""``conjunct tags``: what cleaning does to tags, and which ones look alike."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from conjunct.cli.help import OUTPUT
from conjunct.cli.inputs import DataInput, reads_data
from conjunct.cli.options import DataFile
from conjunct.cli.outputs import Output, speaks

if TYPE_CHECKING:
    from rich.table import Table

    from conjunct.data import Merged, Proposal, TagCleaner

_SHOWN = 20


@speaks
@reads_data
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
    from conjunct.cli.documents import saved_document
    from conjunct.cli.progress import step
    from conjunct.data import TagCleaner
    from conjunct.explain import count
    from conjunct.files import read_synonyms, write_review, write_table

    known = None if synonyms is None else read_synonyms(synonyms)
    raw = source.read(data)
    cleaner = raw.fit_cleaner(TagCleaner(plurals=plurals, synonyms=known))
    clean = raw.cleaned(cleaner)
    merges = cleaner.merges()
    with step("compared tags"):
        proposals = _alike(cleaner, similarity)
    if review is not None:
        with step(f"wrote {review}"):
            write_review(review, proposals)
    if out is not None:
        with step(f"wrote {out}"):
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
        _merges(merges) if merges else "No spelling was merged.",
        _proposals(proposals) if proposals else "No two tags look alike.",
        f"Saved {count(len(proposals), 'proposal')} as {review}: "
        "write yes under accept where you agree."
        if review is not None
        else None,
        f"Saved {len(clean.names)} tags of {clean.n_rows} rows as {out}." if out else None,
    )


def _alike(cleaner: TagCleaner, similarity: float) -> list[Proposal]:
    from conjunct.cli.terminal import note

    try:
        return cleaner.proposals(similarity)
    except ImportError as error:
        note(str(error))
        return []


def _merges(merges: list[Merged]) -> Table:
    from conjunct.cli.rendering import cell, plain_table

    table = plain_table("merged", "into", ">rows")
    for merged in merges[:_SHOWN]:
        table.add_row(cell(merged.tag), cell(merged.into), str(merged.rows))
    if len(merges) > _SHOWN:
        table.add_row("…", f"and {len(merges) - _SHOWN} more", "")
    return table


def _proposals(proposals: list[Proposal]) -> Table:
    from conjunct.cli.rendering import cell, plain_table

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
