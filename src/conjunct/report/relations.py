"""Relations between tags, and rows that are worth a second look."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from conjunct.errors import ConjunctWarning
from conjunct.estimators import UFC
from conjunct.explain import RELATION_KINDS, AncestryGraph, count, implication_graph, shorten
from conjunct.features import Suggestion
from conjunct.plots import Network, draw_boxes
from conjunct.report import limits, page
from conjunct.report.model_on_rows import ModelOnRows

_NAME_LENGTH = 60
_SENTENCE_LENGTH = 300
_NEIGHBOURS_SHOWN = 6  # tags in one chunk with a tag
_DOUBTFUL = 0.1  # the most probability of a tag that is called doubtful


def describe_tags(network: Network) -> dict[int, str]:
    """Return for each tag a sentence about the tags that are in one chunk with it."""
    near: dict[int, list[tuple[int, str]]] = {tag: [] for tag in network.tags}
    for link in network.links:
        for tag, other in (link.tags, link.tags[::-1]):
            near[tag].append((-link.rows, network.tags[other].name))
    texts = {}
    for tag, others in near.items():
        some = sorted(others)[:_NEIGHBOURS_SHOWN]
        with_most = ", ".join(f"{other} ({count(-rows, 'row')})" for rows, other in some)
        more = f" and {len(others) - len(some)} more" if len(others) > len(some) else ""
        texts[tag] = f"{network.tags[tag].name} is in one chunk with {with_most}{more}"
    return texts


@dataclass(frozen=True)
class RelationList:
    """The strongest relations of a kind, of ``n`` in all."""

    head: str
    n: int
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Relations:
    """What a page says about relations: lists, and a drawing of the implications."""

    lists: tuple[RelationList, ...]
    drawn: AncestryGraph
    picture: Markup


def list_relations(shown: ModelOnRows) -> Relations | None:
    """Return the relations that the model knows of; None if it keeps no counts."""
    model = shown.model
    if not isinstance(model, UFC) or not model.keeps_counts:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        found = model.relations()
    lists = []
    for kind, head in RELATION_KINDS.items():
        some = [one for one in found if one.kind == kind]
        first = tuple(shorten(one.sentence, _SENTENCE_LENGTH) for one in some[: limits.RELATIONS])
        if some:
            lists.append(RelationList(head, len(some), first))
    drawn = implication_graph(shown.names, found, limits.NETWORK_TAGS)
    names = {node.number: shown.formula(node.number) for node in drawn.nodes}
    return Relations(tuple(lists), drawn, page.draw(draw_boxes(drawn, names)))


@dataclass(frozen=True)
class Remark:
    """A tag that a row may lack, or that is doubtful in it."""

    row: str
    tags: str
    tag: str
    score: float
    because: str


@dataclass(frozen=True)
class SecondLook:
    """The surest remarks of the first ``n_rows`` rows."""

    missing: tuple[Remark, ...]
    doubtful: tuple[Remark, ...]
    n_rows: int


def look_twice(shown: ModelOnRows) -> SecondLook | None:
    """Return the rows with the most probable missing tags and the most doubtful ones, if any."""
    model = shown.model
    if not isinstance(model, UFC) or not model.keeps_counts:
        return None
    n_rows = min(shown.n_rows, limits.SECOND_LOOK_ROWS)
    suggester = model.learn_suggestions()
    tags = shown.primitives.first_rows(n_rows).select(suggester.counts.places)
    # what no other tag of the row speaks for or against is not worth a look
    missing = [[x for x in some if x.because] for some in suggester.suggest(tags, 1, 0.5)]
    doubtful = [
        [x for x in some if x.because and x.score <= _DOUBTFUL] for some in suggester.doubt(tags, 1)
    ]
    sure = _order([-some[0].score if some else np.inf for some in missing])
    odd = _order([some[0].score if some else np.inf for some in doubtful])
    if not sure and not odd:
        return None
    columns = dict(zip(sure + odd, shown.true_columns(sure + odd), strict=True))

    def remark(row: int, one: Suggestion) -> Remark:
        own = ", ".join(shorten(shown.names[k], _NAME_LENGTH) for k in columns[row])
        because = shorten(", ".join(one.because), 120)
        tag = shorten(one.tag, _NAME_LENGTH)
        return Remark(shown.row_label(row), shorten(own, 200), tag, one.score, because)

    return SecondLook(
        tuple(remark(row, missing[row][0]) for row in sure),
        tuple(remark(row, doubtful[row][0]) for row in odd),
        n_rows,
    )


def _order(values: list[float]) -> list[int]:
    """Return the rows of the least values, at most as many as a page shows."""
    order = np.argsort(values, kind="stable")[: limits.SECOND_LOOK]
    return [int(row) for row in order if values[row] < np.inf]
