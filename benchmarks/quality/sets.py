"""Provide data sets: Boolean rows with classes, whole or sampled, and their splits.

The LUCS sets and the mushrooms are not part of conjunct, and are left out if they are absent.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._data import FOLDER, named_set
from benchmarks.quality.planted import planted
from conjunct import Binarizer, datasets

Table = NDArray[np.bool_]
Rows = NDArray[np.intp]

MOST_ROWS = 1000
N_FOLDS, N_ROUNDS = 5, 2
SEED = 0


@dataclass(frozen=True, eq=False)
class LabelledSet:
    """Rows and their classes. With a ``binarizer``, rows are raw until it is fitted on some."""

    rows: Any
    classes: NDArray[np.intp]
    binarizer: Binarizer | None = None

    def sampled(self, most: int = MOST_ROWS) -> LabelledSet:
        """Return a limited number of rows, drawn once."""
        if len(self.classes) <= most:
            return self
        chosen = np.sort(np.random.default_rng(SEED).permutation(len(self.classes))[:most])
        return LabelledSet(_taken(self.rows, chosen), self.classes[chosen], self.binarizer)

    def splits(self, n_splits: int | None = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield training rows and test rows, stratified by class."""
        from sklearn.model_selection import RepeatedStratifiedKFold

        folds = RepeatedStratifiedKFold(n_splits=N_FOLDS, n_repeats=N_ROUNDS, random_state=SEED)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a class of zoo has four animals
            found = list(folds.split(np.zeros(len(self.classes)), self.classes))
        yield from found[:n_splits]

    def tables(self, train: Rows, test: Rows) -> tuple[Table, Table]:
        """Return the rows as Booleans, by a Binarizer fitted on the training rows."""
        if self.binarizer is None:
            return self.rows[train], self.rows[test]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # words that training never saw are no tag
            fitted = Binarizer(**self.binarizer.get_params()).fit(_taken(self.rows, train))
            made = [fitted.transform(_taken(self.rows, rows)) for rows in (train, test)]
        return made[0].to_numpy(bool, na_value=False), made[1].to_numpy(bool, na_value=False)

    def table(self) -> Table:
        """All rows."""
        every = np.arange(len(self.classes))
        return self.tables(every, every[:1])[0]


def _taken(rows: Any, chosen: Rows) -> Any:
    return rows.iloc[chosen] if hasattr(rows, "iloc") else rows[chosen]


def _numbered(classes: Any) -> NDArray[np.intp]:
    return np.unique(np.asarray(classes), return_inverse=True)[1]


def _bundled(name: str, title: str) -> LabelledSet:
    data = datasets.load(name)
    return LabelledSet(data.values, _numbered(data.rows[title]))


def _with_people(name: str) -> LabelledSet:
    """Return photographs; the class is the tag person, the columns are all other tags."""
    data = datasets.load(name)
    person = data.feature_names.index("person")
    return LabelledSet(np.delete(data.values, person, axis=1), _numbered(data.values[:, person]))


def _of_scikit_learn(name: str) -> LabelledSet:
    from sklearn import datasets as theirs

    data = getattr(theirs, f"load_{name}")(as_frame=True)
    return LabelledSet(data.data, _numbered(data.target), Binarizer())


def _digits() -> LabelledSet:
    """Return images with pixels above 8 of 16 as True."""
    from sklearn.datasets import load_digits

    data = load_digits(as_frame=True)
    above = Binarizer(cumulative=True, edges={column: [9] for column in data.data})
    return LabelledSet(data.data, _numbered(data.target), above)


def _mushrooms() -> LabelledSet | None:
    import pandas as pd

    file = FOLDER.parent / "mushroom_uci.csv"
    if not file.exists():
        return None
    data = pd.read_csv(file)
    return LabelledSet(data.drop(columns="class"), _numbered(data["class"]), Binarizer())


def _of_lucs(name: str) -> LabelledSet | None:
    """Return rows whose last two items are the classes."""
    if not (FOLDER / "lucs" / f"{name}.dat.gz").exists():
        return None
    table = named_set(name)[1].to_numpy()
    return LabelledSet(table[:, :-2], _numbered(table[:, -1]))


def _generated(kind: str) -> LabelledSet:
    """Return three groups of rows with their own frequencies of patterns; 5% of cells inverted."""
    random = np.random.default_rng(SEED)
    classes = random.integers(3, size=1000)
    made = planted(kind, noise=0.05, seed=SEED, groups=classes)
    return LabelledSet(made.table, classes)


def _independent() -> LabelledSet:
    """Return 20 independent columns, two of which determine most of the class."""
    random = np.random.default_rng(SEED)
    table = random.random((1000, 20)) < random.uniform(0.05, 0.5, 20)
    classes = (table[:, 0] | table[:, 1]) ^ (random.random(1000) < 0.1)
    return LabelledSet(table, _numbered(classes))


SETS: dict[str, tuple[str, Callable[[], LabelledSet | None]]] = {
    "spect": ("diagnosis", lambda: _bundled("spect", "OVERALL_DIAGNOSIS")),
    "zoo": ("kind of animal", lambda: _bundled("zoo", "type")),
    "house_votes_84": ("party", lambda: _bundled("house_votes_84", "party")),
    "coco_street": ("a person is there", lambda: _with_people("coco_street")),
    "coco_val2017": ("a person is there", lambda: _with_people("coco_val2017")),
    "iris": ("species", lambda: _of_scikit_learn("iris")),
    "wine": ("grower", lambda: _of_scikit_learn("wine")),
    "breast_cancer": ("diagnosis", lambda: _of_scikit_learn("breast_cancer")),
    "digits": ("digit", _digits),
    "mushroom": ("edible", _mushrooms),
    "led": ("rarer digit", lambda: _of_lucs("led")),
    "pima": ("diabetes", lambda: _of_lucs("pima")),
    "flare": ("class of flare", lambda: _of_lucs("flare")),
    "ticTacToe": ("x wins", lambda: _of_lucs("ticTacToe")),
    "dermatology": ("rarer diagnosis", lambda: _of_lucs("dermatology")),
    "nursery": ("recommended", lambda: _of_lucs("nursery")),
    "planted, disjoint": ("group", lambda: _generated("disjoint")),
    "planted, overlapping": ("group", lambda: _generated("overlapping")),
    "independent": ("x₀ or x₁, one in ten wrong", _independent),
}
"""What the class is, and how the set is made."""


@cache
def whole(name: str) -> LabelledSet | None:
    return SETS[name][1]()


@cache
def sampled(name: str) -> LabelledSet | None:
    found = whole(name)
    return None if found is None else found.sampled()
