"""What was found: the chunks that make the description of the data shorter."""

from __future__ import annotations

from dataclasses import dataclass

from conjunct.construction.feature_set import FeatureSet
from conjunct.construction.stage import Merge
from conjunct.expressions.pattern import pattern_text
from conjunct.reading.labels import share


@dataclass(frozen=True)
class Finding:
    """A chunk: tags that belong together.

    Attributes
    ----------
    number : int
        The chunk's number in the lineage, as it was made; later merges may have taken rows from
        it.
    pattern : tuple of str
    rows : int
        Rows of the training data in which it was joined.
    saved : float
        Bits by which joining it made the description of the data shorter.
    contrast : str
        How much more often its two parts go together than apart, in words. Empty where cells
        are missing: the rows behind a pair are others for every pair then.
    """

    number: int
    pattern: tuple[str, ...]
    rows: int
    saved: float
    contrast: str

    @property
    def text(self) -> str:
        """The pattern as text."""
        return pattern_text(self.pattern)


def findings(feature_set: FeatureSet, limit: int | None = None) -> tuple[Finding, ...]:
    """The chunks that save bits, those that save most first."""
    supports = supports_before(feature_set)
    useful = [merge for merge in feature_set.merges if merge.both is not None and merge.saved > 0]
    useful.sort(key=lambda merge: -merge.saved)
    return tuple(_finding(feature_set, merge, supports) for merge in useful[:limit])


def births(feature_set: FeatureSet) -> dict[tuple[str, ...], Merge]:
    """The merge that joined each pattern first.

    No other ever did: where a pattern was joined, its tags are together in all rows that have
    them, and what is left of them apart never meets.
    """
    pattern = feature_set.lineage.pattern
    return {pattern(m.both): m for m in reversed(feature_set.merges) if m.both is not None}


def supports_before(feature_set: FeatureSet) -> dict[int | None, int] | None:
    """Rows of every feature that ever was, by its number; ``None`` where cells are missing.

    A replaced one has those of its two conjunctions.
    """
    if feature_set.known is not None:
        return None
    every = feature_set.with_rare()
    supports: dict[int | None, int] = dict(zip(every.features, every.supports, strict=True))
    for merge in reversed(feature_set.merges):
        supports[merge.left] = merge.joint + supports.get(merge.left_only, 0)
        supports[merge.right] = merge.joint + supports.get(merge.right_only, 0)
    return supports


def shown_pattern(feature_set: FeatureSet, number: int) -> str:
    """The pattern of a feature as text; empty where it has none to be read by.

    Only what uFC replaced has patterns that are a partition of each row.
    """
    lineage = feature_set.lineage
    if feature_set.iteration(number) and not feature_set.merges:
        return ""
    return pattern_text(lineage.pattern(number), is_rest=lineage.denies(number))


def _finding(
    feature_set: FeatureSet, merge: Merge, supports: dict[int | None, int] | None
) -> Finding:
    number = merge.both
    if number is None:
        raise ValueError("an empty chunk is no finding")
    contrast = "" if supports is None else _contrast(feature_set, merge, supports)
    pattern = feature_set.lineage.pattern(number)
    return Finding(number, pattern, merge.joint, merge.saved, contrast)


def _contrast(feature_set: FeatureSet, merge: Merge, supports: dict[int | None, int]) -> str:
    """Of the rows with the rarer part, the share that has the other too, and of the rest."""
    given, other = sorted((merge.left, merge.right), key=lambda number: supports[number])
    inside = merge.joint / supports[given]
    n_outside = merge.n_rows - supports[given]
    outside = (supports[other] - merge.joint) / n_outside if n_outside else 0.0
    one, two = (shown_pattern(feature_set, number) for number in (given, other))
    return f"{two} is in {share(inside)} of the rows with {one}, {share(outside)} of the others"
