"""List the vocabulary, with facts about each chunk and tag, and the steps that made it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from conjunct.estimators import RowGroups
from conjunct.explain import Finding, english, every_finding, shorten
from conjunct.expressions import natural_order, pattern_text
from conjunct.report import page
from conjunct.report.model_on_rows import ModelOnRows
from conjunct.report.page import anchor_of


@dataclass(frozen=True)
class Word:
    """A chunk, a tag or, from an algorithm without chunks, a feature.

    ``rows`` counts the rows with all its ``tags``, which are positions of columns. Only chunks have
    ``evidence`` and ``lift``.
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
    """The strongest of ``n_chunks`` chunks and the most common of ``n_tags`` tags.

    ``tags`` holds positions and names of the columns in the words.
    """

    words: tuple[Word, ...]
    n_chunks: int
    n_tags: int
    tags: tuple[tuple[int, str], ...]
    max_evidence: float
    max_share: float


def list_words(shown: ModelOnRows, printed: Iterable[Finding]) -> Vocabulary:
    """Return the vocabulary, including all findings that the page names elsewhere."""
    names, fitted = shown.names, shown.model.feature_set_

    def places(tags: Iterable[str]) -> tuple[int, ...]:
        return tuple(sorted(shown.position[tag] for tag in tags))

    chunks: dict[tuple[str, ...], Finding] = {}
    for one in (*printed, *every_finding(fitted)):
        chunks.setdefault(one.tags, one)
    kept = list(chunks.values())[: page.CHUNKS]
    kept.sort(key=lambda one: (-one.evidence, -one.rows, one.tags))
    words = [
        Word(
            *(pattern_text(one.tags), anchor_of(one.tags), one.rows, one.share, places(one.tags)),
            *(one.sentence, one.evidence, one.lift),
        )
        for one in kept
    ]
    n_chunks = len(chunks)
    if not chunks:  # the algorithm has no chunks, or the model did not count them
        n_chunks = len(shown.summary.new_features)
        for feature in shown.summary.new_features[: page.CHUNKS]:
            k, formula = feature.number, shown.short_form(feature.number)
            about = places(fitted.lineage.expression(k).primitives)
            words.append(
                Word(
                    *(shown.write(formula), f"feature-{k}", feature.rows, feature.share, about),
                    english(formula) if formula.length <= page.WORDED else "",
                    number=k,
                )
            )
    rows = np.array(fitted.primitive_supports or shown.primitives.supports())
    known = np.full(len(rows), fitted.n_rows)
    if fitted.lineage_counts is not None:
        known = np.array([n for _, n in fitted.lineage_counts[: len(rows)]])
    shares = (rows / np.maximum(known, 1)).tolist()
    words += [
        Word(
            *(pattern_text([names[k]]), anchor_of([names[k]]), int(rows[k]), shares[k], (k,)),
            is_tag=True,
        )
        for k in np.argsort(-rows, kind="stable")[: page.TAGS].tolist()
    ]
    every = sorted({k for word in words for k in word.tags}, key=lambda k: natural_order(names[k]))
    return Vocabulary(
        tuple(words),
        n_chunks,
        len(names),
        tuple((k, shorten(names[k], page.NAME_LENGTH)) for k in every),
        max((word.evidence or 0.0 for word in words), default=0.0),
        max((word.share for word in words), default=0.0),
    )


def word_data(shown: ModelOnRows, word: Word) -> dict[str, Any]:
    """Return the values by which the script sorts and filters, and the rows that it lists."""
    every = shown.rows_of(word.number) if word.number >= 0 else shown.rows_with(word.tags)
    rows = shown.sample(every, page.DETAIL_ROWS)
    return {
        "with": word.tags,
        "tag": word.is_tag,
        "sort": [word.rows, word.evidence, word.lift],
        "facts": [["In all rows", word.sentence]] if word.sentence else [],
        "rows": [shown.row_label(row) for row in rows],
        "of": len(every),
    }


@dataclass(frozen=True)
class Steps:
    """The steps of a run, each of which leads to a vocabulary; ``data`` is for the script.

    The merges of each step are ``[left, right, both, left only, right only, rows with all tags]``,
    with -1 for an empty feature.
    """

    n_steps: int
    n_left_out: int
    n_rows: int
    data: dict[str, Any]


def list_steps(shown: ModelOnRows, groups: RowGroups | None = None) -> Steps | None:
    """Return the steps of a run that replaced pairs; ``None`` if it replaced none."""
    fitted = shown.model.feature_set_
    if not fitted.merges:
        return None
    by_step: dict[int, list[list[int]]] = {}
    tables = fitted.pattern_tables
    for k, merge in enumerate(fitted.merges[: page.STEPS]):
        numbers = merge.left, merge.right, merge.both, merge.left_only, merge.right_only
        made = [-1 if n is None else n for n in numbers]
        if tables is not None:
            rows_with_all = tables[k][3]
        else:
            tags = {tag for n in numbers[:2] for tag in fitted.lineage.pattern(n)}
            rows_with_all = len(shown.rows_with_tags(tags))
        by_step.setdefault(merge.iteration, []).append([*made, rows_with_all])
    # a sample of the rows that is small enough for a page
    cells = int(shown.primitives.supports().sum())
    wide = page.MAP_CELLS * shown.n_rows // max(1, cells)
    n = max(1, min(shown.n_rows, page.MAP_ROWS, wide))
    rows = shown.sample(np.arange(shown.n_rows), n)
    columns = shown.true_columns(rows)
    touched = {number for some in by_step.values() for one in some for number in one[:5]}
    known = touched.union(*columns)
    named = sorted((name, k) for k, name in enumerate(shown.names) if k in known)
    # the strongest patterns, or the most common ones, are coloured
    patterns: Iterable[tuple[str, ...]] = (one.tags for one in shown.summary.findings)
    if not shown.by_pattern:
        patterns = (f.pattern for f in shown.summary.new_features if len(f.pattern) > 1)
    coloured = islice(dict.fromkeys(patterns), page.COLOURS)
    labels = np.zeros(shown.n_rows, int) if groups is None else groups.labels_
    largest = () if groups is None else groups.groups_[: page.COLOURS]
    data = {
        "names": [[k, shorten(pattern_text([name]), 60)] for name, k in named],
        "steps": list(by_step.values()),
        "rows": [
            [shown.row_label(row), some, int(labels[row])]
            for row, some in zip(rows, columns, strict=True)
        ],
        "coloured": [[shown.position[tag] for tag in tags] for tags in coloured],
        "groups": [shorten(group.name, page.NAME_LENGTH) for group in largest],
    }
    left_out = max(0, len(fitted.merges) - page.STEPS)
    return Steps(len(by_step), left_out, len(rows), data)
