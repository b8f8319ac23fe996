"""The vocabulary: every chunk and every tag, with its facts in all rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import numpy as np

from conjunct.explain import Finding, english, every_finding, shorten
from conjunct.expressions import natural_order, pattern_text
from conjunct.report import limits
from conjunct.report.model_on_rows import ModelOnRows


def anchor_of(tags: Iterable[str]) -> str:
    """Return the address of a chunk or tag in the page: ``chunk-fork%20%2B%20knife``."""
    return "chunk-" + quote(pattern_text(tuple(tags)).encode("utf-8", "replace"), safe="")


@dataclass(frozen=True)
class Word:
    """A chunk, a tag or, of an algorithm without chunks, a feature.

    ``rows`` have all the tags; ``tags`` are positions of columns; ``evidence`` and ``lift`` are
    those of a chunk.
    """

    name: str
    anchor: str
    rows: int
    share: float
    tags: tuple[int, ...]
    sentence: str = ""
    evidence: float | None = None
    lift: float | None = None
    is_tag: bool = False
    number: int = -1


@dataclass(frozen=True)
class Vocabulary:
    """The strongest chunks and the most common tags, of ``n_chunks`` and ``n_tags`` in all.

    ``tags`` are (position, name) of the columns that the words are about.
    """

    words: tuple[Word, ...]
    n_chunks: int
    n_tags: int
    tags: tuple[tuple[int, str], ...]
    max_evidence: float
    max_share: float


def list_words(shown: ModelOnRows, printed: Iterable[Finding]) -> Vocabulary:
    """Return the vocabulary; findings that the page names elsewhere are always in it."""
    position = {name: k for k, name in enumerate(shown.names)}
    fitted = shown.model.feature_set_
    chunks: dict[tuple[str, ...], Finding] = {}
    for one in (*printed, *every_finding(fitted)):
        chunks.setdefault(one.tags, one)
    kept = list(chunks.values())[: limits.CHUNKS]
    kept.sort(key=lambda one: (-one.evidence, -one.rows, one.tags))
    words = [
        Word(
            pattern_text(one.tags),
            anchor_of(one.tags),
            one.rows,
            one.share,
            tuple(sorted(position[tag] for tag in one.tags)),
            one.sentence,
            one.evidence,
            one.lift,
        )
        for one in kept
    ]
    n_chunks = len(chunks)
    if not chunks:  # an algorithm without chunks, or a model that did not count them
        n_chunks = len(shown.summary.new_features)
        for feature in shown.summary.new_features[: limits.CHUNKS]:
            formula = shown.short_form(feature.number)
            names = fitted.lineage.expression(feature.number).primitives
            words.append(
                Word(
                    shown.write(formula),
                    f"feature-{feature.number}",
                    feature.rows,
                    feature.share,
                    tuple(sorted(position[name] for name in names)),
                    english(formula) if formula.length <= limits.WORDED else "",
                    number=feature.number,
                )
            )
    words += _list_tags(shown)
    about = sorted(
        {k for word in words for k in word.tags}, key=lambda k: natural_order(shown.names[k])
    )
    return Vocabulary(
        tuple(words),
        n_chunks,
        len(shown.names),
        tuple((k, shorten(shown.names[k], limits.NAME_LENGTH)) for k in about),
        max((word.evidence or 0.0 for word in words), default=0.0),
        max((word.share for word in words), default=0.0),
    )


def _list_tags(shown: ModelOnRows) -> list[Word]:
    fitted = shown.model.feature_set_
    rows = np.array(fitted.primitive_supports or shown.primitives.supports())
    known = np.full(len(rows), fitted.n_rows)
    if fitted.lineage_counts is not None:
        known = np.array([n for _, n in fitted.lineage_counts[: len(rows)]])
    common = np.argsort(-rows, kind="stable")[: limits.TAGS].tolist()
    return [
        Word(
            pattern_text([shown.names[k]]),
            anchor_of([shown.names[k]]),
            int(rows[k]),
            float(rows[k] / max(1, known[k])),
            (k,),
            is_tag=True,
        )
        for k in common
    ]


def word_data(shown: ModelOnRows, word: Word) -> dict[str, Any]:
    """Return what the script sorts and filters by, and the rows that it lists."""
    every = shown.rows_of(word.number) if word.number >= 0 else shown.rows_with(word.tags)
    rows = shown.sample(every, limits.DETAIL_ROWS)
    return {
        "with": word.tags,
        "tag": word.is_tag,
        "sort": [word.rows, word.evidence, word.lift],
        "facts": [["In all rows", word.sentence]] if word.sentence else [],
        "rows": [shown.row_label(row) for row in rows],
        "of": len(every),
    }
