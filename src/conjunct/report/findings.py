"""The first screen: what was found, and why the run ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conjunct.reading import Finding, findings, shortened
from conjunct.report import limits
from conjunct.report.examples import Tag, chunk_tags, row_label, rows_behind
from conjunct.report.numbers import count
from conjunct.report.story import outcome
from conjunct.report.subject import Subject

_LOOKED_AT = 12  # rows from which the example of a chunk is chosen
_TAGS = 8  # chunks of an example


@dataclass(frozen=True)
class ExampleOfChunk:
    name: str
    tags: tuple[Tag, ...]
    more_tags: int


@dataclass(frozen=True)
class FoundChunk:
    """``share`` is what it saved as a part of what the first one did, for a bar."""

    name: str
    contrast: str
    rows: int
    saved: float
    share: float
    example: ExampleOfChunk | None


@dataclass(frozen=True)
class Findings:
    """``n_chunks`` is the number of all chunks that saved bits."""

    summary: str
    length: str
    outcome: str
    chunks: tuple[FoundChunk, ...]
    n_chunks: int


def found_chunks(subject: Subject) -> Findings:
    """The chunks that saved most bits, each with a row that has it."""
    fitted = subject.model.feature_set_
    every = findings(fitted)
    shown = every[: limits.FINDINGS]
    most = max((finding.saved for finding in shown), default=1.0)
    chunks = tuple(
        FoundChunk(
            shortened(finding.text, limits.NAME_LENGTH),
            finding.contrast,
            finding.rows,
            finding.saved,
            finding.saved / most,
            example,
        )
        for finding, example in zip(shown, _examples(subject, shown), strict=True)
    )
    return Findings(_summary(subject), _length(subject), outcome(subject.model), chunks, len(every))


def _summary(subject: Subject) -> str:
    fitted = subject.model.feature_set_
    several = sum(len(pattern) > 1 for pattern in fitted.patterns)
    data = f"{count(fitted.n_rows, 'row')} and {count(len(fitted.lineage.primitives), 'column')}"
    if not fitted.merges:
        return f"From {data} nothing was constructed: the features are the columns."
    return (
        f"From {data} came {count(len(fitted.features), 'feature')}: {count(several)} are chunks "
        f"of several tags, the others single tags or what is left of them."
    )


def _length(subject: Subject) -> str:
    fitted = subject.model.feature_set_
    before, after = fitted.baseline_length(), fitted.description_length()
    if not fitted.merges or not before:
        return ""
    part = f"{100 * after / before:.1f}%"
    return f"{before:,.0f} → {after:,.0f} bits: {part} of what the bare columns take"


def _examples(subject: Subject, found: Sequence[Finding]) -> list[ExampleOfChunk | None]:
    """For each chunk the row, of a few, with most chunks of several tags."""
    rows = [rows_behind(subject, finding.number, _LOOKED_AT) for finding in found]
    chunks = iter(subject.chunks_of([row for some in rows for row in some]))
    examples: list[ExampleOfChunk | None] = []
    used: set[int] = set()
    for finding, some in zip(found, rows, strict=True):
        looked_at = [(row, next(chunks)) for row in some]
        if not looked_at:
            examples.append(None)
            continue
        row, best = max(looked_at, key=lambda one: (one[0] not in used, *_interest(one[1])))
        used.add(row)
        tags = chunk_tags(best, finding.pattern)
        more = max(0, len(tags) - _TAGS)
        examples.append(ExampleOfChunk(row_label(subject, row), tags[:_TAGS], more))
    return examples


def _interest(chunks: Sequence[tuple[str, ...]]) -> tuple[int, int]:
    return sum(len(chunk) > 1 for chunk in chunks), -len(chunks)
