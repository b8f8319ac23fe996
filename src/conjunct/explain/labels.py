"""Numbers, names and formulas as short texts: few digits, and never more than are known."""

from __future__ import annotations

import math
from collections.abc import Sequence

from conjunct.expressions import Expression, Style

_LONGEST = 80
_MANY_LITERALS = 100  # beyond, a label says how many instead of which
_MOST_LITERALS = 10_000  # of a formula that is written out in full
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def label(expression: Expression, style: Style = "unicode", longest: int = _LONGEST) -> str:
    """The formula as text of at most ``longest`` characters."""
    if expression.length > _MANY_LITERALS:
        return f"a formula of {expression.length:,} literals"
    return shortened(expression.text(style), longest)


def formula_text(expression: Expression, style: Style) -> str:
    """A formula in full, unless it is so long that nobody would read it."""
    if expression.length > _MOST_LITERALS:
        return f"(a formula of {expression.length:,} literals)"
    return expression.text(style)


def shortened(text: str, longest: int = _LONGEST) -> str:
    """The text, cut with an ellipsis where it is longer."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def listed(names: Sequence[str], at_most: int, longest: int) -> str:
    """Names in a row, the first few of many."""
    shown = ", ".join(shortened(name, longest) for name in names[:at_most])
    more = len(names) - at_most
    return f"{shown} and {more:,} more" if more > 0 else shown


def count(number: int, noun: str = "", plural: str = "") -> str:
    """``1,234 rows``; ``1 row``."""
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def decimal(value: float, digits: int = 3) -> str:
    """``0.432``; a dash where there is no value."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def share(part: float) -> str:
    """A share of 1 in percent: ``12%``, ``1.2%``, ``0.03%``."""
    percent = 100 * part
    if percent == 0 or percent >= 10:
        return f"{percent:.0f}%"
    return f"{percent:.1f}%" if percent >= 0.1 else f"{percent:.1g}%"


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
