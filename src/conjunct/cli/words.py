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
    if fitted.merges:
        sentences = (_replaced(model, data), _suppressed(model), _scores(model), _links(model))
        return " ".join(sentence for sentence in sentences if sentence)
    if model.n_iter_:
        return " ".join((_added(model, data), _scores(model), _most_common(model)))
    return f"From {data}, nothing was constructed: the features are the columns."


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


def _suppressed(model: FeatureConstructor) -> str:
    rare = len(model.feature_set_.suppressed)
    return f"{_count(rare, 'rare feature')} {_were(rare)} suppressed." if rare else ""


def _added(model: FeatureConstructor, data: str) -> str:
    n_made = len(constructed(model))
    return (
        f"From {data}, {_count(n_made, 'feature')} {_were(n_made)} constructed in "
        f"{_count(model.n_iter_, 'iteration')} and added to the columns."
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
    return (
        f"The strongest link is between {left} and {right}: r = {strongest.r:.2f}, together in "
        f"{_count(strongest.joint, 'row')}. {_most_common(model)}"
    ).rstrip()


def _most_common(model: FeatureConstructor) -> str:
    rules = constructed(model)
    if not rules:
        return ""
    return (
        f'The most common new feature is "{rules[0].formula}", true in '
        f"{_count(rules[0].support, 'row')} ({rules[0].frequency:.0%})."
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
