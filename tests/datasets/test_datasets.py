import csv
import gzip
from collections.abc import Callable

import numpy as np
import pytest

from conjunct import datasets
from conjunct.datasets import DATASETS, BooleanDataset, Dataset
from conjunct.datasets.catalogue import FOLDER
from conjunct.errors import InputError

every_dataset = pytest.mark.parametrize("dataset", DATASETS, ids=lambda dataset: dataset.name)


@pytest.mark.parametrize(
    ("load", "name", "shape", "ones", "distinct", "titles"),
    [
        (datasets.load_spect, "spect", (267, 22), 1830, 219, ["OVERALL_DIAGNOSIS"]),
        (datasets.load_zoo, "zoo", (101, 15), 660, 53, ["animal", "type", "legs"]),
        (datasets.load_house_votes_84, "house_votes_84", (435, 16), 3421, None, ["party"]),
        (datasets.load_coco_street, "coco_street", (447, 37), 1753, 276, ["coco_image_id"]),
        (datasets.load_coco_val2017, "coco_val2017", (4952, 80), 14631, 2222, ["coco_image_id"]),
    ],
)
def test_each_loader_gives_its_data(
    load: Callable[[], BooleanDataset],
    name: str,
    shape: tuple[int, int],
    ones: int,
    distinct: int | None,
    titles: list[str],
) -> None:
    data = load()
    assert data.name == name
    assert data.values.shape == shape
    assert data.values.dtype == np.bool_
    assert data.values.sum() == ones
    if distinct is not None:
        assert len(np.unique(data.values, axis=0)) == distinct
    assert len(set(data.feature_names)) == shape[1]
    assert list(data.rows) == titles
    assert {len(column) for column in data.rows.values()} == {shape[0]}


@every_dataset
def test_values_are_those_of_the_file(dataset: Dataset) -> None:
    raw = dataset.path.read_bytes()
    text = (gzip.decompress(raw) if dataset.path.suffix == ".gz" else raw).decode("utf-8")
    header, *cells = csv.reader(text.splitlines())
    data = datasets.load(dataset.name)
    missing = np.zeros_like(data.values) if data.missing is None else data.missing

    assert list(data.feature_names) == header
    written = np.where(missing, "", np.where(data.values, "1", "0"))
    assert written.tolist() == cells
    assert data.path == dataset.path


@every_dataset
def test_catalogue_tells_the_truth(dataset: Dataset) -> None:
    data = datasets.load(dataset.name)
    assert data.values.shape == (dataset.rows, dataset.columns)
    assert (data.missing is not None) == dataset.has_missing
    assert dataset.description
    assert dataset.attribution


@every_dataset
def test_licence_and_files_are_stated(dataset: Dataset) -> None:
    licences = (FOLDER / "LICENSES.md").read_text(encoding="utf-8")
    sections = [part for part in licences.split("\n## ") if dataset.name in part.splitlines()[0]]
    assert len(sections) == 1
    assert dataset.licence in sections[0]
    assert f"`{dataset.file}`" in sections[0]
    assert f"`{dataset.rows_file}`" in sections[0]


def test_missing_votes_are_marked_and_false() -> None:
    data = datasets.load_house_votes_84()
    assert data.missing is not None
    assert data.missing.sum() == 392
    assert not (data.values & data.missing).any()


def test_known_cells() -> None:
    zoo = datasets.load_zoo()
    dolphin = zoo.rows["animal"].index("dolphin")
    traits = {n for n, v in zip(zoo.feature_names, zoo.values[dolphin], strict=True) if v}
    assert {"milk", "aquatic", "breathes", "fins"} <= traits
    assert not {"hair", "feathers", "eggs", "airborne"} & traits
    assert zoo.rows["type"][dolphin] == "mammal"


def test_values_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        datasets.load_zoo().values[0, 0] = True


def test_unknown_name_lists_the_names() -> None:
    with pytest.raises(InputError) as caught:
        datasets.load("iris")
    assert str(caught.value) == (
        "unknown data set 'iris': "
        "choose one of spect, zoo, house_votes_84, coco_street, coco_val2017"
    )
