"""Rows as answers: is a feature true, wherever it still could be?"""

from __future__ import annotations

from conjunct.features.feature_set import FeatureSet, S


def answers(features: FeatureSet, primitives: S) -> tuple[S, S]:
    """Where each feature is true, and where it is false though it could be true.

    Features are asked for one after the other, the largest patterns first. A tag is in one chunk
    only, so what shares a tag with a feature that is true is not asked for. Nor, by Kleene's
    logic, is what cannot be told for missing cells.
    """
    patterns = features.patterns
    true = features.evaluate(primitives)
    lines, false = list(true.lines), [true.nowhere] * len(patterns)
    taken = dict.fromkeys(features.lineage.primitives, true.nowhere)
    for f in sorted(range(len(patterns)), key=lambda k: (-len(patterns[k]), patterns[k])):
        excluded = true.nowhere
        for tag in patterns[f]:
            excluded = true.disjunction(excluded, taken[tag])
        false[f] = true.conjunction(lines[f], excluded, not_left=True, not_right=True)
        for tag in patterns[f]:
            taken[tag] = true.disjunction(taken[tag], lines[f])
    return true, true.with_lines(false)
