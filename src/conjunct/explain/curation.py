"""Proposals to clean up a collection of tags, each with its reason and example rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Columns
from conjunct.data import BooleanData, Change, ChangeKind, Proposal
from conjunct.explain.relations import Relation
from conjunct.explain.sentences import count

_EXAMPLES = 3


def propose_changes(
    data: BooleanData, spellings: Iterable[Proposal], relations: Iterable[Relation]
) -> list[Change]:
    """Return what could be cleaned up in the tags of some rows."""
    columns: Columns = data.columns
    place = {name: k for k, name in enumerate(data.names)}
    true: dict[str, NDArray[np.bool_]] = {}

    def find_rows(name: str) -> NDArray[np.bool_]:
        if name not in true:
            true[name] = columns.cells(place[name])[0]
        return true[name]

    found: list[Change] = []

    def propose(kind: ChangeKind, tag: str, into: str, why: str, *, lacking: bool) -> None:
        """Add a proposal for the rows with ``tag``, or only those that lack ``into``."""
        rows = np.flatnonzero(find_rows(tag) & ~find_rows(into) if lacking else find_rows(tag))
        examples = tuple(rows[:_EXAMPLES].tolist())
        if len(rows) or kind == "empty":
            found.append(Change(kind, tag, into, len(rows), why, examples))

    for pair in spellings:
        why = f"spelled alike ({pair.similarity:.0f} of 100)"
        propose("spelling", pair.tag, pair.into, why, lacking=False)
    seen = {(one.tag, one.into) for one in found}
    for one in relations:
        if one.kind == "avoid" or (one.left, one.right) in seen:
            continue
        propose(one.kind, one.left, one.right, one.sentence, lacking=one.kind == "implies")
    supports = columns.supports()
    for name, support in zip(data.names, supports.tolist(), strict=True):
        if support == 0:
            propose("empty", name, "", "in no row", lacking=False)
        elif support == data.n_rows > 1:
            propose("vacuous", name, "", f"in all {count(support, 'row')}", lacking=False)
    return found


def apply_changes(data: BooleanData, changes: Sequence[Change]) -> BooleanData:
    """Return the data with implied tags added and tags dropped; merges are spellings by now."""
    columns: Columns = data.columns
    lines = list(columns.raw_columns)
    place = {name: k for k, name in enumerate(data.names)}
    supports = dict(zip(data.names, columns.supports().tolist(), strict=True))
    adds = [one for one in changes if one.kind == "implies" and {one.tag, one.into} <= {*place}]
    # rare tags first: what they add may imply more
    for change in sorted(adds, key=lambda one: supports[one.tag]):
        k = place[change.into]
        lines[k] = columns.disjunction(lines[k], lines[place[change.tag]])
    dropped = {change.tag for change in changes if change.kind in ("empty", "vacuous")}
    kept = [k for k, name in enumerate(data.names) if name not in dropped]
    columns = columns.with_raw_columns(lines).select(kept)
    return replace(data, names=tuple(data.names[k] for k in kept), columns=columns)
