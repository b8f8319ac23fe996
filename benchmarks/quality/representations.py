"""Define the compared representations, each fitted on training rows without their classes.

PCA, NMF, itemsets and factors need a number of features. It is chosen on a part of the training
rows, by the log-loss of logistic regression, which uses the classes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import _slim
from benchmarks.quality import itemsets
from benchmarks.quality.itemsets import Itemset, Table
from conjunct import UFC, UFCPath, UFringe
from conjunct.features.feature_set import FeatureSet

N_SOLUTIONS = 300
"""UFCPath looks at so many at most, from the highest λ down."""
SLIM_SECONDS = 2
"""Of the processor: SLIM then gives what it has found."""
SHARES = (0.25, 0.5, 1.0)
"""Numbers of features to choose from, as shares of the number of columns."""
FAINT = 0.1
"""A component is about the columns with at least this share of its largest weight."""
ALIKE = 0.95
"""Components are the same from this cosine on."""


@dataclass(frozen=True)
class Feature:
    """A constructed feature: its tags, its number of negations, and its identity.

    Components are the same if they have nearly the same direction, features of uFC if they have the
    same tags, and features of uFRINGE if their formulas are equal.
    """

    tags: Itemset
    negations: int
    identity: Any


@dataclass(frozen=True, eq=False)
class Fitted:
    """The result of a fit; ``features`` are the constructed features.

    Without ``bits_of``, the features do not describe rows exactly.
    """

    transform: Callable[[Table], NDArray[Any]]
    features: Sequence[Feature]
    bits_of: Callable[[Table, Table], float] | None = None
    seconds: float | None = None
    """Where it was fitted in another process."""
    cut_off: bool = False

    @property
    def chunks(self) -> list[Feature]:
        return [feature for feature in self.features if len(feature.tags) > 1]


Fit = Callable[..., Fitted]


def columns(train: Table) -> Fitted:
    bare = UFC(max_iter=0, variables=False).fit(train)
    return Fitted(lambda table: table, (), _bits_by(bare))


def bits_by_variables(train: Table, test: Table) -> float:
    """Return the bits of the test rows without chunks, with known variables."""
    return _bits_by(UFC(max_iter=0).fit(train))(train, test)


def _bits_by(model: Any) -> Callable[[Table, Table], float]:
    """Return a function for the bits of test rows by a model fitted on the training rows."""
    return lambda _, test: -model.score(test) * len(test)


def constructed(make: Callable[[], Any], train: Table) -> Fitted:
    """Fit any kind of uFC."""
    model = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing is constructed, the figures tell
        model.fit(train)

    def transform(table: Table) -> NDArray[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what training never saw is part of the measurement
            return np.asarray(model.transform(table), bool)

    found = model.feature_set_
    if isinstance(model, UFringe):  # it keeps the columns, and replaces nothing
        features = _features_of(found, by_tags=False)
        vocabulary = itemsets.in_cover_order([feature.tags for feature in features], train)
        return Fitted(transform, features, partial(itemsets.bits_of, vocabulary))
    return Fitted(transform, _features_of(found, by_tags=True), _bits_by(model))


def _features_of(found: FeatureSet, *, by_tags: bool) -> list[Feature]:
    lineage = found.lineage
    number = {name: k for k, name in enumerate(lineage.primitives)}
    negations = [0] * len(lineage.primitives)
    for pair in lineage.conjunctions:
        negations.append(sum(negations[x] if x >= 0 else 1 + negations[~x] for x in pair))
    made = []
    for k, expression in zip(found.features, found.expressions, strict=True):
        if k >= len(lineage.primitives):
            tags = frozenset(number[name] for name in lineage.pattern(k))
            made.append(Feature(tags, negations[k], tags if by_tags else expression))
    return made


def comes_back(one: Feature, others: Sequence[Feature]) -> bool:
    """Return True if a feature is among those of another fit."""
    if isinstance(one.identity, np.ndarray):
        vectors = np.array([other.identity for other in others])
        return bool(len(others)) and bool((abs(vectors @ one.identity) >= ALIKE).any())
    return any(one.identity == other.identity for other in others)


def components(make: Callable[[int], Any], train: Table, share: float) -> Fitted:
    """Fit PCA or NMF."""
    n_rows, n_columns = train.shape
    model = make(max(2, min(round(share * n_columns), n_rows - 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NMF is given 200 iterations
        model.fit(train.astype(float))
    features = []
    for weights in model.components_:
        length = float(np.linalg.norm(weights))
        if length:
            tags = frozenset(np.flatnonzero(abs(weights) >= FAINT * abs(weights).max()).tolist())
            denied = int(((weights < 0) & (abs(weights) >= FAINT * abs(weights).max())).sum())
            features.append(Feature(tags, denied, weights / length))

    def transform(table: Table) -> NDArray[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(model.transform(table.astype(float)))

    return Fitted(transform, features)


def _pca(n_components: int) -> Any:
    from sklearn.decomposition import PCA

    return PCA(n_components, svd_solver="full", random_state=0)


def _nmf(n_components: int) -> Any:
    from sklearn.decomposition import NMF

    return NMF(n_components, init="nndsvda", tol=1e-3, random_state=0)


def frequent(train: Table, share: float) -> Fitted:
    """Fit frequent sets and the columns, because frequent sets alone omit rare tags."""
    found = itemsets.frequent(train, max(2, round(share * train.shape[1])))
    return Fitted(
        lambda table: np.hstack([table, itemsets.occurrences(found, table)]),
        of_tags(found),
        partial(itemsets.bits_of, itemsets.in_cover_order(found, train)),
    )


def factors(train: Table, share: float) -> Fitted:
    found = itemsets.factors(train, max(2, round(share * train.shape[1])))
    return Fitted(
        lambda table: itemsets.occurrences(found, table),
        of_tags(found),
        partial(itemsets.bits_of, itemsets.in_cover_order(found, train)),
    )


def slim(train: Table, seconds: float = SLIM_SECONDS) -> Fitted | None:
    """``None`` where it cannot be had."""
    python = _slim_python()
    if python is None:
        return None
    found = _slim.mined(python, train, seconds)
    vocabulary = itemsets.in_cover_order(map(frozenset, found["itemsets"]), train)
    return Fitted(
        lambda table: itemsets.cover(vocabulary, table),
        of_tags(vocabulary),
        partial(itemsets.bits_of, vocabulary),
        found["seconds"],
        found["cut off"],
    )


@cache
def _slim_python() -> Path | None:
    return _slim.environment()


def of_tags(found: Sequence[Itemset]) -> list[Feature]:
    return [Feature(tags, 0, tags) for tags in found if len(tags) > 1]


REPRESENTATIONS: dict[str, Fit] = {
    "columns": columns,
    "evidence": partial(constructed, UFC),
    "evidence + columns": partial(constructed, partial(UFC, keep_columns=True)),
    "bits": partial(constructed, partial(UFC, "bits")),
    "uFCα": partial(constructed, partial(UFC, "risk")),
    "uFC*": partial(constructed, partial(UFCPath, max_solutions=N_SOLUTIONS)),
    "uFRINGE": partial(constructed, UFringe),
    "itemsets + columns": frequent,
    "factors": factors,
    "SLIM": slim,
    "PCA": partial(components, _pca),
    "NMF": partial(components, _nmf),
}
SIZED = ("PCA", "NMF", "itemsets + columns", "factors")
"""Their number of features is chosen."""
BESIDE: dict[str, Fit] = {
    "uFCα + columns": partial(constructed, partial(UFC, "risk", keep_columns=True)),
    "uFCα, max_length=4": partial(constructed, partial(UFC, "risk", max_length=4)),
    "evidence, max_length=4": partial(constructed, partial(UFC, max_length=4)),
}
"""Only beside the first measurements."""


def fitted(name: str, train: Table, share: float | None = None) -> Fitted | None:
    fit = REPRESENTATIONS.get(name) or BESIDE[name]
    return fit(train) if name not in SIZED else fit(train, 0.5 if share is None else share)
