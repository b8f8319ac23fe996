"""The table of features: what they are, how common, where they came from and why."""

from __future__ import annotations

from dataclasses import dataclass

from conjunct.construction.stage import Merge
from conjunct.expressions import Expression
from conjunct.expressions.simplification import in_form
from conjunct.reading import english
from conjunct.report import limits
from conjunct.report.numbers import decimal, probability
from conjunct.report.subject import Subject, known_rows

# A truth table doubles with each primitive: beyond, only common parts are taken out.
_FEW_PRIMITIVES = 12
_SHORT = 60  # literals; nothing longer is simplified or said in words
_TEXT_LENGTH = 400


@dataclass(frozen=True)
class Audit:
    """What decided for a feature."""

    r: float
    p_value: float
    p_adjusted: float
    threshold: float
    compared: str
    family_size: int

    @classmethod
    def of(cls, merge: Merge) -> Audit:
        return cls(
            merge.r,
            merge.p_value,
            merge.p_adjusted,
            merge.threshold,
            merge.compared,
            merge.family_size,
        )

    @property
    def line(self) -> str:
        """The comparison that was made, as it reads."""
        if self.compared == "p_value":
            return f"p ≤ {probability(self.threshold)}"
        return f"{'r ≥' if self.compared == 'r' else '>'} {decimal(self.threshold)}"


@dataclass(frozen=True)
class FeatureLine:
    """One feature. ``primitives`` are positions of columns; ``support`` is on the rows shown."""

    number: int
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
    audit: Audit | None


@dataclass(frozen=True)
class FeatureTable:
    lines: tuple[FeatureLine, ...]
    n_features: int
    has_audit: bool
    max_share: float


def feature_table(subject: Subject) -> FeatureTable:
    """The most common features first, constructed ones before columns that were kept."""
    fitted = subject.model.feature_set_
    supports = subject.features.supports().tolist()
    known = known_rows(subject.features).tolist()
    counted = list(zip(fitted.features, supports, known, strict=True))
    counted.sort(key=lambda line: (not fitted.iteration(line[0]), -line[1]))
    shown = counted[: limits.TABLE_ROWS]
    origins = fitted.origins()
    position = {name: k for k, name in enumerate(fitted.lineage.primitives)}
    lines = tuple(
        _line(subject, number, support, support / max(1, known), origins.get(number), position)
        for number, support, known in shown
    )
    return FeatureTable(
        lines,
        len(counted),
        any(line.audit for line in lines),
        max((line.share for line in lines), default=0.0),
    )


def _line(
    subject: Subject,
    number: int,
    support: int,
    share: float,
    merge: Merge | None,
    position: dict[str, int],
) -> FeatureLine:
    fitted = subject.model.feature_set_
    built = fitted.lineage.expression(number)
    shorter = shortened_form(built)
    return FeatureLine(
        number,
        subject.written(built, _TEXT_LENGTH),
        subject.written(shorter, _TEXT_LENGTH),
        english(shorter)[:_TEXT_LENGTH] if shorter.length <= _SHORT else "",
        support,
        share,
        built.length,
        shorter.length,
        fitted.iteration(number),
        tuple(subject.formula(parent) for parent in fitted.parents(number)),
        tuple(sorted(position[name] for name in built.primitives)),
        None if merge is None else Audit.of(merge),
    )


def shortened_form(expression: Expression) -> Expression:
    """An equivalent formula in fewer literals, found in a time that nobody notices."""
    if expression.length > _SHORT:
        return expression
    few = len(expression.primitives) <= _FEW_PRIMITIVES
    return in_form(expression, "simplified" if few else "nested")
