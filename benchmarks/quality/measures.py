"""Measure a representation on a set: one number for each split, or for each sample."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality import representations
from benchmarks.quality.representations import SHARES, SIZED, Fitted, comes_back
from benchmarks.quality.sets import SEED, LabelledSet, Table

Classes = NDArray[np.intp]
Numbers = dict[str, list[float]]

N_SAMPLES = 2
"""Bootstrap samples, for stability."""
SLIM_SPLITS, SLIM_SAMPLES = 3, 1
"""Where others have more: it takes most of the time."""
N_LEAVES, N_NEIGHBOURS = 8, 5
SURE = 0.99
"""Probabilities are mixed with those of a throw of dice: nobody is surer than this."""


def _naive_bayes(values: Any) -> Any:
    from sklearn.naive_bayes import BernoulliNB, GaussianNB

    return BernoulliNB() if values.dtype == bool else GaussianNB()


def _logistic(values: Any, strength: float = 1.0) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = LogisticRegression(C=strength, max_iter=1000)
    return model if values.dtype == bool else make_pipeline(StandardScaler(), model)


def _tree(values: Any) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_leaf_nodes=N_LEAVES, random_state=SEED)


def _neighbours(values: Any) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(N_NEIGHBOURS)


def _by_chunks(values: Any) -> Any:
    from conjunct import ChunkClassifier

    return ChunkClassifier()


CLASSIFIERS: dict[str, Callable[[Any], Any]] = {
    "Naive Bayes": _naive_bayes,
    "logistic": _logistic,
    "tree": _tree,
    "5-NN": _neighbours,
    "ChunkClassifier": _by_chunks,
}
"""The last one finds its features itself: it is for columns only."""
CLUSTERINGS = ("k-means", "hierarchical")
STRENGTHS = (0.1, 1.0, 10.0)
"""C of logistic regression, to choose from."""


def measured(
    data: LabelledSet,
    name: str,
    *,
    n_splits: int | None = None,
    parts: tuple[str, ...] = ("bits", *CLASSIFIERS, *CLUSTERINGS),
    n_samples: int = N_SAMPLES,
) -> dict[str, Any] | None:
    """Return the measures of one representation on one set, or ``None`` if it is unavailable."""
    if name == "SLIM":
        n_splits, n_samples = SLIM_SPLITS, min(n_samples, SLIM_SAMPLES)
    numbers: Numbers = {}
    n_cut_off = 0
    for train, test in data.splits(n_splits):
        rows, unseen = data.tables(train, test)
        share = chosen_share(name, rows, data.classes[train]) if name in SIZED else None
        start = time.process_time()
        fit = representations.fitted(name, rows, share)
        if fit is None:
            return None
        seconds = time.process_time() - start if fit.seconds is None else fit.seconds
        n_cut_off += fit.cut_off
        found = {"seconds": seconds, **_readability(fit, rows)}
        if "bits" in parts and fit.bits_of is not None:
            found["bits"] = fit.bits_of(rows, unseen) / len(unseen)
            if name == "columns":
                bits = representations.bits_by_variables(rows, unseen)
                found["bits, variables known"] = bits / len(unseen)
        made, new = fit.transform(rows), fit.transform(unseen)
        classes, truth = data.classes[train], data.classes[test]
        for classifier in (part for part in CLASSIFIERS if part in parts):
            if classifier == "ChunkClassifier" and name != "columns":
                continue
            model = CLASSIFIERS[classifier](made)
            if classifier == "logistic":
                model = _logistic(made, chosen_strength(made, classes))
            shares = probabilities(model, made, classes, new)
            right = shares.argmax(axis=1) == truth
            found[f"{classifier}, accuracy"] = float(right.mean())
            found[f"{classifier}, log-loss"] = log_loss(shares, truth)
        for clustering in (part for part in CLUSTERINGS if part in parts):
            found[f"{clustering}, NMI"] = agreement(clustering, made, classes)
        for measure, value in found.items():
            numbers.setdefault(measure, []).append(value)
    if n_samples:
        numbers["stability"], n_more = stability(name, data.table(), n_samples)
        n_cut_off += n_more
    return {"numbers": numbers, "cut off": n_cut_off}


def chosen_strength(made: Any, classes: Classes) -> float:
    """Return the C with the smallest log-loss on a quarter of the training rows."""
    held_out, kept = _held_out(len(made))
    losses = []
    for strength in STRENGTHS:
        shares = probabilities(
            _logistic(made, strength), made[kept], classes[kept], made[held_out], classes.max() + 1
        )
        losses.append(log_loss(shares, classes[held_out]))
    return STRENGTHS[int(np.argmin(losses))]


def _held_out(n_rows: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return a quarter of the rows, and the other rows."""
    order = np.random.default_rng(SEED).permutation(n_rows)
    return order[: n_rows // 4], order[n_rows // 4 :]


def chosen_share(name: str, rows: Table, classes: Classes) -> float:
    """Return the number of features with the least log-loss on a quarter of the training rows."""
    held_out, kept = _held_out(len(rows))
    losses = []
    for share in SHARES:
        fit = representations.fitted(name, rows[kept], share)
        assert fit is not None
        made, new = fit.transform(rows[kept]), fit.transform(rows[held_out])
        shares = probabilities(_logistic(made), made, classes[kept], new, classes.max() + 1)
        losses.append(log_loss(shares, classes[held_out]))
    return SHARES[int(np.argmin(losses))]


def probabilities(
    model: Any, made: Any, classes: Classes, new: Any, n_classes: int | None = None
) -> NDArray[np.float64]:
    """Return the probability of each class for each new row, close to 0 for an unseen class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = model.fit(made, classes).predict_proba(new)
    n_classes = int(classes.max()) + 1 if n_classes is None else n_classes
    shares = np.zeros((len(new), n_classes))
    shares[:, model.classes_] = given
    return SURE * shares + (1 - SURE) / n_classes


def log_loss(shares: NDArray[np.float64], truth: Classes) -> float:
    return float(-np.log(shares[np.arange(len(truth)), truth]).mean())


def agreement(clustering: str, made: Any, classes: Classes) -> float:
    """Return the normalised mutual information of classes and equally many clusters."""
    from sklearn.cluster import AgglomerativeClustering, KMeans
    from sklearn.metrics import normalized_mutual_info_score

    n_clusters = len(np.unique(classes))
    if clustering == "k-means":
        model: Any = KMeans(n_clusters, n_init=3, random_state=SEED)
    else:
        model = AgglomerativeClustering(n_clusters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer distinct rows than clusters
        clusters = model.fit_predict(made.astype(float))
    return float(normalized_mutual_info_score(classes, clusters))


def _readability(fit: Fitted, rows: Table) -> dict[str, float]:
    """Return the numbers of columns and chunks, tags per chunk, and negations per feature."""
    found = {
        "features": float(fit.transform(rows[:1]).shape[1]),
        "chunks": float(len(fit.chunks)),
    }
    if fit.chunks:
        found["tags"] = float(np.mean([len(feature.tags) for feature in fit.chunks]))
    if fit.features:
        found["negations"] = float(np.mean([feature.negations for feature in fit.features]))
    return found


def stability(name: str, table: Table, n_samples: int) -> tuple[list[float], int]:
    """Return the share of the chunks that recur in each bootstrap sample."""
    original = representations.fitted(name, table)
    assert original is not None
    n_cut_off, shares = int(original.cut_off), []
    random = np.random.default_rng(SEED)
    for _ in range(n_samples if original.chunks else 0):
        sample = table[random.integers(len(table), size=len(table))]
        again = representations.fitted(name, sample)
        assert again is not None
        n_cut_off += again.cut_off
        back = [comes_back(feature, again.chunks) for feature in original.chunks]
        shares.append(float(np.mean(back)))
    return shares, n_cut_off
