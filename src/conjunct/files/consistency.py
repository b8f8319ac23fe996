"""Check that the parts of a model file agree.

Features follow from merges, and supports, joint counts and indicators from each other. A file in
which they do not was not written by a run.

Where cells were missing, supports do not follow from joint counts, and only ranges are checked.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from conjunct.errors import ModelFileError
from conjunct.features import (
    CodeCounts,
    FeatureSet,
    Lineage,
    Merge,
    Tally,
    bits_saved_by,
    mean_length_of,
    primitive_costs,
    rms,
)
from conjunct.ufc import Indicators, exact_p_value, p_value, phi

if TYPE_CHECKING:
    from conjunct.files.model import ModelFile, TallyRecord

# what another processor may compute a little differently
_CLOSE = 1e-6

# Every merge may double a length, so a small file could ask for numbers of any size.
_LONGEST = 1 << 4096


def check(holds: bool, what: str) -> None:
    """Raise an error about a damaged file unless ``holds``."""
    if not holds:
        raise ModelFileError(f"damaged model file: {what}")


def build_features(
    model: ModelFile, merges: tuple[Merge, ...], history: Sequence[Indicators], only_adds: bool
) -> FeatureSet:
    """Build the features of a model file, after checking that all its parts agree."""
    lineage = _build_lineage(model)
    check(model.n_rows >= 1, "it was fitted on no rows")
    check(len(model.supports) == len(model.features), "supports and features differ in number")
    same = len(model.suppressed_supports) == len(model.suppressed)
    check(same, "supports and suppressed features differ in number")
    supports = model.supports + model.suppressed_supports
    check(all(0 <= s <= model.n_rows for s in supports), "a support is out of range")
    known = None if model.known is msgspec.UNSET else tuple(model.known)
    if known is not None:
        check(len(known) == len(supports), "known rows and features differ in number")
        within = all(s <= k <= model.n_rows for s, k in zip(supports, known, strict=True))
        check(within, "a number of known rows is out of range")
    left_over = _replay(merges, lineage, model.n_rows)
    features = model.features + model.suppressed
    check(len(set(features)) == len(features), "a feature stands twice")
    if only_adds:
        check(not merges and not model.suppressed, "it has merges, which its kind has not")
        check(len(model.features) >= 1, "it has no features")
        check(all(0 <= f < len(lineage) for f in model.features), "a feature is unknown")
        made = range(len(lineage.primitives), len(lineage))
        check(set(made) <= set(model.features), "a conjunction is not among its features")
    else:
        check(set(features) == left_over, "its features are not what its merges leave")
    _check_variables(model)
    fitted = FeatureSet(
        lineage,
        tuple(model.features),
        tuple(model.supports),
        model.n_rows,
        tuple(model.iterations),
        merges,
        tuple(model.suppressed),
        tuple(model.suppressed_supports),
        known,
        variables=tuple(model.variables),
    )
    if not only_adds:
        # before anything is made of the patterns: they bound what a file can ask for
        _check_patterns(merges, len(lineage.primitives))
    fitted = replace(fitted, primitive_supports=_read_primitive_supports(model, fitted))
    _check_iterations(model, fitted)
    if not only_adds and known is None:
        # where no cell was missing, counts and indicators follow from each other
        every = fitted.with_rare()
        counted = _check_counts(fitted)
        same = all(counted[f] == s for f, s in zip(every.features, every.supports, strict=True))
        check(same, "a support is not what its merges leave")
        _check_history(history, fitted, counted)
    return fitted


def check_counts(counts: CodeCounts, fitted: FeatureSet, n_rows: int) -> None:
    """Check that the code can have counted so in that many rows."""
    code = fitted.code_counter
    sizes = code.code.n_features, code.columns.n_features, len(fitted.merges)
    same = [part.shape[1] for part in counts] in (list(sizes), [0, 0, sizes[2]])
    check(same, "its code is of other features")
    for n, k, n_other, k_other in (counts.features, counts.columns):
        holds = (k <= n) & (k_other <= n_other) & (n + n_other <= n_rows)
        check(bool(holds.all()), "a count of its code is out of range")
    n, left, right, both = counts.patterns
    holds = (both <= np.minimum(left, right)) & (left + right - both <= n) & (n <= n_rows)
    check(bool(holds.all()), "a count of its patterns is out of range")


def _check_variables(model: ModelFile) -> None:
    variables = model.variables
    same = len(variables) in (0, len(model.primitives))
    check(same, "variables and primitives differ in number")
    sizes = Counter(variable for variable in variables if variable is not None)
    check(all(size > 1 for size in sizes.values()), "a variable has only one primitive")
    check(not variables or bool(sizes), "no primitive has a variable")


def _build_lineage(model: ModelFile) -> Lineage:
    check(len(model.primitives) >= 1, "it has no primitives")
    check(len(set(model.primitives)) == len(model.primitives), "two primitives share a name")
    lineage = Lineage(model.primitives)
    for record in model.conjunctions:
        known = len(lineage)
        made = record if isinstance(record, tuple) else _build_tally(record)
        literals = made.literals if isinstance(made, Tally) else made
        check(all(-known <= x < known for x in literals), "a conjunction refers ahead")
        number = lineage.make(made)
        check(number == known, "a conjunction stands twice")
        check(lineage.length(number) <= _LONGEST, "a conjunction is absurdly long")
    same = len(model.iterations) == len(model.conjunctions)
    check(same, "iterations and conjunctions differ in number")
    return lineage


def _build_tally(record: TallyRecord) -> Tally:
    n_literals = len(record.literals)
    check(n_literals >= 2, "a count is of less than two literals")
    check(len(set(record.literals)) == n_literals, "a literal is counted twice")
    in_range = (0 if record.exactly else 1) <= record.number <= n_literals
    check(in_range, "the number of a count is out of range")
    return Tally(tuple(record.literals), record.number, record.exactly)


def _replay(merges: tuple[Merge, ...], lineage: Lineage, n_rows: int) -> set[int]:
    """Replace pair after pair, and return the features that remain."""
    present = set(range(len(lineage.primitives)))
    iteration = 0
    for merge in merges:
        left, right = merge.left, merge.right
        check({left, right} <= present and left != right, "a merge is of features not there")
        present -= {left, right}
        for number, operands in (
            (merge.both, (left, right)),
            (merge.right_only, (~left, right)),
            (merge.left_only, (left, ~right)),
        ):
            if number is not None:
                check(0 <= number < len(lineage), "a merge refers to nothing")
                check(lineage.operands(number) == operands, "a merge makes other conjunctions")
                present.add(number)
        check(0 < merge.joint <= merge.n_rows <= n_rows, "a joint count is out of range")
        in_order = max(iteration, 1) <= merge.iteration <= iteration + 1
        check(in_order, "merges are out of order")
        iteration = merge.iteration
    return present


def _read_primitive_supports(model: ModelFile, fitted: FeatureSet) -> tuple[int, ...]:
    if model.version == 1:
        return fitted.primitive_supports_from_features()
    supports = model.primitive_supports
    check(len(supports) == len(model.primitives), "supports and primitives differ in number")
    check(all(0 <= s <= model.n_rows for s in supports), "a support is out of range")
    return tuple(supports)


def _check_iterations(model: ModelFile, fitted: FeatureSet) -> None:
    for number in range(len(fitted.lineage.primitives), len(fitted.lineage)):
        before = max(fitted.iteration(parent) for parent in fitted.parents(number))
        check(fitted.iteration(number) > before, "a conjunction is no later than its parts")
    for number, merge in fitted.origins().items():
        check(fitted.iteration(number) == merge.iteration, "a merge is of another iteration")
    iterations = [line.iteration for line in model.history]
    check(iterations == list(range(len(iterations))) != [], "its history is not 0, 1, 2, …")
    known = len(model.features) + len(model.suppressed)
    check(model.history[-1].n_features == known, "its history ends with other features")
    last = max(model.iterations, default=0)
    check(last == iterations[-1], "its history and its conjunctions differ in iterations")


def _check_patterns(merges: Iterable[Merge], n_primitives: int) -> None:
    """Check that merges join features of different primitives: others never meet in a row."""
    pattern = {k: 1 << k for k in range(n_primitives)}
    for merge in merges:
        left, right = pattern[merge.left], pattern[merge.right]
        check(not left & right, "a merge joins features that are never true together")
        parts = (merge.both, left | right), (merge.right_only, right), (merge.left_only, left)
        pattern |= {number: mask for number, mask in parts if number is not None}


def _check_counts(fitted: FeatureSet) -> dict[int, int]:
    """Return the supports of all features, after checking that merges agree with them."""
    supports = dict(enumerate(fitted.primitive_supports))
    for merge in fitted.merges:
        left, right, joint = supports[merge.left], supports[merge.right], merge.joint
        check(0 < joint <= min(left, right), "a joint count is larger than a support")
        parts = (
            (merge.both, joint),
            (merge.right_only, right - joint),
            (merge.left_only, left - joint),
        )
        for number, support in parts:
            check((number is None) == (support == 0), "a merge leaves out what occurs")
            if number is not None:
                supports[number] = support
    _check_evidence(fitted.merges, supports, fitted.n_rows)
    return supports


def _check_evidence(merges: Sequence[Merge], supports: dict[int, int], n_rows: int) -> None:
    left = np.array([supports[merge.left] for merge in merges], np.int64)
    right = np.array([supports[merge.right] for merge in merges], np.int64)
    joint = np.array([merge.joint for merge in merges], np.int64)
    r = phi(n_rows, left, right, joint)
    same = np.allclose(np.array([merge.r for merge in merges]), r, _CLOSE, _CLOSE)
    check(same, "an r is not that of its counts")
    p = np.array([merge.p_value for merge in merges])
    is_exact = np.isclose(p, exact_p_value(n_rows, left, right, joint), 1e-4, 1e-12)
    is_right = is_exact | np.isclose(p, p_value(r, n_rows), _CLOSE, 1e-12)
    check(bool(is_right.all()), "a p-value is not that of its counts")
    adjusted = np.array([merge.p_adjusted for merge in merges])
    check(bool((adjusted >= p * (1 - _CLOSE)).all()), "an adjusted p-value is below its own")


def _check_history(
    history: Sequence[Indicators], fitted: FeatureSet, supports: dict[int, int]
) -> None:
    """Check the number of features, lengths, overlap and bits after each iteration."""
    lineage, n_rows = fitted.lineage, fitted.n_rows
    n_primitives = len(lineage.primitives)
    first = [supports[k] for k in range(n_primitives)]
    total, n_used = sum(first), sum(support > 0 for support in first)
    costs: dict[int, float] = dict(enumerate(primitive_costs(first).tolist()))
    n_features, length, bits = n_primitives, n_primitives, history[0].bits
    # the paper's artificial feature is one more, true in as many rows in every iteration
    null = _infer_null_support(history[0], total, n_rows, n_primitives)
    # runs by evidence do not count bits of Krimp's code
    evidence = math.nan if math.isnan(history[0].evidence) else 0.0
    by_iteration = groupby(fitted.merges, key=lambda merge: merge.iteration)
    groups: list[tuple[Merge, ...]] = [(), *(tuple(some) for _, some in by_iteration)]
    check(len(groups) == len(history), "its history and its merges differ in iterations")
    for line, some in zip(history, groups, strict=True):
        for merge in some:
            s, t = supports[merge.left], supports[merge.right]
            one, other = costs[merge.left], costs[merge.right]
            saved = bits_saved_by(s, t, merge.joint, total, n_used, one, other)
            evidence += merge.score - merge.threshold
            worth = saved if math.isnan(evidence) else merge.score - merge.threshold
            same = math.isnan(merge.saved) or _is_close(merge.saved, worth)
            check(same, "a merge saved other bits")
            parts = (merge.both, one + other), (merge.right_only, other), (merge.left_only, one)
            costs |= {number: cost for number, cost in parts if number is not None}
            total -= merge.joint
            n_used += len(merge.made) - 2
            n_features += len(merge.made) - 2
            gone = lineage.length(merge.left) + lineage.length(merge.right)
            length += sum(lineage.lengths(merge.made)) - gone
            bits -= saved
        check(line.n_features == n_features, "its history has other numbers of features")
        mean_length = mean_length_of(length, n_features)
        check(_is_close(line.length, mean_length), "a length is not its own")
        same = math.isnan(line.c0) or _is_close(line.rms, rms(line.oi, line.c0))
        check(same, "an RMS is not its own")
        same = math.isnan(line.bits) or _is_close(line.bits, bits)
        check(same, "its history has other bits")
        same = math.isnan(evidence) or _is_close(line.evidence, evidence)
        check(same, "its history has other evidence")
        oi = _overlapping_index(total, n_rows, n_features, null)
        check(_is_close(line.oi, oi), "an OI is not its own")


def _infer_null_support(first: Indicators, total: int, n_rows: int, m: int) -> int | None:
    """Return the rows without any feature if the first OI counts them, else None."""
    if _is_close(first.oi, _overlapping_index(total, n_rows, m, None)):
        return None
    return round(first.oi * n_rows * m + n_rows - total)


def _overlapping_index(total: int, n_rows: int, n_features: int, null: int | None) -> float:
    if null is not None:
        total, n_features = total + null, n_features + 1
    return 0.0 if n_features < 2 else (total - n_rows) / (n_rows * (n_features - 1))


def _is_close(value: float, expected: float) -> bool:
    return math.isclose(value, expected, rel_tol=_CLOSE, abs_tol=_CLOSE)
