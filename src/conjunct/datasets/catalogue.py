"""The bundled data sets, their licences, and how to load them."""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from conjunct.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDER = Path(__file__).with_name("data")


@dataclass(frozen=True)
class Dataset:
    """A bundled data set; ``data/LICENSES.md`` has the full attribution.

    Examples
    --------
    >>> from conjunct import datasets
    >>> datasets.find("zoo").attribution
    'Zoo, R. Forsyth (1990), UCI Machine Learning Repository'
    """

    name: str
    rows: int
    columns: int
    description: str
    attribution: str
    file: str
    rows_file: str
    licence: str = "CC BY 4.0"
    has_missing: bool = False

    @property
    def path(self) -> Path:
        """Return the CSV file of features: a header, and one row of 0 and 1 per individual."""
        return FOLDER / self.file

    @property
    def rows_path(self) -> Path:
        """Return the CSV file of names or classes of the rows, which are not features."""
        return FOLDER / self.rows_file


DATASETS: tuple[Dataset, ...] = (
    Dataset(
        name="spect",
        rows=267,
        columns=22,
        description="partial diagnoses of cardiac SPECT images",
        attribution="SPECT Heart, K. Cios, L. Kurgan and L. Goodenday (2001), "
        "UCI Machine Learning Repository",
        file="spect.csv",
        rows_file="spect_class.csv",
    ),
    Dataset(
        name="zoo",
        rows=101,
        columns=15,
        description="animals and their traits",
        attribution="Zoo, R. Forsyth (1990), UCI Machine Learning Repository",
        file="zoo.csv",
        rows_file="zoo_rows.csv",
    ),
    Dataset(
        name="house_votes_84",
        rows=435,
        columns=16,
        description="votes in the US House of Representatives, 1984",
        attribution="Congressional Voting Records (1987), UCI Machine Learning Repository",
        file="house_votes_84.csv",
        rows_file="house_votes_84_rows.csv",
        has_missing=True,
    ),
    Dataset(
        name="coco_street",
        rows=447,
        columns=37,
        description="objects in street photographs",
        attribution="COCO 2017 val annotations, COCO Consortium",
        file="coco_street.csv",
        rows_file="coco_street_rows.csv",
    ),
    Dataset(
        name="coco_val2017",
        rows=4952,
        columns=80,
        description="objects in photographs",
        attribution="COCO 2017 val annotations, COCO Consortium",
        file="coco_val2017.csv.gz",
        rows_file="coco_val2017_rows.csv",
    ),
)


def find(name: str) -> Dataset:
    """Return the bundled data set with this name.

    Examples
    --------
    >>> find("zoo").licence
    'CC BY 4.0'
    """
    for dataset in DATASETS:
        if dataset.name == name:
            return dataset
    names = ", ".join(dataset.name for dataset in DATASETS)
    raise InputError(f"unknown data set {name!r}: choose one of {names}")


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
        Other facts about each row by title, such as names and classes.
    missing : ndarray of bool or None
        True where a cell is missing; None if no cell is missing.
    path : Path
        The CSV file of the values.

    Examples
    --------
    >>> from conjunct import datasets
    >>> datasets.load_zoo().feature_names[:3]
    ('hair', 'feathers', 'eggs')
    """

    name: str
    values: NDArray[np.bool_]
    feature_names: tuple[str, ...]
    rows: dict[str, tuple[str, ...]]
    missing: NDArray[np.bool_] | None
    path: Path


def load(name: str) -> BooleanDataset:
    """Load a bundled data set by its name in ``DATASETS``.

    Examples
    --------
    >>> from conjunct import datasets
    >>> datasets.load("zoo").values.shape
    (101, 15)
    """
    import numpy as np

    dataset = find(name)
    header, *cells = _read_csv(dataset.path)
    table = np.array(cells)
    values, missing = table == "1", table == ""
    for mask in (values, missing):
        mask.flags.writeable = False
    titles, *descriptions = _read_csv(dataset.rows_path)
    return BooleanDataset(
        name=dataset.name,
        values=values,
        feature_names=tuple(header),
        rows=dict(zip(titles, zip(*descriptions, strict=True), strict=True)),
        missing=missing if dataset.has_missing else None,
        path=dataset.path,
    )


def load_spect() -> BooleanDataset:
    """Load 267 × 22 partial diagnoses of heart images (the paper's ``spect``); ``rows``: class.

    Examples
    --------
    >>> load_spect().values.shape
    (267, 22)
    """
    return load("spect")


def load_zoo() -> BooleanDataset:
    """Load 101 × 15 animals and traits; ``rows``: animal, type and number of legs.

    Examples
    --------
    >>> load_zoo().rows["animal"][:2]
    ('aardvark', 'antelope')
    """
    return load("zoo")


def load_house_votes_84() -> BooleanDataset:
    """Load 435 × 16 votes in the US House of 1984, some missing; ``rows``: party.

    Examples
    --------
    >>> int(load_house_votes_84().missing.sum())
    392
    """
    return load("house_votes_84")


def load_coco_street() -> BooleanDataset:
    """Load 447 × 37 objects in street photographs; ``rows``: COCO image number.

    Examples
    --------
    >>> load_coco_street().feature_names[:3]
    ('person', 'bicycle', 'car')
    """
    return load("coco_street")


def load_coco_val2017() -> BooleanDataset:
    """Load 4,952 × 80 objects in photographs; ``rows``: COCO image number.

    Examples
    --------
    >>> load_coco_val2017().values.shape
    (4952, 80)
    """
    return load("coco_val2017")


def _read_csv(path: Path) -> list[list[str]]:
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    return list(csv.reader(io.StringIO(text.decode(), newline="")))
