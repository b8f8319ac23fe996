"""The chunks that were found and the rows behind features, with images where there are some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conjunct.explain import Finding, english, shortened
from conjunct.expressions import pattern_text
from conjunct.report import limits
from conjunct.report.features import FeatureLine
from conjunct.report.images import Thumbnails
from conjunct.report.model_on_rows import ModelOnRows

_NAME_LENGTH = 60
_TAGS = 12
_LOOKED_AT = 12  # rows from which the example of a chunk is chosen
_CHUNK_TAGS = 8  # chunks of such an example


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
    image: int | None = None


@dataclass(frozen=True)
class Example:
    """A feature or chunk of the lineage, and some of the rows that have it."""

    number: int
    feature: str
    words: str
    support: int
    rows: tuple[ExampleRow, ...] = ()


@dataclass(frozen=True)
class Found:
    """``share`` is what it saved as a part of what the first one did, for a bar."""

    name: str
    words: str
    finding: Finding
    share: float
    example: ExampleRow | None


def found(shown: ModelOnRows) -> tuple[Found, ...]:
    """The strongest chunks, each with a row that has it; or the commonest features."""
    summary = shown.summary
    some = (summary.chunks or summary.constructed)[: limits.FINDINGS]
    gains = [finding.share if finding.evidence is None else finding.evidence for finding in some]
    rows = _telling_rows(shown, some) if summary.chunks else [None] * len(some)
    return tuple(
        Found(
            shortened(finding.text, limits.NAME_LENGTH)
            if summary.chunks
            else shown.formula(finding.number),
            "" if summary.chunks else _words(shown, finding.number),
            finding,
            gain / max(gains),
            example,
        )
        for finding, gain, example in zip(some, gains, rows, strict=True)
    )


def _words(shown: ModelOnRows, number: int) -> str:
    return shortened(english(shown.short_form(number)), limits.NAME_LENGTH)


def _telling_rows(shown: ModelOnRows, found: Sequence[Finding]) -> list[ExampleRow | None]:
    """For each chunk the row, of a few, with most chunks of several tags: if any has it alone."""

    rows = [rows_behind(shown, finding.number, _LOOKED_AT) for finding in found]
    every = iter(shown.chunks_of([row for some in rows for row in some]))
    examples: list[ExampleRow | None] = []
    used: set[int] = set()
    for finding, some in zip(found, rows, strict=True):
        looked_at = [(row, next(every)) for row in some]
        if not looked_at:
            examples.append(None)
            continue
        interest = [
            (
                row not in used,
                finding.pattern in chunks,
                sum(len(c) > 1 for c in chunks),
                -len(chunks),
            )
            for row, chunks in looked_at
        ]
        row, best = looked_at[interest.index(max(interest))]
        used.add(row)
        examples.append(_row(shown, row, _chunk_tags(best, finding.pattern), _CHUNK_TAGS))
    return examples


def examples(
    shown: ModelOnRows, lines: Sequence[FeatureLine], thumbnails: Thumbnails
) -> tuple[Example, ...]:
    """A few rows of each of the first constructed features, or of each of the first chunks."""
    titles = _chunks(shown) if shown.by_pattern else _features(lines)
    rows = [rows_behind(shown, title.number, limits.EXAMPLE_ROWS) for title in titles]
    tags = iter(_tags(shown, titles, rows))
    return tuple(
        Example(
            title.number,
            title.feature,
            title.words,
            title.support,
            tuple(
                _row(shown, row, next(tags), _TAGS, image=thumbnails.number_of(row)) for row in some
            ),
        )
        for title, some in zip(titles, rows, strict=True)
    )


def _features(lines: Sequence[FeatureLine]) -> list[Example]:
    made = [line for line in lines if line.iteration and line.support][: limits.EXAMPLE_FEATURES]
    return [Example(line.number, line.simplified, line.words, line.support) for line in made]


def _chunks(shown: ModelOnRows) -> list[Example]:
    """As they were joined: rows whose chunk has grown since are examples too."""
    titles = [
        Example(one.number, shortened(one.text, _NAME_LENGTH), "", len(shown.rows_of(one.number)))
        for one in shown.summary.chunks[: limits.EXAMPLE_FEATURES]
    ]
    return [title for title in titles if title.support]


def rows_behind(shown: ModelOnRows, number: int, limit: int) -> list[int]:
    """Some of the rows in which a feature is true, spread evenly over all of them."""
    rows = shown.rows_of(number)
    if len(rows) > limit:
        rows = rows[np.linspace(0, len(rows) - 1, limit).round().astype(np.intp)]
    return [int(row) for row in rows]


def row_label(shown: ModelOnRows, row: int) -> str:
    return shortened(shown.row_name(row), _NAME_LENGTH)


def _row(
    shown: ModelOnRows, row: int, tags: tuple[Tag, ...], limit: int, image: int | None = None
) -> ExampleRow:
    return ExampleRow(row_label(shown, row), tags[:limit], max(0, len(tags) - limit), image)


def _tags(
    shown: ModelOnRows, titles: Sequence[Example], rows: Sequence[Sequence[int]]
) -> list[tuple[Tag, ...]]:
    """What the rows of each feature have, one row after the other."""
    every = [(title.number, row) for title, some in zip(titles, rows, strict=True) for row in some]
    if not shown.by_pattern:
        columns = shown.true_columns([row for _, row in every])
        return [tuple(Tag(shown.formula(k, _NAME_LENGTH)) for k in some) for some in columns]
    pattern = shown.model.feature_set_.lineage.pattern
    chunks = shown.chunks_of([row for _, row in every])
    return [_chunk_tags(c, pattern(number)) for (number, _), c in zip(every, chunks, strict=True)]


def _chunk_tags(chunks: Sequence[tuple[str, ...]], wanted: Sequence[str]) -> tuple[Tag, ...]:
    """The chunks of a row; the one that holds the tags wanted is marked."""
    return tuple(
        Tag(shortened(pattern_text(chunk), _NAME_LENGTH), set(chunk) >= set(wanted))
        for chunk in chunks
    )
