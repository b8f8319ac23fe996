"""Compare classifiers on chunks, to find the code that predicts classes best in folds.

At most 1,500 rows of each set, drawn once. The table is in docs/learning.md.
"""

from __future__ import annotations

import gzip
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline

from benchmarks._data import FOLDER, named_set
from benchmarks._measure import report
from benchmarks._results import save
from conjunct import UFC, ChunkClassifier, datasets
from conjunct.columns import PackedColumns
from conjunct.estimators.classifier import ClassCode, least_loss, normalise

N_FOLDS = 5
MOST_ROWS = 1_500
LUCS = ("ticTacToe", "pima", "led", "flare", "dermatology")
CLASSES = {"zoo": "type", "house_votes_84": "party", "spect": "OVERALL_DIAGNOSIS"}


class AllMerges(ChunkClassifier):
    """Use all merges, regardless of the classes."""

    def _shortest(self, fitted: Any, columns: Any, members: Any) -> tuple[ClassCode, float, int]:
        code = ClassCode.count(fitted.row_code, columns, members, self.smoothing)
        _, calibration = least_loss(code.bits_left_out(columns, members), members)
        return code, calibration, fitted.merges[-1].iteration if fitted.merges else 0


class OwnVocabularies:
    """Find chunks separately in each class; a row answers a question about each of them."""

    def fit(self, rows: Any, classes: Any) -> OwnVocabularies:
        self.classes_ = np.unique(classes)
        self._codes = []
        for name in self.classes_:
            own = rows[classes == name]
            self._codes.append(self._code(UFC().fit(own), own))
        self._prior = -np.log2([np.mean(classes == name) for name in self.classes_])
        return self

    def predict_proba(self, rows: Any) -> Any:
        columns = PackedColumns.from_table(rows)
        bits = np.column_stack([self._bits(code, columns) for code in self._codes])
        return np.exp2(-normalise(bits + self._prior))

    def _code(self, model: UFC, own: Any) -> Any:
        code, columns = model.feature_set_.row_code, PackedColumns.from_table(own)
        return ClassCode.count(code, columns, np.ones((len(own), 1)), 1.0)

    def _bits(self, code: Any, columns: Any) -> Any:
        return code.row_bits(columns)[:, 0]


class Krimp(OwnVocabularies):
    """Find chunks separately in each class; a row is a list of their codes, as in Krimp."""

    def _code(self, model: UFC, own: Any) -> Any:
        return model

    def _bits(self, code: UFC, columns: Any) -> Any:
        every = code.feature_set_.with_unseen
        supports = np.array(every.supports) + 0.5
        cells = every.evaluate(columns).to_dense()
        return cells @ (np.log2(supports.sum()) - np.log2(supports))


WAYS: dict[str, Any] = {
    "Naive Bayes, columns": BernoulliNB,
    "Naive Bayes, chunks": lambda: make_pipeline(UFC(handle_unknown="keep"), BernoulliNB()),
    "ChunkClassifier": ChunkClassifier,
    "with all merges": AllMerges,
    "chunks of each class": OwnVocabularies,
    "Krimp's code": Krimp,
}


def main() -> int:
    warnings.simplefilter("ignore")
    missed, lines = 0, []
    for name, rows, classes in labelled_sets():
        found = {way: measured(make, rows, classes) for way, make in WAYS.items()}
        told = ", ".join(f"{way} {a:.3f} {b:.3f}" for way, (a, _, b, _) in found.items())
        print(f"{name} ({rows.shape[0]} × {rows.shape[1]}): {told}", flush=True)
        lines.append({"name": name, "shape": rows.shape, "ways": found})
    for line in lines:
        losses = (line["ways"][way][2] for way in ("ChunkClassifier", "Naive Bayes, columns"))
        ratio = np.divide(*losses)
        what = f"{line['name']}: log loss as a share of that of Naive Bayes on columns"
        missed += report(what, float(ratio), 1.05, at_least=False, unit="")
    save("classifying", {"n_folds": N_FOLDS, "sets": lines})
    return missed


def measured(make: Any, rows: Any, classes: Any) -> tuple[float, float, float, float]:
    """Return accuracy and log loss of unseen rows, with standard errors over the folds."""
    right, losses = [], []
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    for train, test in folds.split(rows, classes):
        model = make().fit(rows[train], classes[train])
        told = model.predict_proba(rows[test])
        names = np.unique(classes[train])
        right.append(accuracy_score(classes[test], names[told.argmax(axis=1)]))
        losses.append(log_loss(classes[test], told, labels=names))
    root = N_FOLDS**0.5
    mean, error = np.mean, lambda values: float(np.std(values, ddof=1) / root)
    return float(mean(right)), error(right), float(mean(losses)), error(losses)


def labelled_sets() -> Iterator[tuple[str, Any, Any]]:
    """Return the bundled sets and the available other sets. A missing cell is not a tag."""
    for name, column in CLASSES.items():
        data = datasets.load(name)
        yield name, data.values, np.array(data.rows[column])
    file = FOLDER.parent / "mushroom_uci.csv"
    if file.exists():
        import polars as pl

        classes = pl.read_csv(file)["class"].to_numpy()
        yield "mushroom", *some(named_set("mushroom_uci")[1].to_numpy(), classes)
    for name in LUCS:
        file = FOLDER / "lucs" / f"{name}.dat.gz"
        if not file.exists():
            print(f"{name}.dat.gz is not in {FOLDER.name}: left out")
            continue
        with gzip.open(file, "rt") as lines:
            # the last item of a line is its class
            rows = [list(map(int, line.split())) for line in lines]
        items = sorted({item for row in rows for item in row[:-1]})
        cells = np.array([[item in row[:-1] for item in items] for row in rows])
        yield name, *some(cells, np.array([row[-1] for row in rows]))


def some(rows: Any, classes: Any) -> tuple[Any, Any]:
    chosen = np.sort(np.random.default_rng(0).permutation(len(rows))[:MOST_ROWS])
    return rows[chosen], classes[chosen]
