"""Small Boolean data sets that come with conjunct, each with its licence."""

from conjunct.datasets.catalogue import DATASETS, Dataset, find
from conjunct.datasets.loading import (
    BooleanDataset,
    load,
    load_coco_street,
    load_coco_val2017,
    load_house_votes_84,
    load_spect,
    load_zoo,
)

__all__ = [
    "DATASETS",
    "BooleanDataset",
    "Dataset",
    "find",
    "load",
    "load_coco_street",
    "load_coco_val2017",
    "load_house_votes_84",
    "load_spect",
    "load_zoo",
]
