"""What was found, in a paragraph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conjunct.cli.rendering import constructed, formula

if TYPE_CHECKING:
    from conjunct.estimators.base import FeatureConstructor


def summary(model: FeatureConstructor) -> str:
    """A paragraph about a fitted model, from the model alone."""
    fitted = model.feature_set_
    n_columns = len(fitted.lineage.primitives)
    data = f"{_count(fitted.n_rows, 'row')} and {_count(n_columns, 'column')}"
    if not fitted.merges:
        return f"From {data}, no pair of columns was replaced: the features are the columns."
    return " ".join((_replaced(model, data), _scores(model), _links(model)))


def _replaced(model: FeatureConstructor, data: str) -> str:
    fitted = model.feature_set_
    rules = constructed(model)
    n_kept = len(fitted.features) - len(rules)
    pairs = _count(len(fitted.merges), "correlated pair")
    return (
        f"From {data}, {pairs} gave way to {'their' if len(fitted.merges) > 1 else 'its'} "
        f"conjunctions: {_count(len(rules), 'feature')} {_were(len(rules))} constructed and "
        f"{_count(n_kept, 'column')} {_were(n_kept)} kept."
    )


def _scores(model: FeatureConstructor) -> str:
    first, last = model.history_[0], model.history_[-1]
    fell = last.oi < first.oi
    share = f", by {1 - last.oi / first.oi:.0%}" if fell and last.oi > 0 else ""
    more = last.n_features - first.n_features
    price = f"{abs(more)} {'more' if more >= 0 else 'fewer'} features"
    return (
        f"The overlap of features (OI) {'fell' if fell else 'went'} from {first.oi:.3f} to "
        f"{last.oi:.3f}{share}, with {price}."
    )


def _links(model: FeatureConstructor) -> str:
    fitted = model.feature_set_
    strongest = max(fitted.merges, key=lambda merge: merge.r)
    left, right = (f'"{formula(model, k)}"' for k in (strongest.left, strongest.right))
    common = constructed(model)[0]
    return (
        f"The strongest link is between {left} and {right}: r = {strongest.r:.2f}, together in "
        f"{_count(strongest.joint, 'row')}. The most common new feature is "
        f'"{common.formula}", true in {_count(common.support, "row")} ({common.frequency:.0%}).'
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
