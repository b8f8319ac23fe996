"""What the drawings of a page share: about how wide texts are, and the marks of an axis."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_NARROW = frozenset("fijlrtI.,:;'!|()[] ")
_BROAD = frozenset("mwMW@%+∧∨¬")


def width_of(text: str, size: float) -> float:
    """About the width of a text, in pixels: the browser that shows it has a font of its own."""
    return size * sum(map(_width, text))


def cut_to(text: str, width: float, size: float) -> str:
    """The text, cut with an ellipsis where it would be wider."""
    room = width / size
    for k, character in enumerate(text):
        room -= _width(character)
        if room < 0:
            return text[: max(0, k - 1)].rstrip() + "…"
    return text


def _width(character: str) -> float:
    if character in _NARROW:
        return 0.35
    if character in _BROAD or unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.72 if character.isupper() else 0.62


@dataclass(frozen=True)
class Axis:
    """Values from ``low`` to ``high`` on ``length`` pixels; marks stand at round numbers."""

    low: float
    high: float
    step: float
    length: float

    @classmethod
    def over(cls, values: Sequence[float], length: float, n_marks: int, *, whole: bool) -> Axis:
        """An axis with about so many marks that begins and ends with one."""
        low, high = min(values), max(values)
        span = (high - low) or abs(high) or 1.0
        step = _round_step(span / n_marks)
        if whole:
            step = max(1.0, step)
        first, last = math.floor(low / step), math.ceil(high / step)
        return cls(first * step, max(last, first + 1) * step, step, length)

    @property
    def marks(self) -> list[tuple[float, str]]:
        """Places and labels."""
        n = round((self.high - self.low) / self.step)
        digits = max(0, -math.floor(math.log10(self.step)))
        values = [self.low + k * self.step for k in range(n + 1)]
        return [(round(self.at(value), 1), f"{value:,.{digits}f}") for value in values]

    def at(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low) * self.length


def _round_step(least: float) -> float:
    """1, 2 or 5, times a power of ten: the one nearest to this."""
    power = 10.0 ** math.floor(math.log10(least))
    return power * min((1, 2, 5, 10), key=lambda digit: abs(math.log(digit * power / least)))
