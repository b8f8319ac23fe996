"""The explanation of one feature, the features most like it, and formulas in other forms."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, NamedTuple

import numpy as np

from conjunct.columns import Columns, PackedColumns
from conjunct.errors import InputError
from conjunct.explain.findings import (
    Contrast,
    describe_pattern,
    every_finding,
    evidence_of_tags,
    merges_by_pattern,
)
from conjunct.explain.sentences import count, english, format_share, formula_text, label, shorten
from conjunct.expressions import (
    And,
    Expression,
    Form,
    Not,
    Primitive,
    Style,
    in_form,
    pattern_text,
    simplify_on,
)
from conjunct.features import FeatureSet, mean_length
from conjunct.ufc import phi

Equivalence = Literal["always", "on the training data"]

_SHORT = 6  # literals; a longer parent is shown by its pattern
_LINE_LENGTH = 300  # characters of a formula within the text


@dataclass(frozen=True)
class Explanation:
    """A feature, explained. ``str`` gives it as lines of text.

    Attributes
    ----------
    pattern : str
        The tags it asserts, as text; "(rest)" marks a feature that larger chunks have taken rows
        from. Empty for features that were added and replaced none.
    feature, simplified, english : str
        The formula as constructed, its shortest form, and that in words. A formula of more than
        10,000 literals is not written out. All three are true in the same rows, whatever they are.
    support, frequency : int, float
        Rows of the training data in which it is true, and their share.
    iteration : int
        0 for a primitive.
    parents : tuple of str
        The two features it came from, long ones by their patterns; ``r`` and ``p_value`` are
        theirs where a correlation made the feature.
    evidence : float or None
        Bits by which all rows speak for its tags being together rather than by chance.
    lift, sentence : float or None, str
        Of tags that were joined: how many times as often as by chance they are together, and the
        finding in words.
    present, absent, mixed : tuple of str
        The primitives it depends on: those that are true in all its rows, those that are true in
        none, and those that may be either, depending on others.
    contrasts : tuple of Contrast
        With data: the primitives whose frequency differs most between its rows and the rest.
    on_rows, english_on_rows : str or None
        With data: a formula shorter than ``simplified`` that is true in the same of these rows,
        and that in words. In other rows it may be wrong. None where cells are missing, where
        the feature is true in all of these rows or in none, and where nothing shorter is known.
    """

    pattern: str
    feature: str
    simplified: str
    english: str
    support: int
    frequency: float
    iteration: int
    parents: tuple[str, ...]
    r: float | None
    p_value: float | None
    evidence: float | None
    present: tuple[str, ...]
    absent: tuple[str, ...]
    mixed: tuple[str, ...]
    lift: float | None = None
    sentence: str = ""
    contrasts: tuple[Contrast, ...] = ()
    on_rows: str | None = None
    english_on_rows: str | None = None

    def __str__(self) -> str:
        lines = [self.pattern or shorten(self.feature, _LINE_LENGTH)]
        lines += [f"  {title}: {shorten(text, _LINE_LENGTH)}" for title, text in self._formulas()]
        lines.append(f"  support: {count(self.support, 'row')} ({self.frequency:.1%})")
        if self.sentence:
            lines.append(f"  {self.sentence}")
        if self.evidence is not None:
            lines.append(f"  evidence: {self.evidence:,.1f} bits, in all rows")
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
            f"  {c.tags} is in {format_share(c.inside)} of its rows, {format_share(c.outside)} of "
            f"the rows without it"
            for c in self.contrasts
        ]
        return "\n".join(lines) + "\n"

    def _formulas(self) -> Iterator[tuple[str, str]]:
        """List the formulas, first the one that holds on the rows given."""
        if self.on_rows is not None:
            yield "on these rows", self.on_rows
        if self.english_on_rows not in (None, self.on_rows):
            yield "in words, on these rows", str(self.english_on_rows)
        if self.pattern not in ("", self.feature):
            yield "formula", self.feature
        if self.simplified != self.feature:
            yield "shorter", self.simplified
        if self.on_rows is None and self.english != self.feature:
            yield "in words", self.english

    def _repr_html_(self) -> str:
        """Show the lines in a notebook. Names from data are escaped."""
        text = escape(str(self)).encode("utf-8", "replace").decode()
        return f'<pre style="white-space:pre-wrap">{text}</pre>'


def explanation(
    feature_set: FeatureSet, number: int, style: Style, primitives: Columns | None = None
) -> Explanation:
    """Explain a feature by its number; with data, contrast its rows with the others."""
    lineage = feature_set.lineage
    expression = lineage.expression(number)
    simplified = expression.simplify()
    merge = feature_set.origins().get(number)
    tags = lineage.pattern(number)
    holder = feature_set if number in feature_set.features else feature_set.rare()
    position = holder.features.index(number)
    present, absent = _find_certain(simplified)
    if feature_set.merges:
        present |= set(lineage.pattern(number))
    mixed = set(simplified.primitives) - present - absent
    on_rows = _shorten_on(feature_set, simplified, primitives) if primitives else None
    return Explanation(
        pattern=describe_pattern(feature_set, number),
        feature=formula_text(expression, style),
        simplified=formula_text(simplified, style),
        english=english(simplified),
        support=holder.supports[position],
        frequency=holder.frequencies[position],
        iteration=feature_set.iteration(number),
        parents=tuple(
            _describe_parent(feature_set, parent, style) for parent in feature_set.parents(number)
        ),
        r=merge.r if merge else None,
        p_value=merge.p_value if merge else None,
        evidence=evidence_of_tags(feature_set).get(frozenset(tags)),
        present=_write_names(present, feature_set, style),
        absent=_write_names(absent, feature_set, style),
        mixed=_write_names(mixed, feature_set, style),
        contrasts=_find_contrasts(
            feature_set,
            feature_set.evaluate(primitives, [number]),
            describe_pattern(feature_set, number),
            style,
            primitives,
            _values_of_same_variables(feature_set, tags) - {*tags},
        )
        if primitives
        else (),
        on_rows=formula_text(on_rows, style) if on_rows else None,
        english_on_rows=english(on_rows) if on_rows else None,
    )


def explain_tags(
    feature_set: FeatureSet, tags: tuple[str, ...], style: Style, primitives: Columns | None = None
) -> Explanation:
    """Explain tags that were joined: the rows that have all of them, whatever else they have."""
    finding = next((one for one in every_finding(feature_set) if set(one.tags) == set(tags)), None)
    merge = merges_by_pattern(feature_set).get(tuple(sorted(tags)))
    expression: Expression = Primitive(tags[0])
    for tag in tags[1:]:
        expression = And(expression, Primitive(tag))
    columns = None if primitives is None else feature_set.evaluate_tags(primitives, tags)
    if len(tags) == 1:
        support = feature_set.primitive_supports[feature_set.lineage.primitives.index(tags[0])]
        n_rows = feature_set.n_rows
    elif finding is not None:
        support, n_rows = finding.rows, finding.n_rows
    elif primitives is not None and columns is not None:
        support, n_rows = int(columns.supports()[0]), primitives.n_rows
    else:
        raise InputError(
            f"{pattern_text(tags)} were never joined, so their rows were not counted: give the "
            f"data, as explain(name, X)"
        )
    text = formula_text(expression, style)
    return Explanation(
        pattern=pattern_text(tags),
        feature=text,
        simplified=text,
        english=english(expression),
        support=support,
        frequency=support / n_rows if n_rows else 0.0,
        iteration=feature_set.iteration(merge.both) if merge and merge.both else 0,
        parents=tuple(map(pattern_text, finding.parts)) if finding else (),
        r=merge.r if merge else None,
        p_value=merge.p_value if merge else None,
        evidence=finding.evidence if finding else None,
        present=_write_names(set(tags), feature_set, style),
        absent=(),
        mixed=(),
        lift=finding.lift if finding else None,
        sentence=finding.sentence if finding else "",
        contrasts=()
        if primitives is None or columns is None
        else _find_contrasts(
            feature_set,
            columns,
            pattern_text(tags),
            style,
            primitives,
            _values_of_same_variables(feature_set, tags),
        ),
    )


def _shorten_on(
    feature_set: FeatureSet, simplified: Expression, primitives: Columns
) -> Expression | None:
    """Find a formula of fewer literals that is true in the same of these rows."""
    if primitives.has_missing or simplified.length < 2:
        return None
    shorter = simplify_on(
        simplified,
        row_sets(feature_set, primitives, simplified.primitives),
        primitives.n_rows,
    )
    return shorter if 0 < shorter.length < simplified.length else None


def _describe_parent(feature_set: FeatureSet, number: int, style: Style) -> str:
    expression = feature_set.lineage.expression(number)
    pattern = describe_pattern(feature_set, number)
    return pattern if pattern and expression.length > _SHORT else label(expression, style)


def _find_certain(expression: Expression) -> tuple[set[str], set[str]]:
    """Find the names that are true wherever the formula is, and those that are false there.

    They are literals of the outermost conjunction.
    """
    present: set[str] = set()
    absent: set[str] = set()
    pending = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, Primitive):
            present.add(node.name)
        elif isinstance(node, Not) and isinstance(node.operand, Primitive):
            absent.add(node.operand.name)
        elif isinstance(node, And):
            pending.extend(node.operands)
    return present, absent


def _write_names(names: set[str], feature_set: FeatureSet, style: Style) -> tuple[str, ...]:
    """Write names as in formulas, in the order of the columns."""
    return tuple(
        Primitive(name).text(style) for name in feature_set.lineage.primitives if name in names
    )


def _values_of_same_variables(feature_set: FeatureSet, tags: Sequence[str]) -> set[str]:
    """Return the tags, and the other values of their variables, which exclude them."""
    names = feature_set.lineage.primitives
    pairs = dict(zip(names, feature_set.variables, strict=False))
    variables = {pairs.get(tag) for tag in tags} - {None}
    return {*tags} | {name for name in names if pairs.get(name) in variables}


def _find_contrasts(
    feature_set: FeatureSet,
    column: Columns,
    given: str,
    style: Style,
    primitives: Columns,
    without: Collection[str],
) -> tuple[Contrast, ...]:
    """Return the columns whose share differs most between the rows of one column and the rest."""
    n_rows, of_feature, of_primitive, joint = column.against(primitives).table
    with np.errstate(invalid="ignore"):
        inside = joint / of_feature
        outside = (of_primitive - joint) / (n_rows - of_feature)
    # if there is nothing to compare, the difference is NaN and comes last
    difference = np.abs(inside - outside)
    difference[[name in without for name in feature_set.lineage.primitives]] = np.nan
    order = np.argsort(-difference, kind="stable")[: min(5, int(np.sum(difference >= 0)))].tolist()
    names = feature_set.lineage.primitives
    return tuple(
        Contrast(Primitive(names[k]).text(style), given, float(inside[k]), float(outside[k]))
        for k in order
    )


class Neighbour(NamedTuple):
    """Another feature of the model, and its similarity."""

    position: int
    feature: str
    similarity: float
    by: Literal["correlation", "shared primitives"]


def find_nearest(
    feature_set: FeatureSet, number: int, texts: list[str], n: int, primitives: Columns | None
) -> list[Neighbour]:
    """List the features most like one: by the correlation of columns, or by shared primitives.

    Without data, the similarity is the share of the primitives of both that both have.
    """
    by: Literal["correlation", "shared primitives"] = "shared primitives"
    if primitives is not None:
        by = "correlation"
        one = feature_set.evaluate(primitives, [number])
        similar = phi(*one.against(feature_set.evaluate(primitives)).table).tolist()
    else:
        own = feature_set.lineage.expression(number).primitives
        others = [expression.primitives for expression in feature_set.expressions]
        similar = [len(own & other) / len(own | other) for other in others]
    found = [
        Neighbour(k, texts[k], value, by)
        for k, value in enumerate(similar)
        if feature_set.features[k] != number
    ]
    # a column without variation on these rows has no correlation, and comes last
    found.sort(
        key=lambda one: -math.inf if math.isnan(one.similarity) else one.similarity, reverse=True
    )
    return found[:n]


@dataclass(frozen=True)
class Formulas:
    """The features of a model, each in one form.

    Attributes
    ----------
    form : {"built", "nested", "dnf", "simplified"}
    equivalent : {"always", "on the training data"}
        The rows on which the formulas have the truth values of the features: all possible ones, or
        those of the training data only. The latter are for reading, not for new rows.
    built, expressions : tuple of Expression
        The features as they were constructed, and in this form.
    """

    form: Form
    equivalent: Equivalence
    built: tuple[Expression, ...]
    expressions: tuple[Expression, ...]

    @property
    def length_before(self) -> float:
        """C1 of the features as constructed: literal occurrences per feature."""
        return mean_length(expression.length for expression in self.built)

    @property
    def length_after(self) -> float:
        """C1 of the formulas in this form."""
        return mean_length(expression.length for expression in self.expressions)

    def texts(self, style: Style = "unicode") -> list[str]:
        """Write the formulas out."""
        return [expression.text(style) for expression in self.expressions]


def formulas_of(
    feature_set: FeatureSet, form: Form, given: PackedColumns | None = None
) -> Formulas:
    """Return the features in one form; with training data, simplified for its combinations."""
    built = feature_set.expressions
    if given is None:
        return Formulas(form, "always", built, tuple(in_form(x, form) for x in built))
    if form != "simplified":
        raise InputError(f"given data, a formula can be simplified, not {form!r}")
    if (
        given.n_rows != feature_set.n_rows
        or tuple(feature_set.evaluate(given).supports().tolist()) != feature_set.supports
    ):  # other rows may hold other combinations, on which the formulas would be wrong
        raise InputError(
            "the data given are not the training data: they have other rows or other supports; "
            "give the rows that the model was fitted on"
        )
    columns = row_sets(feature_set, given, set(feature_set.lineage.primitives))
    shorter = tuple(simplify_on(x, columns, given.n_rows) for x in built)
    return Formulas(form, "on the training data", built, shorter)


def row_sets(
    feature_set: FeatureSet, primitives: Columns, names: Collection[str]
) -> dict[str, int]:
    """Return the rows in which each of some primitives is true: bit ``k`` is row ``k``."""
    places = [k for k, name in enumerate(feature_set.lineage.primitives) if name in names]
    lines = primitives.select(places).to_bits().bits
    return {
        feature_set.lineage.primitives[k]: int.from_bytes(line.tobytes(), "little")
        for k, line in zip(places, lines, strict=True)
    }
