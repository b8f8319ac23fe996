"""What is bundled, and under which terms."""

from dataclasses import dataclass
from pathlib import Path

from conjunct.errors import InputError

FOLDER = Path(__file__).with_name("data")


@dataclass(frozen=True)
class Dataset:
    """One bundled data set; its full attribution is in ``data/LICENSES.md``."""

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
        """The CSV file of features: a header of names, then one row of 0 and 1 per individual."""
        return FOLDER / self.file

    @property
    def rows_path(self) -> Path:
        """The CSV file that describes the same rows (names, classes); never features."""
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
    """The bundled data set of that name."""
    for dataset in DATASETS:
        if dataset.name == name:
            return dataset
    names = ", ".join(dataset.name for dataset in DATASETS)
    raise InputError(f"no bundled dataset is called {name!r}; choose one of {names}")
