"""What counts as Boolean: True and False, 0 and 1. Everything else is refused by name."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import StoreKind
from conjunct.data.raw_columns import as_float
from conjunct.errors import CellError, InputError

Missing = Literal["raise", "false", "pairwise"]
"""What to do about missing cells: refuse them, take them as false, or keep them missing."""
MISSING: tuple[Missing, ...] = ("raise", "false", "pairwise")
_ANY = "fit(BooleanData.of(data)), or Binarizer() in a pipeline, makes"
MISSING_ADVICE = "fill it, or pass missing='pairwise' or 'false' (at a prompt: --missing)"


class Cells(NamedTuple):
    """Where cells are true, and where they are missing, if any is to be kept so."""

    true: NDArray[np.bool_]
    missing: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class CellRules:
    """How cells become true, false or missing, and how columns of them are kept.

    Values above ``binarize`` are true where it is given.
    """

    binarize: float | None = None
    missing: Missing = "pairwise"
    store: StoreKind = "auto"
    n_jobs: int | None = None

    def read(self, block: NDArray[Any], names: Sequence[str], first_row: int = 0) -> Cells:
        """A block of cells as Booleans.

        ``first_row`` is the number of the block's first row, for error messages.
        """
        if block.dtype == np.bool_:
            return Cells(block)
        numbers = block if block.dtype.kind in "iufc" else _numbers(block, names, first_row)
        if numbers.dtype.kind == "c":
            raise InputError("Complex data not supported: values must be Boolean or 0/1")
        gone = None
        if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
            gone = np.isnan(numbers)
            bad = np.isinf(numbers)
            _refuse(bad | gone if self.missing == "raise" else bad, numbers, names, first_row)
        kept = gone if self.missing == "pairwise" else None
        if self.binarize is not None:
            return Cells(self._above(numbers), kept)
        other = (numbers != 0) & (numbers != 1)
        _refuse(other if gone is None else other & ~gone, numbers, names, first_row)
        return Cells(np.asarray(numbers == 1), kept)

    def read_stored(self, cells: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Which stored cells of a sparse matrix are true, if the others are false.

        ``None`` where only a look at all cells can tell, or where one is wrong.
        """
        if cells.dtype == np.bool_:
            return cells
        below_zero = self.binarize is not None and self.binarize < 0
        if cells.dtype.kind not in "iuf" or below_zero:
            return None
        gone = np.isnan(cells) if cells.dtype.kind == "f" else np.zeros(len(cells), np.bool_)
        if gone.any() and self.missing != "false":
            return None
        if self.binarize is not None:
            return None if np.isinf(cells).any() else self._above(cells)
        is_boolean = (cells == 0) | (cells == 1) | gone
        return np.asarray(cells == 1) if is_boolean.all() else None

    def _above(self, numbers: NDArray[Any]) -> NDArray[np.bool_]:
        # as doubles: beside a Python number, NumPy compares in the precision of the column
        return np.asarray(numbers > np.float64(as_float(self.binarize)))


def _numbers(block: NDArray[Any], names: Sequence[str], first_row: int) -> NDArray[np.float64]:
    """Objects as numbers: Booleans and numbers as they are, None as NaN, strings refused."""
    if block.dtype.kind != "O":
        block = block.astype(object)
    never = (str, bytes, datetime.date, datetime.timedelta)
    is_other = np.frompyfunc(lambda value: isinstance(value, never), 1, 1)(block).astype(bool)
    # '0' among 'yes' and 'no' is text too, but not what a person has to change
    is_word = is_other & ~np.frompyfunc(_is_spelled, 1, 1)(block).astype(bool)
    _refuse(is_word if is_word.any() else is_other, block, names, first_row)
    missing = np.frompyfunc(_is_missing, 1, 1)(block).astype(bool)
    numbers = np.where(missing, np.nan, block)
    try:
        return numbers.astype(np.float64)
    except OverflowError:
        return np.asarray(np.frompyfunc(as_float, 1, 1)(numbers), np.float64)


def _is_spelled(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower() in ("0", "1", "true", "false")


def _is_missing(value: object) -> bool:
    # pandas.NA, NaT and None; NaN is a number already
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _refuse(
    bad: NDArray[np.bool_],
    values: NDArray[Any],
    names: Sequence[str],
    first_row: int,
) -> None:
    if not bad.any():
        return
    row, column = (int(k) for k in np.argwhere(bad)[0])
    value = values[row, column].item() if values.dtype.kind in "iuf" else values[row, column]
    made = "columns of words, numbers and dates Boolean"
    advice = f"use True/False or 0/1, or pass binarize= to cut all at one number; {_ANY} {made}"
    if isinstance(value, str | datetime.date):
        advice = f"{_ANY} {made}"
    problem = f"{value!r} is not Boolean"
    if value != value:
        problem, advice = "the value is missing (NaN)", MISSING_ADVICE
    elif values.dtype.kind == "f" and np.isinf(value):
        problem, advice = f"the value is infinity ({value!r})", "it must be Boolean or 0/1"
    raise CellError(names[column], first_row + row, value, problem, advice)
