"""Rows as chunks: their tags, in groups that belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from conjunct.construction.feature_set import FeatureSet
from conjunct.construction.settings import check_choice
from conjunct.errors import InputError
from conjunct.estimators import containers
from conjunct.estimators.container_reading import Reading
from conjunct.estimators.container_writing import true_rows
from conjunct.estimators.tables import Backend, as_table
from conjunct.expressions.pattern import CHUNKS_BETWEEN, pattern_text
from conjunct.stores.partial import known_true

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


@dataclass(frozen=True)
class RowChunks:
    """Reads rows as chunks, here or on a worker. ``features`` are all that a row could have."""

    names: tuple[str, ...]
    reading: Reading
    features: FeatureSet

    def __call__(self, data: Any) -> Chunks:
        store = known_true(self.reading.read(data, self.names))
        patterns = self.features.patterns
        # larger ones first
        order = sorted(range(len(patterns)), key=lambda k: (-len(patterns[k]), patterns[k]))
        numbers = [self.features.features[k] for k in order]
        rows = list(true_rows(self.features.evaluate(store, numbers)))
        every = np.concatenate([np.empty(0, np.intp), *rows])
        chunk = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
        by_row = np.argsort(every, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(every, minlength=store.n_rows))])
        return Chunks([patterns[k] for k in order], starts, chunk[by_row])

    def over(self, data: Any, form: ChunkForm) -> Any:
        """The chunks of a data frame of Dask, lazily, as texts."""
        if form != "text" or not hasattr(data, "columns"):
            raise InputError(
                "chunks of a Dask collection are texts: give a data frame, form='text'"
            )
        lineage = self.features.lineage.renamed(self.features.lineage.primitives)
        sent = replace(self, features=replace(self.features, lineage=lineage, merges=()))
        return data.map_partitions(sent.as_texts, meta=sent.as_texts(data._meta))

    def as_texts(self, data: Any) -> Any:
        return written_chunks(data, self(data), "text", None)


def written_chunks(data: Any, chunks: Chunks, form: ChunkForm, backend: Backend | None) -> Any:
    """Chunks in the form wanted, in a container of the kind of ``data``."""
    check_choice("form", form, CHUNK_FORMS)
    if form == "lists":
        return chunks.lists()
    kind = backend or containers.frame_backend(data)
    if form == "long":
        return as_table(chunks.long(), kind or "pandas")
    texts = chunks.texts()
    if kind is None:
        return texts
    table = as_table({"chunks": texts}, kind)
    frame = containers.frame_of(data)
    index = None if frame is None or backend is not None else nw.maybe_get_index(frame)
    if index is not None:
        table.index = index
    return table
