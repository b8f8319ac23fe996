"""How features were made, and which pairs could be joined, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from conjunct.explain.labels import decimal, probability
from conjunct.expressions import Style
from conjunct.features import FeatureSet
from conjunct.ufc import (
    CRITERIA,
    MEASURES,
    Bits,
    Criterion,
    Evidence,
    Indicators,
    Risk,
    Threshold,
)

_CORRECTIONS = {
    "bonferroni": "Bonferroni's",
    "holm": "Holm's",
    "bh": "Benjamini and Hochberg's",
    "by": "Benjamini and Yekutieli's",
}
_TESTS = {"exact": "Fisher's exact test", "normal": "the test that r√n is normal"}
_JOINED = {"fringe": "last two", "root": "first two", "root-fringe": "first and the last"}


_ADDED = "New features are added to the columns, none is replaced."
_FAMILY = {
    "CAT": "Each iteration grew a decision tree on the present features and joined those "
    "conditions of every path whose conjunction tells most about the class of its leaf.",
    "ID2of3": "A decision tree was grown whose tests ask for at least so many of some literals, "
    "added one by one while the information gain rose.",
    "XofN": "A decision tree was grown whose tests count how many of some literals are true, those "
    "with which test and classes take the fewest bits.",
}


class FittedModel(Protocol):
    """What words about a model are made from: any fitted feature constructor."""

    style: Style
    feature_set_: FeatureSet
    history_: tuple[Indicators, ...]

    @property
    def _by_pattern(self) -> bool: ...

    def get_params(self, deep: bool = ...) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Passage:
    heading: str
    text: str


def method(model: FittedModel) -> tuple[Passage, ...]:
    """What was done to make the features, and why these pairs: by the rules that were given."""
    given = model.get_params(deep=False)
    criterion = CRITERIA.made(given.get("criterion"))
    if criterion is not None:
        one_by_one = takes_one_pair(model)
        how = [_REPLACED, _order(criterion, one_by_one=one_by_one)]
        how += [_PRUNED] * criterion.pair_filter.prune
        if given["max_length"]:
            unit = "tags" if criterion.counts_tags else "literals"
            how.append(f"No feature has more than {given['max_length']} {unit}.")
        how += [_BESIDE] * given["keep_columns"]
        return Passage("How", " ".join(how)), _which_pairs(model, criterion, one_by_one)
    if "min_threshold" in given:
        how = [_REPLACED, _MANY_AT_ONCE, *[_PRUNED] * given["prune"]]
        how += [_BESIDE] * given["keep_columns"]
        return Passage("How", " ".join(how)), Passage("Which λ", _every_threshold(given))
    if type(model).__name__ in _FAMILY:
        how = [_FAMILY[type(model).__name__], _ADDED]
        return (Passage("How", " ".join(how)),)
    grown = "clustering tree" if type(model).__name__ == "UFringe" else "decision tree"
    return (
        Passage(
            "How",
            f"Each iteration grew a {grown} on the present features and joined the "
            f"{_JOINED[given['strategy']]} conditions of every path. {_ADDED}",
        ),
    )


def takes_one_pair(model: FittedModel) -> bool:
    """Whether each iteration replaces one pair only."""
    given = model.get_params(deep=False)
    criterion = CRITERIA.made(given.get("criterion"))
    return criterion is not None and (given["search"] or criterion.search) != "batch"


_REPLACED = (
    "A pair of correlated features f, g gives way to f ∧ g, ¬f ∧ g and f ∧ ¬g, which do not "
    "overlap; no information is lost."
)
_MANY_AT_ONCE = (
    "Each iteration replaced as many pairs as possible, the strongest first, no feature twice."
)
_BESIDE = "The model's transform gives the columns first, then the features of two tags or more."
_PRUNED = "Pairs with an expected frequency below 5 were left alone (pruning)."


def _order(criterion: Criterion, *, one_by_one: bool) -> str:
    if isinstance(criterion, Evidence):
        return "One pair was joined at a time: the one with the most evidence."
    if isinstance(criterion, Bits):
        which = "the one" if one_by_one else "those"
        return (
            f"Among the pairs that may be joined, {which} came first that made the description of "
            f"the data shortest: all cells written with the codes of the features, and the "
            f"features themselves."
        )
    if one_by_one:
        return (
            "One pair was replaced at a time: among those that pass, the one with the largest "
            "joint count. Then its conjunctions were counted, and the next pair was chosen."
        )
    return _MANY_AT_ONCE


def _every_threshold(given: Mapping[str, Any]) -> str:
    return (
        f"All λ from {given['min_threshold']:g} to {given['max_threshold']:g} and up to "
        f"{given['max_iter']} iterations were looked at."
    )


def _which_pairs(model: FittedModel, criterion: Criterion, one_by_one: bool) -> Passage:
    if isinstance(criterion, Evidence):
        return Passage("Which pairs", _why_evidence(criterion))
    if isinstance(criterion, Bits):
        return Passage("Which pairs", _why_real(criterion, model.feature_set_))
    if isinstance(criterion, Risk):
        return Passage("Why this λ", _why_risk(model, criterion, one_by_one))
    if isinstance(criterion, Threshold):
        return Passage("Why this λ", _why_given(criterion))
    return Passage("Which pairs", f"{criterion.name}: {criterion.summary}.")


def _why_evidence(criterion: Evidence) -> str:
    times = "" if criterion.factor == 1 else f"{criterion.factor:g} times "
    return (
        f'The evidence of a pair is the number of bits by which the rows speak for "together" '
        f'rather than "by chance". It is counted twice, for the features as they were at that '
        f"point and for all rows that have their tags, and the smaller number counts. A pair was "
        f"joined if it brought more than {times}what the merge costs."
    )


def _why_given(criterion: Threshold) -> str:
    least = MEASURES[criterion.measure].least
    name = "correlation r" if criterion.measure == "phi" else criterion.measure.replace("_", " ")
    return (
        f"It was given: pairs whose {name} exceeds {criterion.threshold:g} were replaced. A lower "
        f"threshold (down to {least:g}) may replace more pairs and make more, longer features."
    )


def _why_real(criterion: Bits, fitted: FeatureSet) -> str:
    if criterion.alpha is None:
        return "Any pair that is true together more often than by chance (r > 0) may be joined."
    corrected = ""
    if criterion.correction is not None:
        corrected = f", with {_CORRECTIONS[criterion.correction]} correction"
    line = f", p ≤ {probability(fitted.merges[0].threshold)} here" if fitted.merges else ""
    return (
        f"A pair may be joined if its two are true together more often than by chance (r > 0), and "
        f"if the p-value of {_TESTS[criterion.test]} is not above a line. That is drawn once, over "
        f"all pairs of columns, at α = {criterion.alpha:g}{corrected}{line}."
    )


def _why_risk(model: FittedModel, criterion: Risk, one_by_one: bool) -> str:
    alpha, test = f"{criterion.alpha:g}", _TESTS[criterion.test]
    fitted = model.feature_set_
    if criterion.correction is not None:
        corrected = f"{test} with {_CORRECTIONS[criterion.correction]} correction"
        if one_by_one:
            return (
                f"From the risk α = {alpha}, by {corrected} for all pairs of columns: the line is "
                f"drawn once, and the table of features tells it."
            )
        return (
            f"From the risk α = {alpha}, by {corrected} for all pairs of an iteration: each "
            f"iteration draws a line of its own, which the table of features tells."
        )
    if criterion.test == "exact":
        return f"From the risk α = {alpha}, by {test}: a pair passes if p ≤ α."
    line = getattr(model, "threshold_", None)
    if line is None or fitted.known is not None:
        return (
            f"λ = u₁₋α/√n follows from the risk α = {alpha} and, for each pair, the n rows in "
            f"which both columns are known; the table of features tells each."
        )
    return (
        f"λ = {decimal(line)} follows from the risk α = {alpha} and the number of rows: "
        f"λ = u₁₋α/√n = {decimal(line * math.sqrt(fitted.n_rows), 2)}/√{fitted.n_rows:,}. Two "
        f"columns that are independent reach it with a probability of "
        f"{probability(criterion.alpha)}. More rows lower it, a smaller risk raises it."
    )
