"""Everything there is to say about one feature, on a few lines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conjunct.construction.feature_set import FeatureSet
from conjunct.expressions import And, Expression, Not, Or, Primitive, Style
from conjunct.reading.english import english
from conjunct.stores import Columns


@dataclass(frozen=True)
class Contrast:
    """How common a primitive is among the rows of a feature, and among the others."""

    primitive: str
    inside: float
    outside: float


@dataclass(frozen=True)
class Explanation:
    """A feature, explained. ``str`` gives it as lines of text.

    Attributes
    ----------
    feature, simplified, english : str
        The formula as constructed, its shortest form, and that in words.
    support, frequency : int, float
        Rows of the training data in which it is true, and their share.
    iteration : int
        0 for a primitive.
    parents : tuple of str
        The two features it came from; ``r`` and ``p_value`` are theirs where a correlation made
        the feature.
    present, absent, mixed : tuple of str
        The primitives it separates: those that speak for it, those that speak against it, and
        those that do either, depending on others.
    contrasts : tuple of Contrast
        With data: the primitives whose frequency differs most between its rows and the rest.
    """

    feature: str
    simplified: str
    english: str
    support: int
    frequency: float
    iteration: int
    parents: tuple[str, ...]
    r: float | None
    p_value: float | None
    present: tuple[str, ...]
    absent: tuple[str, ...]
    mixed: tuple[str, ...]
    contrasts: tuple[Contrast, ...] = ()

    def __str__(self) -> str:
        lines = [self.feature]
        if self.simplified != self.feature:
            lines.append(f"  shorter: {self.simplified}")
        lines.append(f"  in words: {self.english}")
        lines.append(f"  support: {self.support} rows ({self.frequency:.1%})")
        if self.parents:
            why = "" if self.r is None else f", r = {self.r:.3f}, p = {self.p_value:.2g}"
            parents = "  and  ".join(self.parents)
            lines.append(f"  from: {parents} (iteration {self.iteration}{why})")
        for title, names in (
            ("present", self.present),
            ("absent", self.absent),
            ("depends", self.mixed),
        ):
            if names:
                lines.append(f"  {title}: {', '.join(names)}")
        lines += [
            f"  {c.primitive} is true in {c.inside:.0%} of its rows, {c.outside:.0%} of the others"
            for c in self.contrasts
        ]
        return "\n".join(lines) + "\n"


def explanation(
    feature_set: FeatureSet, number: int, style: Style, primitives: Columns | None = None
) -> Explanation:
    """Explain a feature by its number; with data, contrast its rows with the others."""
    lineage = feature_set.lineage
    expression = lineage.expression(number)
    simplified = expression.simplify()
    merge = feature_set.origins().get(number)
    support, frequency = _support(feature_set, number)
    present, absent = _signs(simplified)
    return Explanation(
        feature=expression.text(style),
        simplified=simplified.text(style),
        english=english(simplified),
        support=support,
        frequency=frequency,
        iteration=feature_set.iteration(number),
        parents=tuple(p.text(style) for p in lineage.expressions(feature_set.parents(number))),
        r=merge.r if merge else None,
        p_value=merge.p_value if merge else None,
        present=_texts(present - absent, feature_set, style),
        absent=_texts(absent - present, feature_set, style),
        mixed=_texts(present & absent, feature_set, style),
        contrasts=_contrasts(feature_set, number, style, primitives) if primitives else (),
    )


def _support(feature_set: FeatureSet, number: int) -> tuple[int, float]:
    of = feature_set if number in feature_set.features else feature_set.rare()
    k = of.features.index(number)
    return of.supports[k], of.frequencies[k]


def _signs(expression: Expression) -> tuple[set[str], set[str]]:
    """The names that occur under an even number of negations, and under an odd one."""
    found: tuple[set[str], set[str]] = (set(), set())
    seen: set[tuple[int, bool]] = set()
    pending = [(expression, False)]
    while pending:
        node, negated = pending.pop()
        if (node.digest, negated) in seen:
            continue
        seen.add((node.digest, negated))
        if isinstance(node, Primitive):
            found[negated].add(node.name)
        elif isinstance(node, Not):
            pending.append((node.operand, not negated))
        elif isinstance(node, And | Or):
            pending.extend((operand, negated) for operand in node.operands)
    return found


def _texts(names: set[str], feature_set: FeatureSet, style: Style) -> tuple[str, ...]:
    """The names as formulas write them, in the order of the columns."""
    return tuple(
        Primitive(name).text(style) for name in feature_set.lineage.primitives if name in names
    )


def _contrasts(
    feature_set: FeatureSet, number: int, style: Style, primitives: Columns
) -> tuple[Contrast, ...]:
    n_rows, of_feature, of_primitive, joint = (
        feature_set.evaluate(primitives, [number]).against(primitives).table
    )
    with np.errstate(invalid="ignore"):
        inside = joint / of_feature
        outside = (of_primitive - joint) / (n_rows - of_feature)
    # where there is nothing to compare, the difference is NaN, and comes last
    difference = np.abs(inside - outside)
    order = np.argsort(-difference, kind="stable")[: min(5, int(np.sum(difference >= 0)))].tolist()
    names = feature_set.lineage.primitives
    return tuple(
        Contrast(Primitive(names[k]).text(style), float(inside[k]), float(outside[k]))
        for k in order
    )
