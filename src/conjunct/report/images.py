"""Thumbnails of rows: found, made small, and counted where they cannot be read."""

from __future__ import annotations

import base64
import io
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from conjunct.errors import InputError
from conjunct.explain import count
from conjunct.report import limits

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
