"""Groups of rows as a scikit-learn clusterer and density model."""

from __future__ import annotations

import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, replace
from functools import partial, reduce
from typing import Any, ClassVar, Literal, Self

import msgspec
import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state

from conjunct import explain, files
from conjunct.columns import STORAGE_KINDS, Columns, StorageKind
from conjunct.counting import Store, sample_rows
from conjunct.data import BooleanData, Missing, Variables, check_variables
from conjunct.errors import ConjunctWarning, InputError, ModelFileError
from conjunct.estimators.base import (
    BooleanEstimator,
    NotebookMixin,
    check_weights,
    render_table,
    with_weights,
)
from conjunct.estimators.ufc import UFC
from conjunct.expressions import pattern_text
from conjunct.features import (
    SAMPLE_ROWS,
    Fields,
    Growth,
    Mixture,
    Sums,
    average_row,
    bits_of_model,
    converge,
    normalise,
    sum_members,
)
from conjunct.parameters import Constraint, is_number, is_whole, one_of, whole, with_parameters
from conjunct.ufc import Evidence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Within = Literal["chunks", "columns"]
WITHIN: tuple[Within, ...] = ("chunks", "columns")

# The gain that a merge inside a group needs, as a multiple of its cost. Groups share most of their
# chunks, so naming one costs less than in a single vocabulary. Chosen on the validation rows of
# four density data sets (docs/groups.md).
_FACTOR = 0.7
# rows to encode at a time
_ROWS_AT_ONCE = 1 << 16
# maximum number of typical, and of borderline, rows to list per group
_EXAMPLES = 5
# a row whose group has a lower probability is borderline
_SURE = 0.9
# chunks of each group to consider as marks
_CHUNKS_PER_GROUP = 20


@with_parameters
class RowGroups(NotebookMixin, ClusterMixin, BooleanEstimator):
    """Find groups of similar rows, and list the marks of each group.

    The model is a mixture (latent classes): each group has its own frequencies of tags and of
    values of variables. Fitting starts with one group and splits groups while that shortens the
    description of the rows, including the parameters of the groups. You need not give the number of
    groups. Then ``UFC`` finds chunks within each group, which describe new rows better.

    Parameters
    ----------
    n_groups : int or "auto", default="auto"
        The number of groups.
    within : {"chunks", "columns"}, default="chunks"
        Describe the rows of a group by its own chunks, or by independent columns, which is
        faster. Rows outside memory are always described by columns.
    max_groups : int, optional
        Maximum number of groups for ``"auto"``.
    n_init : int, default=3
        Number of starts per split; the best is used.
    max_seconds : float, optional
        Time limit of the search; the result is the groups found by then.
    variables : dict of str to list of str, False or None
        Columns that are values of one variable, as in :class:`UFC`.
    threshold, missing, storage, n_jobs
        As in :class:`UFC`. With ``missing="pairwise"``, missing cells are ignored.
    random_state : int, RandomState instance or None, default=0
        Seed of the starts. The result does not depend on ``n_jobs``.
    verbose : int, default=0
        1: print one line per round.

    Attributes
    ----------
    n_groups_ : int
        Number of groups.
    groups_ : tuple of RowGroup
        Name, rows, share, marks, typical and borderline rows of each group, largest first.
    labels_ : array
        The group of each training row; absent if the rows were not in memory.
    vocabularies_ : tuple of UFC
        The chunks of each group; empty with ``within="columns"``.
    description_length_, baseline_length_ : float
        Bits to describe the training rows by the groups, and by a single group of independent
        columns and variables.
    stop_reason_ : str
        The reason why the search ended.

    Examples
    --------
    >>> from conjunct import RowGroups
    >>> rows = [["fork", "knife"]] * 40 + [["car", "bus"]] * 40 + [["car"]] * 20
    >>> model = RowGroups().fit(rows)
    >>> [(group.name, group.rows) for group in model.groups_]
    [('car, bus', 60), ('fork, knife', 40)]
    >>> model.predict([["knife"], ["bus"]]).tolist()
    [1, 0]
    """

    _takes_partitions = True
    _ways_with_missing = ("raise", "false", "pairwise")
    constraints: ClassVar[dict[str, Constraint]] = {
        "n_groups": Constraint(
            lambda value: value == "auto" or (is_whole(value) and int(value) >= 1),
            'a whole number, at least 1, or "auto"',
        ),
        "within": one_of(WITHIN),
        "max_groups": whole(1, optional=True),
        "n_init": whole(1),
        "max_seconds": Constraint(
            lambda value: value is None or (is_number(value) and value > 0), "a number above 0"
        ),
        "storage": one_of(STORAGE_KINDS),
    }

    n_groups: int | str = "auto"
    _: KW_ONLY
    within: Within = "chunks"
    max_groups: int | None = None
    n_init: int = 3
    max_seconds: float | None = None
    variables: Variables = None
    threshold: float | None = None
    missing: Missing = "pairwise"
    storage: StorageKind = "auto"
    random_state: Any = 0
    n_jobs: int | None = None
    verbose: int = 0

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        callback: Callable[[int, float], object] | None = None,
    ) -> Self:
        """Find groups in the rows of ``X``.

        ``X`` and ``sample_weight`` are as in :class:`UFC`; ``y`` is ignored. After each round of
        the search, ``callback`` gets the number of groups and the bits of their description.
        """
        self._check_parameters()
        deadline = math.inf if self.max_seconds is None else time.monotonic() + self.max_seconds
        data = self._read_to_fit(X)
        store, in_memory = data.columns, isinstance(data.columns, Columns)
        weights = None
        if sample_weight is not None:
            if not in_memory:
                raise InputError("sample_weight needs all rows in memory")
            weights = check_weights(sample_weight, store.n_rows)
        if self.within == "chunks" and not in_memory:
            note = 'The rows are not in memory, so groups have no chunks, as with within="columns".'
            warnings.warn(note, ConjunctWarning, stacklevel=2)
        # without merges: the columns, their variables and their preparation
        self._base = self._fit_vocabulary(data, weights, self.variables, max_iter=0)
        fields = Fields.of(len(data.names), self._base.feature_set_.variables)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        mixture, self.stop_reason_ = self._grow(store, fields, weights, rng, deadline, callback)
        self._use(mixture)
        if in_memory:
            if self.within == "chunks":
                self._fit_chunks(data, weights)
            self._describe_rows(data, weights)
        else:
            rows, *counts = store.total(partial(_count_tags, mixture))
            tags = [(name,) for name in data.names]
            self._describe(rows, explain.GroupCounts(*counts), tags, {})
        if self.n_groups != "auto" and self.n_groups_ < int(self.n_groups):
            when = f" in {self.max_seconds:g} seconds" if "seconds" in self.stop_reason_ else ""
            self.stop_reason_ = f"found only {explain.count(self.n_groups_, 'group')}{when}"
            warnings.warn(self.stop_reason_, ConjunctWarning, stacklevel=2)
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the position in ``groups_`` of the most probable group of each row of ``X``."""
        return np.concatenate([joint.argmax(1) for joint in self._joints(X)])

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each group for each row of ``X``."""
        return np.concatenate([normalise(joint)[0] for joint in self._joints(X)])

    def log_prob(self, X: Any) -> Floats:
        """Return the natural logarithm of the probability of each row of ``X``.

        The probabilities of all possible rows sum to 1. Missing cells are not encoded, so rows
        with missing cells are more probable.
        """
        return np.concatenate([normalise(joint)[1] for joint in self._joints(X)])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the mean bits per row of ``X``, as ``UFC.score`` does."""
        logs = self.log_prob(X)
        weights = None if sample_weight is None else check_weights(sample_weight, len(logs))
        return float(np.average(logs, weights=weights)) / math.log(2)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted groups as JSON, atomically."""
        parameters = {name: value for name, value in self.get_params().items() if name in _SAVED}
        mixture = self.mixture_
        files.write_model(
            path,
            files.GroupsFile(
                format=files.GROUPS_FORMAT,
                version=files.GROUPS_VERSION,
                parameters=parameters,
                shares=np.exp(self._log_shares).tolist(),
                groups=msgspec.convert(self.groups_, list[files.GroupRecord], from_attributes=True),
                description_length=self.description_length_,
                baseline_length=self.baseline_length_,
                stop_reason=self.stop_reason_,
                outcomes=[] if mixture is None else mixture.outcomes.tolist(),
                none=[] if mixture is None else mixture.none.tolist(),
                columns=self._base.to_model_file(),
                vocabularies=[each.to_model_file() for each in self.vocabularies_],
            ),
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read groups that ``save`` wrote."""
        read = files.read_groups(path)
        if {*read.parameters} != {*_SAVED}:
            raise ModelFileError(f"{path}: damaged groups: missing or unknown parameters")
        parameters: dict[str, Any] = read.parameters
        return cls(**parameters)._restore(read, str(path))

    def _restore(self, read: files.GroupsFile, path: str) -> Self:
        """Set the fitted attributes from a file."""
        try:
            self._check_parameters()
        except InputError as error:
            raise ModelFileError(f"{path}: {error}") from None
        self._base, *vocabularies = (
            UFC.from_model_file(each, path) for each in (read.columns, *read.vocabularies)
        )
        self._copy_columns(self._base)
        self.n_groups_ = n = len(read.groups)
        self.description_length_ = read.description_length
        self.baseline_length_, self.stop_reason_ = read.baseline_length, read.stop_reason
        found = []
        for group in read.groups:
            marks = tuple(
                explain.Mark(text=pattern_text(mark.tags), **msgspec.structs.asdict(mark))
                for mark in group.marks
            )
            share = group.rows / read.columns.n_rows
            own = (group.name, group.rows, share, marks, group.typical, group.borderline)
            found.append(explain.RowGroup(*own))
        self.groups_ = tuple(found)
        marked = {tag for group in self.groups_ for mark in group.marks for tag in mark.tags}
        names, mixture = self._primitive_names(), None
        fits = [each.feature_set_.lineage.primitives for each in vocabularies] == [names] * n
        if not vocabularies:
            fields = Fields.of(len(names), self._base.feature_set_.variables)
            lines = (*read.outcomes, *read.none)
            sizes = [len(fields.field)] * n + [fields.n_fields] * n
            fits = [*map(len, lines)] == sizes and min(map(min, lines)) > 0
            if fits:
                mixture = Mixture(fields, *map(np.array, (read.shares, read.outcomes, read.none)))
                fits = np.allclose(fields.sum_up(mixture.outcomes) + mixture.none, 1)
        if not fits or not marked <= {*names}:
            raise ModelFileError(f"{path}: damaged groups: the groups do not match the columns")
        self._use(mixture, vocabularies, read.shares)
        return self

    def _fit_vocabulary(
        self, data: BooleanData, weights: Ints | None, variables: Variables, **options: Any
    ) -> UFC:
        """Find the chunks of some rows; with ``max_iter=0``, only their columns and variables."""
        vocabulary = UFC(
            Evidence(factor=_FACTOR),
            variables=variables,
            threshold=self.threshold,
            missing=self.missing,
            storage=self.storage,
            n_jobs=self.n_jobs,
            **options,
        )
        with warnings.catch_warnings():
            # a group may have no chunks
            warnings.simplefilter("ignore", ConjunctWarning)
            return vocabulary.fit_data(data, weights)

    def _grow(
        self,
        store: Store,
        fields: Fields,
        weights: Ints | None,
        rng: np.random.Generator,
        deadline: float,
        callback: Any,
    ) -> tuple[Mixture, str]:
        """Return the mixture, converged on all rows, and the reason why the search ended."""
        every = None
        if isinstance(store, Columns):
            store = with_weights(store, weights)
            found = sample_rows(store, store.n_rows)
            every = fields.read(found.rows, found.weights)
            if store.n_rows > SAMPLE_ROWS:
                found = found.thin(store.n_rows, SAMPLE_ROWS)
        else:
            found = sample_rows(store, SAMPLE_ROWS)
        sample = fields.read(found.rows, found.weights)
        prior = average_row(fields, sum_members(fields, sample, np.ones((sample.n_rows, 1))))

        def watch(n_groups: int, bits: float) -> None:
            if self.verbose:
                sys.stdout.write(f"{n_groups} groups: {bits:,.0f} bits\n")
            if callback is not None:
                callback(n_groups, bits)

        given, most = None if self.n_groups == "auto" else int(self.n_groups), self.max_groups
        growth = Growth(sample, fields, prior, rng, given, most, self.n_init, deadline, watch)
        path = growth.run()
        why = "splitting a group would not shorten the description"
        if time.monotonic() > deadline:
            why = f"the search ended after {self.max_seconds:g} seconds"
        elif path[-1].mixture.n_groups in (given, most):
            why = "reached the requested number of groups"

        def expect(mixture: Mixture) -> Sums:
            if every is None:
                return Sums(*store.total(partial(_expect, mixture)))
            return mixture.expect(every)

        last = converge(path[-1].mixture, expect, prior, deadline=deadline)
        n_rows = float(last.sums.rows.sum())
        one = converge(path[0].mixture, expect, prior, max_iter=1)
        self.baseline_length_, self.description_length_ = growth.bits(one), growth.bits(last)
        return last.mixture.with_floor(n_rows), why

    def _use(
        self, mixture: Mixture | None, vocabularies: Sequence[UFC] = (), shares: Any = None
    ) -> None:
        """Describe rows by a mixture, or by the chunks of groups with the given shares."""
        self.mixture_, self.vocabularies_ = mixture, tuple(vocabularies)
        self._log_shares = np.log(shares if mixture is None else mixture.shares)

    def _fit_chunks(self, data: BooleanData, weights: Ints | None) -> None:
        """Replace the mixture by the chunks of each group."""
        columns = data.columns
        own = np.ones(columns.n_rows, np.int64) if weights is None else weights
        labels = np.concatenate([joint.argmax(1) for joint in self._slices(columns)])
        sizes = np.bincount(labels, own, len(self._log_shares))
        groups, models = np.flatnonzero(sizes), []
        for group in groups.tolist():
            rows = np.flatnonzero(labels == group)
            some = replace(data, columns=columns.take_rows(rows), ids=None)
            of_rows = None if weights is None else weights[rows]
            models.append(self._fit_vocabulary(some, of_rows, self._base.variables_ or False))
        self._use(None, models, (sizes[groups] + 0.5) / (own.sum() + len(groups) / 2))
        logs = np.concatenate([normalise(joint)[1] for joint in self._slices(columns)])
        bits = 0.5 * math.log2(max(own.sum(), 2)) * (len(groups) - 1)
        bits -= float(own @ logs) / math.log(2)
        for model in models:
            fitted, m = model.feature_set_, len(data.names)
            numbers = bits_of_model(0, fitted.n_rows, m, m)
            merges = bits_of_model(len(fitted.merges), fitted.n_rows, m, m) - numbers
            bits += numbers + _FACTOR * merges
        self.description_length_ = bits

    def _joints(self, X: Any) -> Iterator[Floats]:
        return self._slices(self.read_columns(X))

    def _slices(self, columns: Columns) -> Iterator[Floats]:
        """Yield the joint log-probabilities of rows and groups, some rows at a time."""
        for start in range(0, max(columns.n_rows, 1), _ROWS_AT_ONCE):
            stop = min(start + _ROWS_AT_ONCE, columns.n_rows)
            is_all = stop - start == columns.n_rows
            part = columns if is_all else columns.take_rows(np.arange(start, stop))
            if self.mixture_ is not None:
                yield _log_joint(self.mixture_, part)
            else:
                logs = [each.log_prob_of_columns(part) for each in self.vocabularies_]
                yield np.stack(logs, axis=1) + self._log_shares

    def _describe_rows(self, data: BooleanData, weights: Ints | None) -> None:
        """Set ``groups_`` and ``labels_`` of rows in memory."""
        columns, own = data.columns, weights
        found = [
            (joint.argmax(1), normalise(joint)[0].max(1), joint.max(1))
            for joint in self._slices(columns)
        ]
        labels, leads, logs = (np.concatenate(each) for each in zip(*found, strict=True))
        chunks = sorted(
            {
                finding.tags
                for model in self.vocabularies_
                for finding in explain.every_finding(model.feature_set_)[:_CHUNKS_PER_GROUP]
            }
        )
        place = dict(zip(data.names, columns.raw_columns, strict=True))
        conjunction = partial(columns.conjunction, not_left=False, not_right=False)
        lines = [reduce(conjunction, [place[tag] for tag in chunk]) for chunk in chunks]
        counted = columns.with_raw_columns([*columns.raw_columns, *lines])
        n_groups = len(self._log_shares)
        counts = explain.GroupCounts.of_groups(counted, labels, n_groups, own)
        examples = {}
        for k in range(n_groups):
            rows = np.flatnonzero(labels == k)
            typical = rows[np.argsort(-logs[rows], kind="stable")][:_EXAMPLES]
            near = rows[np.argsort(leads[rows], kind="stable")][:_EXAMPLES]
            near = near[leads[near] < _SURE]
            examples[k] = tuple(typical.tolist()), tuple(near.tolist())
        sizes = np.bincount(labels, own, n_groups).astype(np.int64)
        patterns = [*((name,) for name in data.names), *chunks]
        number = self._describe(sizes, counts, patterns, examples)
        self.labels_ = number[labels]

    def _describe(
        self,
        sizes: Ints,
        counts: explain.GroupCounts,
        patterns: Sequence[tuple[str, ...]],
        examples: Any,
    ) -> NDArray[np.intp]:
        """Set ``groups_``, largest first; return the new number of each group."""
        order = np.argsort(-sizes, kind="stable")
        order = order[sizes[order] > 0]
        shares = np.exp(self._log_shares[order])
        mixture = None if self.mixture_ is None else self.mixture_.take(order)
        vocabularies = [self.vocabularies_[k] for k in order.tolist() if self.vocabularies_]
        self._use(mixture, vocabularies, shares / shares.sum())
        counts = explain.GroupCounts(counts.true[order], counts.known[order])
        own_values = self._base.variables_ or {}
        variables = {tag: name for name, tags in own_values.items() for tag in tags}
        marks = explain.find_marks(counts, patterns, variables)
        # a group without marks is named by its largest differences
        most = explain.find_marks(counts, patterns, variables, priced=False)
        for_names = [a or b for a, b in zip(marks, most, strict=True)]
        n_rows, number = int(sizes.sum()), np.zeros(len(sizes), np.intp)
        number[order] = np.arange(len(order))
        names, rows_of_groups = explain.name_groups(for_names), sizes[order].tolist()
        facts = zip(order.tolist(), names, rows_of_groups, marks, strict=True)
        self.groups_ = tuple(
            explain.RowGroup(name, rows, rows / n_rows, tuple(own), *examples.get(k, ()))
            for k, name, rows, own in facts
        )
        self.n_groups_ = len(self.groups_)
        return number

    def _render_findings(self) -> str:
        if not hasattr(self, "groups_"):
            return ""
        cells = []
        for k, one in enumerate(self.groups_):
            mark = one.marks[0].sentence if one.marks else ""
            share = explain.format_share(one.share)
            cells.append((str(k), one.name, f"{one.rows:,}", share, mark))
        return render_table(("group", "name", "rows", "share", "strongest mark"), cells)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_variables(self.variables)


# parameters that a file keeps; the rest belong to a session
_SAVED = ("n_groups", "within", "max_groups", "n_init", "max_seconds", "threshold", "missing")


def _log_joint(mixture: Mixture, columns: Columns) -> Floats:
    blocks = mixture.fields.read(columns).blocks
    return np.concatenate([np.empty((0, mixture.n_groups)), *map(mixture.log_joint, blocks)])


def _expect(mixture: Mixture, part: Columns) -> tuple[Floats, ...]:
    # plain tuples are summed element by element
    return tuple(mixture.expect(mixture.fields.read(part)))


def _count_tags(mixture: Mixture, part: Columns) -> tuple[Ints, Ints, Ints]:
    labels = _log_joint(mixture, part).argmax(1)
    counts = explain.GroupCounts.of_groups(part, labels, mixture.n_groups)
    return np.bincount(labels, minlength=mixture.n_groups), counts.true, counts.known
