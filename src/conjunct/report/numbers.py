"""Numbers as people write them: few digits, and never more than are known."""

from __future__ import annotations

import math

from conjunct.reading import share

__all__ = ["count", "decimal", "probability", "share", "size", "ticks"]

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def count(number: int, noun: str = "", plural: str = "") -> str:
    """``1,234 rows``; ``1 row``."""
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def decimal(value: float, digits: int = 3) -> str:
    """``0.432``; a dash where there is no value."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def probability(p: float) -> str:
    """``0.012``, ``3.1 × 10⁻⁵``; a dash where there is no value."""
    if math.isnan(p):
        return "–"
    if p == 0:
        return "< 10⁻³⁰⁰"
    if p >= 0.001:
        return f"{p:.2g}"
    mantissa, exponent = f"{p:.1e}".split("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPTS)}"


def size(n_bytes: int) -> str:
    """``512 bytes``, ``1.2 MB``."""
    value = float(n_bytes)
    for unit in ("bytes", "KB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def ticks(low: float, high: float, about: int = 6) -> list[float]:
    """Round numbers from ``low`` to ``high`` for an axis."""
    if not high > low:
        return [low]
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(k * step, 10) for k in range(first, last + 1)]
