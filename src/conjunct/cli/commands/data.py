"""Commands about data without a model: ``look``, ``tags``, ``relations`` and ``datasets``."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conjunct import datasets as bundled
from conjunct import estimators, explain, files
from conjunct.cli.options import (
    DATA_FILE,
    PREPARING_OPTIONS,
    READING_OPTIONS,
    RESULT_OUT,
    TABLE_OUT,
    DataInput,
    argument,
    option,
    output_option,
    takes,
)
from conjunct.cli.outputs import OUTPUT_OPTIONS, Output, Table, save, save_table
from conjunct.cli.terminal import file_of, is_printed, name_of, note, time_step
from conjunct.errors import ConjunctWarning, InputError

if TYPE_CHECKING:
    from conjunct.data import BooleanData
    from conjunct.datasets import Dataset
    from conjunct.explain import Relation

_SHOWN = 20
_RELATIONS_SHOWN = 10


@takes(source=PREPARING_OPTIONS, output=OUTPUT_OPTIONS)
def look(data: Path = DATA_FILE, *, source: DataInput, output: Output) -> None:
    """Show how each column of a file is read, before anything is fitted.

    The table lists each column's type, an example, its number of missing cells, the tags made from
    it or the reason why it is ignored, and the option that changes this.

    \b
    Examples:
      $ conjunct look zoo.csv
      $ conjunct look zoo.csv --json
    """
    name = name_of(data)
    with time_step(f"read {name}"):
        table, views = files.look(file_of(data), source.options, source.binarizer)
    # names and examples are cut so that the rest fits in 80 columns
    rows = [
        (
            explain.shorten(view.column, 16) or repr(""),
            view.about
            if view.about.endswith(view.kind)
            else ": ".join(filter(None, (view.kind, view.about))),
            explain.shorten(view.example, 14),
            f"{view.missing:,}" if view.missing else "",
            view.option.partition(" ")[0],
        )
        for view in views
    ]
    output.show(
        lambda: {
            "n_rows": table.n_rows,
            "n_features": len(table.names),
            "columns": [view._asdict() for view in views],
        },
        f"{explain.count(table.n_rows, 'row')}, {explain.count(len(views), 'column')}, "
        f"{explain.count(len(table.names), 'tag')}.",
        Table(("column", "read as", "example", ">missing", "option"), rows, wrapped=1),
    )


@takes(source=READING_OPTIONS, output=OUTPUT_OPTIONS)
def tags(
    data: Path = DATA_FILE,
    out: Path | None = output_option("Table of clean tags to write (0/1).", "--out", "-o"),
    synonyms: Path | None = option(
        "Preferred names of tags: a JSON object, a table with the columns from and to, or a review "
        "with yes under accept."
    ),
    plurals: bool = option("Merge plurals into singulars.", "--plurals/--no-plurals", default=True),
    similarity: float = option(
        "Propose merging tags with at least this similarity (100: equal).", default=85
    ),
    review: Path | None = output_option(
        "Review to write: a table of proposals, for --apply, --synonyms and --declined."
    ),
    apply: Path | None = option("Apply the proposals in this review that have yes under accept."),
    declined: Path | None = option("Omit the proposals in this review that have no under accept."),
    dry_run: bool = option("Show the changes without writing files.", "--dry-run", default=False),
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Merge spellings of tags, and propose further changes.

    Tags that differ only in case, punctuation, spaces or plurals are merged. Other changes are
    only proposed: merging tags that look alike or occur in the same rows or contexts, adding tags
    that others imply, and dropping tags that are in no row or in every row. To accept a proposal,
    write yes under accept in the review, and use --apply.

    \b
    Examples:
      $ conjunct tags zoo.csv
      $ conjunct tags zoo.csv --review r.csv
      $ conjunct tags zoo.csv --apply r.csv --declined r.csv --out clean.csv
    """
    from conjunct.data import MERGES, Change, TagCleaner

    known = {} if synonyms is None else files.read_synonyms(synonyms)
    lines = [] if apply is None else [line for line in files.read_review(apply) if line.accept]
    if apply is not None:
        known |= files.read_synonyms(apply)
    refused = [] if declined is None else files.read_review(declined)
    is_refused = {line[:3] for line in refused if line.accept is False}
    given = source.options
    if given.tags is not None and given.columns is None:
        source = replace(source, options=replace(given, columns=[given.tags]))
    raw = source.read(data)
    cleaner = raw.fit_cleaner(TagCleaner(plurals=plurals, synonyms=known or None))
    spelled = raw.clean(cleaner)
    merges = cleaner.merges()
    accepted = [
        Change(line.kind, cleaner.clean(line.tag), cleaner.clean(line.into), 0, "", ())
        for line in lines
        if line.kind is not None and line.kind not in MERGES
    ]
    clean = explain.apply_changes(spelled, accepted)
    with time_step("compared tags"):
        try:
            spellings = cleaner.proposals(similarity)
        except ImportError as error:
            note(str(error))
            spellings = []
        changes = explain.propose_changes(clean, spellings, find_relations(clean))
        changes = [change for change in changes if change[:3] not in is_refused]
    if not dry_run:
        ids = () if clean.ids is None else clean.ids.values
        save(review, lambda file: files.write_review(file, changes, ids))
        save_table(out, lambda: clean.convert("polars"))
    saved = {} if dry_run else {"table": out, "review": review}
    merged_rows = [(one.tag, one.into, str(one.rows)) for one in merges]
    proposed_rows = [(one.text, f"{one.rows:,}", one.why) for one in changes]
    output.show(
        lambda: {
            "n_rows": raw.n_rows,
            "n_spellings": len(raw.names),
            "n_tags": len(spelled.names),
            "merges": [merged._asdict() for merged in merges],
            "accepted": len(lines),
            "proposals": [change._asdict() for change in changes],
            "saved": saved,
        },
        f"{explain.count(raw.n_rows, 'row')}, {explain.count(len(raw.names), 'spelling')} of "
        f"{explain.count(len(spelled.names), 'tag')}.",
        Table(("merged", "into", ">rows"), merged_rows, most=_SHOWN)
        if merges
        else "No spellings merged.",
        f"{explain.count(len(lines), 'proposal')} of {apply} accepted." if apply else None,
        Table(("proposal", ">rows", "because"), proposed_rows, wrapped=2, most=_SHOWN)
        if changes
        else "No proposals.",
        f"Saved {explain.count(len(changes), 'proposal')} as {review}: "
        "write yes or no under accept, and use --apply."
        if review is not None and not dry_run
        else None,
        f"Saved {explain.count(len(clean.names), 'tag')} of "
        f"{explain.count(clean.n_rows, 'row')} as {out}."
        if out and not dry_run
        else None,
        "No files written (--dry-run)." if dry_run else None,
    )


@takes(source=READING_OPTIONS, output=OUTPUT_OPTIONS)
def relations(
    data: Path = DATA_FILE,
    out: Path | None = RESULT_OUT,
    kind: str | None = option("Show one kind only: implies, same, avoid or alike."),
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Show which tags imply, equal or avoid others.

    Tags are alike if they rarely occur together but occur with the same other tags, as synonyms
    do. Only relations with enough evidence (docs/evidence.md) are listed, with the number of rows
    that support them. Implications that follow from others are omitted.

    \b
    Examples:
      $ conjunct relations zoo.csv
      $ conjunct relations zoo.csv --kind implies
      $ conjunct relations zoo.csv --out relations.csv
    """
    if kind is not None and kind not in explain.RELATION_KINDS:
        raise InputError(f"--kind must be one of {', '.join(explain.RELATION_KINDS)}; got {kind!r}")
    if out is not None:
        files.check_table_target(out)

    def make_table() -> Any:
        import polars as pl

        text = dict.fromkeys(("kind", "left", "right"), pl.String)
        schema = {**text, "rows": pl.Int64, "evidence": pl.Float64, "sentence": pl.String}
        return pl.DataFrame(found, schema=schema, orient="row")

    table = source.read(data)
    with source.naming_cells_of(data), time_step("compared tags"):
        found = [one for one in find_relations(table) if kind in (None, one.kind)]
    save_table(out, make_table)
    parts = []
    for each, head in explain.RELATION_KINDS.items():
        rows = [(one.sentence, f"{one.evidence:,.0f}") for one in found if one.kind == each]
        if rows:
            parts.append(Table((f"{head}: {len(rows):,}", ">bits"), rows, most=_RELATIONS_SHOWN))
    output.show(
        lambda: {
            "n_rows": table.n_rows,
            "relations": [one._asdict() for one in found],
            "saved": {"table": out},
        },
        f"{explain.count(table.n_rows, 'row')}, {explain.count(len(table.names), 'tag')}: "
        f"{explain.count(len(found), 'relation')}.",
        *parts,
        f"Saved {explain.count(len(found), 'relation')} as {out}." if out is not None else None,
    )


def find_relations(data: BooleanData) -> list[Relation]:
    """Return the relations between all tags of a table."""
    model = estimators.UFC(max_iter=0, missing="pairwise")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        model.fit(data)
    return model.relations(data)


def _complete_name(incomplete: str) -> list[tuple[str, str]]:
    """Return the data sets whose names begin with the text."""
    known = bundled.DATASETS
    return [(d.name, d.description) for d in known if d.name.startswith(incomplete)]


@takes(output=OUTPUT_OPTIONS)
def datasets(
    name: str | None = argument(
        "[NAME]", "Data set to write.", default=None, autocompletion=_complete_name
    ),
    out: Path | None = TABLE_OUT,
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
    if name is None:
        if out is not None:
            raise InputError("--out needs the name of a data set: see conjunct datasets")
        rows = [
            (
                dataset.name,
                f"{dataset.rows:,}",
                str(dataset.columns),
                dataset.licence,
                dataset.description + ", some missing" * dataset.has_missing,
            )
            for dataset in bundled.DATASETS
        ]
        output.show(
            lambda: {"datasets": [_document(dataset) for dataset in bundled.DATASETS]},
            Table(("name", ">rows", ">columns", "licence", "content"), rows, wrapped=4),
            "\n".join(f"{dataset.name}: {dataset.attribution}." for dataset in bundled.DATASETS),
        )
        return
    dataset = bundled.find(name)
    note(f"{dataset.attribution}; {dataset.licence}")
    if output.json and is_printed(out):
        output.print_json(_document(dataset))
        return
    table = files.read_table(dataset.path)
    text = f"Saved {explain.count(table.height, 'row')} and {explain.count(table.width, 'column')}"
    output.table(out, table, lambda: _document(dataset), text)


def _document(dataset: Dataset) -> dict[str, Any]:
    keys = ("name", "rows", "columns", "has_missing", "description", "attribution", "licence")
    return {key: getattr(dataset, key) for key in keys}
