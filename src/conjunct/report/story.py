"""What was done, and why λ and the end of the run were chosen, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from conjunct.association import MEASURES
from conjunct.construction.criteria import Bits, Risk, Threshold, criterion_of
from conjunct.estimators import UFC, UFCPath
from conjunct.estimators.base import FeatureConstructor
from conjunct.report.numbers import count, decimal, probability, share
from conjunct.report.subject import Subject

_CORRECTIONS = {
    "bonferroni": "Bonferroni's",
    "holm": "Holm's",
    "bh": "Benjamini and Hochberg's",
    "by": "Benjamini and Yekutieli's",
}
_TESTS = {"exact": "Fisher's exact test", "normal": "the test that r√n is normal"}


@dataclass(frozen=True)
class Passage:
    heading: str
    text: str


def story(subject: Subject) -> tuple[Passage, ...]:
    """What was done and why, from the model and its data."""
    model = subject.model
    passages = [] if subject.by_pattern else [Passage("What was found", found(subject))]
    passages.append(Passage("How", _how(model)))
    if isinstance(model, UFC):
        passages.append(_which_pairs(model))
        if not subject.by_pattern:  # the findings say it
            passages.append(Passage("Why it stopped", outcome(model)))
    elif isinstance(model, UFCPath):
        passages.append(Passage("Why this λ and this end", _why_closest(model)))
    else:
        passages.append(Passage("Why it stopped", _why_enough(model)))
    return tuple(passages)


def outcome(model: FeatureConstructor) -> str:
    """Why the run ended, in the model's own words: nobody else can know."""
    told = getattr(model, "outcome_", "")
    return told or (
        f"It ended after {count(model.n_iter_, 'iteration')}. Its file was written by an earlier "
        f"version, which did not keep why."
    )


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
        f"The most common new one is {subject.name(fitted.features[common])}, true in "
        f"{count(support, 'row')} ({share(fitted.frequencies[common])}).",
    ]
    if fitted.merges:
        strongest = max(fitted.merges, key=lambda merge: merge.r)
        left, right = subject.name(strongest.left), subject.name(strongest.right)
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
    sentences = [
        "A pair of correlated features f, g gives way to f ∧ g, ¬f ∧ g and f ∧ ¬g, which do not "
        "overlap; no information is lost.",
        _order(model),
    ]
    if _prunes(model):
        sentences.append("Pairs with an expected frequency below 5 were left alone (pruning).")
    if max_length := getattr(model, "max_length", None):
        unit = "tags" if model._by_pattern else "literals"
        sentences.append(f"No feature has more than {max_length} {unit}.")
    return " ".join(sentences)


def _order(model: UFC | UFCPath) -> str:
    if isinstance(model, UFC):
        criterion = criterion_of(model.criterion)
        one_by_one = (model.search or criterion.search) == "pairwise"
        if isinstance(criterion, Bits):
            which = "the one" if one_by_one else "those"
            return (
                f"Among the pairs that may be joined, {which} came first that made the description "
                f"of the data shortest: all cells written with the codes of the features, and the "
                f"features themselves."
            )
        if one_by_one:
            return (
                "One pair was replaced at a time: among those that pass, the one with the largest "
                "joint count, after which all is counted again."
            )
    return (
        "Each iteration replaced as many pairs as possible, the strongest first, no feature twice."
    )


def _prunes(model: UFC | UFCPath) -> bool:
    if isinstance(model, UFCPath):
        return model.prune
    return criterion_of(model.criterion).pair_filter.prune


def _which_pairs(model: UFC) -> Passage:
    criterion = criterion_of(model.criterion)
    if isinstance(criterion, Bits):
        return Passage("Which pairs", _why_real(model, criterion))
    if isinstance(criterion, Risk):
        return Passage("Why this λ", _why_risk(model, criterion))
    if isinstance(criterion, Threshold):
        return Passage("Why this λ", _why_given(criterion))
    return Passage("Which pairs", f"{criterion.name}: {criterion.summary}.")


def _why_given(criterion: Threshold) -> str:
    measure = MEASURES[criterion.measure]
    name = "correlation r" if criterion.measure == "phi" else criterion.measure.replace("_", " ")
    return (
        f"It was given: pairs whose {name} exceeds {criterion.threshold:g} were replaced. A lower "
        f"threshold (down to {measure.least:g}) replaces more pairs and makes more, longer "
        f"features."
    )


def _why_real(model: UFC, criterion: Bits) -> str:
    if criterion.alpha is None:
        return "Any pair that is true together more often than by chance (r > 0) may be joined."
    corrected = ""
    if criterion.correction is not None:
        corrected = f", with {_CORRECTIONS[criterion.correction]} correction"
    merges = model.feature_set_.merges
    line = f", p ≤ {probability(merges[0].threshold)} here" if merges else ""
    return (
        f"A pair may be joined if its two are true together more often than by chance (r > 0), and "
        f"if the p-value of {_TESTS[criterion.test]} is not above a line. That is drawn once, over "
        f"all pairs of columns, at α = {criterion.alpha:g}{corrected}{line}."
    )


def _why_risk(model: UFC, criterion: Risk) -> str:
    alpha, test = f"{criterion.alpha:g}", _TESTS[criterion.test]
    if criterion.correction is not None:
        return (
            f"From the risk α = {alpha}, by {test} with {_CORRECTIONS[criterion.correction]} "
            f"correction for all pairs of an iteration: each iteration draws a line of its own, "
            f"which the table of features tells."
        )
    if criterion.test == "exact":
        return f"From the risk α = {alpha}, by {test}: a pair passes if p ≤ α."
    line, n_rows = model.threshold_, model.feature_set_.n_rows
    if line is None or model.feature_set_.known is not None:
        return (
            f"λ = u₁₋α/√n follows from the risk α = {alpha} and, for each pair, the n rows in "
            f"which both columns are known; the table of features tells each."
        )
    return (
        f"λ = {decimal(line)} follows from the risk α = {alpha} and the number of rows: "
        f"λ = u₁₋α/√n = {decimal(line * math.sqrt(n_rows), 2)}/√{n_rows:,}. Two columns that are "
        f"independent reach it with a probability of {probability(criterion.alpha)}. More rows "
        f"lower it, a smaller risk raises it."
    )


def _why_closest(model: UFCPath) -> str:
    return (
        f"All λ from {model.min_threshold:g} to {model.max_threshold:g} and up to "
        f"{model.max_iter} iterations were looked at. {outcome(model)}"
    )


def _why_enough(model: FeatureConstructor) -> str:
    n_features = len(model.feature_set_.features)
    limit = getattr(model, "max_features", n_features)
    done = f"It ended after {count(model.n_iter_, 'iteration')} with {count(n_features, 'feature')}"
    if n_features >= limit:
        return f"{done}: that reaches the {limit:,} asked for."
    return f"{done}: no path of the tree gave a new conjunction."
