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


def iterate(stage: Stage, lineage: Lineage, rule: Rule) -> Iterator[Stage]:
    """The stage and those after it, for as long as a pair is replaced."""
    yield stage
    while len(pairs := chosen_pairs(stage, lineage, rule)):
        stage = replace_pairs(stage, pairs, lineage)
        yield stage


def chosen_pairs(stage: Stage, lineage: Lineage, rule: Rule) -> Pairs:
    """The pairs to replace, in the order in which they are taken."""
    pairs = stage.candidates(rule.criterion)
    if rule.max_length is not None:
        lengths = np.array([min(lineage.length(f), rule.max_length) for f in stage.features])
        pairs = pairs.take(lengths[pairs.left] + lengths[pairs.right] <= rule.max_length)

    by_text = text_order(stage.features, lineage)
    if rule.search == "pairwise":
        return pairs.take(largest_joint_count(pairs, by_text))
    return in_order_of_texts(matched(pairs, stage.features, lineage), by_text)


def matched(pairs: Pairs, features: Sequence[int], lineage: Lineage) -> Pairs:
    """The pairs that a greedy matching takes, by falling score."""
    return pairs.take(greedy_matching(pairs, len(features), text_order(features, lineage)))


def text_order(features: Sequence[int], lineage: Lineage) -> ByText:
    """What puts columns in the order of the texts of their features."""

    def ordered(columns: list[int]) -> list[int]:
        column_of = {features[column]: column for column in columns}
        return [column_of[feature] for feature in lineage.by_text(column_of)]

    return ordered
