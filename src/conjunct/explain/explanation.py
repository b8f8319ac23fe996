"""Explain one feature, and find similar features, other forms of its formula and its ancestry."""

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
Similarity = Literal["correlation", "shared primitives"]
# a function from a feature's number to those of its operands (~number if negated)
Operands = Callable[[int], tuple[int, ...]]

_SHORT = 6  # parents with more literals are shown by their pattern
_LINE_LENGTH = 300  # longer formulas are truncated in the text
_PLAIN = frozenset(" ∧∨¬.,_=+:…")
_SWEEPS = 8


@dataclass(frozen=True)
class Explanation:
    """An explained feature. ``str`` writes it as lines of text.

    Attributes
    ----------
    pattern : str
        The tags that the feature asserts, as text. "(rest)" means that larger chunks contain some
        of its rows. Empty for a feature that replaced no other.
    feature, simplified, english : str
        The formula as constructed, its shortest form, and the shortest form in words. All three
        are true in the same rows. Formulas of more than 1,000 literals are not written out.
    support, frequency : int, float
        Number and share of the training rows in which the feature is true.
    iteration : int
        The iteration that made the feature; 0 for a primitive.
    parents : tuple of str
        The two features it was made from, with patterns in place of long formulas. ``r`` and
        ``p_value`` are theirs if they were joined because they correlate.
    evidence : float or None
        Bits that support "together" over "by chance", in all rows.
    lift, sentence : float or None, str
        For joined tags: observed divided by expected joint rows, and the finding in words.
    present, absent, mixed : tuple of str
        The primitives of its formula: those true in all of its rows, in none, and in some.
    contrasts : tuple of Contrast
        With data: the primitives whose frequency differs most between its rows and the rest.
    on_rows, english_on_rows : str or None
        With data: a shorter formula that gives the same result in these rows, and the same in
        words. It may be wrong in new rows. None if cells are missing, if the feature is true in
        all or none of these rows, or if no shorter formula is known.
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
            f"  {c.tags}: {format_share(c.inside)} of these rows, {format_share(c.outside)} of "
            f"the other rows"
            for c in self.contrasts
        ]
        return "\n".join(lines) + "\n"

    def _formulas(self) -> Iterator[tuple[str, str]]:
        """List the formulas with their titles, beginning with the one for the given rows."""
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
        """Show the lines in a notebook, with names from the data escaped."""
        text = escape(str(self)).encode("utf-8", "replace").decode()
        return f'<pre style="white-space:pre-wrap">{text}</pre>'


def explanation(
    feature_set: FeatureSet, number: int, style: Style, primitives: Columns | None = None
) -> Explanation:
    """Explain a feature by its number; with data, compare its rows with the other rows."""
    lineage = feature_set.lineage
    expression, tags = lineage.expression(number), lineage.pattern(number)
    simplified = expression.simplify()
    merge = feature_set.origins().get(number)
    holder = feature_set if number in feature_set.features else feature_set.rare()
    position = holder.features.index(number)
    # the literals of the outermost conjunction hold wherever the formula is true
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
    """Explain the rows that have all of some tags, regardless of their other tags."""
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
            f"{pattern} were never joined, so their rows were not counted: pass the data, as in "
            f"explain(name, X)"
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
    """Write names as formulas do, in the order of the columns."""
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
    """Return the columns whose share differs most between the rows of ``column`` and the rest.

    Other values of the variables of ``tags`` are left out, because ``tags`` exclude them.
    """
    n_rows, of_feature, of_primitive, joint = column.against(primitives).table
    with np.errstate(invalid="ignore"):
        inside = joint / of_feature
        outside = (of_primitive - joint) / (n_rows - of_feature)
    names = feature_set.lineage.primitives
    variable = dict(zip(names, feature_set.variables, strict=False))
    excluded = {variable.get(tag) for tag in tags} - {None}
    # without rows to compare, the difference is NaN and comes last
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
    by: Similarity


def find_nearest(
    feature_set: FeatureSet, number: int, texts: list[str], n: int, primitives: Columns | None
) -> list[Neighbour]:
    """List the features most similar to one, by correlation or by shared primitives.

    Without data, the similarity is the Jaccard index of the primitives.
    """
    by: Similarity
    if primitives is not None:
        by, one = "correlation", feature_set.evaluate(primitives, [number])
        similar = phi(*one.against(feature_set.evaluate(primitives)).table)
    else:
        by, own = "shared primitives", feature_set.lineage.expression(number).primitives
        others = [expression.primitives for expression in feature_set.expressions]
        similar = np.array([len(own & other) / len(own | other) for other in others])
    # a constant column has no correlation (NaN) and comes last
    order = np.argsort(-similar, kind="stable").tolist()
    found = (k for k in order if feature_set.features[k] != number)
    return [Neighbour(k, texts[k], float(similar[k]), by) for k in islice(found, n)]


@dataclass(frozen=True)
class Formulas:
    """The features of a model as ``built``, and their ``expressions`` in one form.

    ``equivalent`` states whether the formulas agree with the features always or only on the
    training data. In the second case do not apply them to new rows.
    """

    form: Form
    equivalent: Equivalence
    built: tuple[Expression, ...]
    expressions: tuple[Expression, ...]

    @property
    def length_before(self) -> float:
        """C1 of the features as constructed: mean number of literals."""
        return mean_length(expression.length for expression in self.built)

    @property
    def length_after(self) -> float:
        """C1 of the formulas in this form."""
        return mean_length(expression.length for expression in self.expressions)

    def texts(self, style: Style = "unicode") -> list[str]:
        """Write all formulas in one style."""
        return [expression.text(style) for expression in self.expressions]


def formulas_of(
    feature_set: FeatureSet, form: Form, given: PackedColumns | None = None
) -> Formulas:
    """Return the features in one form; with training data, simplified for those rows only."""
    built = feature_set.expressions
    if given is None:
        return Formulas(form, "always", built, tuple(in_form(x, form) for x in built))
    if form != "simplified":
        raise InputError(f"with data, form must be 'simplified'; got {form!r}")
    if (
        given.n_rows != feature_set.n_rows
        or tuple(feature_set.evaluate(given).supports().tolist()) != feature_set.supports
    ):  # in other rows the formulas could be wrong
        raise InputError(
            "the data differs from the training data: pass the rows that the model was fitted on"
        )
    columns = row_sets(feature_set, given, set(feature_set.lineage.primitives))
    shorter = tuple(simplify_on(x, columns, given.n_rows) for x in built)
    return Formulas(form, "on the training data", built, shorter)


def row_sets(
    feature_set: FeatureSet, primitives: Columns, names: Collection[str]
) -> dict[str, int]:
    """Return the rows in which each named primitive is true, as a number: bit k is row k."""
    places = [k for k, name in enumerate(feature_set.lineage.primitives) if name in names]
    lines = primitives.select(places).to_bits().bits
    return {
        feature_set.lineage.primitives[k]: int.from_bytes(line.tobytes(), "little")
        for k, line in zip(places, lines, strict=True)
    }


def ancestry(
    feature_set: FeatureSet, number: int, format: GraphFormat = "text", style: Style = "unicode"
) -> str:
    """Write all ancestors of a feature, each step once: text, a Mermaid chart or a Graphviz graph.

    Names are escaped, so that they cannot change the syntax of the graph. Dashed edges are
    negations.
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
            # Graphviz also decodes character entities in labels
            text = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
            lines.append(f'  f{k} [label="{text}"];')
        else:
            # Mermaid decodes #34; as a quote: encode all but letters, digits and plain signs
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
    # prefixes of an operand and of its own operands, for all but the last and for the last
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
    """A feature in a drawing: ``level`` counts to the right, ``place`` downwards.

    The ``role`` is a column of the data, an intermediate step, or a feature of the model.
    """

    number: int
    role: NodeRole
    level: int
    place: float


class Edge(NamedTuple):
    """An edge from an operand, ``parent``, to the formula that uses it, ``child``."""

    parent: int
    child: int
    negated: bool


class AncestryGraph(NamedTuple):
    """The nodes and edges of a drawing; ``left_out`` counts the roots that did not fit."""

    nodes: tuple[AncestryNode, ...]
    edges: tuple[Edge, ...]
    left_out: int


def ancestry_roots(feature_set: FeatureSet, *, by_pattern: bool) -> list[int]:
    """List the constructed features by rows, or with ``by_pattern`` by evidence."""
    ranked = new_features(feature_set, by_evidence=by_pattern)
    return [one.number for one in ranked if not by_pattern or one.evidence is not None]


def ancestry_graph(
    feature_set: FeatureSet, roots: Sequence[int], max_nodes: int, *, by_pattern: bool = False
) -> AncestryGraph:
    """Build the graph of the first roots and their ancestors, with at most ``max_nodes`` nodes.

    The first root is always included. With ``by_pattern`` a pattern and its rest are one node: the
    graph shows which tags were joined, without negations.
    """
    names, operands = feature_set.lineage.primitives, _operands(feature_set)
    features = {*feature_set.features, *feature_set.suppressed}
    if by_pattern:
        # each pattern is represented by the feature that joined it first
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
    """Place nodes to the right of their parents and near their neighbours, to cross few lines."""
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
    """List a feature and its ancestors, each once."""
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
