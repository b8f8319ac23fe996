"""From a bundled file to arrays."""

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from conjunct.datasets.catalogue import Dataset, find


@dataclass(frozen=True, eq=False)
class BooleanDataset:
    """Boolean data with the names of its columns and a description of its rows.

    Attributes
    ----------
    name : str
        Name in the catalogue.
    values : ndarray of bool, shape (n_rows, n_columns)
        The features, read-only; False where a cell is missing.
    feature_names : tuple of str
        One name per column of ``values``.
    rows : dict of str to tuple of str
        What is known of each row besides its features, by title: names, classes.
    missing : ndarray of bool or None
        True where a cell is missing; None if no cell is.
    path : Path
        The CSV file that the values were read from.
    """

    name: str
    values: NDArray[np.bool_]
    feature_names: tuple[str, ...]
    rows: dict[str, tuple[str, ...]]
    missing: NDArray[np.bool_] | None
    path: Path


def load(name: str) -> BooleanDataset:
    """Load a bundled data set by its name in ``DATASETS``."""
    return _read(find(name))


def load_spect() -> BooleanDataset:
    """267 × 22: partial diagnoses of heart images, the paper's ``spect``; ``rows``: the class."""
    return load("spect")


def load_zoo() -> BooleanDataset:
    """101 × 15: animals and their traits; ``rows``: the animal, its type, its number of legs."""
    return load("zoo")


def load_house_votes_84() -> BooleanDataset:
    """435 × 16, with missing cells: votes in the US House in 1984; ``rows``: the party."""
    return load("house_votes_84")


def load_coco_street() -> BooleanDataset:
    """447 × 37: objects in street photographs; ``rows``: the COCO image number."""
    return load("coco_street")


def load_coco_val2017() -> BooleanDataset:
    """4952 × 80: objects in photographs; ``rows``: the COCO image number."""
    return load("coco_val2017")


def _read(dataset: Dataset) -> BooleanDataset:
    header, *cells = _read_csv(dataset.path)
    table = np.array(cells)
    titles, *descriptions = _read_csv(dataset.rows_path)
    return BooleanDataset(
        name=dataset.name,
        values=_read_only(table == "1"),
        feature_names=tuple(header),
        rows=dict(zip(titles, zip(*descriptions, strict=True), strict=True)),
        missing=_read_only(table == "") if dataset.has_missing else None,
        path=dataset.path,
    )


def _read_csv(path: Path) -> list[list[str]]:
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            return list(csv.reader(file))
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def _read_only(values: NDArray[np.bool_]) -> NDArray[np.bool_]:
    values.flags.writeable = False
    return values
