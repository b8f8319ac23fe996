"""uFC: Algorithm 2 as a generator of stages. It does not know when to stop; stopping rules do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from conjunct.association import Criterion, Pairs
from conjunct.construction.lineage import Lineage
from conjunct.construction.pairing import (
    ByText,
    greedy_matching,
    in_order_of_texts,
    largest_joint_count,
)
from conjunct.construction.stage import Stage, replace_pairs

Search = Literal["batch", "pairwise"]


@dataclass(frozen=True)
class Rule:
    """What one iteration replaces.

    ``search="batch"`` is the paper's: all pairs of a greedy matching at once. ``"pairwise"``
    replaces the one pair with the largest joint count. ``max_length`` bounds the literals of a
    new feature.
    """

    criterion: Criterion
    search: Search = "batch"
    max_length: int | None = None


class Candidates:
    """The pairs that an iteration may replace, looked for once a stage."""

    def __init__(self, lineage: Lineage, rule: Rule) -> None:
        self._lineage = lineage
        self._rule = rule
        self._last: tuple[Stage, Pairs] | None = None

    def __call__(self, stage: Stage) -> Pairs:
        if self._last is None or self._last[0] is not stage:
            self._last = (stage, self._found(stage))
        return self._last[1]

    def taken(self, stage: Stage) -> Pairs:
        """The same pairs, which need not be kept any longer."""
        pairs = self(stage)
        self._last = None
        return pairs

    def _found(self, stage: Stage) -> Pairs:
        pairs = stage.candidates(self._rule.criterion)
        longest = self._rule.max_length
        if longest is None:
            return pairs
        lengths = np.array([min(self._lineage.length(f), longest) for f in stage.features])
        return pairs.take(lengths[pairs.left] + lengths[pairs.right] <= longest)


def iterate(
    stage: Stage, lineage: Lineage, rule: Rule, candidates: Candidates | None = None
) -> Iterator[Stage]:
    """The stage and those after it, for as long as a pair is replaced."""
    found = Candidates(lineage, rule) if candidates is None else candidates
    yield stage
    while len(pairs := chosen_pairs(found.taken(stage), stage.features, lineage, rule.search)):
        stage = replace_pairs(stage, pairs, lineage)
        yield stage


def chosen_pairs(pairs: Pairs, features: Sequence[int], lineage: Lineage, search: Search) -> Pairs:
    """The candidates to replace, in the order in which they are taken."""
    by_text = text_order(features, lineage)
    if search == "pairwise":
        return pairs.take(largest_joint_count(pairs, by_text))
    return in_order_of_texts(matched(pairs, features, lineage), by_text)


def matched(pairs: Pairs, features: Sequence[int], lineage: Lineage) -> Pairs:
    """The pairs that a greedy matching takes, by falling score."""
    return pairs.take(greedy_matching(pairs, len(features), text_order(features, lineage)))


def text_order(features: Sequence[int], lineage: Lineage) -> ByText:
    """What puts columns in the order of the texts of their features."""

    def ordered(columns: list[int]) -> list[int]:
        column_of = {features[column]: column for column in columns}
        return [column_of[feature] for feature in lineage.by_text(column_of)]

    return ordered
