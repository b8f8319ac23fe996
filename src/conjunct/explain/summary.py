"""Summarise a fitted model in sentences that all outputs share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from conjunct import ufc
from conjunct.data import BooleanRule, DataSummary, Preparation, group_by_variable
from conjunct.explain.findings import (
    Copies,
    FeatureFacts,
    Finding,
    Found,
    find,
    new_features,
)
from conjunct.explain.sentences import count, decimal, join_names, label, probability, shorten
from conjunct.expressions import Style
from conjunct.features import FeatureSet
from conjunct.memory import byte_text

MEANINGS = {
    "(rest)": "the rows that are in no larger chunk",
    "recurrence": "share of changed data sets in which the feature was constructed again",
    "evidence": 'bits that support "together" over "by chance", in all rows',
    "length": "number of literals in the formula",
    "iteration": "the iteration that made the feature; 0 for a column of the data",
    "r": "correlation of the two features that were joined",
    "p": "probability of an r this large if the two features were independent",
    "adjusted p": "p, corrected for the number of pairs tested",
    "threshold": "the threshold that the pair had to pass",
    "OI": "(mean number of true features per row − 1) / (number of features − 1)",
    "C0": "features added, divided by the number to add for one feature per distinct row",
    "RMS": "root mean square of OI and C0",
}
"""The meaning of each number about a feature or a set of features."""

# the numbers in a stop reason of the rule of evidence, which only experts need
_LACKS = re.compile(r", has [\d.,]+ bits of evidence and needs more than [\d.,]+\d")
_NEXT_PAIR = re.compile(rf"\. The next, (.*){_LACKS.pattern}\.$")

_ONE = {"tags": "tag", "categories": "category", "numbers": "number", "dates": "date"}
_LONGEST = 240
_MOST_NAMES = 10
_MOST_COPIES = 3
_MOST_VALUES = 5
_LONGEST_VALUE = 40

_CORRECTIONS = {
    "bonferroni": "Bonferroni's",
    "holm": "Holm's",
    "bh": "Benjamini and Hochberg's",
    "by": "Benjamini and Yekutieli's",
}
_TESTS = {"exact": "Fisher's exact test", "normal": "the normal test of r√n"}
_JOINED = {"fringe": "last two", "root": "first two", "root-fringe": "first and the last"}
_ADDED = "New features are added to the columns; none is replaced."
_FAMILY = {
    "UFringe": "Each iteration grew a clustering tree on the current features and joined the {} "
    "conditions of every path.",
    "Fringe": "Each iteration grew a decision tree on the current features and joined the {} "
    "conditions of every path.",
    "CAT": "Each iteration grew a decision tree on the current features. In every path it joined "
    "the conditions whose conjunction best predicts the class of the leaf.",
    "ID2of3": "The decision tree has tests of the form: at least m of some literals are true. "
    "Literals were added one by one while the information gain rose.",
    "XofN": "The tests of the decision tree count how many of some literals are true. The "
    "literals were chosen to minimise the bits of the test and the classes.",
}
_REPLACED = (
    "A pair of correlated features f, g is replaced by f ∧ g, ¬f ∧ g and f ∧ ¬g, which do not "
    "overlap. No information is lost."
)
_MANY_AT_ONCE = (
    "Each iteration replaced as many pairs as possible, strongest first, and no feature twice."
)
_BESIDE = "The model's transform returns the columns first, then the features of two or more tags."
_PRUNED = "Pairs with an expected frequency below 5 were not replaced (pruning)."


class FittedModel(Protocol):
    """The part of a fitted feature constructor that a summary needs."""

    formula_style: Style
    feature_set_: FeatureSet
    preparation_: Preparation
    history_: tuple[ufc.Indicators, ...]

    @property
    def has_tag_names(self) -> bool: ...

    def get_params(self, deep: bool = ...) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Section:
    """A paragraph with its heading."""

    heading: str
    text: str


@dataclass(frozen=True, eq=False)
class Summary:
    """A fitted model in plain sentences: its chunks, its stop reason and its method.

    ``translate`` replaces parameters in a stop reason by the options of the command line.
    """

    model: FittedModel
    translate: Callable[[str], str] = str

    @property
    def by_pattern(self) -> bool:
        """True if the criterion looks for tags that belong together."""
        return self.model.has_tag_names

    @property
    def n_iter(self) -> int:
        """The number of iterations."""
        return self.model.history_[-1].iteration

    @cached_property
    def _all_found(self) -> Found:
        return find(self.model.feature_set_)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings with their facts in all rows, strongest first."""
        return self._all_found.findings

    @property
    def copies(self) -> tuple[Copies, ...]:
        """The near-identical columns."""
        return self._all_found.copies

    @property
    def same_columns(self) -> str:
        """The near-identical columns in sentences; empty if there are none."""
        return self.name_copies()

    def name_copies(self, shown: Sequence[Finding] = ()) -> str:
        """Name the near-identical columns, except those under findings already ``shown``."""
        named = {one for finding in shown for one in finding.copies}
        found = [one for one in self.copies if one not in named]
        more = len(found) - _MOST_COPIES
        sentences = [shorten(one.sentence, _LONGEST) for one in found[:_MOST_COPIES]]
        if more > 0:
            are = "is" if more == 1 else "are"
            sentences.append(f"There {are} {count(more, 'more set')} of nearly identical columns.")
        return " ".join(sentences)

    @cached_property
    def new_features(self) -> tuple[FeatureFacts, ...]:
        """The constructed features; the strongest chunks first, if there are any."""
        by_evidence = bool(self.findings or self.copies)
        return new_features(self.model.feature_set_, by_evidence=by_evidence)

    @property
    def remaining_columns(self) -> list[str]:
        """The columns that are still features."""
        fitted = self.model.feature_set_
        return [self.formula(k) for k in fitted.features if not fitted.iteration(k)]

    def formula(self, number: int) -> str:
        """Write a feature of the lineage as text of limited length."""
        return label(
            self.model.feature_set_.lineage.expression(number), self.model.formula_style, _LONGEST
        )

    @property
    def text(self) -> str:
        """All sentences about the result, as one paragraph."""
        return " ".join(filter(None, (self.overview, self.plain_reason, self.length, self.scores)))

    @property
    def overview(self) -> str:
        """The number of features or chunks, and the size of the data."""
        fitted = self.model.feature_set_
        n_tags, binarizer = len(fitted.lineage.primitives), self.model.preparation_.binarizer
        n_columns, tags = n_tags, ""
        if binarizer is not None:
            rules = (*binarizer.rules_, *binarizer.dropped_)
            n_columns = len({rule.column for rule in rules})
            tags = f" ({count(n_tags, 'tag')})" if n_tags != n_columns else ""
        data = f"{count(fitted.n_rows, 'row')} and {count(n_columns, 'column')}{tags}"
        if not self.n_iter:
            if self.by_pattern:
                return f"{data}: nothing was found."
            return f"From {data}, nothing was constructed: the features are the columns."
        made = _were(len(self.new_features), "feature")
        if not fitted.merges:
            iterations = count(self.n_iter, "iteration")
            return f"From {data}, {made} constructed in {iterations} and added to the columns."
        if self.by_pattern and (self.findings or self.same_columns):
            sentence = f"{data}: some columns are nearly identical; nothing else was found."
            if self.findings:
                sentence = f"{data}: {count(len(self.findings), 'finding')}."
                best = self.findings[0]
                name, rows = shorten(best.name, _LONGEST), count(best.rows, "row")
                sentence += f" Strongest: {name}, in {rows}."
        else:
            n_kept = len(fitted.features) - len(self.new_features)
            sentence = (
                f"From {data}, {_were(len(fitted.merges), 'correlated pair')} replaced by "
                f"{'their' if len(fitted.merges) > 1 else 'its'} conjunctions: {made} constructed "
                f"and {_were(n_kept, 'column')} kept."
            )
        rare = len(fitted.suppressed)
        return f"{sentence} {_were(rare, 'rare feature')} suppressed." if rare else sentence

    @property
    def stop_reason(self) -> str:
        """The reason why the run ended; empty if the model does not store it."""
        return self.translate(getattr(self.model, "stop_reason_", ""))

    @property
    def plain_reason(self) -> str:
        """The reason why the run ended, without numbers that only experts need."""
        reason = _NEXT_PAIR.sub(r"; the closest was \1.", self.stop_reason)
        return _LACKS.sub(", is not clear enough", reason)

    @property
    def ending(self) -> str:
        """The reason why the run ended, or its final state if the model stores no reason."""
        if self.stop_reason:
            return self.plain_reason
        fitted = self.model.feature_set_
        n_features = len(fitted.features)
        limit = self.model.get_params(deep=False).get("max_features")
        ended = f"It ended after {count(self.n_iter, 'iteration')}"
        if limit is None:
            return f"{ended}. An earlier version, which did not store the reason, wrote its file."
        ended += f" with {count(n_features, 'feature')}"
        if n_features >= limit:
            return f"{ended}: the limit of {limit:,} was reached."
        return f"{ended}: no path of the tree gave a new conjunction."

    @property
    def length(self) -> str:
        """The size of the data in the code of the chunks, compared with that without chunks."""
        fitted = self.model.feature_set_
        if not fitted.merges or not fitted.has_code:
            return ""
        part = fitted.description_length() / fitted.baseline_length()
        if f"{part:.1%}" == "100.0%":
            return "The chunks do not compress the data."
        compress = "compress the data to" if part < 1 else "do not compress the data:"
        return f"The chunks {compress} {part:.1%} of its size without them."

    @property
    def scores(self) -> str:
        """The paper's measures; empty if the criterion looks for chunks."""
        if not self.n_iter or self.by_pattern:
            return ""
        first, last = self.model.history_[0], self.model.history_[-1]
        fell = last.oi < first.oi
        part = f", by {1 - last.oi / first.oi:.0%}" if fell and last.oi > 0 else ""
        more = last.n_features - first.n_features
        price = count(abs(more), "more feature" if more >= 0 else "fewer feature")
        sentences = [
            f"The overlap of features (OI) {'fell' if fell else 'went'} from {first.oi:.3f} to "
            f"{last.oi:.3f}{part}, with {price}."
        ]
        if merges := self.model.feature_set_.merges:
            strongest = max(merges, key=lambda merge: merge.r)
            sentences.append(
                f'The strongest link is between "{self.formula(strongest.left)}" and '
                f'"{self.formula(strongest.right)}": r = {strongest.r:.2f}, together in '
                f"{count(strongest.joint, 'row')}."
            )
        if self.new_features:
            most = max(self.new_features, key=lambda feature: feature.rows)
            sentences.append(
                f'The most common new feature is "{self.formula(most.number)}", true in '
                f"{count(most.rows, 'row')} ({most.share:.0%})."
            )
        return " ".join(sentences)

    @property
    def variables(self) -> str:
        """The variables in one sentence; empty if there are none."""
        found = variable_texts(self.model.feature_set_)
        names = join_names(found, _MOST_NAMES, _LONGEST)
        return f"{count(len(found), 'variable')}: {names}." if found else ""

    @property
    def method(self) -> tuple[Section, ...]:
        """The method from the parameters: the way features were made, and the allowed pairs."""
        model, given = self.model, self.model.get_params(deep=False)
        criterion = ufc.CRITERIA.make(given.get("criterion"))
        if criterion is None and "min_threshold" not in given:
            names = [kind.__name__ for kind in type(model).__mro__]
            how = next(_FAMILY[name] for name in names if name in _FAMILY)
            joined = _JOINED.get(given.get("strategy", ""), "")
            return (Section("How", f"{how.format(joined)} {_ADDED}"),)
        if criterion is None:
            order, is_pruned = _MANY_AT_ONCE, given["prune"]
            why = Section(
                "Which λ",
                f"All λ from {given['min_threshold']:g} to {given['max_threshold']:g} and up to "
                f"{given['max_iter']} iterations were tried.",
            )
        else:
            order, why = _describe_criterion(model, criterion)
            is_pruned = criterion.pair_filter.prune
        steps = [_REPLACED, order, *[_PRUNED] * is_pruned]
        if criterion is not None and given["max_length"]:
            unit = "tags" if criterion.counts_tags else "literals"
            steps.append(f"No feature has more than {given['max_length']} {unit}.")
        steps += [_BESIDE] * given["keep_columns"]
        return Section("How", " ".join(steps)), why

    @property
    def marks(self) -> str:
        """The meaning of "(rest)" and "evidence", if the model has such features."""
        fitted = self.model.feature_set_
        if not fitted.merges or not any(map(fitted.lineage.denies, reversed(fitted.features))):
            return ""
        return f"(rest): {MEANINGS['(rest)']}. Evidence: {MEANINGS['evidence']}."


def variable_texts(fitted: FeatureSet) -> list[str]:
    """Return each variable with its values: ``sex (female, male)``."""
    pairs = zip(fitted.lineage.primitives, fitted.variables, strict=False)
    found = []
    for name, columns in group_by_variable(pairs).items():
        values = join_names(
            [_strip_variable(name, c) for c in columns], _MOST_VALUES, _LONGEST_VALUE
        )
        # without a common prefix, the name consists of the two columns
        is_name = sorted(name.split(" | ")) == sorted(columns)
        found.append(shorten(name) if is_name else f"{shorten(name)} ({values})")
    return found


def _strip_variable(variable: str, column: str) -> str:
    """Remove the variable from the name of a column: ``sex = male`` becomes ``male``."""
    if not column.startswith(variable):
        return column
    value = column.removeprefix(variable).lstrip(" =:_.[")
    return (value.removesuffix("]") if column.startswith(f"{variable}[") else value) or column


def data_facts(data: DataSummary, fitted: FeatureSet | None = None) -> list[tuple[str, str]]:
    """List facts about the data as names and texts, with the variables of a fitted model."""
    variables = [] if fitted is None else variable_texts(fitted)
    dropped = [f"{dropped.column or repr('')} ({dropped.reason})" for dropped in data.dropped]
    rare = [f"{column} ({number})" for column, number in data.rare.items()]
    columns = data.columns.items()
    facts = [
        ("rows", f"{count(data.n_rows)} ({count(data.n_distinct_rows)} distinct)"),
        ("columns", ", ".join(count(n, _ONE.get(kind, kind), kind) for kind, n in columns)),
        ("tags", count(data.n_features) if data.n_features != sum(data.columns.values()) else ""),
        ("variables", join_names(variables, _MOST_NAMES, _LONGEST)),
        ("left out", join_names(dropped, _MOST_NAMES, _LONGEST)),
        ("rare words", join_names(rare, _MOST_NAMES, _LONGEST)),
        ("constant", join_names(data.constant, _MOST_NAMES, _LONGEST)),
        ("missing", count(data.n_missing, "cell")),
        ("density", f"{data.density:.3f}"),
        ("memory", byte_text(data.n_bytes)),
    ]
    return [(name, value) for name, value in facts if value]


def column_preparations(preparation: Preparation) -> dict[str, str]:
    """Describe the preparation of each raw column that has any."""
    if preparation.cleaner is not None:
        return {merge.tag: f"called {merge.into}" for merge in preparation.cleaner.merges()}
    made: dict[str, list[str]] = {}
    for rule in () if preparation.binarizer is None else preparation.binarizer.rules_:
        if not isinstance(rule, BooleanRule):
            made.setdefault(rule.column, []).append(rule.describe())
    return {column: "; ".join(steps) for column, steps in made.items()}


def place_of_closest(front: Sequence[ufc.Solution]) -> int:
    """Return the position of the closest point on a front, the first of equals."""
    return min(range(len(front)), key=lambda k: (front[k].distance, k))


def _were(number: int, noun: str) -> str:
    return count(number, f"{noun} was", f"{noun}s were")


def takes_one_pair(model: FittedModel) -> bool:
    """Return True if each iteration replaces only one pair."""
    given = model.get_params(deep=False)
    criterion = ufc.CRITERIA.make(given.get("criterion"))
    return criterion is not None and (given["search"] or criterion.search) != "batch"


def _describe_criterion(model: FittedModel, criterion: ufc.Criterion) -> tuple[str, Section]:
    """Describe the order of the pairs, and which pairs were allowed."""
    one_by_one, fitted = takes_one_pair(model), model.feature_set_
    heading, order = "Which pairs", _MANY_AT_ONCE
    if one_by_one:
        order = (
            "One pair was replaced at a time: of the pairs that pass, the one with the largest "
            "joint count. Then its conjunctions were counted and the next pair was chosen."
        )
    if isinstance(criterion, ufc.Evidence):
        order = "One pair was joined at a time: the one with the most evidence."
        if not one_by_one:
            order = (
                f"Pairs were joined in rounds: all pairs that were the best pair of both their "
                f"features, with at least {ufc.LEAST_SHARE:.0%} of the evidence of the best pair."
            )
        times = "" if criterion.factor == 1 else f"{criterion.factor:g} times "
        why = (
            f'The evidence of a pair is the number of bits that support "together" over "by '
            f'chance". It is computed for the features at that point and for all rows that have '
            f"their tags; the smaller number counts. A pair was joined if its evidence exceeded "
            f"{times}the cost of the merge."
        )
    elif isinstance(criterion, ufc.Bits):
        order = (
            f"Of the pairs that may be joined, {'the one' if one_by_one else 'those'} that "
            f"shortened the description of the data most came first. The description consists of "
            f"the features and of all cells in their code."
        )
        why = "Any pair that occurs together more often than by chance (r > 0) may be joined."
        if criterion.alpha is not None:
            by = _CORRECTIONS.get(criterion.correction or "")
            corrected = f", with {by} correction" if by else ""
            line = f", p ≤ {probability(fitted.merges[0].threshold)} here" if fitted.merges else ""
            why = (
                f"A pair may be joined if it occurs together more often than by chance (r > 0) and "
                f"the p-value of {_TESTS[criterion.test]} is at most a cutoff. The cutoff is "
                f"set once for all pairs of columns, at α = {criterion.alpha:g}{corrected}{line}."
            )
    elif isinstance(criterion, ufc.Risk):
        heading, why = "Why this λ", _describe_risk(model, criterion, one_by_one)
    elif isinstance(criterion, ufc.Threshold):
        least, heading = ufc.MEASURES[criterion.measure].least, "Why this λ"
        is_phi = criterion.measure == "phi"
        name = "correlation r" if is_phi else criterion.measure.replace("_", " ")
        why = (
            f"It is a parameter: pairs whose {name} exceeds {criterion.threshold:g} were replaced. "
            f"A lower threshold (down to {least:g}) may replace more pairs and make more, and "
            f"longer, features."
        )
    else:
        why = f"{criterion.name}: {criterion.summary}."
    return order, Section(heading, why)


def _describe_risk(model: FittedModel, criterion: ufc.Risk, one_by_one: bool) -> str:
    alpha, test = f"{criterion.alpha:g}", _TESTS[criterion.test]
    fitted = model.feature_set_
    if criterion.correction is not None:
        pairs = "an iteration: each iteration has its own cutoff, which the table of features shows"
        if one_by_one:
            pairs = "columns: the cutoff is set once, and the table of features shows it"
        return (
            f"The cutoff follows from the risk α = {alpha}, by {test} with "
            f"{_CORRECTIONS[criterion.correction]} correction for all pairs of {pairs}."
        )
    if criterion.test == "exact":
        return f"The cutoff is the risk α = {alpha}, by {test}: a pair passes if p ≤ α."
    line = getattr(model, "threshold_", None)
    if line is None or fitted.known is not None:
        return (
            f"λ = u₁₋α/√n follows from the risk α = {alpha} and, for each pair, the n rows in "
            f"which both columns are known. The table of features shows each λ."
        )
    return (
        f"λ = {decimal(line)} follows from the risk α = {alpha} and the number of rows: "
        f"λ = u₁₋α/√n = {decimal(line * math.sqrt(fitted.n_rows), 2)}/√{fitted.n_rows:,}. Two "
        f"independent columns reach it with a probability of {probability(criterion.alpha)}. More "
        f"rows lower it; a smaller risk raises it."
    )
