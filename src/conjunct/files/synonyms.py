"""Files about tags: synonyms to apply, and proposals for a person to judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from conjunct.data import meaning
from conjunct.errors import InputError
from conjunct.files.formats.base import ReadOptions
from conjunct.files.raw import StrPath, filled_file
from conjunct.files.reading import read_frame
from conjunct.files.writing import write_table

if TYPE_CHECKING:
    from conjunct.data import Proposal


def read_synonyms(path: StrPath) -> dict[str, str]:
    """Tags and what to call them, from a file.

    Either a JSON object, ``{"automobile": "car"}``, or a table with columns ``from`` and ``to``.
    If the table has a column ``accept``, as the one of proposals, its rows count only where that
    says yes.
    """
    if str(path).lower().endswith(".json"):
        file = filled_file(path, "a JSON object of tags and what to call them")
        try:
            return msgspec.json.decode(file.read_bytes(), type=dict[str, str])
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: not a JSON object of tags ({error})") from None
    return _from_table(path)


def write_review(path: StrPath, proposals: Sequence[Proposal]) -> None:
    """Write proposals as a table; whoever reads it writes yes under ``accept`` where they agree."""
    import polars as pl

    columns = {
        "from": [proposal.tag for proposal in proposals],
        "to": [proposal.into for proposal in proposals],
        "similarity": [round(proposal.similarity, 1) for proposal in proposals],
        "rows_from": [proposal.rows for proposal in proposals],
        "rows_to": [proposal.rows_into for proposal in proposals],
        "accept": ["" for _ in proposals],
    }
    schema = {"from": pl.String, "to": pl.String, "accept": pl.String}
    write_table(path, pl.DataFrame(columns, schema_overrides=schema))


def _from_table(path: StrPath) -> dict[str, str]:
    import polars as pl

    table = read_frame(path, ReadOptions()).cast(pl.String)
    for name in ("from", "to"):
        if name not in table.columns:
            raise InputError(f"{path} has no column {name!r}: synonyms need from and to")
    synonyms: dict[str, str] = {}
    for row, cells in enumerate(table.iter_rows(named=True), start=1):
        accepted = cells.get("accept")
        if "accept" in cells and not (accepted or "").strip():
            continue
        says = True if accepted is None else meaning(accepted)
        if says is None:
            raise InputError(f"{path}, row {row}, column 'accept': {accepted!r} is not yes or no")
        if not says:
            continue
        tag, into = cells["from"], cells["to"]
        if not tag or not into:
            raise InputError(f"{path}, row {row}: a tag is missing")
        if synonyms.setdefault(tag, into) != into:
            raise InputError(f"{path}, row {row}: {tag!r} has two names, {synonyms[tag]!r} too")
    return synonyms
