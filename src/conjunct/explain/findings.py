"""Findings: chunks with their facts in all rows, each listed once, and near-identical columns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from operator import and_
from typing import Any, Literal, NamedTuple

import numpy as np

from conjunct.data import group_by_variable
from conjunct.errors import InputError
from conjunct.explain.sentences import format_share, quote_tags
from conjunct.expressions import natural_order, pattern_text
from conjunct.features import FeatureSet, Merge
from conjunct.ufc import evidence

Order = Literal["evidence", "lift", "rows"]
ORDERS: tuple[Order, ...] = ("evidence", "lift", "rows")

SAME = 0.98
"""The smallest φ of two columns that count as nearly identical."""


class Contrast(NamedTuple):
    """The share of some tags among the rows with ``given`` (``inside``), and among the rest.

    If ``given`` is one of two values and each row has one of them, ``otherwise`` is the other.
    """

    tags: str
    given: str
    inside: float
    outside: float
    otherwise: str = ""

    def __str__(self) -> str:
        without = f"with {self.otherwise}" if self.otherwise else "of the rows without"
        return (
            f"{self.tags}: {format_share(self.inside)} of the rows with {self.given}, "
            f"{format_share(self.outside)} {without}"
        )


@dataclass(frozen=True)
class Finding:
    """Tags that go together, with their facts in all rows.

    Attributes
    ----------
    tags : tuple of str
        The tags. ``name`` is their text, which ``explain`` and ``find_rows`` accept.
    rows, n_rows : int
        Rows that have all the tags, and rows in which they are known; ``share`` is the quotient.
    parts : tuple of two tuples of str
        The two sets of tags that were joined. A part that is one of two values comes first,
        otherwise the rarer part.
    part_rows : tuple of two int
        Rows that have all tags of each part.
    evidence : float
        Bits that support "together" over "by chance", in all rows.
    otherwise : str
        The other value, if the first part is one of two values and each row has one of them.
    part_of : Finding or None
        The larger chunk that has this finding as its strongest part. It has at least half of these
        rows.
    folded : tuple of Finding
        Findings that this one represents, strongest first: the larger chunk, its other parts, and
        findings about the same variables.
    copies : tuple of Copies
        Near-identical columns that are part of the chunk.
    variables : tuple of str
        For each tag the variable that it is a value of, or the tag itself.
    number : int
        The number of the chunk in the lineage.
    """

    tags: tuple[str, ...]
    rows: int
    n_rows: int
    parts: tuple[tuple[str, ...], tuple[str, ...]]
    part_rows: tuple[int, int]
    evidence: float
    otherwise: str = ""
    part_of: Finding | None = None
    folded: tuple[Finding, ...] = ()
    copies: tuple[Copies, ...] = ()
    variables: tuple[str, ...] = ()
    number: int = 0

    @property
    def name(self) -> str:
        """The tags as text: ``fork + knife``."""
        return pattern_text(self.tags)

    @property
    def share(self) -> float:
        """The share of rows with all the tags among the rows in which they are known."""
        return self.rows / self.n_rows

    @property
    def lift(self) -> float:
        """The number of rows with both parts, divided by the number expected by chance."""
        return self.n_rows * self.rows / (self.part_rows[0] * self.part_rows[1])

    @property
    def contrast(self) -> Contrast:
        """The share of the second part in the rows with the first part, and in the rest."""
        n_given, n_other = self.part_rows
        n_without = self.n_rows - n_given
        outside = (n_other - self.rows) / n_without if n_without else 0.0
        given, other = map(quote_tags, self.parts)
        return Contrast(other, given, self.rows / n_given, outside, self.otherwise)

    @property
    def sentence(self) -> str:
        """The contrast as a sentence."""
        tags, given, inside, outside, otherwise = self.contrast
        without = "of the other rows"
        if otherwise or len(self.parts[0]) == 1:
            without = f"with {otherwise}" if otherwise else f"without {given}"
        return (
            f"{format_share(inside)} of the rows with {given} also have {tags}; "
            f"{without}, {format_share(outside)}."
        )

    @property
    def also(self) -> tuple[Finding, ...]:
        """The other findings about the same variables, strongest first."""
        variables = set(self.variables)
        return tuple(one for one in self.folded if set(one.variables) == variables)

    def __repr__(self) -> str:
        return f"Finding({self.name!r}, rows={self.rows}, lift={self.lift:.1f})"


@dataclass(frozen=True)
class Copies:
    """Columns that are nearly identical: each pair correlates with φ ≥ 0.98.

    ``names`` are columns, or variables whose values are all nearly identical. ``tags`` lists the
    sets of identical tags; ``rows`` counts the rows with all tags of a set.
    """

    names: tuple[str, ...]
    tags: tuple[tuple[str, ...], ...]
    rows: int

    @property
    def sentence(self) -> str:
        """The names in one sentence."""
        return f"{quote_tags(self.names)} are nearly identical."


class Found(NamedTuple):
    """The findings of a model, strongest first, and its near-identical columns."""

    findings: tuple[Finding, ...]
    copies: tuple[Copies, ...]


def find(feature_set: FeatureSet, order: Order = "evidence") -> Found:
    """Return the findings of a model, each listed once, and its near-identical columns.

    A chunk is folded into a larger chunk that keeps at least half of its rows. The strongest of
    these chunks is the finding. It also represents weaker chunks that have more tags and at least
    half of its rows, and all chunks about the same variables.
    """
    if order not in ORDERS:
        raise InputError(f"order must be one of {', '.join(map(repr, ORDERS))}; got {order!r}")
    every = every_finding(feature_set)
    same = _find_copies(feature_set, every)
    # near-identical tags are no finding, because they have a list of their own
    listed = [one for one in every if len({same.sets.get(tag, tag) for tag in one.tags}) > 1]
    # in each nest: its strongest finding, then all its findings, the largest chunk first
    families: dict[frozenset[_Kind], list[list[Finding]]] = {}
    for nest in _fold_nested(_merge_copies(listed, same.exact, variable_of_tags(feature_set))):
        about = frozenset(same.kinds[tag] for tag in nest[0].tags)
        families.setdefault(about, []).append(nest)
    # sets of copies are disjoint, so the first tag identifies a set
    copies = {one.tags[0][0]: (k, one) for k, one in enumerate(same.copies) if len(one.tags) == 1}
    found = []
    for nests in families.values():
        first, chunk, *_ = nests[0]
        others = (one for _, *members in nests for one in members if one is not first)
        # near-identical tags are folded into a chunk as smaller chunks are
        tags = set(feature_set.lineage.pattern(chunk.number))
        within = (
            one
            for _, one in sorted(copies[tag] for tag in tags if tag in copies)
            if tags.issuperset(one.tags[0]) and 2 * chunk.rows >= one.rows
        )
        found.append(
            replace(
                first,
                part_of=None if first is chunk else chunk,
                folded=tuple(sorted(others, key=_rank)),
                copies=tuple(within),
            )
        )
    found.sort(key=lambda one: (-getattr(one, order), *_rank(one)))
    return Found(tuple(found), same.copies)


def finding_columns(findings: Sequence[Finding]) -> dict[str, list[Any]]:
    """Return findings as a table, with one row per finding."""
    contrasts = [one.contrast for one in findings]
    return {
        "finding": [one.name for one in findings],
        "rows": [one.rows for one in findings],
        "share": [one.share for one in findings],
        "lift": [one.lift for one in findings],
        "evidence": [one.evidence for one in findings],
        "tags": [list(one.tags) for one in findings],
        "given": [contrast.given for contrast in contrasts],
        "inside": [contrast.inside for contrast in contrasts],
        "outside": [contrast.outside for contrast in contrasts],
        "sentence": [one.sentence for one in findings],
        "part_of": [one.part_of.name if one.part_of else "" for one in findings],
        "folded": [[other.name for other in one.folded] for one in findings],
    }


@lru_cache(maxsize=2)  # a report calls it five times, and feature sets do not change
def every_finding(feature_set: FeatureSet) -> tuple[Finding, ...]:
    """Return the chunks that occur more often than by chance, most evidence first."""
    tables = feature_set.pattern_tables
    if not tables:
        return ()
    bits = evidence(*np.array(tables, np.int64).T).tolist()
    pattern, other_value = feature_set.lineage.pattern, other_values(feature_set)
    variable = variable_of_tags(feature_set)
    found = []
    for merge, (n_rows, left, right, both), value in zip(
        feature_set.merges, tables, bits, strict=True
    ):
        if merge.both is None or value <= 0:
            continue
        sides = []
        for number, rows in ((merge.left, left), (merge.right, right)):
            tags = tuple(sorted(pattern(number), key=natural_order))
            has_other = len(tags) == 1 and tags[0] in other_value
            other = quote_tags([other_value[tags[0]]]) if has_other else ""
            sides.append((not other, rows, [*map(natural_order, tags)], tags, other))
        (_, n_given, _, given, otherwise), (_, n_other, _, other_tags, _) = sorted(sides)
        tags = tuple(sorted(given + other_tags, key=natural_order))
        found.append(
            Finding(
                tags=tags,
                rows=both,
                n_rows=n_rows,
                parts=(given, other_tags),
                part_rows=(n_given, n_other),
                evidence=value,
                otherwise=otherwise,
                variables=tuple(variable[tag] for tag in tags),
                number=merge.both,
            )
        )
    return tuple(sorted(found, key=_rank))


def variable_of_tags(feature_set: FeatureSet) -> dict[str, str]:
    """Return for each tag the variable that it is a value of, or the tag itself."""
    names = feature_set.lineage.primitives
    given = dict(zip(names, feature_set.variables, strict=False))
    return {name: given.get(name) or name for name in names}


def _rank(finding: Finding) -> tuple[float, int, tuple[str, ...]]:
    return -finding.evidence, -finding.rows, finding.tags


def other_values(feature_set: FeatureSet) -> dict[str, str]:
    """Return the other value of each value, for variables with one of two values in each row."""
    names, n_rows = feature_set.lineage.primitives, feature_set.n_rows
    rows = dict(zip(names, feature_set.primitive_supports, strict=True))
    counts = feature_set.lineage_counts or ((0, n_rows),) * len(names)
    has_gaps = {name for name, (_, n_known) in zip(names, counts, strict=False) if n_known < n_rows}
    pairs = zip(names, feature_set.variables, strict=False)
    others: dict[str, str] = {}
    for columns in group_by_variable(pairs).values():
        if len(columns) == 2 and has_gaps.isdisjoint(columns):
            first, second = columns
            if rows[first] + rows[second] == n_rows:
                others |= {first: second, second: first}
    return others


def _fold_nested(listed: Sequence[Finding]) -> list[list[Finding]]:
    """Fold chunks into larger chunks, and weaker chunks with more tags under stronger ones.

    The chunk with more tags must have at least half of the rows of the other one. Each list has
    the strongest finding, then all findings, beginning with the chunk that the others fold into.
    """
    # most rows first: chunks with at least half of some rows are then a prefix of the list
    by_rows = sorted(listed, key=lambda one: (-one.rows, len(one.tags), one.tags))
    rows = np.array([-one.rows for one in by_rows])
    holders = {tag: 0 for one in by_rows for tag in one.tags}
    nests: dict[int, list[Finding]] = {}
    # most tags first: the target of a fold has more tags and is not folded itself
    for k in sorted(range(len(by_rows)), key=lambda k: -len(by_rows[k].tags)):
        one = by_rows[k]
        end = int(np.searchsorted(2 * rows, rows[k], side="right"))
        larger = reduce(and_, (holders[tag] for tag in one.tags)) & ((1 << end) - 1)
        if larger:
            nests[(larger & -larger).bit_length() - 1].append(one)
        else:
            nests[k] = [one]
            for tag in one.tags:
                holders[tag] |= 1 << k
    found: list[list[Finding]] = []
    by_tag: dict[str, list[list[Finding]]] = {}
    for nest in sorted(
        ([min(some, key=_rank), *some] for some in nests.values()), key=lambda nest: _rank(nest[0])
    ):
        first, *members = nest
        tags = set(first.tags)
        for stronger in (each for tag in first.tags for each in by_tag.get(tag, ())):
            if tags.issuperset(stronger[0].tags) and 2 * first.rows >= stronger[0].rows:
                stronger.extend(members)
                break
        else:
            found.append(nest)
            by_tag.setdefault(first.tags[0], []).append(nest)
    return found


_Kind = tuple[str, bool]
"""The name of a variable, and True; or of a tag without a variable, and False."""


class _Same(NamedTuple):
    """The set of near-identical tags that each tag is in, and the variable of each tag.

    Variables with near-identical values count as one. ``exact`` maps tags that are equal in all
    rows to the first of them.
    """

    sets: dict[str, tuple[str, ...]]
    kinds: dict[str, _Kind]
    exact: dict[str, str]
    copies: tuple[Copies, ...]


def _find_copies(feature_set: FeatureSet, every: Sequence[Finding]) -> _Same:
    names, variables = feature_set.lineage.primitives, feature_set.variables
    supports = dict(zip(names, feature_set.primitive_supports, strict=True))
    order = {name: k for k, name in enumerate(names)}
    copies: dict[str, tuple[str, ...]] = {}
    rows: dict[tuple[str, ...], int] = {}
    # smaller sets first, because larger ones are made of them
    for one in sorted(every, key=lambda one: len(one.tags)):
        n, (s, t), c = one.n_rows, one.part_rows, one.rows
        spread = math.sqrt(s * (n - s)) * math.sqrt(t * (n - t))
        if n * c - s * t < SAME * spread or not spread:
            continue
        if all(set(copies.get(part[0], part[:1])) == set(part) for part in one.parts):
            tags = tuple(sorted(one.tags, key=order.__getitem__))
            copies |= dict.fromkeys(tags, tags)
            rows[tags] = c
    sets = sorted(set(copies.values()), key=lambda tags: (-rows[tags], order[tags[0]]))
    kinds = {name: (name, False) for name in names}
    kinds |= {n: (v, True) for n, v in zip(names, variables, strict=False) if v is not None}
    leader = {kind: kind for kind in kinds.values()}

    def lead(kind: _Kind) -> _Kind:
        while leader[kind] != kind:
            kind = leader[kind]
        return kind

    for tags in sets:
        for tag in tags[1:]:
            leader[lead(kinds[tag])] = lead(kinds[tags[0]])
    exact = {
        tag: tags[0]
        for tags in sets
        if feature_set.known is None and all(supports[tag] == rows[tags] for tag in tags)
        for tag in tags
    }
    # name the variables instead of their values if all values are nearly identical
    n_values = Counter(kinds.values())
    by_kinds: dict[tuple[_Kind, ...], list[tuple[str, ...]]] = {}
    for tags in sets:
        by_kinds.setdefault(tuple(sorted({kinds[tag] for tag in tags})), []).append(tags)
    named = []
    for some, same in by_kinds.items():
        if all(n_values[kind] == len(same) > 1 for kind in some):
            columns = tuple(sorted((name for name, _ in some), key=natural_order))
            named.append(Copies(columns, tuple(same), sum(rows[tags] for tags in same)))
        else:
            named += [Copies(tags, (tags,), rows[tags]) for tags in same]
    return _Same(
        sets={tag: tags for tags in sets for tag in tags},
        kinds={name: lead(kind) for name, kind in kinds.items()},
        exact=exact,
        copies=tuple(named),
    )


def _merge_copies(
    listed: Sequence[Finding], exact: dict[str, str], variable: dict[str, str]
) -> list[Finding]:
    """Replace each column by the first equal one, which changes no count.

    Of findings with the same tags, keep the strongest, with the number of the largest chunk.
    """

    def rename(tags: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(exact.get(tag, tag) for tag in tags))

    if not exact:
        return list(listed)
    by_tags: dict[frozenset[str], Finding] = {}
    most_tags: dict[frozenset[str], Finding] = {}
    for one in sorted(listed, key=_rank):
        left, right = map(rename, one.parts)
        if set(left) & set(right):
            left, right = one.parts
        tags = tuple(sorted(left + right, key=natural_order))
        key, variables = frozenset(tags), tuple(variable[tag] for tag in tags)
        renamed = replace(one, tags=tags, parts=(left, right), variables=variables)
        by_tags.setdefault(key, renamed)
        if len(one.tags) > len(most_tags.setdefault(key, one).tags):
            most_tags[key] = one
    return [replace(one, number=most_tags[key].number) for key, one in by_tags.items()]


@dataclass(frozen=True)
class FeatureFacts:
    """A constructed feature: its number in the lineage, its tags, and its number of rows.

    ``is_rest`` means that larger chunks contain some of its rows. ``evidence`` is None if its tags
    were never joined, or do not occur together more often than by chance.
    """

    number: int
    pattern: tuple[str, ...]
    is_rest: bool
    rows: int
    share: float
    evidence: float | None

    @property
    def text(self) -> str:
        """The tags as text: ``fork (rest)``."""
        return pattern_text(self.pattern, is_rest=self.is_rest)


def new_features(feature_set: FeatureSet, *, by_evidence: bool) -> tuple[FeatureFacts, ...]:
    """Return all constructed features, sorted by rows or by evidence."""
    lineage, known = feature_set.lineage, evidence_of_tags(feature_set)
    numbers = zip(feature_set.features, feature_set.supports, feature_set.frequencies, strict=True)
    found = [
        FeatureFacts(number, tags, lineage.denies(number), rows, share, known.get(frozenset(tags)))
        for number, rows, share in numbers
        if feature_set.iteration(number)
        for tags in [lineage.pattern(number)]
    ]
    found.sort(key=lambda one: -one.rows)
    if by_evidence:
        found.sort(key=lambda one: (one.evidence is None, -(one.evidence or 0.0)))
    return tuple(found)


def evidence_of_tags(feature_set: FeatureSet) -> dict[frozenset[str], float]:
    """Return the evidence of each set of tags that was joined."""
    return {frozenset(one.tags): one.evidence for one in every_finding(feature_set)}


def merges_by_pattern(feature_set: FeatureSet) -> dict[tuple[str, ...], Merge]:
    """Return the merge that joined each pattern first.

    The rests of its two parts share no row, so a later merge does not join the pattern again.
    """
    pattern = feature_set.lineage.pattern
    return {pattern(m.both): m for m in reversed(feature_set.merges) if m.both is not None}


def supports_of_lineage(feature_set: FeatureSet) -> dict[int | None, int] | None:
    """Count the rows of every feature, including replaced ones; ``None`` if cells are missing.

    A replaced feature has the rows of its two conjunctions.
    """
    if feature_set.known is not None:
        return None
    every = feature_set.with_rare()
    supports: dict[int | None, int] = dict(zip(every.features, every.supports, strict=True))
    for merge in reversed(feature_set.merges):
        supports[merge.left] = merge.joint + supports.get(merge.left_only, 0)
        supports[merge.right] = merge.joint + supports.get(merge.right_only, 0)
    return supports


def describe_pattern(feature_set: FeatureSet, number: int) -> str:
    """Return the pattern of a feature as text, or "" for features that replaced no other."""
    lineage = feature_set.lineage
    if feature_set.iteration(number) and not feature_set.merges:
        return ""
    return pattern_text(lineage.pattern(number), is_rest=lineage.denies(number))
