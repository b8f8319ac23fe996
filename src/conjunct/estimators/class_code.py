"""How long a row is in the code of each class: what a classifier by code length counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Columns
from conjunct.features import FeatureSet, answers

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TRUSTS = tuple(k / 20 for k in range(20, 0, -1))
_ROOM = 1e-6
# Cells that are unpacked at a time.
_CELLS_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class ClassCode:
    """In how many rows of each class a feature is true, and false though it could be true.

    A line of ``true`` and ``false`` is a feature, a column a class.
    """

    features: FeatureSet
    smoothing: float
    n_rows: Ints
    true: Ints
    false: Ints

    @property
    def prior_bits(self) -> Floats:
        return _bits(self.n_rows, self.n_rows.sum())

    def answer_bits(self, *, less: int = 0) -> tuple[Floats, Floats]:
        """Bits of a feature that is true, and of one that is false, in each class.

        ``less`` rows with that very answer are not counted.
        """
        true, false = np.maximum(self.true - less, 0), np.maximum(self.false - less, 0)
        return (
            _bits(true + self.smoothing, true + self.false + 2 * self.smoothing),
            _bits(false + self.smoothing, self.true + false + 2 * self.smoothing),
        )

    def row_bits(self, columns: Columns, *, less: int = 0) -> Floats:
        """Bits of each row in the code of each class."""
        if_true, if_false = self.answer_bits(less=less)
        true, false = answers(self.features, columns)
        return _row_sums(true, if_true) + _row_sums(false, if_false)

    @classmethod
    def counted(
        cls, features: FeatureSet, columns: Columns, members: Floats, smoothing: float
    ) -> ClassCode:
        """``members`` is how often each row counts in each class."""
        true, false = answers(features, columns)
        return cls(
            features,
            smoothing,
            members.sum(axis=0).astype(np.int64),
            _class_sums(true, members),
            _class_sums(false, members),
        )

    def bits_left_out(self, columns: Columns, members: Floats) -> Floats:
        """Bits of each row and class, in the code of each class as the other rows make it."""
        own = members.argmax(axis=1)[:, None]
        bits = self.row_bits(columns) + self.prior_bits
        without = np.take_along_axis(self.row_bits(columns, less=1), own, axis=1)
        left = self.n_rows[own] - 1 + self.smoothing
        every = self.n_rows.sum() - 1 + members.shape[1] * self.smoothing
        np.put_along_axis(bits, own, without + _bits(left, every), axis=1)
        return bits


def least_loss(bits: Floats, members: Floats) -> tuple[float, float]:
    """Bits that the classes of all rows take at the best trust, and that trust.

    Trust is how much of each bit counts. Answers that depend on each other within a class tell
    the same thing more than once, and then less than 1 tells the classes better.
    """
    own, weights = members.argmax(axis=1)[:, None], members.max(axis=1)
    losses = [
        float(weights @ np.take_along_axis(normalised(trust * bits), own, axis=1)[:, 0])
        for trust in _TRUSTS
    ]
    first = first_least(losses)
    return losses[first], _TRUSTS[first]


def first_least(losses: Sequence[float]) -> int:
    """The first that is least, with a little room, so that rounding never decides."""
    least = min(losses)
    room = _ROOM * max(least, 1.0)
    return next(k for k, loss in enumerate(losses) if loss <= least + room)


def _bits(part: Any, whole: Any) -> Floats:
    return np.asarray(np.log2(whole) - np.log2(part), np.float64)


def normalised(bits: Floats) -> Floats:
    """Bits of each class as minus the logarithms of probabilities, which add up to 1."""
    least = bits.min(axis=1, keepdims=True)
    every = np.log2(np.exp2(least - bits).sum(axis=1, keepdims=True))
    return np.asarray(bits - least + every, np.float64)


def _blocks(columns: Columns) -> Any:
    """Some columns at a time, as numbers."""
    step = max(1, _CELLS_AT_ONCE // max(columns.n_rows, 1))
    for start in range(0, columns.n_columns, step):
        some = slice(start, min(start + step, columns.n_columns))
        part = columns.select(range(some.start, some.stop)).filled()
        yield some, part.to_dense().astype(np.float64)


def _row_sums(columns: Columns, values: Floats) -> Floats:
    total = np.zeros((columns.n_rows, values.shape[1]))
    for some, cells in _blocks(columns):
        total += cells @ values[some]
    return total


def _class_sums(columns: Columns, members: Floats) -> Ints:
    total = np.zeros((columns.n_columns, members.shape[1]))
    for some, cells in _blocks(columns):
        total[some] = cells.T @ members
    return total.astype(np.int64)
