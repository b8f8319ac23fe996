"""What was found and the rows behind it, with images where there are some."""

from __future__ import annotations

import base64
import io
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from conjunct.errors import InputError
from conjunct.explain import Finding, count, english, shortened
from conjunct.expressions import pattern_text
from conjunct.report import limits
from conjunct.report.features import FeatureLine
from conjunct.report.model_on_rows import ModelOnRows

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
    from PIL import Image, ImageOps  # most reports show no images

    small = io.BytesIO()
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
        raise InputError(f"images must be one for each row: {len(images)} for {n_rows} rows")
    return [None if path is None or path == "" else Path(path) for path in images]


def _find_in_folder(folder: Path, row_names: Sequence[str] | None) -> list[Path | None]:
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder of images")
    if row_names is None:
        raise InputError(
            f"images in {folder} are found by the names of rows, and the rows have none: "
            f"name the column that holds them (--id)"
        )
    files: dict[str, Path] = {}
    for file in sorted(folder.iterdir()):
        if file.suffix.lower() in _ENDINGS:
            # 139 is found as 000000000139.jpg too
            for name in (file.name, file.stem, file.stem.lstrip("0")):
                files.setdefault(name, file)
    return [files.get(name) for name in row_names]


_NAME_LENGTH = 60
_TAGS = 12
_LOOKED_AT = 12  # rows from which the example of a chunk is chosen
_CHUNK_TAGS = 8  # chunks of such an example


@dataclass(frozen=True)
class Tag:
    """A column or a chunk of a row; ``is_it``: the one that the row is an example of."""

    text: str
    is_it: bool = False


@dataclass(frozen=True)
class ExampleRow:
    """``tags`` are the columns that are true, or the chunks; ``image`` is a thumbnail's number."""

    name: str
    tags: tuple[Tag, ...]
    more_tags: int
    image: int | None = None


@dataclass(frozen=True)
class Example:
    """A feature or chunk of the lineage, and some of the rows that have it."""

    number: int
    feature: str
    words: str
    support: int
    rows: tuple[ExampleRow, ...] = ()


@dataclass(frozen=True)
class FoundChunk:
    """``share`` is what it saved as a part of what the first one did, for a bar."""

    name: str
    words: str
    finding: Finding
    share: float
    example: ExampleRow | None


def find_chunks(shown: ModelOnRows) -> tuple[FoundChunk, ...]:
    """Return the strongest chunks, each with a row that has it; or the commonest features."""
    summary = shown.summary
    some = (summary.chunks or summary.constructed)[: limits.FINDINGS]
    gains = [finding.share if finding.evidence is None else finding.evidence for finding in some]
    rows = _choose_rows(shown, some) if summary.chunks else [None] * len(some)
    return tuple(
        FoundChunk(
            shortened(finding.text, limits.NAME_LENGTH)
            if summary.chunks
            else shown.formula(finding.number),
            ""
            if summary.chunks
            else shortened(english(shown.short_form(finding.number)), limits.NAME_LENGTH),
            finding,
            gain / max(gains),
            example,
        )
        for finding, gain, example in zip(some, gains, rows, strict=True)
    )


def _choose_rows(shown: ModelOnRows, found: Sequence[Finding]) -> list[ExampleRow | None]:
    """Return for each chunk a row that shows it well: alone, and among chunks of several tags."""
    rows = [shown.sample_rows_of(finding.number, _LOOKED_AT) for finding in found]
    every = iter(shown.chunks_of([row for some in rows for row in some]))
    examples: list[ExampleRow | None] = []
    used: set[int] = set()
    for finding, some in zip(found, rows, strict=True):
        looked_at = [(row, next(every)) for row in some]
        if not looked_at:
            examples.append(None)
            continue
        interest = [
            (
                row not in used,
                finding.pattern in chunks,
                sum(len(c) > 1 for c in chunks),
                -len(chunks),
            )
            for row, chunks in looked_at
        ]
        row, best = looked_at[interest.index(max(interest))]
        used.add(row)
        examples.append(_row(shown, row, _chunk_tags(best, finding.pattern), _CHUNK_TAGS))
    return examples


def choose_examples(
    shown: ModelOnRows, lines: Sequence[FeatureLine], thumbnails: Thumbnails
) -> tuple[Example, ...]:
    """Return a few rows of each of the first constructed features or chunks."""
    if shown.by_pattern:
        # as they were joined: rows with a larger chunk are examples too
        titles = [
            Example(
                one.number, shortened(one.text, _NAME_LENGTH), "", len(shown.rows_of(one.number))
            )
            for one in shown.summary.chunks[: limits.EXAMPLE_FEATURES]
        ]
        titles = [title for title in titles if title.support]
    else:
        some_lines = [line for line in lines if line.iteration and line.support]
        titles = [
            Example(line.number, line.simplified, line.words, line.support)
            for line in some_lines[: limits.EXAMPLE_FEATURES]
        ]
    rows = [shown.sample_rows_of(title.number, limits.EXAMPLE_ROWS) for title in titles]
    tags = iter(_tags(shown, titles, rows))
    return tuple(
        Example(
            title.number,
            title.feature,
            title.words,
            title.support,
            tuple(
                _row(shown, row, next(tags), _TAGS, image=thumbnails.number_of(row)) for row in some
            ),
        )
        for title, some in zip(titles, rows, strict=True)
    )


def _row(
    shown: ModelOnRows, row: int, tags: tuple[Tag, ...], limit: int, image: int | None = None
) -> ExampleRow:
    return ExampleRow(shown.row_label(row), tags[:limit], max(0, len(tags) - limit), image)


def _tags(
    shown: ModelOnRows, titles: Sequence[Example], rows: Sequence[Sequence[int]]
) -> list[tuple[Tag, ...]]:
    """Return the columns or chunks of the rows of each feature, one row after the other."""
    every = [(title.number, row) for title, some in zip(titles, rows, strict=True) for row in some]
    if not shown.by_pattern:
        columns = shown.true_columns([row for _, row in every])
        return [tuple(Tag(shown.formula(k, _NAME_LENGTH)) for k in some) for some in columns]
    pattern = shown.model.feature_set_.lineage.pattern
    chunks = shown.chunks_of([row for _, row in every])
    return [_chunk_tags(c, pattern(number)) for (number, _), c in zip(every, chunks, strict=True)]


def _chunk_tags(chunks: Sequence[tuple[str, ...]], wanted: Sequence[str]) -> tuple[Tag, ...]:
    """Return the chunks of a row; the one that holds the wanted tags is marked."""
    return tuple(
        Tag(shortened(pattern_text(chunk), _NAME_LENGTH), set(chunk) >= set(wanted))
        for chunk in chunks
    )
