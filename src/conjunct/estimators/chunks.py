"""Rows as chunks: their tags, in groups that belong together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Columns
from conjunct.data import Backend, BooleanData, Container, InParts, as_table, unchecked
from conjunct.errors import InputError
from conjunct.estimators.in_parts import sendable
from conjunct.expressions import CHUNKS_BETWEEN, pattern_text
from conjunct.features import FeatureSet
from conjunct.parameters import check_choice

if TYPE_CHECKING:
    from conjunct.export import LazyColumns

ChunkForm = Literal["lists", "text", "long"]
CHUNK_FORMS: tuple[ChunkForm, ...] = ("lists", "text", "long")

Chunk = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Chunks:
    """The chunks of some rows: which ones there are, and those of each row, one row after the
    other. Row k has the chunks from ``starts[k]`` to ``starts[k + 1]``."""

    patterns: Sequence[Chunk]
    starts: NDArray[np.intp]
    which: NDArray[np.intp]

    def lists(self) -> list[list[Chunk]]:
        which = self.which.tolist()
        return [[self.patterns[k] for k in which[a:b]] for a, b in pairwise(self.starts.tolist())]

    def texts(self) -> list[str]:
        each = [pattern_text(pattern) for pattern in self.patterns]
        which = self.which.tolist()
        rows = pairwise(self.starts.tolist())
        return [CHUNKS_BETWEEN.join([each[k] for k in which[a:b]]) for a, b in rows]

    def long(self) -> dict[str, list[Any]]:
        each = [pattern_text(pattern) for pattern in self.patterns]
        rows = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return {"row": rows.tolist(), "chunk": [each[k] for k in self.which.tolist()]}


def row_chunks(every: FeatureSet, columns: Columns) -> Chunks:
    """The chunks of rows given by their columns, larger ones first.

    ``every`` are all features that a row could have.
    """
    patterns = every.patterns
    supports = columns.supports().tolist()
    # a feature is true only where all that it asserts is: of few rows, most need no look
    present = {name for name, n in zip(every.lineage.primitives, supports, strict=True) if n}
    found = [k for k, pattern in enumerate(patterns) if present.issuperset(pattern)]
    order = _larger_first(every, found)
    features = every.evaluate(columns, [every.features[k] for k in order])
    rows = [features.true_rows(k) for k in range(features.n_columns)]
    true = np.concatenate([np.empty(0, np.intp), *rows])
    chunk = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
    by_row = np.argsort(true, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(true, minlength=columns.n_rows))])
    return Chunks([patterns[k] for k in order], starts, chunk[by_row])


def lazy_chunks(every: FeatureSet, columns: LazyColumns, form: ChunkForm) -> Any:
    """The chunks of a lazy table as another, of texts."""
    if form != "text":
        raise InputError("chunks of a lazy table are texts: ask for form='text'")
    order = _larger_first(every, range(len(every.patterns)))
    features = every.evaluate(columns, [every.features[k] for k in order])
    texts = [pattern_text(every.patterns[k]) for k in order]
    return features.as_texts(texts, CHUNKS_BETWEEN, "chunks")


def _larger_first(every: FeatureSet, positions: Iterable[int]) -> list[int]:
    patterns = every.patterns
    return sorted(positions, key=lambda k: (-len(patterns[k]), patterns[k]))


@dataclass(frozen=True)
class RowChunks:
    """Reads rows as chunks, here or on a worker. ``features`` are all that a row could have."""

    like: BooleanData
    features: FeatureSet

    def __call__(self, container: Container) -> Chunks:
        return row_chunks(self.features, self.like.like(container).columns.filled())

    def over(self, container: InParts, form: ChunkForm) -> Any:
        """The chunks of a data frame of Dask, lazily, as texts."""
        if form != "text" or container.backend is None:
            raise InputError(
                "chunks of a Dask collection are texts: give a data frame, form='text'"
            )
        sent = replace(self, features=sendable(self.features))
        return container.engine.mapped(container.data, sent.as_texts, 1, object)

    def as_texts(self, data: Any) -> Any:
        container = unchecked(data)
        return written_chunks(container, self(container), "text", None)


def written_chunks(
    container: Container, chunks: Chunks, form: ChunkForm, backend: Backend | None
) -> Any:
    """Chunks in the form wanted, in a container of the same kind."""
    check_choice("form", form, CHUNK_FORMS)
    if form == "lists":
        return chunks.lists()
    kind = backend or container.backend
    if form == "long":
        return as_table(chunks.long(), kind or "pandas")
    texts = chunks.texts()
    if kind is None:
        return texts
    table = as_table({"chunks": texts}, kind)
    return table if backend is not None else container.adopted(table)
