"""What was done, and why λ and the end of the run were chosen, in words."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from conjunct.association import MEASURES
from conjunct.construction.indicators import READABLE_LENGTH, Indicators
from conjunct.errors import ConjunctWarning
from conjunct.estimators import UFC, UFCPath
from conjunct.estimators.base import FeatureConstructor
from conjunct.report.numbers import change, count, decimal, probability, share
from conjunct.report.subject import Subject

_CORRECTIONS = {
    "bonferroni": "Bonferroni's",
    "holm": "Holm's",
    "bh": "Benjamini and Hochberg's",
    "by": "Benjamini and Yekutieli's",
}


@dataclass(frozen=True)
class Passage:
    heading: str
    text: str


def story(subject: Subject) -> tuple[Passage, ...]:
    """The passages of the report's second section, from the model and its data."""
    model = subject.model
    passages = [Passage("What was found", found(subject)), Passage("How", _how(model))]
    if isinstance(model, UFC):
        passages.append(Passage("Why this λ", _why_threshold(model, subject)))
        passages.append(Passage("Why it stopped", _why_stopped(model, subject)))
    elif isinstance(model, UFCPath):
        passages.append(Passage("Why this λ and this end", _why_closest(model)))
    else:
        passages.append(Passage("Why it stopped", _why_enough(model)))
    return tuple(passages)


def found(subject: Subject) -> str:
    """The outcome in a few sentences."""
    model = subject.model
    fitted = model.feature_set_
    made = [k for k, number in enumerate(fitted.features) if fitted.iteration(number)]
    n_columns = len(fitted.lineage.primitives)
    if not made:
        return (
            f"From {count(fitted.n_rows, 'row')} and {count(n_columns, 'column')} nothing was "
            f"constructed: the features are the columns."
        )
    first, last = model.history_[0], model.history_[-1]
    common = max(made, key=lambda k: (fitted.supports[k], -k))
    support = fitted.supports[common]
    sentences = [
        f"From {count(fitted.n_rows, 'row')} and {count(n_columns, 'column')} came "
        f"{count(len(fitted.features), 'feature')}, {count(len(made))} of them constructed.",
        f"Their overlap (OI) went from {decimal(first.oi)} to {decimal(last.oi)}"
        + (f", {share(1 - last.oi / first.oi)} less." if 0 < last.oi < first.oi else "."),
        f"The most common new one is {subject.formula(fitted.features[common])}, true in "
        f"{count(support, 'row')} ({share(fitted.frequencies[common])}).",
    ]
    if fitted.merges:
        strongest = max(fitted.merges, key=lambda merge: merge.r)
        left, right = subject.formula(strongest.left), subject.formula(strongest.right)
        sentences.append(
            f"The strongest link that was replaced is between {left} and {right}: "
            f"r = {decimal(strongest.r, 2)}."
        )
    if fitted.suppressed:
        sentences.append(f"{count(len(fitted.suppressed), 'rare feature')} are suppressed.")
    return " ".join(sentences)


def _how(model: FeatureConstructor) -> str:
    if not isinstance(model, UFC | UFCPath):
        joined = {"fringe": "last two", "root": "first two", "root-fringe": "first and the last"}
        grown = "clustering tree" if type(model).__name__ == "UFringe" else "decision tree"
        which = joined[getattr(model, "strategy", "fringe")]
        return (
            f"Each iteration grew a {grown} on the present features and joined the {which} "
            f"conditions of every path. New features are added to the columns, none is replaced."
        )
    pairwise = getattr(model, "search", "batch") == "pairwise"
    sentences = [
        "A pair of correlated features f, g gives way to f ∧ g, ¬f ∧ g and f ∧ ¬g, which do not "
        "overlap; no information is lost.",
        "One pair was replaced at a time: among those that pass, the one with the largest joint "
        "count, after which all is counted again."
        if pairwise
        else "Each iteration replaced as many pairs as possible, the strongest first, no feature "
        "twice.",
    ]
    if model.prune:
        sentences.append("Pairs with an expected frequency below 5 were left alone (pruning).")
    if max_length := getattr(model, "max_length", None):
        sentences.append(f"No feature has more than {max_length} literals.")
    return " ".join(sentences)


def _why_threshold(model: UFC, subject: Subject) -> str:
    n_rows = model.feature_set_.n_rows
    if model.threshold != "risk":
        measure = MEASURES[model.measure]
        name = "correlation r" if model.measure == "phi" else model.measure.replace("_", " ")
        least = f"{measure.least:g}"
        return (
            f"It was given: pairs whose {name} exceeds {model.threshold:g} were replaced. A lower "
            f"threshold (down to {least}) replaces more pairs and makes more, longer features."
        )
    test = "Fisher's exact test" if model.test == "exact" else "the test that r√n is normal"
    if model.correction is not None:
        return (
            f"From the risk α = {model.alpha:g}, by {test} with {_CORRECTIONS[model.correction]} "
            f"correction for all pairs of an iteration: each iteration draws a line of its own, "
            f"which the table of features tells."
        )
    if model.test == "exact":
        return f"From the risk α = {model.alpha:g}, by {test}: a pair passes if p ≤ α."
    line = model.threshold_
    if line is None or model.feature_set_.known is not None:
        return (
            f"λ = u₁₋α/√n follows from the risk α = {model.alpha:g} and, for each pair, the n rows "
            f"in which both columns are known; the table of features tells each."
        )
    return (
        f"λ = {decimal(line)} follows from the risk α = {model.alpha:g} and the number of rows: "
        f"λ = u₁₋α/√n = {decimal(line * math.sqrt(n_rows), 2)}/√{n_rows:,}. Two columns that are "
        f"independent reach it with a probability of {probability(model.alpha)}. More rows lower "
        f"it, a smaller risk raises it."
    )


def _why_stopped(model: UFC, subject: Subject) -> str:
    done = f"It ended after {count(model.n_iter_, 'iteration')}"
    if model.max_iter is not None:
        if model.n_iter_ < model.max_iter:
            return f"{done}, before the {model.max_iter} asked for: no pair was left to replace."
        return f"{done}, as asked for."
    if not subject.is_training:
        return f"{done}{_rule(model)}. The training data are not at hand to look one step further."
    following = _one_more(model, subject)
    last = model.history_[-1]
    if following is None:
        return f"{done}: no pair was left to replace."
    if math.isnan(last.rms):
        return (
            f"{done}: C0 has no meaning where there are no more distinct rows than columns, and "
            f"so RMS, the usual guide, has none either."
        )
    if following.rms > last.rms:
        reached, raised = change(last.rms, following.rms)
        return (
            f"{done}: RMS, the root mean square of OI and C0, had come down from "
            f"{decimal(model.history_[0].rms)} to {reached}, and one more would have raised it to "
            f"{raised} (OI {' → '.join(change(last.oi, following.oi))}, "
            f"C0 {' → '.join(change(last.c0, following.c0))})."
        )
    if following.length > READABLE_LENGTH:
        return (
            f"{done}: RMS still fell, but one more would have made formulas of "
            f"{following.length:,.0f} literals on average."
        )
    return f"{done}{_rule(model)}."


def _rule(model: UFC) -> str:
    return ", by the RMS stop" if model.stop == "rms" else ", when no pair was left"


def _one_more(model: UFC, subject: Subject) -> Indicators | None:
    """The indicators of the iteration that was not made; None if there is nothing to make."""
    again = clone(model).set_params(
        max_iter=model.n_iter_ + 1, min_support=None, callback=None, verbose=0
    )
    further = fitted_quietly(again, subject)
    return further.history_[-1] if further.n_iter_ > model.n_iter_ else None


def _why_closest(model: UFCPath) -> str:
    last = model.history_[-1]
    distance = math.hypot(last.oi, last.c0)
    return (
        f"All λ from {model.min_threshold:g} to {model.max_threshold:g} and up to "
        f"{model.max_iter} iterations were looked at. λ = {decimal(model.threshold_ or 0.0)} with "
        f"{count(model.n_iter_, 'iteration')} is the closest point: of all solutions it is nearest "
        f"to no overlap and no added complexity (OI = 0, C0 = 0), at a distance of "
        f"{decimal(distance)}."
    )


def _why_enough(model: FeatureConstructor) -> str:
    n_features = len(model.feature_set_.features)
    limit = getattr(model, "max_features", n_features)
    done = f"It ended after {count(model.n_iter_, 'iteration')} with {count(n_features, 'feature')}"
    if n_features >= limit:
        return f"{done}: that reaches the {limit:,} asked for."
    return f"{done}: no path of the tree gave a new conjunction."


def fitted_quietly(model: Any, subject: Subject) -> Any:
    """The model fitted on the rows of the report; what it would warn of shows in its results."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        return model._fit_store(subject.primitives, subject.model.feature_set_.lineage.primitives)
