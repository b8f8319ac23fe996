"""How long a row is in the code of each class: what a classifier by code length counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Columns
from conjunct.features import Asked, RowCode

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TRUSTS = tuple(k / 20 for k in range(20, 0, -1))
_ROOM = 1e-6
# lines that are numbers at a time
_LINES_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class ClassCode:
    """In how many rows of each class the answer to a question is yes, and no.

    A line of ``true`` and ``false`` is a question, a column a class. Each feature is a question;
    with variables, those of the rows in which another value is true follow, in the same order.
    """

    code: RowCode
    smoothing: float
    n_rows: Ints
    true: Ints
    false: Ints

    @property
    def prior_bits(self) -> Floats:
        return _bits(self.n_rows, self.n_rows.sum())

    def answer_bits(self, *, less: int = 0) -> tuple[Floats, Floats]:
        """Bits of yes, and of no, to each question in each class.

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
        total = np.zeros((columns.n_rows, if_true.shape[1]))
        for rows, asked in self.code.asked(columns):
            for some, yes, no in _in_numbers(asked):
                total[rows] += yes.T @ if_true[some] + no.T @ if_false[some]
        return total

    @classmethod
    def counted(
        cls, code: RowCode, columns: Columns, members: Floats, smoothing: float
    ) -> ClassCode:
        """``members`` is how often each row counts in each class."""
        true, false = np.zeros((2, code.n_questions, members.shape[1]))
        for rows, asked in code.asked(columns):
            for some, yes, no in _in_numbers(asked):
                true[some] += yes @ members[rows]
                false[some] += no @ members[rows]
        n_rows = members.sum(axis=0).astype(np.int64)
        return cls(code, smoothing, n_rows, true.astype(np.int64), false.astype(np.int64))

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


def _in_numbers(asked: Asked) -> Iterator[tuple[slice, Floats, Floats]]:
    """Where the answer to some questions at a time is yes, and where no."""
    questions, true = asked.questions, asked.yes
    for start in range(0, len(questions), _LINES_AT_ONCE):
        some = slice(start, min(start + _LINES_AT_ONCE, len(questions)))
        yes = true[some]
        yield some, yes.astype(np.float64), (questions[some] & ~yes).astype(np.float64)
