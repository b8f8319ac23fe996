"""Find relations between tags in their joint counts, and propose how to clean up tags.

A relation is reported if its evidence exceeds its price. The price is that of a merge
(docs/evidence.md): ½·log₂ n bits for one more number, and log₂(N/k) to name the k-th of N pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Columns, Contingency, Positions
from conjunct.counting import TagCounts
from conjunct.data import BooleanData, Change, ChangeKind, Proposal
from conjunct.explain.explanation import AncestryGraph, Edge, NodeRole, layer_graph
from conjunct.explain.findings import SAME
from conjunct.explain.sentences import count, format_share
from conjunct.features import round_savings
from conjunct.ufc import Floats, evidence

RelationKind = Literal["implies", "same", "avoid", "alike"]
RELATION_KINDS: dict[RelationKind, str] = {
    "implies": "Implies",
    "same": "Nearly identical",
    "avoid": "Avoid each other",
    "alike": "Alike",
}
"""The kinds in their order, with the headings of their lists."""

# an implication holds in at least this share of the rows with the tag
_NEARLY_ALL = 0.95
# "rarely together" and "few exceptions" mean at most this share of the rows expected by chance
_RARELY = 0.5
# Tags are alike from this cosine of their profiles. In four data sets, with tags split at random
# into two synonyms, 0.9 found most synonyms and little else.
_ALIKE = 0.9
_ROWS_AT_ONCE = 256
_EXAMPLES = 3  # example rows per proposal


class Relation(NamedTuple):
    """A relation between two tags that the data support.

    Either ``left`` implies ``right``, both are in the same rows, they avoid each other, or they
    are alike: rarely together but with the same other tags, as synonyms are. ``left`` is the rarer
    tag. ``rows`` have both, ``evidence`` is in bits, and ``sentence`` gives the facts in words.
    """

    kind: RelationKind
    left: str
    right: str
    rows: int
    evidence: float
    sentence: str


def find_relations(counts: TagCounts) -> list[Relation]:
    """Return the relations whose evidence exceeds their price, most evidence first.

    Values of one variable exclude each other by construction, so they are not reported.
    Implications that follow from others are left out. Of nearly identical tags only the first
    takes part in other relations.
    """
    if len(counts.tags) < 2:
        return []
    blocks, values = [], []
    for block in counts.pairs():
        pairs = _put_rarer_first(counts, block)
        n_rows, left, right, both = pairs.table
        # a tag that avoids another one occurs with its absence
        absent = evidence(n_rows, left, n_rows - right, left - both)
        bits = np.maximum(evidence(n_rows, left, right, both), absent)
        pays = np.flatnonzero(bits > 0.5 * math.log2(counts.n_rows))
        blocks.append(pairs.take(pays))
        values.append(bits[pays])
    every = Contingency.concat(blocks, counts.n_rows)
    pairs, bits = _pay(counts, every, np.concatenate(values or [np.empty(0)]))
    n, s, t, c = (np.asarray(each, np.float64) for each in pairs.table)
    with np.errstate(divide="ignore", invalid="ignore"):
        is_same = (c * n - s * t) / np.sqrt(s * (n - s) * t * (n - t)) >= SAME
    is_first = np.ones(len(counts.tags), np.bool_)
    is_first[pairs.left[is_same]] = False
    has_firsts = is_first[pairs.left] & is_first[pairs.right]
    # few exceptions, and at most half of the exceptions expected by chance
    is_implied = has_firsts & (c >= _NEARLY_ALL * s)
    is_implied &= (s - c) * n <= _RARELY * s * (n - t)
    is_rare = has_firsts & (c * n <= _RARELY * s * t)
    alike, alike_bits = _pay(counts, *_find_alike(counts))
    both_first = is_first[alike.left] & is_first[alike.right]
    found = [
        *_describe(counts, "same", pairs, bits, _keep_tree(pairs, is_same)),
        *_describe(counts, "implies", pairs, bits, _keep_direct(pairs, is_implied)),
        *_describe(counts, "avoid", pairs, bits, np.flatnonzero(is_rare)),
        *_describe(counts, "alike", alike, alike_bits, np.flatnonzero(both_first)),
    ]
    order = [*RELATION_KINDS].index
    return sorted(found, key=lambda one: (-one.evidence, order(one.kind), one.left, one.right))


def _put_rarer_first(counts: TagCounts, pairs: Contingency) -> Contingency:
    ranks = np.argsort(np.argsort(counts.supports, kind="stable"))
    swap = ranks[pairs.left] > ranks[pairs.right]
    columns = zip(vars(pairs).values(), vars(pairs.swap()).values(), strict=True)
    return Contingency(
        *[np.where(swap, b, a) if isinstance(a, np.ndarray) else a for a, b in columns]
    )


def _pay(counts: TagCounts, pairs: Contingency, bits: Floats) -> tuple[Contingency, Floats]:
    """Return the pairs with the most evidence, up to the first that is not worth its price."""
    m = len(counts.tags)
    n_pairs = m * (m - 1) / 2
    # ties by name
    order = np.lexsort((pairs.right, pairs.left, -bits))
    k = np.arange(1, len(order) + 1)
    prices = 0.5 * math.log2(counts.n_rows) + np.log2(np.maximum(n_pairs / k, 1))
    pays = bits[order] > prices
    order = order[: len(order) if pays.all() else int(np.argmin(pays))]
    return pairs.take(order), bits[order]


def _keep_tree(pairs: Contingency, is_same: NDArray[np.bool_]) -> Positions:
    """Return the pairs of nearly identical tags that do not follow from stronger pairs."""
    group: dict[int, set[int]] = {}
    kept = []
    for k in np.flatnonzero(is_same).tolist():
        left, right = int(pairs.left[k]), int(pairs.right[k])
        one, other = group.get(left, {left}), group.get(right, {right})
        if right not in one:
            kept.append(k)
            both = one | other
            group |= dict.fromkeys(both, both)
    return np.array(kept, np.intp)


def _keep_direct(pairs: Contingency, is_implied: NDArray[np.bool_]) -> Positions:
    """Return the implications that do not follow from two others."""
    which = np.flatnonzero(is_implied)
    ends = [*zip(pairs.left[which].tolist(), pairs.right[which].tolist(), strict=True)]
    implied: dict[int, set[int]] = {}
    for left, right in ends:
        implied.setdefault(left, set()).add(right)
    follow: dict[int, set[int]] = {
        left: set().union(*(implied.get(right, ()) for right in rights))
        for left, rights in implied.items()
    }
    return which[[right not in follow[left] for left, right in ends]]


def _find_alike(counts: TagCounts) -> tuple[Contingency, Floats]:
    """Return pairs that are rarely together but have similar profiles, and their evidence.

    The profile of a tag gives for each other tag its deviation from chance in the rows of the tag,
    in standard deviations. Two profiles with the cosine r share −½·(K − 1)·log₂(1 − r²) bits, where
    K tags deviate by at least 2 in either profile. r is limited to 0.98, because a few tags never
    prove that two tags are synonyms.
    """
    gram, shares = counts.gram(), counts.shares
    supports = np.diagonal(gram).copy()
    chance = supports[:, None] * shares
    gram -= chance
    chance *= 1 - shares
    profiles = np.divide(gram, np.sqrt(chance), out=np.zeros_like(gram), where=chance > 0)
    np.fill_diagonal(profiles, 0)
    squares = (profiles**2).sum(axis=1)
    is_far = np.abs(profiles) >= 2
    blocks, values = [], []
    for start in range(0, len(profiles), _ROWS_AT_ONCE):
        some = slice(start, start + _ROWS_AT_ONCE)
        # leave the two tags themselves out of each sum
        left = np.maximum(squares[some, None] - profiles[some] ** 2, 0)
        right = np.maximum(squares - profiles[:, some].T ** 2, 0)
        scale = np.sqrt(left * right)
        cosines = np.divide(
            profiles[some] @ profiles.T, scale, out=np.zeros_like(scale), where=scale > 0
        )
        i, j = np.nonzero(cosines >= _ALIKE)
        cosine, i = np.minimum(cosines[i, j], SAME), i + start
        above = i < j
        i, j, cosine = i[above], j[above], cosine[above]
        pairs = counts.for_pairs(i, j)
        n, s, t, c = (np.asarray(each, np.float64) for each in pairs.table)
        rarely = counts.may_meet(i, j) & (c * n <= _RARELY * s * t)
        pairs, cosine = pairs.take(rarely), cosine[rarely]
        sizes = (is_far[pairs.left] | is_far[pairs.right]).sum(axis=1)
        # leave out the two tags: one may be far from chance in the rows of the other only
        sizes -= is_far[pairs.left, pairs.right]
        sizes -= is_far[pairs.right, pairs.left]
        blocks.append(_put_rarer_first(counts, pairs))
        values.append(round_savings(-0.5 * np.maximum(sizes - 1, 0) * np.log2(1 - cosine**2)))
    return Contingency.concat(blocks, counts.n_rows), np.concatenate(values)


def _describe(
    counts: TagCounts, kind: RelationKind, pairs: Contingency, bits: Floats, which: Positions
) -> Iterator[Relation]:
    pairs, bits = pairs.take(which), bits[which]
    n_rows = np.broadcast_to(pairs.n_rows, len(pairs)).tolist()
    columns = (each.tolist() for each in (pairs.left_support, pairs.right_support, pairs.joint))
    names = ([counts.tags[k] for k in each.tolist()] for each in (pairs.left, pairs.right))
    lines = zip(*names, n_rows, *columns, bits.tolist(), strict=True)
    for left, right, n, n_left, n_right, both, value in lines:
        chance = n_left * n_right / n
        expected = f"{chance:,.0f}" if chance >= 10 else f"{chance:.1f}"
        part = f"{format_share(both / n_left)} of the"
        if both == n_left:
            part = "all"
        elif part == "100% of the":
            part = f"{math.floor(1000 * both / n_left) / 10}% of the"
        few = f"only {count(both, 'row has', 'rows have')}" if both else "no row has"
        sentence = {
            "implies": f"{left} implies {right}: {part} {count(n_left, 'row')} "
            f"with {left} also have {right}",
            "same": f"{left} and {right} are nearly identical: {count(both, 'row')} with both, "
            f"{n_left - both:,} with only {left}, {n_right - both:,} with only {right}",
            "avoid": f"{left} and {right} avoid each other: together in {count(both, 'row')}, "
            f"{expected} expected by chance",
            "alike": f"{left} and {right} are alike: they occur with the same tags, but {few} both "
            f"({n_left:,} with {left}, {n_right:,} with {right})",
        }[kind]
        if n < counts.n_rows:
            sentence += f" (of the {n:,} rows in which both are known)"
        yield Relation(kind, left, right, both, value, sentence)


def implication_graph(
    tags: Sequence[str], relations: Iterable[Relation], max_tags: int
) -> AncestryGraph:
    """Build the graph of the strongest implications, from specific to general tags.

    Nodes are positions in ``tags``.
    """
    number = {name: k for k, name in enumerate(tags)}
    implied = [(number[x.left], number[x.right]) for x in relations if x.kind == "implies"]
    roles: dict[int, NodeRole] = {}
    edges = []
    for left, right in implied:
        if len({*roles, left, right}) <= max_tags:
            roles |= {right: "column", left: "column"}
            edges.append(Edge(left, right, negated=False))
    return layer_graph(roles, edges, len({k for pair in implied for k in pair}) - len(roles))


def propose_changes(
    data: BooleanData, spellings: Iterable[Proposal], relations: Iterable[Relation]
) -> list[Change]:
    """Propose changes that clean up the tags of the data."""
    columns: Columns = data.columns
    place = {name: k for k, name in enumerate(data.names)}

    @cache
    def find_rows(name: str) -> NDArray[np.bool_]:
        return columns.cells(place[name])[0]

    found: list[Change] = []

    def propose(kind: ChangeKind, tag: str, into: str, why: str, *, lacking: bool) -> None:
        """Add a proposal for the rows with ``tag``, or only those that lack ``into``."""
        rows = np.flatnonzero(find_rows(tag) & ~find_rows(into) if lacking else find_rows(tag))
        examples = tuple(rows[:_EXAMPLES].tolist())
        if len(rows) or kind == "empty":
            found.append(Change(kind, tag, into, len(rows), why, examples))

    for pair in spellings:
        why = f"spelled alike ({pair.similarity:.0f} of 100)"
        propose("spelling", pair.tag, pair.into, why, lacking=False)
    seen = {(one.tag, one.into) for one in found}
    for one in relations:
        if one.kind == "avoid" or (one.left, one.right) in seen:
            continue
        propose(one.kind, one.left, one.right, one.sentence, lacking=one.kind == "implies")
    supports = columns.supports()
    for name, support in zip(data.names, supports.tolist(), strict=True):
        if support == 0:
            propose("empty", name, "", "in no row", lacking=False)
        elif support == data.n_rows > 1:
            propose("vacuous", name, "", f"in all {count(support, 'row')}", lacking=False)
    return found


def apply_changes(data: BooleanData, changes: Sequence[Change]) -> BooleanData:
    """Add implied tags and drop empty and vacuous ones. Spellings must already be merged."""
    columns: Columns = data.columns
    lines = list(columns.raw_columns)
    place = {name: k for k, name in enumerate(data.names)}
    supports = dict(zip(data.names, columns.supports().tolist(), strict=True))
    adds = [one for one in changes if one.kind == "implies" and {one.tag, one.into} <= {*place}]
    # rare tags first, because the tags that they add may imply more
    for change in sorted(adds, key=lambda one: supports[one.tag]):
        k = place[change.into]
        lines[k] = columns.disjunction(lines[k], lines[place[change.tag]])
    dropped = {change.tag for change in changes if change.kind in ("empty", "vacuous")}
    kept = [k for k, name in enumerate(data.names) if name not in dropped]
    columns = columns.with_raw_columns(lines).select(kept)
    return replace(data, names=tuple(data.names[k] for k in kept), columns=columns)
