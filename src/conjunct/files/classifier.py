"""The file of a classifier: its chunks as a model file, and how often each class has them."""

from __future__ import annotations

import os

import msgspec

from conjunct.errors import ModelFileError
from conjunct.files.atomic import write_atomically
from conjunct.files.model import ModelFile, decoded, model_json

FORMAT = "conjunct-classifier"
VERSION = 1


class ClassifierFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the file of a classifier holds, in the order written."""

    format: str = FORMAT
    version: int = VERSION
    smoothing: float
    # how much of each bit counts in probabilities
    trust: float
    classes: list[str | int | float | bool]
    # training rows of each class
    class_rows: list[int]
    # for each feature that a row could have (what remains of each primitive, then of what each
    # merge made): in how many rows of each class it is true, and false though it could be true;
    # with variables, then the same of the rows in which another value is true
    true: list[list[int]]
    false: list[list[int]]
    vocabulary: ModelFile


def write_classifier(path: str | os.PathLike[str], model: ClassifierFile) -> None:
    """Write the file of a classifier, whole or not at all."""
    model_json(model.vocabulary)  # refuses what a file cannot hold
    text = msgspec.json.format(msgspec.json.encode(model), indent=1) + b"\n"
    write_atomically(path, lambda part: part.write_bytes(text))


def read_classifier(path: str | os.PathLike[str]) -> ClassifierFile:
    """Read the file of a classifier; anything but a whole one of this version is refused."""
    read = decoded(path, ClassifierFile, FORMAT, (VERSION,))
    positive = all(rows > 0 for rows in read.class_rows)
    counts = [count for line in (*read.true, *read.false) for count in line]
    whole = sum(read.class_rows) == read.vocabulary.n_rows and all(k >= 0 for k in counts)
    if not read.classes or not positive or not whole:
        raise ModelFileError(f"{path}: damaged classifier: its counts are not of its rows")
    if not 0 < read.trust <= 1:
        raise ModelFileError(f"{path}: damaged classifier: its trust is not above 0 and at most 1")
    if len({type(name) for name in read.classes}) > 1:
        raise ModelFileError(f"{path}: damaged classifier: its classes are of several types")
    return read
