"""A few rows of the data as their chunks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.table import Table

from conjunct.cli.rendering import LONGEST, cell
from conjunct.data import BooleanData
from conjunct.estimators import LosslessConstructor
from conjunct.explain import shortened
from conjunct.expressions import CHUNKS_BETWEEN, pattern_text

if TYPE_CHECKING:
    from conjunct.estimators import Chunk, FeatureConstructor

_LOOKED_AT = 1024
_SHOWN = 3
# Characters of a row that still fits on a line of 80.
_SHORT = 66


def example_table(model: FeatureConstructor, data: object) -> Table | None:
    """Two or three rows that show what the chunks are; ``None`` where rows are not at hand."""
    if not isinstance(model, LosslessConstructor) or not isinstance(data, BooleanData):
        return None
    head = _first_rows(data, _LOOKED_AT)
    rows = model.chunks(head)
    table = Table.grid(padding=(0, 2))
    for k in _telling(rows):
        name = f"row {k + 1}" if head.ids is None else shortened(head.ids.values[k], 20)
        table.add_row(cell(f"  {name}"), cell(shortened(_text(rows[k]), LONGEST)))
    return table if table.row_count else None


def _telling(rows: list[list[Chunk]]) -> list[int]:
    """Rows with large chunks, best two of them, that fit on a line and differ in what they show."""
    large = [{chunk for chunk in chunks if len(chunk) > 1} for chunks in rows]

    def rank(k: int) -> tuple[bool, int, bool, int]:
        return len(_text(rows[k])) > _SHORT, -min(len(large[k]), 2), len(rows[k]) < 2, k

    shown: set[Chunk] = set()
    chosen: list[int] = []
    for k in sorted((k for k, chunks in enumerate(large) if chunks), key=rank):
        if len(chosen) < _SHOWN and not large[k] & shown:
            chosen.append(k)
            shown |= large[k]
    return sorted(chosen)


def _text(chunks: list[Chunk]) -> str:
    return CHUNKS_BETWEEN.join(map(pattern_text, chunks))


def _first_rows(table: BooleanData, n_rows: int) -> BooleanData:
    if table.n_rows <= n_rows:
        return table
    ids = table.ids and table.ids._replace(values=table.ids.values[:n_rows])
    return replace(table, columns=table.columns.first_rows(n_rows), ids=ids)
