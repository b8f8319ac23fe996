"""Commands about data alone: ``look``, ``tags`` and ``datasets``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from conjunct.cli.inputs import (
    DataInput,
    find_relations,
    with_preparing_options,
    with_reading_options,
)
from conjunct.cli.options import DataFile, TableOut, argument, option, output_option
from conjunct.cli.outputs import Output, files_as_json, save, with_output_options
from conjunct.cli.terminal import file_of, is_printed, name_of, note, time_step, write_text
from conjunct.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from conjunct.data import Change, Merged, Proposal, TagCleaner
    from conjunct.datasets import Dataset

_SHOWN = 20
# characters of a name or an example
_LONGEST = 16


@with_output_options
@with_preparing_options
def look(data: DataFile, *, source: DataInput, output: Output) -> None:
    """Show what each column of a file is taken for, before anything is fitted.

    For each column: its kind, an example, its missing cells, the tags made of it or why it is
    left out, and the option that reads it differently.

    \b
    Examples:
      $ conjunct look zoo.csv
      $ conjunct look zoo.csv --json
    """
    from conjunct.cli.tables import cell, plain_table
    from conjunct.explain import count
    from conjunct.files import look as look_at

    name = name_of(data)
    with time_step(f"read {name}"):
        table, views = look_at(file_of(data), source.options, source.binarizer)
    shown = plain_table("column", "taken for", "example", ">missing", "tags", "option", wrapped=4)
    for view in views:
        shown.add_row(
            cell(_shorten(view.column) or repr("")),
            view.kind,
            cell(_shorten(view.example)),
            f"{view.missing:,}" if view.missing else "",
            cell(view.about),
            view.option.partition(" ")[0],
        )
    output.tell(
        lambda: {
            "n_rows": table.n_rows,
            "n_features": len(table.names),
            "columns": [view._asdict() for view in views],
        },
        f"{count(table.n_rows, 'row')}, {count(len(views), 'column')}, "
        f"{count(len(table.names), 'tag')}.",
        shown,
    )


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


@with_output_options
@with_reading_options
def tags(
    data: DataFile,
    out: Annotated[
        Path | None, output_option("Table of the clean tags to write, 0/1.", "--out", "-o")
    ] = None,
    synonyms: Annotated[
        Path | None,
        option(
            "Tags and what to call them: a JSON object, a table with from and to, "
            "or a review in which accept says yes."
        ),
    ] = None,
    plurals: Annotated[
        bool, option("Merge plurals into singulars.", "--plurals/--no-plurals")
    ] = True,
    similarity: Annotated[
        float, option("Propose tags that are at least this alike (100: equal).")
    ] = 85,
    review: Annotated[
        Path | None,
        output_option("Table of proposals to write: for --apply, --synonyms and --declined."),
    ] = None,
    apply: Annotated[
        Path | None, option("Review whose proposals are carried out where accept says yes.")
    ] = None,
    declined: Annotated[
        Path | None, option("Review whose proposals are not made again where accept says no.")
    ] = None,
    dry_run: Annotated[
        bool, option("Show what would be done, and write nothing.", "--dry-run")
    ] = False,
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Merge spellings of tags, and propose what else to clean up.

    Case, punctuation, spaces and plurals are merged. Proposed are: tags that look alike, that are
    in the same rows or have the same company; tags to add to rows that lack what their tags imply;
    and tags in no row or in every row to drop. Nothing of that is done before a person accepts it:
    write yes or no under accept in the review, and give it back as --apply.

    \b
    Examples:
      $ conjunct tags zoo.csv
      $ conjunct tags zoo.csv --review r.csv
      $ conjunct tags zoo.csv --apply r.csv --declined r.csv --out clean.csv
    """
    from conjunct.data import MERGES, Change, TagCleaner
    from conjunct.explain import apply_changes, count, propose_changes
    from conjunct.files import read_review, read_synonyms, write_review, write_table

    known = {} if synonyms is None else read_synonyms(synonyms)
    lines = [] if apply is None else [line for line in read_review(apply) if line.accept]
    if apply is not None:
        known |= read_synonyms(apply)
    refused = [] if declined is None else read_review(declined)
    is_refused = {line[:3] for line in refused if line.accept is False}
    raw = source.only_tags().read(data)
    cleaner = raw.fit_cleaner(TagCleaner(plurals=plurals, synonyms=known or None))
    spelled = raw.clean(cleaner)
    merges = cleaner.merges()
    accepted = [
        Change(line.kind, cleaner.clean(line.tag), cleaner.clean(line.into), 0, "", ())
        for line in lines
        if line.kind is not None and line.kind not in MERGES
    ]
    clean = apply_changes(spelled, accepted)
    with time_step("compared tags"):
        spellings = _propose_merges(cleaner, similarity)
        changes = propose_changes(clean, spellings, find_relations(clean))
        changes = [change for change in changes if change[:3] not in is_refused]
    if review is not None and not dry_run:
        with time_step(f"wrote {review}"):
            write_review(review, changes, () if clean.ids is None else clean.ids.values)
    if out is not None and not dry_run:
        save(out, lambda file: write_table(file, clean.convert("polars")))
    saved = {} if dry_run else {"table": out, "review": review}
    output.tell(
        lambda: {
            "n_rows": raw.n_rows,
            "n_spellings": len(raw.names),
            "n_tags": len(spelled.names),
            "merges": [merged._asdict() for merged in merges],
            "accepted": len(lines),
            "proposals": [change._asdict() for change in changes],
            "saved": files_as_json(saved),
        },
        f"{count(raw.n_rows, 'row')}, {count(len(raw.names), 'spelling')} of "
        f"{count(len(spelled.names), 'tag')}.",
        _merge_table(merges) if merges else "No spelling was merged.",
        f"{count(len(lines), 'proposal')} of {apply} accepted." if apply else None,
        _proposal_table(changes) if changes else "Nothing to propose.",
        f"Saved {count(len(changes), 'proposal')} as {review}: "
        "write yes or no under accept, and use --apply."
        if review is not None and not dry_run
        else None,
        f"Saved {count(len(clean.names), 'tag')} of {count(clean.n_rows, 'row')} as {out}."
        if out and not dry_run
        else None,
        "Nothing was written (--dry-run)." if dry_run else None,
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


def _proposal_table(changes: list[Change]) -> Table:
    from conjunct.cli.tables import cell, plain_table

    table = plain_table("proposal", ">rows", "because", wrapped=2)
    for change in changes[:_SHOWN]:
        table.add_row(cell(change.text), f"{change.rows:,}", cell(change.why))
    if len(changes) > _SHOWN:
        table.add_row("…", "", f"and {len(changes) - _SHOWN:,} more")
    return table


def _complete_name(incomplete: str) -> list[tuple[str, str]]:
    """Return the data sets that a name may be completed to."""
    from conjunct.datasets import DATASETS

    return [(d.name, d.description) for d in DATASETS if d.name.startswith(incomplete)]


@with_output_options
def datasets(
    name: Annotated[
        str | None, argument("[NAME]", "Data set to write.", autocompletion=_complete_name)
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
    from conjunct.explain import count
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
        save(out, lambda file: write_table(file, table))
        output.tell(
            lambda: _document(dataset) | {"saved": {"table": str(out)}},
            f"Saved {count(table.height, 'row')} and {count(table.width, 'column')} as {out}.",
        )
    elif output.json:
        output.print(_document(dataset))
    else:
        write_text(as_csv(table))


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
            f"{dataset.rows:,}",
            str(dataset.columns),
            dataset.licence,
            f"{dataset.description}{missing}",
        )
    sources = [f"{dataset.name}: {dataset.attribution}." for dataset in DATASETS]
    return table, "\n".join(sources)
