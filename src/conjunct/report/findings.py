"""Findings and groups of rows, each with rows and images that show it."""

from __future__ import annotations

import base64
import io
import os
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from conjunct.errors import InputError
from conjunct.explain import ORDERS, Finding, RowGroup, count, english, shorten
from conjunct.report import limits
from conjunct.report.model_on_rows import ModelOnRows
from conjunct.report.page import anchor_of

_TAG_LENGTH = 80
_TAGS = 8  # of an example row, besides those of its finding
_LOOKED_AT = 12  # rows from which the example of a finding is chosen
_MARKS = 4  # marks of a group, and its typical rows
_TYPICAL = 2


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
    order: tuple[int, ...]
    example: ExampleRow | None
    images: tuple[tuple[str, int], ...]
    finding: Finding | None = None


def list_findings(shown: ModelOnRows, thumbnails: Thumbnails) -> tuple[ShownFinding, ...]:
    """Return the first findings by evidence, by lift and by rows; or the commonest features."""
    every = shown.summary.findings
    # the order by evidence decides between equal ones
    orders = [
        sorted(every, key=lambda one: -getattr(one, name))[: limits.FINDINGS_BY_ORDER]
        for name in ORDERS
    ]
    places = [{one.tags: k for k, one in enumerate(some)} for some in orders]
    kept = list({one.tags: one for some in orders for one in some}.values())
    features = () if kept else shown.summary.new_features[: limits.FINDINGS_BY_ORDER]
    tags = [one.tags for one in kept] or [one.pattern for one in features]
    rows = [shown.rows_with_tags(one.tags) for one in kept]
    rows += [shown.rows_of(one.number) for one in features]
    sampled = [shown.sample(some, _LOOKED_AT) for some in rows]
    examples = _choose_examples(shown, sampled, tags)
    images = [thumbnails.of(some[: limits.EXAMPLE_ROWS], shown.row_label) for some in sampled]
    return (
        *(
            ShownFinding(
                one.name,
                anchor_of(one.tags),
                one.sentence,
                one.rows,
                one.share,
                tuple(place.get(one.tags, -1) for place in places),
                examples[k],
                images[k],
                one,
            )
            for k, one in enumerate(kept)
        ),
        *(
            ShownFinding(
                shown.formula(one.number),
                f"feature-{one.number}",
                shorten(english(shown.short_form(one.number)), 2 * limits.NAME_LENGTH),
                one.rows,
                one.share,
                (k,),
                examples[k],
                images[k],
            )
            for k, one in enumerate(features)
        ),
    )


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


Images = str | os.PathLike[str] | Sequence[str | os.PathLike[str] | None]

_SIDE = 128  # pixels
_QUALITY = 72
_ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")


class Thumbnails:
    """Thumbnails by row, made on demand, each image once.

    A file that is missing or no image is counted and left out.
    """

    def __init__(self, paths: Sequence[Path | None] | None) -> None:
        self._paths = paths
        self._numbers: dict[Path, int | None] = {}
        self._missing = 0
        self._too_many = 0
        self.uris: list[str] = []

    def number_of(self, row: int) -> int | None:
        """Return the position in ``uris`` of the image of a row; None if it has none."""
        path = None if self._paths is None else self._paths[row]
        if path is None:
            return None
        if path not in self._numbers:
            self._numbers[path] = self._add(path)
        return self._numbers[path]

    def of(self, rows: Sequence[int], label: Callable[[int], str]) -> tuple[tuple[str, int], ...]:
        """Return the name and the image of each of some rows that has an image."""
        found = ((label(row), self.number_of(row)) for row in rows)
        return tuple((name, number) for name, number in found if number is not None)

    def notes(self) -> tuple[str, ...]:
        notes = []
        if self._missing:
            files = count(self._missing, "image")
            verb = "is" if self._missing == 1 else "are"
            notes.append(f"{files} could not be found or read and {verb} left out.")
        if self._too_many:
            notes.append(
                f"{count(limits.THUMBNAILS)} images are shown, "
                f"{count(self._too_many)} more are left out."
            )
        return tuple(notes)

    def _add(self, path: Path) -> int | None:
        if len(self.uris) >= limits.THUMBNAILS:
            self._too_many += 1
            return None
        uri = thumbnail(path)
        if uri is None:
            self._missing += 1
            return None
        self.uris.append(uri)
        return len(self.uris) - 1


def thumbnail(path: Path) -> str | None:
    """Return the image as a small JPEG in a data: address; None if it cannot be read."""
    try:  # most reports show no images
        from PIL import Image, ImageOps
    except ImportError:
        raise InputError("images in a report need Pillow: pip install pillow") from None

    small = io.BytesIO()
    # a pipe or a device would be waited for
    if not path.is_file():
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # an image made to fill the memory
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
    """Return a file for each row: given one by one, or found in a folder by names of rows."""
    if images is None:
        return None
    if isinstance(images, str | os.PathLike):
        return _find_in_folder(Path(images), row_names)
    if len(images) != n_rows:
        raise InputError(f"images must have one entry per row: got {len(images)} for {n_rows} rows")
    return [None if path is None or path == "" else Path(path) for path in images]


def _find_in_folder(folder: Path, row_names: Sequence[str] | None) -> list[Path | None]:
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder of images")
    if row_names is None:
        raise InputError(
            f"images in {folder} are found by the names of rows, but the rows have no names: "
            f"use --id for the column that holds them"
        )
    files: dict[str, Path] = {}
    for file in sorted(folder.iterdir()):
        if file.suffix.lower() in _ENDINGS:
            # 139 is found as 000000000139.jpg too
            for name in (file.name, file.stem, file.stem.lstrip("0")):
                files.setdefault(name, file)
    return [files.get(name) for name in row_names]
