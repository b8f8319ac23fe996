"""Tag cleaning applied to a table: columns of one spelling become one column."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conjunct.binarize.preparation import Preparation
from conjunct.binarize.table import BooleanTable, PackedLines, lines_of
from conjunct.binarize.tags import TagCleaner
from conjunct.errors import InputError
from conjunct.stores import SparseStore
from conjunct.stores.packing import Bits, pack_column
from conjunct.stores.sparse import RowList


def fit_cleaner(table: BooleanTable, cleaner: TagCleaner) -> TagCleaner:
    """Learn the names of the columns of a table, in which every column is a tag."""
    if table.preparation.binarizer is not None:
        raise InputError(
            "only tags can be cleaned: some columns are not Boolean, or were left out; "
            "name those that are tags"
        )
    counts = map(int, table.supports())
    return cleaner.fit_counts(dict(zip(table.names, counts, strict=True)))


def cleaned(table: BooleanTable, cleaner: TagCleaner) -> BooleanTable:
    """The table with tags in their clean spelling: a row has one if it had any of its spellings."""
    if isinstance(table.values, SparseStore):
        return _cleaned_lists(table, table.values, cleaner)
    everywhere = pack_column(np.ones(table.n_rows, np.bool_))
    merged: dict[str, tuple[Bits, Bits]] = {}
    for name, values, observed in lines_of(table):
        tag = cleaner.clean(name)
        present, seen = merged.get(tag, (np.zeros_like(values), everywhere))
        # Kleene: true if either is, else missing if either is
        either = present | values
        merged[tag] = either, (seen & (everywhere if observed is None else observed)) | either
    lines = PackedLines(table.n_rows)
    for values, seen in merged.values():
        lines.append_packed(values, None if table.observed is None else seen)
    stacked, _, observed = lines.stacked()
    return replace(
        table,
        names=tuple(merged),
        values=stacked,
        observed=observed,
        preparation=Preparation(cleaner=cleaner),
    )


def _cleaned_lists(table: BooleanTable, tags: SparseStore, cleaner: TagCleaner) -> BooleanTable:
    merged: dict[str, RowList] = {}
    for name, rows in zip(table.names, tags.lines, strict=True):
        tag = cleaner.clean(name)
        merged[tag] = tags.disjunction(merged[tag], rows) if tag in merged else rows
    return replace(
        table,
        names=tuple(merged),
        values=tags.with_lines(list(merged.values())),
        preparation=Preparation(cleaner=cleaner),
    )
