"""Formulas and shares as labels; nothing is written out where nobody could read it."""

from __future__ import annotations

from conjunct.expressions import Expression, Style

_LONGEST = 80
_MANY_LITERALS = 100  # beyond, a label says how many instead of which
_MOST_LITERALS = 10_000  # of a formula that is written out in full


def label(expression: Expression, style: Style = "unicode", longest: int = _LONGEST) -> str:
    """The formula as text of at most ``longest`` characters."""
    if expression.length > _MANY_LITERALS:
        return f"a formula of {expression.length:,} literals"
    return shortened(expression.text(style), longest)


def shortened(text: str, longest: int = _LONGEST) -> str:
    """The text, cut with an ellipsis where it is longer."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def rule_text(expression: Expression, style: Style) -> str:
    """A formula in full, unless it is so long that nobody would read it."""
    if expression.length > _MOST_LITERALS:
        return f"(a formula of {expression.length:,} literals)"
    return expression.text(style)


def share(part: float) -> str:
    """A share of 1 in percent: ``12%``, ``1.2%``, ``0.03%``."""
    percent = 100 * part
    if percent == 0 or percent >= 10:
        return f"{percent:.0f}%"
    return f"{percent:.1f}%" if percent >= 0.1 else f"{percent:.1g}%"
