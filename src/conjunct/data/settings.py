"""The parameters of ``Binarizer`` as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from numbers import Integral, Real
from typing import Literal, Self, get_args

from conjunct.data.dates import PARTS, DatePart
from conjunct.data.edges import Cut
from conjunct.errors import InputError

Rare = Literal["group", "drop"]


@dataclass(frozen=True)
class Settings:
    """How columns are made Boolean; ``Binarizer`` says what each field means."""

    numbers: Cut = "quantile"
    n_bins: int = 4
    cumulative: bool = False
    edges: Mapping[str, Sequence[float]] = field(default_factory=dict)
    min_frequency: float = 1
    max_categories: int = 20
    rare: Rare = "group"
    parts: tuple[DatePart, ...] = PARTS
    words: tuple[str, ...] = ()

    def checked(self) -> Self:
        """Itself, if every field can be used."""
        self._choice("numbers", get_args(Cut))
        self._choice("cumulative", (True, False))
        self._choice("rare", get_args(Rare))
        for name in ("n_bins", "max_categories"):
            value = getattr(self, name)
            whole = isinstance(value, Integral) and not isinstance(value, bool)
            _check(whole and value >= 2, name, value, "a whole number, at least 2")
        least = self.min_frequency
        _check(
            _is_number(least) and (0 < least < 1 or (least >= 1 and float(least).is_integer())),
            "min_frequency",
            least,
            "a whole number of rows, or a share between 0 and 1",
        )
        _check(set(self.parts) <= set(PARTS), "parts", self.parts, f"some of {', '.join(PARTS)}")
        for column, edges in self.edges.items():
            numbers = list(edges)
            finite = bool(numbers) and all(map(_is_finite, numbers))
            rising = finite and [*map(float, numbers)] == sorted({*map(float, numbers)})
            _check(rising, f"edges of {column!r}", numbers, "rising, finite numbers")
        return self

    def _choice(self, name: str, choices: Sequence[object]) -> None:
        value = getattr(self, name)
        _check(value in choices, name, value, " or ".join(map(repr, choices)))


def _check(holds: bool, name: str, value: object, wanted: str) -> None:
    if not holds:
        raise InputError(f"{name} must be {wanted}; got {value!r}")


def _is_finite(value: object) -> bool:
    try:
        return isinstance(value, Real) and _is_number(value) and isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
