"""List findings, groups and relations, with example rows or images."""

from __future__ import annotations

import base64
import io
import os
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from conjunct.errors import ConjunctWarning, InputError
from conjunct.estimators import UFC
from conjunct.explain import (
    ORDERS,
    RELATION_KINDS,
    AncestryGraph,
    Finding,
    RowGroup,
    count,
    english,
    every_finding,
    implication_graph,
    shorten,
)
from conjunct.expressions import pattern_text
from conjunct.plots import Network, draw_boxes
from conjunct.report import page
from conjunct.report.model_on_rows import ModelOnRows

_TAG_LENGTH = 80
_TAGS = 10  # shown per example row, at least three of them not in the finding
_NAMED_TAGS = 6  # in a name; the name of a larger chunk has only three
_LOOKED_AT = 12  # rows among which the example of a finding is chosen
_MARKS = 4  # per group
_TYPICAL = 2  # rows per group


@dataclass(frozen=True)
class ExampleRow:
    """An example row with ``marked`` tags; ``more`` counts the tags that are not shown."""

    name: str
    marked: tuple[str, ...]
    others: tuple[str, ...]
    more: int


def _write_row(
    shown: ModelOnRows, row: int, columns: Sequence[int], tags: Collection[str]
) -> ExampleRow:
    marked = [shown.names[k] for k in columns if shown.names[k] in tags]
    others = [shorten(shown.names[k], _TAG_LENGTH) for k in columns if shown.names[k] not in tags]
    n = max(3, _TAGS - len(marked))
    return ExampleRow(
        shown.row_label(row), tuple(marked), tuple(others[:n]), max(0, len(others) - n)
    )


@dataclass(frozen=True)
class ShownFinding:
    """A finding or common feature with an example row and numbered thumbnails of rows.

    ``order`` holds its places by evidence, lift and rows; -1 means not among the first.
    """

    name: str
    anchor: str
    sentence: str
    rows: int
    share: float
    order: tuple[int, ...]
    example: ExampleRow | None
    images: tuple[tuple[str, int], ...]
    finding: Finding | None


def list_findings(shown: ModelOnRows, thumbnails: Thumbnails) -> tuple[ShownFinding, ...]:
    """Return the first findings by evidence, lift and rows, or else the most common features."""
    every = shown.summary.findings
    # sorting is stable, so ties stay in the order by evidence
    orders = [
        sorted(every, key=lambda one: -getattr(one, name))[: page.FINDINGS_BY_ORDER]
        for name in ORDERS
    ]
    places = [{one.tags: k for k, one in enumerate(some)} for some in orders]
    kept = list({one.tags: one for some in orders for one in some}.values())
    features = () if kept else shown.summary.new_features[: page.FINDINGS_BY_ORDER]
    chunks = {one.tags for one in every_finding(shown.model.feature_set_)} if features else set()
    rows = [shown.rows_with_tags(one.tags) for one in kept]
    rows += [shown.rows_of(one.number) for one in features]
    sampled = [shown.sample(some, _LOOKED_AT) for some in rows]
    every_row = [row for some in sampled for row in some]
    columns = dict(zip(every_row, shown.true_columns(every_row), strict=True))
    found = []
    used = set[int]()
    listed: list[Any] = [*kept, *features]
    for k, one in enumerate(listed):
        if isinstance(one, Finding):
            tags, order = one.tags, tuple(place.get(one.tags, -1) for place in places)
            name, anchor, sentence = one.name, page.anchor_of(tags), one.sentence
            if len(tags) > _NAMED_TAGS:
                name = f"{pattern_text(tags[:3])} and {len(tags) - 3} more tags"
        else:
            tags, order = one.pattern, (k,)
            name = shown.name(one.number)
            anchor = "vocabulary" if chunks else f"feature-{one.number}"
            if tags in chunks:
                anchor = page.anchor_of(tags)
            sentence = "These columns contain the same information." if shown.summary.copies else ""
            if not shown.by_pattern:
                sentence = shorten(english(shown.short_form(one.number)), 2 * page.NAME_LENGTH)
        # the best example is not used yet and has about three other tags
        ranked = [(x in used, abs(len(columns[x]) - len(tags) - 3), x) for x in sampled[k]]
        example = None
        if ranked:
            row = min(ranked)[-1]
            used.add(row)
            example = _write_row(shown, row, columns[row], tags)
        images = thumbnails.of(sampled[k][: page.EXAMPLE_ROWS], shown.row_label)
        finding = one if isinstance(one, Finding) else None
        found.append(
            ShownFinding(
                name, anchor, sentence, one.rows, one.share, order, example, images, finding
            )
        )
    return tuple(found)


def list_groups(
    shown: ModelOnRows, groups: Sequence[RowGroup]
) -> list[tuple[str, RowGroup, list[str], list[ExampleRow]]]:
    """Return the largest groups: name, group, sentences about it, typical rows."""
    listed = []
    typical = [row for group in groups[: page.GROUPS] for row in group.typical[:_TYPICAL]]
    columns = dict(zip(typical, shown.true_columns(typical), strict=True))
    for group in groups[: page.GROUPS]:
        marks, rows = group.list_marks(_MARKS), group.typical[:_TYPICAL]
        sentences = [shorten(mark.sentence, 2 * page.NAME_LENGTH) for mark in marks]
        tags = {tag for mark in marks if not mark.is_absent for tag in mark.tags}
        examples = [_write_row(shown, row, columns[row], tags) for row in rows]
        name = shorten(group.name, 2 * page.NAME_LENGTH)
        listed.append((name, group, sentences, examples))
    return listed


_NEIGHBOURS_SHOWN = 6  # per tag in the network
_DOUBTFUL = 0.1  # maximum probability of a doubtful tag


def describe_tags(network: Network) -> dict[int, str]:
    """Describe for each tag which other tags are in the same chunks."""
    near: dict[int, list[tuple[int, str]]] = {tag: [] for tag in network.tags}
    for link in network.links:
        for tag, other in (link.tags, link.tags[::-1]):
            near[tag].append((-link.rows, network.tags[other].name))
    texts = {}
    for tag, others in near.items():
        some = sorted(others)[:_NEIGHBOURS_SHOWN]
        with_most = ", ".join(f"{other} ({count(-rows, 'row')})" for rows, other in some)
        more = f" and {len(others) - len(some)} more" if len(others) > len(some) else ""
        texts[tag] = f"{network.tags[tag].name} shares chunks with {with_most}{more}"
    return texts


@dataclass(frozen=True)
class Relations:
    """The strongest relations as (heading, number, sentences), and a drawing of implications."""

    lists: tuple[tuple[str, int, tuple[str, ...]], ...]
    drawn: AncestryGraph
    picture: Markup


def list_relations(shown: ModelOnRows) -> Relations | None:
    """Return the relations between tags; None if the model keeps no counts."""
    model = shown.model
    if not isinstance(model, UFC) or not model.keeps_counts:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        found = model.relations()
    lists = []
    for kind, heading in RELATION_KINDS.items():
        sentences = [one.sentence for one in found if one.kind == kind]
        first = tuple(shorten(x, 2 * page.NAME_LENGTH) for x in sentences[: page.RELATIONS])
        if sentences:
            lists.append((heading, len(sentences), first))
    drawn = implication_graph(shown.names, found, page.NETWORK_TAGS)
    names = {node.number: shown.formula(node.number) for node in drawn.nodes}
    return Relations(tuple(lists), drawn, page.draw(draw_boxes(drawn, names)))


Remark = tuple[str, str, float, str, str]  # a row, its tag, the probability, why, all its tags


def look_twice(shown: ModelOnRows) -> tuple[list[Remark], list[Remark], int] | None:
    """Return the most probable missing tags, the most doubtful ones, and the number of rows."""
    model = shown.model
    if not isinstance(model, UFC) or not model.keeps_counts:
        return None
    n_rows = min(shown.n_rows, page.SECOND_LOOK_ROWS)
    suggester = model.learn_suggestions()
    tags = shown.primitives.first_rows(n_rows).select(suggester.counts.places)
    chosen = []
    for sign, found in ((-1, suggester.suggest(tags, 1, 0.5)), (1, suggester.doubt(tags, 1))):
        # only tags that other tags of the row support or contradict
        sure = [
            (sign * one.score, row, one)
            for row, some in enumerate(found)
            for one in [x for x in some if x.because][:1]
            if sign < 0 or one.score <= _DOUBTFUL
        ]
        chosen.append(sorted(sure, key=lambda x: x[:2])[: page.SECOND_LOOK])
    rows = [row for some in chosen for _, row, _ in some]
    if not rows:
        return None
    columns = dict(zip(rows, shown.true_columns(rows), strict=True))
    missing, doubtful = (
        [
            (
                *(shown.row_label(row), shorten(one.tag, 60), one.score),
                shorten(", ".join(one.because), 120),
                shorten(", ".join(shorten(shown.names[k], 60) for k in columns[row]), 200),
            )
            for _, row, one in some
        ]
        for some in chosen
    )
    return missing, doubtful, n_rows


Images = str | os.PathLike[str] | Sequence[str | os.PathLike[str] | None]

_SIDE = 128  # pixels
_QUALITY = 72
_ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")


class Thumbnails:
    """Thumbnails by row, made on demand, one per image; unreadable files are only counted."""

    def __init__(self, paths: Sequence[Path | None] | None) -> None:
        self._paths = paths
        self._numbers: dict[Path, int | None] = {}
        self._missing = 0
        self._too_many = 0
        self.uris: list[str] = []

    def number_of(self, row: int) -> int | None:
        """Return the position in ``uris`` of the image of a row, if it has one."""
        path = None if self._paths is None else self._paths[row]
        if path is None:
            return None
        if path not in self._numbers:
            self._numbers[path] = None
            if len(self.uris) >= page.THUMBNAILS:
                self._too_many += 1
            elif uri := thumbnail(path):
                self._numbers[path] = len(self.uris)
                self.uris.append(uri)
            else:
                self._missing += 1
        return self._numbers[path]

    def of(self, rows: Sequence[int], label: Callable[[int], str]) -> tuple[tuple[str, int], ...]:
        """Return names and image numbers of the rows that have an image."""
        found = ((label(row), self.number_of(row)) for row in rows)
        return tuple((name, number) for name, number in found if number is not None)

    def notes(self) -> tuple[str, ...]:
        notes = []
        if self._missing:
            notes.append(f"{count(self._missing, 'image')} could not be found or read.")
        if self._too_many:
            notes.append(
                f"{count(page.THUMBNAILS)} images are shown, "
                f"{count(self._too_many)} more are omitted."
            )
        return tuple(notes)


def thumbnail(path: Path) -> str | None:
    """Return the image as a small JPEG in a data: address; None if it cannot be read."""
    try:  # imported here because most reports show no images
        from PIL import Image, ImageOps
    except ImportError:
        raise InputError("images in a report need Pillow: pip install pillow") from None

    small = io.BytesIO()
    # opening a pipe or a device could block
    if not path.is_file():
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a decompression bomb gives a warning
            with Image.open(path) as image:
                image.draft("RGB", (2 * _SIDE, 2 * _SIDE))
                upright = ImageOps.exif_transpose(image).convert("RGB")
        upright.thumbnail((_SIDE, _SIDE))
        upright.save(small, "JPEG", quality=_QUALITY)
    except (OSError, ValueError, SyntaxError, Warning, Image.DecompressionBombError):
        return None
    return "data:image/jpeg;base64," + base64.b64encode(small.getvalue()).decode()


def image_paths(
    images: Images | None, row_names: Sequence[str] | None, n_rows: int
) -> list[Path | None] | None:
    """Return the image file of each row, given in order or found in a folder by name."""
    if images is None:
        return None
    if not isinstance(images, str | os.PathLike):
        if len(images) != n_rows:
            raise InputError(
                f"images must have one entry per row: got {len(images)} for {n_rows} rows"
            )
        return [None if path is None or path == "" else Path(path) for path in images]
    folder = Path(images)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder of images")
    if row_names is None:
        raise InputError(
            f"images in {folder} are found by the names of rows, but the rows have no names: use "
            "--id or an index"
        )
    files: dict[str, Path] = {}
    for file in sorted(folder.iterdir()):
        if file.suffix.lower() in _ENDINGS:
            # 000000000139.jpg also belongs to row 139
            for name in (file.name, file.stem, file.stem.lstrip("0")):
                files.setdefault(name, file)
    return [files.get(name) for name in row_names]
