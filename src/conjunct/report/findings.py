"""Findings and groups of rows, each with rows that show it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from conjunct.explain import Finding, RowGroup, english, shorten
from conjunct.report import limits
from conjunct.report.images import Thumbnails
from conjunct.report.model_on_rows import ModelOnRows
from conjunct.report.vocabulary import anchor_of

_TAG_LENGTH = 80
_TAGS = 8  # of an example row, besides those of its finding
_LOOKED_AT = 12  # rows from which the example of a finding is chosen
_MARKS = 4  # marks of a group, and its typical rows
_TYPICAL = 2
_ALSO = 3


@dataclass(frozen=True)
class ExampleRow:
    """``marked`` tags are those that the row is an example of; ``more`` tags are left out."""

    name: str
    marked: tuple[str, ...]
    others: tuple[str, ...]
    more: int


@dataclass(frozen=True)
class ShownFinding:
    """A finding, or a common feature, with a row that has it.

    ``order`` is its place by evidence, lift and rows; -1 where it is not among the first.
    ``images`` are (name of a row, number of its thumbnail).
    """

    name: str
    anchor: str
    sentence: str
    rows: int
    share: float
    lift: float | None
    order: tuple[int, ...]
    example: ExampleRow | None
    images: tuple[tuple[str, int], ...]
    part_of: Finding | None = None
    part_of_anchor: str | None = None
    also: tuple[tuple[str, str, int], ...] = ()
    n_also: int = 0


def list_findings(shown: ModelOnRows, thumbnails: Thumbnails) -> tuple[ShownFinding, ...]:
    """Return the first findings by evidence, by lift and by rows; or the commonest features."""
    if not shown.summary.findings:
        return _list_features(shown, thumbnails)
    every = shown.summary.findings
    # the order by evidence decides between equal ones
    orders = [
        some[: limits.FINDINGS_BY_ORDER]
        for some in (
            every,
            sorted(every, key=lambda one: -one.lift),
            sorted(every, key=lambda one: -one.rows),
        )
    ]
    places = [{one.tags: k for k, one in enumerate(some)} for some in orders]
    position = {name: k for k, name in enumerate(shown.names)}
    kept = list({one.tags: one for some in orders for one in some}.values())
    rows = [shown.rows_with([position[tag] for tag in one.tags]) for one in kept]
    sampled = [shown.sample(some, _LOOKED_AT) for some in rows]
    examples = _choose_examples(shown, sampled, [one.tags for one in kept])
    listed = []
    for one, some_rows, example in zip(kept, sampled, examples, strict=True):
        listed.append(
            ShownFinding(
                one.name,
                anchor_of(one.tags),
                one.sentence,
                one.rows,
                one.share,
                one.lift,
                tuple(place.get(one.tags, -1) for place in places),
                example,
                thumbnails.of(some_rows[: limits.EXAMPLE_ROWS], shown.row_label),
                one.part_of,
                None if one.part_of is None else anchor_of(one.part_of.tags),
                tuple((x.name, anchor_of(x.tags), x.rows) for x in one.also[:_ALSO]),
                len(one.also),
            )
        )
    return tuple(listed)


def named_findings(shown: ModelOnRows, listed: Collection[ShownFinding]) -> list[Finding]:
    """Return the findings that the page names: those listed, and what each stands for."""
    names = {one.anchor for one in listed}
    found = []
    for one in shown.summary.findings:
        if anchor_of(one.tags) in names:
            found += [one, *filter(None, [one.part_of]), *one.also[:_ALSO]]
    return found


def _list_features(shown: ModelOnRows, thumbnails: Thumbnails) -> tuple[ShownFinding, ...]:
    features = shown.summary.new_features[: limits.FINDINGS_BY_ORDER]
    sampled = [shown.sample(shown.rows_of(one.number), _LOOKED_AT) for one in features]
    examples = _choose_examples(shown, sampled, [one.pattern for one in features])
    listed = []
    for k, (feature, rows, example) in enumerate(zip(features, sampled, examples, strict=True)):
        listed.append(
            ShownFinding(
                shown.formula(feature.number),
                f"feature-{feature.number}",
                shorten(english(shown.short_form(feature.number)), 2 * limits.NAME_LENGTH),
                feature.rows,
                feature.share,
                None,
                (k,),
                example,
                thumbnails.of(rows[: limits.EXAMPLE_ROWS], shown.row_label),
            )
        )
    return tuple(listed)


def _choose_examples(
    shown: ModelOnRows, rows: Sequence[Sequence[int]], tags: Sequence[Collection[str]]
) -> list[ExampleRow | None]:
    """Return for each set of tags one of its rows: not used yet, with few other tags but some."""
    every = [row for some in rows for row in some]
    columns = dict(zip(every, shown.true_columns(every), strict=True))
    examples: list[ExampleRow | None] = []
    used = set[int]()
    for some, marked in zip(rows, tags, strict=True):
        wish = len(marked) + 3

        def rank(row: int, wish: int = wish) -> tuple[bool, int, int]:
            return row in used, abs(len(columns[row]) - wish), row

        best = min(some, key=rank, default=None)
        examples.append(None if best is None else _write_row(shown, best, columns[best], marked))
        used.update(() if best is None else (best,))
    return examples


def _write_row(
    shown: ModelOnRows, row: int, columns: Sequence[int], tags: Collection[str] = ()
) -> ExampleRow:
    marked = [shown.names[k] for k in columns if shown.names[k] in tags]
    others = [shorten(shown.names[k], _TAG_LENGTH) for k in columns if shown.names[k] not in tags]
    more = max(0, len(others) - _TAGS)
    return ExampleRow(shown.row_label(row), tuple(marked), tuple(others[:_TAGS]), more)


@dataclass(frozen=True)
class ShownGroup:
    """A group of rows with its strongest marks, more common ones first, and typical rows."""

    name: str
    group: RowGroup
    sentences: tuple[str, ...]
    rows: tuple[ExampleRow, ...]


def list_groups(shown: ModelOnRows, groups: Sequence[RowGroup]) -> tuple[ShownGroup, ...]:
    """Return the largest groups of rows."""
    some = groups[: limits.GROUPS]
    typical = [row for group in some for row in group.typical[:_TYPICAL]]
    columns = dict(zip(typical, shown.true_columns(typical), strict=True))
    listed = []
    for group in some:
        marks = group.list_marks(_MARKS)
        examples = [_write_row(shown, row, columns[row]) for row in group.typical[:_TYPICAL]]
        sentences = tuple(shorten(mark.sentence, 2 * limits.NAME_LENGTH) for mark in marks)
        name = shorten(group.name, limits.NAME_LENGTH)
        listed.append(ShownGroup(name, group, sentences, tuple(examples)))
    return tuple(listed)
