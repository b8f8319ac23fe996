"""What was found, in a paragraph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conjunct.cli.rendering import constructed, formula

if TYPE_CHECKING:
    from conjunct.estimators.base import FeatureConstructor
    from conjunct.experiments import Stability


def summary(model: FeatureConstructor) -> str:
    """A paragraph about a fitted model, from the model alone."""
    fitted = model.feature_set_
    n_columns = len(fitted.lineage.primitives)
    data = f"{counted(fitted.n_rows, 'row')} and {counted(n_columns, 'column')}"
    if fitted.merges:
        sentences = (_replaced(model, data), _suppressed(model), _scores(model), _links(model))
        return " ".join(sentence for sentence in sentences if sentence)
    if model.n_iter_:
        return " ".join((_added(model, data), _scores(model), _most_common(model)))
    return f"From {data}, nothing was constructed: the features are the columns."


def recurrence(found: Stability) -> str:
    """A paragraph about how stable features are."""
    n_original = sum(feature.original for feature in found.features)
    always = [feature for feature in found.features if feature.original and feature.share == 1]
    changed = [level for level in found.levels if level.noise or found.kind == "bootstrap"]
    sentences = [
        f"The data as it is has {counted(n_original, 'feature')}; "
        f"{len(always)} came back in every run."
    ]
    if found.kind == "bootstrap":
        sentences += [
            f"A sample of the rows keeps {level.common_with_original:.1f} of them on average."
            for level in changed
        ]
    elif changed:
        first, *last = dict.fromkeys((changed[0], changed[-1]))
        more = "".join(f", and {x.common_with_original:.1f} with {x.noise:.0%}" for x in last)
        sentences.append(
            f"On average {first.common_with_original:.1f} of them remain with {first.noise:.0%} "
            f"of the cells inverted{more}."
        )
    return " ".join(sentences)


def _replaced(model: FeatureConstructor, data: str) -> str:
    fitted = model.feature_set_
    rules = constructed(model)
    n_kept = len(fitted.features) - len(rules)
    pairs = counted(len(fitted.merges), "correlated pair")
    return (
        f"From {data}, {pairs} gave way to {'their' if len(fitted.merges) > 1 else 'its'} "
        f"conjunctions: {counted(len(rules), 'feature')} {_were(len(rules))} constructed and "
        f"{counted(n_kept, 'column')} {_were(n_kept)} kept."
    )


def _suppressed(model: FeatureConstructor) -> str:
    rare = len(model.feature_set_.suppressed)
    return f"{counted(rare, 'rare feature')} {_were(rare)} suppressed." if rare else ""


def _added(model: FeatureConstructor, data: str) -> str:
    n_made = len(constructed(model))
    return (
        f"From {data}, {counted(n_made, 'feature')} {_were(n_made)} constructed in "
        f"{counted(model.n_iter_, 'iteration')} and added to the columns."
    )


def _scores(model: FeatureConstructor) -> str:
    first, last = model.history_[0], model.history_[-1]
    fell = last.oi < first.oi
    share = f", by {1 - last.oi / first.oi:.0%}" if fell and last.oi > 0 else ""
    more = last.n_features - first.n_features
    price = counted(abs(more), "more feature" if more >= 0 else "fewer feature")
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
        f"{counted(strongest.joint, 'row')}. {_most_common(model)}"
    ).rstrip()


def _most_common(model: FeatureConstructor) -> str:
    rules = constructed(model)
    if not rules:
        return ""
    return (
        f'The most common new feature is "{rules[0].formula}", true in '
        f"{counted(rules[0].support, 'row')} ({rules[0].frequency:.0%})."
    )


def counted(number: int, noun: str) -> str:
    """The number and the noun, which takes an s unless it is one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
