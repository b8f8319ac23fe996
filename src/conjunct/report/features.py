"""The table of features: what they are, how common, where they came from and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from conjunct.construction.stage import Merge
from conjunct.expressions import Expression
from conjunct.expressions.simplification import in_form
from conjunct.reading import births, english, shortened, shown_pattern
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
    """One feature. ``primitives`` are positions of columns; ``support`` is on the rows shown.

    ``exact`` is the whole formula where ``built`` is cut; ``saved`` what joining its tags saved.
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
    audit: Audit | None
    saved: float | None = None
    exact: str = ""


@dataclass(frozen=True)
class FeatureTable:
    lines: tuple[FeatureLine, ...]
    n_features: int
    max_share: float

    @property
    def has_audit(self) -> bool:
        return any(line.audit for line in self.lines)

    @property
    def has_patterns(self) -> bool:
        return any(line.pattern for line in self.lines)

    @property
    def has_corrections(self) -> bool:
        """Whether p-values and those that allow for the number of pairs differ."""
        audits = [line.audit for line in self.lines if line.audit]
        return any(audit.p_value != audit.p_adjusted for audit in audits)


def feature_table(subject: Subject) -> FeatureTable:
    """Constructed features before columns that were kept; the most common, or what saved most,
    first."""
    fitted = subject.model.feature_set_
    supports = subject.features.supports().tolist()
    known = known_rows(subject.features).tolist()
    saved = {pattern: merge.saved for pattern, merge in births(fitted).items()}

    def rank(line: tuple[int, int, int]) -> tuple[bool, float, int]:
        number, support, _ = line
        bits = saved.get(fitted.lineage.pattern(number), 0.0) if subject.by_pattern else 0.0
        return not fitted.iteration(number), -bits, -support

    counted = sorted(zip(fitted.features, supports, known, strict=True), key=rank)
    origins = fitted.origins()
    position = {name: k for k, name in enumerate(fitted.lineage.primitives)}
    lines = tuple(
        _line(subject, number, support, support / max(1, known), origins.get(number), position)
        for number, support, known in counted[: limits.TABLE_ROWS]
    )
    lines = tuple(
        replace(line, saved=saved.get(fitted.lineage.pattern(line.number)) if saved else None)
        for line in lines
    )
    max_share = max((line.share for line in lines), default=0.0)
    return FeatureTable(tuple(_with_formulas(subject, lines)), len(counted), max_share)


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
    # a feature by its pattern is about the tags it has, and not about all that it denies
    about = fitted.lineage.pattern(number) if subject.by_pattern else built.primitives
    return FeatureLine(
        number,
        shortened(shown_pattern(fitted, number), _TEXT_LENGTH) if fitted.merges else "",
        subject.written(built, _TEXT_LENGTH),
        subject.written(shorter, _TEXT_LENGTH),
        english(shorter)[:_TEXT_LENGTH] if shorter.length <= _SHORT else "",
        support,
        share,
        built.length,
        shorter.length,
        fitted.iteration(number),
        tuple(subject.name(parent) for parent in fitted.parents(number)),
        tuple(sorted(position[name] for name in about)),
        None if merge is None else Audit.of(merge),
    )


def _with_formulas(subject: Subject, lines: Iterable[FeatureLine]) -> Iterator[FeatureLine]:
    """With the whole formulas of those whose texts are cut, while they are few enough."""
    lineage = subject.model.feature_set_.lineage
    written = 0
    for line in lines:
        is_cut = line.built.endswith("…") or line.length > _SHORT
        if not is_cut or line.length > limits.FORMULA or written + line.length > limits.FORMULAS:
            yield line
            continue
        written += line.length
        yield replace(line, exact=lineage.expression(line.number).text(subject.model.style))


def shortened_form(expression: Expression) -> Expression:
    """An equivalent formula in fewer literals, found in a time that nobody notices."""
    if expression.length > _SHORT:
        return expression
    few = len(expression.primitives) <= _FEW_PRIMITIVES
    return in_form(expression, "simplified" if few else "nested")
