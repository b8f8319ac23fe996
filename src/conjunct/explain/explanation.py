"""One feature: its explanation, the features most like it, its other forms, and its ancestry."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from html import escape
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from conjunct.columns import Columns, PackedColumns
from conjunct.errors import InputError
from conjunct.explain.findings import (
    Contrast,
    describe_pattern,
    every_finding,
    evidence_of_tags,
    merges_by_pattern,
    new_features,
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
GraphFormat: TypeAlias = Literal["text", "mermaid", "dot"]
NodeRole = Literal["column", "step", "feature"]
# gives the numbers of a feature's operands; a denied one as its complement
Operands = Callable[[int], tuple[int, ...]]

_SHORT = 6  # literals; a longer parent is shown by its pattern
_LINE_LENGTH = 300  # characters of a formula within the text
_PLAIN = frozenset(" ∧∨¬.,_=+:…")
_SWEEPS = 8


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
    absent: tuple[str, ...] = ()
    mixed: tuple[str, ...] = ()
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
        sorts = {"present": self.present, "absent": self.absent, "depends": self.mixed}
        lines += [f"  {title}: {', '.join(names)}" for title, names in sorts.items() if names]
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
    expression, tags = lineage.expression(number), lineage.pattern(number)
    simplified = expression.simplify()
    merge = feature_set.origins().get(number)
    holder = feature_set if number in feature_set.features else feature_set.rare()
    position = holder.features.index(number)
    # literals of the outermost conjunction are true, or false, wherever the formula is true
    present: set[str] = set()
    absent: set[str] = set()
    pending = [simplified]
    while pending:
        node = pending.pop()
        if isinstance(node, Primitive):
            present.add(node.name)
        elif isinstance(node, Not) and isinstance(node.operand, Primitive):
            absent.add(node.operand.name)
        elif isinstance(node, And):
            pending.extend(node.operands)
    if feature_set.merges:
        present |= {*tags}
    parents = []
    for parent in feature_set.parents(number):
        formula, short = lineage.expression(parent), describe_pattern(feature_set, parent)
        is_long = formula.length > _SHORT
        parents.append(short if short and is_long else label(formula, style))
    pattern = describe_pattern(feature_set, number)
    contrasts: tuple[Contrast, ...] = ()
    on_rows = None
    if primitives is not None:
        column = feature_set.evaluate(primitives, [number])
        contrasts = _find_contrasts(feature_set, column, pattern, style, primitives, tags)
        if not primitives.has_missing and simplified.length >= 2:
            rows = row_sets(feature_set, primitives, simplified.primitives)
            on_rows = simplify_on(simplified, rows, primitives.n_rows)
            if not 0 < on_rows.length < simplified.length:
                on_rows = None
    return Explanation(
        pattern=pattern,
        feature=formula_text(expression, style),
        simplified=formula_text(simplified, style),
        english=english(simplified),
        support=holder.supports[position],
        frequency=holder.frequencies[position],
        iteration=feature_set.iteration(number),
        parents=tuple(parents),
        r=merge.r if merge else None,
        p_value=merge.p_value if merge else None,
        evidence=evidence_of_tags(feature_set).get(frozenset(tags)),
        present=_write_names(present, feature_set, style),
        absent=_write_names(absent, feature_set, style),
        mixed=_write_names({*simplified.primitives} - present - absent, feature_set, style),
        contrasts=contrasts,
        on_rows=formula_text(on_rows, style) if on_rows else None,
        english_on_rows=english(on_rows) if on_rows else None,
    )


def explain_tags(
    feature_set: FeatureSet, tags: tuple[str, ...], style: Style, primitives: Columns | None = None
) -> Explanation:
    """Explain tags that were joined: the rows that have all of them, whatever else they have."""
    finding = next((one for one in every_finding(feature_set) if {*one.tags} == {*tags}), None)
    merge = merges_by_pattern(feature_set).get(tuple(sorted(tags)))
    literals: list[Expression] = [Primitive(tag) for tag in tags]
    expression, pattern = reduce(And, literals), pattern_text(tags)
    contrasts: tuple[Contrast, ...] = ()
    if primitives is not None:
        column = feature_set.evaluate_tags(primitives, tags)
        support, n_rows = int(column.supports()[0]), primitives.n_rows
        contrasts = _find_contrasts(
            feature_set, column, pattern, style, primitives, tags, has_tags=False
        )
    elif len(tags) > 1 and finding is None:
        raise InputError(
            f"{pattern} were never joined, so their rows were not counted: pass the "
            f"data, as in explain(name, X)"
        )
    if len(tags) == 1:
        support = feature_set.primitive_supports[feature_set.lineage.primitives.index(tags[0])]
        n_rows = feature_set.n_rows
    elif finding is not None:
        support, n_rows = finding.rows, finding.n_rows
    text = formula_text(expression, style)
    return Explanation(
        pattern=pattern,
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
        present=_write_names({*tags}, feature_set, style),
        lift=finding.lift if finding else None,
        sentence=finding.sentence if finding else "",
        contrasts=contrasts,
    )


def _write_names(names: set[str], feature_set: FeatureSet, style: Style) -> tuple[str, ...]:
    """Write names as in formulas, in the order of the columns."""
    return tuple(
        Primitive(name).text(style) for name in feature_set.lineage.primitives if name in names
    )


def _find_contrasts(
    feature_set: FeatureSet,
    column: Columns,
    given: str,
    style: Style,
    primitives: Columns,
    tags: Sequence[str],
    *,
    has_tags: bool = True,
) -> tuple[Contrast, ...]:
    """Return the columns whose share differs most between the rows of one column and the rest.

    Other values of the variables of ``tags``, which these exclude, are no contrast; the tags
    themselves may be.
    """
    n_rows, of_feature, of_primitive, joint = column.against(primitives).table
    with np.errstate(invalid="ignore"):
        inside = joint / of_feature
        outside = (of_primitive - joint) / (n_rows - of_feature)
    names = feature_set.lineage.primitives
    variable = dict(zip(names, feature_set.variables, strict=False))
    excluded = {variable.get(tag) for tag in tags} - {None}
    # if there is nothing to compare, the difference is NaN and comes last
    difference = np.abs(inside - outside)
    difference[
        [not has_tags if name in tags else variable.get(name) in excluded for name in names]
    ] = np.nan
    order = np.argsort(-difference, kind="stable")[: min(5, int(np.sum(difference >= 0)))].tolist()
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
        similar = phi(*one.against(feature_set.evaluate(primitives)).table)
    else:
        own = feature_set.lineage.expression(number).primitives
        others = [expression.primitives for expression in feature_set.expressions]
        similar = np.array([len(own & other) / len(own | other) for other in others])
    # a column without variation on these rows has no correlation, and comes last
    order = np.argsort(-similar, kind="stable").tolist()
    found = (k for k in order if feature_set.features[k] != number)
    return [Neighbour(k, texts[k], float(similar[k]), by) for k in islice(found, n)]


@dataclass(frozen=True)
class Formulas:
    """The features of a model as they were ``built``, and their ``expressions`` in one form.

    ``equivalent`` names the rows on which the formulas have the truth values of the features: all
    possible ones, or those of the training data only. The latter are for reading, not for new rows.
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
        raise InputError(f"with data, form must be 'simplified'; got {form!r}")
    if (
        given.n_rows != feature_set.n_rows
        or tuple(feature_set.evaluate(given).supports().tolist()) != feature_set.supports
    ):  # other rows may hold other combinations, on which the formulas would be wrong
        raise InputError(
            "the data differs from the training data: pass the rows that the model was fitted on"
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


def ancestry(
    feature_set: FeatureSet, number: int, format: GraphFormat = "text", style: Style = "unicode"
) -> str:
    """Write all ancestors of the feature with a number in the lineage, each step once.

    As indented text, a Mermaid flow chart or a Graphviz graph. Names are escaped: none of them can
    be read as a part of the graph. Dashed edges are negations.
    """
    if format not in get_args(GraphFormat):
        formats = ", ".join(map(repr, get_args(GraphFormat)))
        raise InputError(f"unknown format {format!r}: choose one of {formats}")
    if format == "text":
        return _write_text(feature_set, number, style)
    operands, is_dot = _operands(feature_set), format == "dot"
    numbers = _list_ancestors(operands, number)
    lines = ["digraph ancestry {", "  node [shape=box];"] if is_dot else ["flowchart TD"]
    for k in numbers:
        text = label(feature_set.lineage.expression(k), style)
        if is_dot:
            # Graphviz also reads character entities in labels
            text = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
            lines.append(f'  f{k} [label="{text}"];')
        else:
            # all but letters, digits and plain signs by their numbers: Mermaid reads #34;
            text = "".join(c if c.isalnum() or c in _PLAIN else f"#{ord(c)};" for c in text)
            lines.append(f'  f{k}["{text}"]')
    for parent, child, negated in _list_edges(operands, numbers):
        if is_dot:
            dashed = ' [style=dashed, label="not"]' if negated else ""
            lines.append(f"  f{parent} -> f{child}{dashed};")
        else:
            lines.append(f"  f{parent} {'-. not .->' if negated else '-->'} f{child}")
    return "\n".join([*lines, *["}"] * is_dot]) + "\n"


def _write_text(feature_set: FeatureSet, root: int, style: Style) -> str:
    # marks before an operand and before its own operands: not last, last
    branches = (("├─ ", "│  "), ("└─ ", "   "))
    if style != "unicode":
        branches = (("|- ", "|  "), ("`- ", "   "))
    origins, operands = feature_set.origins(), _operands(feature_set)
    lines: list[str] = []
    written: set[int] = set()
    pending = [(root, "", "")]
    while pending:
        literal, branch, indent = pending.pop()
        number = max(literal, ~literal)
        parents = operands(number)
        iteration = feature_set.iteration(number)
        remark = f"iteration {iteration}" if iteration else ""
        if number in origins:
            remark += f", r = {origins[number].r:.2f}"
        if parents and number in written:
            remark, parents = "see above", ()
        written.add(number)
        sign = "not: " if literal < 0 else ""
        text = label(feature_set.lineage.expression(number), style)
        lines.append(f"{branch}{sign}{text}" + (f"  ({remark})" if remark else ""))
        for position, parent in reversed(list(enumerate(parents))):
            fork, further = branches[position == len(parents) - 1]
            pending.append((parent, indent + fork, indent + further))
    return "\n".join(lines) + "\n"


class AncestryNode(NamedTuple):
    """A feature of the lineage, and its position: ``level`` to the right, ``place`` down.

    ``role``: a column of the data, a step on the way that was replaced, or a feature of the model.
    """

    number: int
    role: NodeRole
    level: int
    place: float


class Edge(NamedTuple):
    """``parent`` is one of the two operands of ``child``, which may deny it."""

    parent: int
    child: int
    negated: bool


class AncestryGraph(NamedTuple):
    """The nodes and edges of a drawing; ``left_out`` is the number of roots that did not fit."""

    nodes: tuple[AncestryNode, ...]
    edges: tuple[Edge, ...]
    left_out: int


def ancestry_roots(feature_set: FeatureSet, *, by_pattern: bool) -> list[int]:
    """List the constructed features: the most common first, or those with most evidence."""
    ranked = new_features(feature_set, by_evidence=by_pattern)
    return [one.number for one in ranked if not by_pattern or one.evidence is not None]


def ancestry_graph(
    feature_set: FeatureSet, roots: Sequence[int], max_nodes: int, *, by_pattern: bool = False
) -> AncestryGraph:
    """Build the graph of roots, in the order given, and their ancestors, up to ``max_nodes``.

    The first root is always there. ``by_pattern``: the rest of a pattern is no separate node, so
    that the graph shows which tags were joined, and no negations.
    """
    names, operands = feature_set.lineage.primitives, _operands(feature_set)
    features = {*feature_set.features, *feature_set.suppressed}
    if by_pattern:
        # each pattern has the number of the feature that joined it first
        pattern_of = feature_set.lineage.pattern
        first: dict[tuple[str, ...], int] = {(name,): k for k, name in enumerate(names)}
        joined: dict[int, tuple[int, ...]] = {}
        for pattern, merge in merges_by_pattern(feature_set).items():
            if merge.both is not None:
                first[pattern] = merge.both
                joined[merge.both] = merge.left, merge.right

        def whole(number: int) -> int:
            return first[pattern_of(number)]

        def operands(number: int) -> tuple[int, ...]:
            return tuple(map(whole, joined.get(number, ())))

        roots = list(dict.fromkeys(map(whole, roots)))
        features = set(map(whole, features))
    found: dict[int, None] = {}
    n_roots = 0
    for root in roots:
        more = [number for number in _list_ancestors(operands, root) if number not in found]
        if n_roots and len(found) + len(more) > max_nodes:
            break
        found.update(dict.fromkeys(more))
        n_roots += 1
    roles: dict[int, NodeRole] = {}
    for number in sorted(found):
        roles[number] = "feature" if number in features else "step"
        if number < len(names):
            roles[number] = "column"
    return layer_graph(roles, _list_edges(operands, roles), len(roots) - n_roots)


def layer_graph(
    roles: Mapping[int, NodeRole], edges: Sequence[Edge], left_out: int
) -> AncestryGraph:
    """Place nodes to the right of their parents, near their neighbours, so that few lines cross."""
    levels = dict.fromkeys(roles, 0)
    is_moved = True
    while is_moved:
        is_moved = False
        for edge in edges:
            if levels[edge.child] <= levels[edge.parent]:
                levels[edge.child] = levels[edge.parent] + 1
                is_moved = True
    columns: dict[int, list[int]] = {}
    neighbours: dict[int, list[int]] = {number: [] for number in roles}
    for edge in edges:
        neighbours[edge.child].append(edge.parent)
        neighbours[edge.parent].append(edge.child)
    for number, level in levels.items():
        columns.setdefault(level, []).append(number)
    tallest = max(map(len, columns.values()), default=0)
    means: dict[int, float] = {}
    for sweep in range(_SWEEPS + 1):
        if sweep:
            for column in columns.values():
                column.sort(key=lambda k: (means[k], k))
        places = {
            number: (tallest - len(column)) / 2 + k
            for column in columns.values()
            for k, number in enumerate(column)
        }
        means = {
            k: sum(places[other] for other in near) / len(near) if near else places[k]
            for k, near in neighbours.items()
        }
    nodes = tuple(AncestryNode(k, role, levels[k], places[k]) for k, role in roles.items())
    return AncestryGraph(nodes, tuple(edges), left_out)


def _operands(feature_set: FeatureSet) -> Operands:
    return lambda number: feature_set.lineage.operands(number) or ()


def _list_ancestors(operands: Operands, root: int) -> list[int]:
    """List the feature and its ancestors, each once."""
    found = {root: None}
    pending = [root]
    while pending:
        for literal in operands(pending.pop()):
            parent = max(literal, ~literal)
            if parent not in found:
                found[parent] = None
                pending.append(parent)
    return list(found)


def _list_edges(operands: Operands, numbers: Iterable[int]) -> tuple[Edge, ...]:
    return tuple(
        Edge(max(literal, ~literal), number, literal < 0)
        for number in numbers
        for literal in operands(number)
    )
