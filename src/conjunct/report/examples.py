"""The rows behind features, with their images where there are some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conjunct.expressions.pattern import pattern_text
from conjunct.reading import findings, shortened
from conjunct.report import limits
from conjunct.report.features import FeatureLine
from conjunct.report.images import Thumbnails
from conjunct.report.subject import Subject

_NAME_LENGTH = 60
_TAGS = 12


@dataclass(frozen=True)
class Tag:
    """A column or a chunk of a row; ``is_it``: the one that the row is an example of."""

    text: str
    is_it: bool = False


@dataclass(frozen=True)
class ExampleRow:
    """``tags`` are the columns that are true, or the chunks; ``image`` is a thumbnail's number."""

    name: str
    tags: tuple[Tag, ...]
    more_tags: int
    image: int | None


@dataclass(frozen=True)
class _Title:
    """What rows are examples of: a feature of the lineage."""

    number: int
    name: str
    words: str
    support: int


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
    """A few rows of each of the first constructed features, or of each of the first chunks."""
    titles = _chunks(subject) if subject.by_pattern else _features(lines)
    rows = [rows_behind(subject, title.number, limits.EXAMPLE_ROWS) for title in titles]
    tags = iter(_tags(subject, titles, rows))
    found = tuple(
        Example(
            title.name,
            title.words,
            title.support,
            tuple(_row(subject, row, next(tags), thumbnails) for row in some),
        )
        for title, some in zip(titles, rows, strict=True)
    )
    return Examples(found, n_constructed, thumbnails.notes())


def _features(lines: Sequence[FeatureLine]) -> list[_Title]:
    made = [line for line in lines if line.iteration and line.support][: limits.EXAMPLE_FEATURES]
    return [_Title(line.number, line.simplified, line.words, line.support) for line in made]


def _chunks(subject: Subject) -> list[_Title]:
    """As they were joined: rows whose chunk has grown since are examples too."""
    found = findings(subject.model.feature_set_, limits.EXAMPLE_FEATURES)
    titles = [
        _Title(one.number, shortened(one.text, _NAME_LENGTH), "", len(subject.rows_of(one.number)))
        for one in found
    ]
    return [title for title in titles if title.support]


def rows_behind(subject: Subject, number: int, limit: int) -> list[int]:
    """Some of the rows in which a feature is true, spread evenly over all of them."""
    rows = subject.rows_of(number)
    if len(rows) > limit:
        rows = rows[np.linspace(0, len(rows) - 1, limit).round().astype(np.intp)]
    return [int(row) for row in rows]


def chunk_tags(chunks: Sequence[tuple[str, ...]], shown: Sequence[str]) -> tuple[Tag, ...]:
    """The chunks of a row; the one that holds the tags shown is marked."""
    return tuple(
        Tag(shortened(pattern_text(chunk), _NAME_LENGTH), set(chunk) >= set(shown))
        for chunk in chunks
    )


def row_label(subject: Subject, row: int) -> str:
    return shortened(subject.row_name(row), _NAME_LENGTH)


def _row(subject: Subject, row: int, tags: tuple[Tag, ...], thumbnails: Thumbnails) -> ExampleRow:
    more = max(0, len(tags) - _TAGS)
    return ExampleRow(row_label(subject, row), tags[:_TAGS], more, thumbnails.number_of(row))


def _tags(
    subject: Subject, titles: Sequence[_Title], rows: Sequence[Sequence[int]]
) -> list[tuple[Tag, ...]]:
    """What the rows of each feature have, one row after the other."""
    every = [(title.number, row) for title, some in zip(titles, rows, strict=True) for row in some]
    if not subject.by_pattern:
        return [_true_columns(subject, row) for _, row in every]
    pattern = subject.model.feature_set_.lineage.pattern
    chunks = subject.chunks_of([row for _, row in every])
    return [chunk_tags(c, pattern(number)) for (number, _), c in zip(every, chunks, strict=True)]


def _true_columns(subject: Subject, row: int) -> tuple[Tag, ...]:
    bit = subject.primitive_bits[:, row // 8] >> (row % 8) & 1
    return tuple(Tag(subject.formula(k, _NAME_LENGTH)) for k in np.flatnonzero(bit).tolist())
