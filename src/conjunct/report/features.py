"""The table of features: what they are, how common, where they came from and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from conjunct.explain import (
    decimal,
    english,
    joined_chunks,
    probability,
    shortened,
    shown_pattern,
)
from conjunct.features import Merge
from conjunct.paper import Stability
from conjunct.report import limits
from conjunct.report.model_on_rows import ModelOnRows

_SHORT = 60  # literals; nothing longer is said in words
_TEXT_LENGTH = 400


@dataclass(frozen=True)
class FeatureLine:
    """One feature. ``primitives`` are positions of columns; ``support`` is on the rows shown.

    ``exact`` is the whole formula where ``built`` is cut; ``evidence`` that of its tags;
    ``merge`` what decided for it; ``comes_back`` in which share of runs on changed data it was
    made again.
    """

    number: int
    pattern: str
    built: str
    simplified: str
    words: str
    support: int
    share: float
    length: int
    simplified_length: int
    iteration: int
    parents: tuple[str, ...]
    primitives: tuple[int, ...]
    merge: Merge | None
    evidence: float | None
    exact: str = ""
    comes_back: float | None = None

    @property
    def held_against(self) -> str:
        """The comparison that was made, as it reads."""
        if self.merge is None:
            return ""
        if self.merge.compared == "p_value":
            return f"p ≤ {probability(self.merge.threshold)}"
        return f"{'r ≥' if self.merge.compared == 'r' else '>'} {decimal(self.merge.threshold)}"


@dataclass(frozen=True)
class FeatureTable:
    lines: tuple[FeatureLine, ...]
    n_features: int
    max_share: float

    @property
    def columns(self) -> list[int]:
        """The columns that any of the lines is about."""
        return sorted({column for line in self.lines for column in line.primitives})

    @cached_property
    def has_merges(self) -> bool:
        return any(line.merge for line in self.lines)

    @cached_property
    def has_patterns(self) -> bool:
        return any(line.pattern for line in self.lines)

    @cached_property
    def has_corrections(self) -> bool:
        """Whether p-values and those that allow for the number of pairs differ."""
        merges = [line.merge for line in self.lines if line.merge]
        return any(merge.p_value != merge.p_adjusted for merge in merges)


def feature_table(shown: ModelOnRows, stability: Stability | None = None) -> FeatureTable:
    """Constructed features before columns that were kept; the most common, or the strongest,
    first."""
    fitted = shown.model.feature_set_
    pattern = fitted.lineage.pattern
    supports = shown.features.supports().tolist()
    known = shown.features.count_known().tolist()
    joined = reversed(joined_chunks(fitted))
    bits_of = {pattern(one.merge.both or 0): one.evidence for one in joined}

    def rank(line: tuple[int, int, int]) -> tuple[bool, float, int]:
        number, support, _ = line
        bits = bits_of.get(pattern(number), 0.0) if shown.by_pattern else 0.0
        return not fitted.iteration(number), -bits, -support

    counted = sorted(zip(fitted.features, supports, known, strict=True), key=rank)
    origins = fitted.origins()
    shares = () if stability is None else stability.shares_of(shown.model)
    comes_back = dict(zip(fitted.features, shares, strict=stability is not None))
    position = {name: k for k, name in enumerate(fitted.lineage.primitives)}
    lines = []
    n_literals = 0
    for number, support, n_rows in counted[: limits.TABLE_ROWS]:
        merge, bits = origins.get(number), bits_of.get(pattern(number))
        line = _line(shown, number, support, support / max(1, n_rows), position, merge, bits)
        is_cut = line.built.endswith("…") or line.length > _SHORT
        if is_cut and line.length <= min(limits.FORMULA, limits.FORMULAS - n_literals):
            n_literals += line.length
            exact = fitted.lineage.expression(number).text(shown.model.style)
            line = replace(line, exact=exact)
        lines.append(replace(line, comes_back=comes_back.get(number)))
    max_share = max((line.share for line in lines), default=0.0)
    return FeatureTable(tuple(lines), len(counted), max_share)


def _line(
    shown: ModelOnRows,
    number: int,
    support: int,
    share: float,
    position: dict[str, int],
    merge: Merge | None,
    evidence: float | None,
) -> FeatureLine:
    fitted = shown.model.feature_set_
    built = fitted.lineage.expression(number)
    shorter = shown.short_form(number)
    # a feature by its pattern is about the tags it has, and not about all that it denies
    about = fitted.lineage.pattern(number) if shown.by_pattern else built.primitives
    return FeatureLine(
        number=number,
        pattern=shortened(shown_pattern(fitted, number), _TEXT_LENGTH) if fitted.merges else "",
        built=shown.written(built, _TEXT_LENGTH),
        simplified=shown.written(shorter, _TEXT_LENGTH),
        words=english(shorter)[:_TEXT_LENGTH] if shorter.length <= _SHORT else "",
        support=support,
        share=share,
        length=built.length,
        simplified_length=shorter.length,
        iteration=fitted.iteration(number),
        parents=tuple(shown.name(parent) for parent in fitted.parents(number)),
        primitives=tuple(sorted(position[name] for name in about)),
        merge=merge,
        evidence=evidence,
    )
