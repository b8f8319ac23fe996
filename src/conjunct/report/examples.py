"""The rows behind features, with their images where there are some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conjunct.reading import shortened
from conjunct.report import limits
from conjunct.report.features import FeatureLine
from conjunct.report.images import Thumbnails
from conjunct.report.subject import Subject
from conjunct.stores.packing import unpack

_NAME_LENGTH = 60
_TAGS = 12


@dataclass(frozen=True)
class ExampleRow:
    """``tags`` are the columns that are true; ``image`` is a thumbnail's number."""

    name: str
    tags: tuple[str, ...]
    more_tags: int
    image: int | None


@dataclass(frozen=True)
class Example:
    feature: str
    words: str
    support: int
    rows: tuple[ExampleRow, ...]


@dataclass(frozen=True)
class Examples:
    examples: tuple[Example, ...]
    n_constructed: int
    notes: tuple[str, ...]


def examples(
    subject: Subject, lines: Sequence[FeatureLine], n_constructed: int, thumbnails: Thumbnails
) -> Examples:
    """A few rows of each of the first constructed features."""
    made = [line for line in lines if line.iteration and line.support][: limits.EXAMPLE_FEATURES]
    found = tuple(
        Example(
            line.simplified,
            line.words,
            line.support,
            tuple(
                _row(subject, row, thumbnails)
                for row in rows_behind(subject, line.number, limits.EXAMPLE_ROWS)
            ),
        )
        for line in made
    )
    return Examples(found, n_constructed, thumbnails.notes())


def rows_behind(subject: Subject, number: int, limit: int) -> list[int]:
    """Some of the rows in which a feature is true, spread evenly over all of them."""
    position = subject.model.feature_set_.features.index(number)
    line = subject.feature_bits[position : position + 1]
    rows = np.flatnonzero(unpack(line, subject.n_rows)[:, 0])
    if len(rows) > limit:
        rows = rows[np.linspace(0, len(rows) - 1, limit).round().astype(np.intp)]
    return [int(row) for row in rows]


def row_label(subject: Subject, row: int) -> str:
    return shortened(subject.row_name(row), _NAME_LENGTH)


def _row(subject: Subject, row: int, thumbnails: Thumbnails) -> ExampleRow:
    bit = subject.primitive_bits[:, row // 8] >> (row % 8) & 1
    true = np.flatnonzero(bit).tolist()
    return ExampleRow(
        row_label(subject, row),
        tuple(subject.formula(k, _NAME_LENGTH) for k in true[:_TAGS]),
        max(0, len(true) - _TAGS),
        thumbnails.number_of(row),
    )
