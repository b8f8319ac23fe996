"""What was found, in a paragraph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conjunct.cli.features import constructed, formula, found_chunks, is_about_chunks, written
from conjunct.cli.rendering import shortened
from conjunct.cli.terminal import as_options
from conjunct.estimators.lossless import LosslessConstructor

if TYPE_CHECKING:
    from conjunct.estimators.base import FeatureConstructor
    from conjunct.experiments import Stability


def summary(model: FeatureConstructor) -> str:
    """A paragraph about a fitted model, from the model alone."""
    sentences = (found(model), outcome(model), length(model), scores(model))
    return " ".join(sentence for sentence in sentences if sentence)


def found(model: FeatureConstructor) -> str:
    """What was made, from how much data."""
    fitted = model.feature_set_
    n_columns = len(fitted.lineage.primitives)
    data = f"{counted(fitted.n_rows, 'row')} and {counted(n_columns, 'column')}"
    if not model.n_iter_:
        return f"From {data}, nothing was constructed: the features are the columns."
    if not fitted.merges:
        return _added(model, data)
    about_chunks = is_about_chunks(model) and found_chunks(model)
    words = _chunked(model, data) if about_chunks else _replaced(model, data)
    return f"{words} {_suppressed(model)}".rstrip()


def outcome(model: FeatureConstructor) -> str:
    """Why it stopped, in the words of the command line."""
    return as_options(getattr(model, "outcome_", ""))


def length(model: FeatureConstructor) -> str:
    """How long the description of the data is, before and after."""
    if not isinstance(model, LosslessConstructor) or not model.n_iter_:
        return ""
    before, after = model.baseline_length_, model.description_length_
    share = f"{after / before:.1%} of " if before else ""
    return (
        f"The description of the data takes {share}the bits that it took: {after:,.0f} "
        f"instead of {before:,.0f}."
    )


def scores(model: FeatureConstructor) -> str:
    """What the paper looks at: overlap, correlations; nothing where a rule is about chunks."""
    if not model.n_iter_ or is_about_chunks(model):
        return ""
    about = _links(model) if model.feature_set_.merges else _most_common(model)
    return f"{_overlap(model)} {about}".rstrip()


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


def _chunked(model: FeatureConstructor, data: str) -> str:
    chunks = found_chunks(model)
    best = chunks[0]
    name = f'"{shortened(best.pattern)}"'
    n_found = f"{counted(len(chunks), 'chunk')} of tags that belong together"
    which = f"{name} saves most:" if len(chunks) > 1 else f"{name} saves"
    return (
        f"In {data}, {n_found} {_were(len(chunks))} found. {which} {best.saved:,.0f} bits, in "
        f"{counted(best.support, 'row')}."
    )


def _replaced(model: FeatureConstructor, data: str) -> str:
    fitted = model.feature_set_
    n_made = len(constructed(model))
    n_kept = len(fitted.features) - n_made
    pairs = counted(len(fitted.merges), "correlated pair")
    return (
        f"From {data}, {pairs} gave way to {'their' if len(fitted.merges) > 1 else 'its'} "
        f"conjunctions: {counted(n_made, 'feature')} {_were(n_made)} constructed and "
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


def _overlap(model: FeatureConstructor) -> str:
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
    made = constructed(model)
    if not made:
        return ""
    most = max(made, key=lambda feature: feature.support)
    return (
        f'The most common new feature is "{written(most.expression, model.style)}", true in '
        f"{counted(most.support, 'row')} ({most.frequency:.0%})."
    )


def counted(number: int, noun: str) -> str:
    """The number and the noun, which takes an s unless it is one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
