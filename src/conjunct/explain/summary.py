"""One summary of a fitted model, in sentences: every place that tells of a model uses these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from conjunct.data import BooleanRule, DataSummary, Preparation, group_by_variable
from conjunct.explain.findings import Finding, WhenAsked, constructed, findings
from conjunct.explain.labels import count, label, listed, shortened
from conjunct.explain.method import FittedModel, Passage, method
from conjunct.features import FeatureSet
from conjunct.memory import byte_text
from conjunct.ufc import Solution

MEANINGS = {
    "(rest)": "what larger chunks have left of it",
    "comes back": "in this share of changed data sets it was constructed again",
    "evidence": 'bits by which all rows speak for "together" rather than "by chance"',
    "length": "literals of the formula",
    "iteration": "the iteration that made it; 0: a column of the data",
    "r": "correlation of the two features it came from",
    "p": "probability of such an r for independent features",
    "adjusted p": "corrected for the number of pairs tested",
    "threshold": "what the pair was held against",
    "OI": "true features of a row beyond one, on average, as a share of all the others",
    "C0": "features added, as a share of what is missing to one for each distinct row",
    "RMS": "root mean square of OI and C0",
}
"""What each number about a feature or a set of features means."""

_LONGEST = 240
_NAMES_TOLD = 10
_VALUES_TOLD = 5
_LONGEST_VALUE = 40


@dataclass(frozen=True, eq=False)
class Summary:
    """What was found, why the run ended and how features were made: plain sentences, no markup.

    ``translate`` puts the parameters that an outcome names into the words of the command line.
    """

    model: FittedModel
    translate: Callable[[str], str] = str

    @property
    def by_pattern(self) -> bool:
        """Whether the rule that made the features looks for tags that belong together."""
        return self.model._by_pattern

    @property
    def n_iter(self) -> int:
        return self.model.history_[-1].iteration

    @cached_property
    def chunks(self) -> Sequence[Finding]:
        """The chunks with their facts in all rows, most evidence first."""
        return findings(self.model.feature_set_)

    @cached_property
    def constructed(self) -> Sequence[Finding]:
        """All features but columns; the strongest chunks first, if there are any."""
        return constructed(self.model.feature_set_, by_evidence=bool(self.chunks))

    @property
    def kept(self) -> Sequence[str]:
        """The columns that are features still."""
        fitted = self.model.feature_set_
        return WhenAsked([k for k in fitted.features if not fitted.iteration(k)], self.formula)

    def formula(self, number: int) -> str:
        """A feature of the lineage as text of bounded length."""
        return label(self.model.feature_set_.lineage.expression(number), self.model.style, _LONGEST)

    @property
    def text(self) -> str:
        """All sentences about what was found, as one paragraph."""
        return " ".join(filter(None, (self.found, self.outcome, self.length, self.scores)))

    @property
    def found(self) -> str:
        """What was made, from how much data."""
        fitted = self.model.feature_set_
        n_columns = len(fitted.lineage.primitives)
        data = f"{count(fitted.n_rows, 'row')} and {count(n_columns, 'column')}"
        if not self.n_iter:
            return f"From {data}, nothing was constructed: the features are the columns."
        made = _were(len(self.constructed), "feature")
        if not fitted.merges:
            iterations = count(self.n_iter, "iteration")
            return f"From {data}, {made} constructed in {iterations} and added to the columns."
        if self.by_pattern and self.chunks:
            said = f"In {data}, {self._chunks_found}"
        else:
            n_kept = len(fitted.features) - len(self.constructed)
            said = (
                f"From {data}, {count(len(fitted.merges), 'correlated pair')} gave way to "
                f"{'their' if len(fitted.merges) > 1 else 'its'} conjunctions: {made} constructed "
                f"and {_were(n_kept, 'column')} kept."
            )
        rare = len(fitted.suppressed)
        return f"{said} {_were(rare, 'rare feature')} suppressed." if rare else said

    @property
    def _chunks_found(self) -> str:
        best, n_chunks = self.chunks[0], len(self.chunks)
        noun = "of tags that belong together"
        found = f"{count(n_chunks, f'chunk {noun} was', f'chunks {noun} were')} found"
        strongest = "Strongest:" if n_chunks > 1 else "It is"
        return (
            f"{found}. {strongest} {shortened(best.text, _LONGEST)}, in {count(best.rows, 'row')}."
        )

    @property
    def outcome(self) -> str:
        """Why the run ended, in the words of the rule that ended it; empty if they are not kept."""
        return self.translate(getattr(self.model, "outcome_", ""))

    @property
    def ended(self) -> str:
        """Why the run ended, and if the model does not keep that, how far it came."""
        if self.outcome:
            return self.outcome
        fitted = self.model.feature_set_
        n_features = len(fitted.features)
        limit = self.model.get_params(deep=False).get("max_features")
        ended = f"It ended after {count(self.n_iter, 'iteration')}"
        if limit is None:
            return f"{ended}. Its file was written by an earlier version, which did not keep why."
        ended += f" with {count(n_features, 'feature')}"
        if n_features >= limit:
            return f"{ended}: that reaches the {limit:,} asked for."
        return f"{ended}: no path of the tree gave a new conjunction."

    @property
    def length(self) -> str:
        """How long the description of the data is, before and after."""
        fitted = self.model.feature_set_
        if not fitted.merges or not fitted.has_code:
            return ""
        part = fitted.description_length() / fitted.baseline_length()
        compress = "compress the data to" if part < 1 else "do not compress the data:"
        return f"The chunks {compress} {part:.1%} of its size without them."

    @property
    def scores(self) -> str:
        """What the paper looks at: overlap and correlations. Empty if the rule looks for chunks."""
        if not self.n_iter or self.by_pattern:
            return ""
        return " ".join(filter(None, (self._overlap, self._strongest_link, self._most_common)))

    @property
    def _overlap(self) -> str:
        first, last = self.model.history_[0], self.model.history_[-1]
        fell = last.oi < first.oi
        part = f", by {1 - last.oi / first.oi:.0%}" if fell and last.oi > 0 else ""
        more = last.n_features - first.n_features
        price = count(abs(more), "more feature" if more >= 0 else "fewer feature")
        return (
            f"The overlap of features (OI) {'fell' if fell else 'went'} from {first.oi:.3f} to "
            f"{last.oi:.3f}{part}, with {price}."
        )

    @property
    def _strongest_link(self) -> str:
        merges = self.model.feature_set_.merges
        if not merges:
            return ""
        strongest = max(merges, key=lambda merge: merge.r)
        return (
            f'The strongest link is between "{self.formula(strongest.left)}" and '
            f'"{self.formula(strongest.right)}": r = {strongest.r:.2f}, together in '
            f"{count(strongest.joint, 'row')}."
        )

    @property
    def _most_common(self) -> str:
        if not self.constructed:
            return ""
        most = max(self.constructed, key=lambda feature: feature.rows)
        return (
            f'The most common new feature is "{self.formula(most.number)}", true in '
            f"{count(most.rows, 'row')} ({most.share:.0%})."
        )

    @property
    def variables(self) -> str:
        """Which columns exclude each other; empty if none do."""
        found = variable_texts(self.model.feature_set_)
        return f"{count(len(found), 'variable')}: {_listed_variables(found)}." if found else ""

    @property
    def method(self) -> tuple[Passage, ...]:
        """How the features were made, and which pairs could be joined."""
        return method(self.model)

    @property
    def marks(self) -> str:
        """What the lists of a model with chunks mean, where it is not plain."""
        fitted = self.model.feature_set_
        if not fitted.merges or not any(map(fitted.lineage.denies, reversed(fitted.features))):
            return ""
        return f"(rest): {MEANINGS['(rest)']}. Evidence: {MEANINGS['evidence']}."


def variable_texts(fitted: FeatureSet) -> list[str]:
    """Return each variable with its values: ``sex (female, male)``."""
    pairs = zip(fitted.lineage.primitives, fitted.variables, strict=False)
    found = []
    for name, columns in group_by_variable(pairs).items():
        values = listed([_value(name, c) for c in columns], _VALUES_TOLD, _LONGEST_VALUE)
        # two columns without a common stem are the name
        is_name = sorted(name.split(" | ")) == sorted(columns)
        found.append(shortened(name) if is_name else f"{shortened(name)} ({values})")
    return found


def _value(variable: str, column: str) -> str:
    """Return the column without the variable in front: ``male`` of ``sex = male``."""
    if not column.startswith(variable):
        return column
    value = column.removeprefix(variable).lstrip(" =:_.[")
    return (value.removesuffix("]") if column.startswith(f"{variable}[") else value) or column


def _listed_variables(texts: Sequence[str]) -> str:
    return listed(texts, _NAMES_TOLD, _LONGEST)


def data_facts(data: DataSummary, fitted: FeatureSet | None = None) -> list[tuple[str, str]]:
    """What was read, in names and numbers; and the variables of a model that was fitted on it."""
    variables = [] if fitted is None else variable_texts(fitted)
    dropped = [f"{dropped.column} ({dropped.reason})" for dropped in data.dropped]
    rare = [f"{column} ({number})" for column, number in data.rare.items()]
    facts = [
        ("rows", f"{count(data.n_rows)} ({count(data.n_distinct_rows)} distinct)"),
        ("columns", ", ".join(f"{count(number)} {kind}" for kind, number in data.columns.items())),
        ("features", count(data.n_features)),
        ("variables", _listed_variables(variables)),
        ("left out", listed(dropped, _NAMES_TOLD, _LONGEST)),
        ("rare words", listed(rare, _NAMES_TOLD, _LONGEST)),
        ("constant", listed(data.constant, _NAMES_TOLD, _LONGEST)),
        ("missing", f"{count(data.n_missing)} cells"),
        ("density", f"{data.density:.3f}"),
        ("memory", byte_text(data.n_bytes)),
    ]
    return [(name, value) for name, value in facts if value]


def prepared_columns(preparation: Preparation) -> dict[str, str]:
    """What is done to each raw column, where anything is."""
    if preparation.cleaner is not None:
        return {merge.tag: f"called {merge.into}" for merge in preparation.cleaner.merges()}
    made: dict[str, list[str]] = {}
    for rule in () if preparation.binarizer is None else preparation.binarizer.rules_:
        if not isinstance(rule, BooleanRule):
            made.setdefault(rule.column, []).append(rule.describe())
    return {column: "; ".join(told) for column, told in made.items()}


def place_of_closest(front: Sequence[Solution]) -> int:
    """Where the closest point stands on a front.

    Others may have the same indicators for another λ; the first of them is on the front.
    """
    return min(range(len(front)), key=lambda k: (front[k].distance, k))


def _were(number: int, noun: str) -> str:
    return count(number, f"{noun} was", f"{noun}s were")
