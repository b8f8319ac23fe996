"""Runs that go on from where an earlier one came to: only merges are kept, never columns."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from typing import Protocol

import numpy as np

from conjunct.columns import AnyRewrite, MergeRewrite, Rewrite
from conjunct.errors import InputError
from conjunct.features import Lineage, Merge
from conjunct.ufc.run_state import Indicators, RunState, Step


class ProgressError(InputError):
    """Progress that cannot be that of this run."""


@dataclass(frozen=True)
class Progress:
    """The progress of a run: all merges so far, and the indicators of every step.

    Supports, and the rows in which features are known where cells are missing, are those of all
    features ever made, by their numbers.
    """

    merges: tuple[Merge, ...]
    tried: tuple[Indicators, ...]
    supports: tuple[int, ...]
    observed: tuple[int, ...] | None = None


@dataclass(frozen=True)
class RunIdentity:
    """The data and options of a run. Progress of a run on others is of no use to it."""

    options: str
    names: str
    n_rows: int
    fingerprint: int
    """Of the rows."""

    @classmethod
    def of(
        cls, names: Sequence[str], n_rows: int, fingerprint: int, options: tuple[object, ...]
    ) -> RunIdentity:
        """Return the identity; ``options`` are those that steps depend on."""
        digest = sha256("\0".join(names).encode("utf-8", "surrogatepass")).hexdigest()
        return cls(repr(options), digest, n_rows, fingerprint)


class ProgressStore(Protocol):
    """A place that keeps the progress of a run."""

    def load(self, identity: RunIdentity) -> Progress | None:
        """Return the progress kept, if there is some; refuse that of another identity."""
        ...

    def save(self, identity: RunIdentity, news: Callable[[], Progress], *, last: bool) -> None:
        """Keep what is new; not after every step, if steps are quick, but after the last.

        ``news`` gives what came since it was last called.
        """
        ...

    def wrong_run(self, why: object) -> Exception:
        """Return the error for progress that turns out to be that of another run."""
        ...


def check_progress(progress: Progress, lineage: Lineage) -> None:
    """Make the features of the merges in the lineage, and refuse what no run can have made."""
    present = set(range(len(lineage.primitives)))
    n_steps = 0
    for iteration, merges in groupby(progress.merges, key=lambda merge: merge.iteration):
        n_steps += 1
        if iteration != n_steps:
            raise ProgressError("its iterations are not 1, 2, 3, …")
        for merge in merges:
            left, right = merge.left, merge.right
            if not {left, right} <= present or left == right:
                raise ProgressError("it replaces features that are not there")
            present -= {left, right}
            for number, operands in (
                (merge.both, (left, right)),
                (merge.right_only, (~left, right)),
                (merge.left_only, (left, ~right)),
            ):
                if number is not None and lineage.conjoin(*operands) != number:
                    raise ProgressError("its features are not numbered in the order made")
            present.update(merge.made)
    observed = progress.supports if progress.observed is None else progress.observed
    fits = len(progress.supports) == len(observed) == len(lineage)
    if not fits or len(progress.tried) != n_steps + 1:
        raise ProgressError("its parts do not fit together")


def rewrites_in_place(merges: Sequence[Merge], n_primitives: int) -> list[MergeRewrite]:
    """Return what merging one pair at a time does to the columns."""
    column = {feature: feature for feature in range(n_primitives)}
    rewrites: list[MergeRewrite] = []
    for n_columns, merge in enumerate(merges, start=n_primitives):
        left, right = column[merge.left], column[merge.right]
        rewrites.append(MergeRewrite(left, right, n_columns))
        places = (merge.both, n_columns), (merge.right_only, right), (merge.left_only, left)
        column |= {number: place for number, place in places if number is not None}
    return rewrites


def rewrites_in_batches(
    merges: Sequence[Merge], n_primitives: int
) -> tuple[tuple[int, ...], list[AnyRewrite]]:
    """Return the features that whole iterations leave, and what these do to the columns."""
    features = tuple(range(n_primitives))
    rewrites: list[AnyRewrite] = []
    for _, some in groupby(merges, key=lambda merge: merge.iteration):
        features, rewrite = _rewrite_columns(features, list(some))
        rewrites.append(rewrite)
    return features, rewrites


def _rewrite_columns(
    features: tuple[int, ...], merges: Sequence[Merge]
) -> tuple[tuple[int, ...], Rewrite]:
    position = {feature: k for k, feature in enumerate(features)}
    left = [position.pop(merge.left) for merge in merges]
    right = [position.pop(merge.right) for merge in merges]
    kept = sorted(position.values())
    following = [features[k] for k in kept]
    plus, minus = list(kept), [-1] * len(kept)
    for k, merge in enumerate(merges):
        both = len(features) + k
        for number, whole, less in (
            (merge.both, both, -1),
            (merge.right_only, right[k], both),
            (merge.left_only, left[k], both),
        ):
            if number is not None:
                following.append(number)
                plus.append(whole)
                minus.append(less)
    columns = (np.array(column, np.intp) for column in (left, right, plus, minus))
    return tuple(following), Rewrite(*columns)


def record_steps(
    steps: Iterable[Step],
    save: Callable[..., None],
    current_state: Callable[[], RunState],
    n_saved: int,
) -> Generator[Step]:
    """Yield the steps, and save what is new as they come.

    ``n_saved`` features are saved already; so is what is replayed.
    """
    new: list[Step] = []

    def news() -> Progress:
        nonlocal n_saved
        state = current_state()
        observed = None if state.observed is None else tuple(state.observed[n_saved:])
        merges = tuple(merge for step in new for merge in step.merges)
        tried = tuple(step.indicators for step in new)
        supports = tuple(state.supports[n_saved:])
        new.clear()
        n_saved += len(supports)
        return Progress(merges, tried, supports, observed)

    try:
        for step in steps:
            if not step.is_replayed:
                new.append(step)
                if step.iteration:
                    save(news, last=False)
            yield step
    finally:
        if new and new[-1].iteration:
            save(news, last=True)
