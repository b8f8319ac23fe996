"""Formulas as labels: cut to a length, and never written out where nobody could read them."""

from __future__ import annotations

from conjunct.expressions import Expression, Style

_LONGEST = 80
_MANY_LITERALS = 100  # beyond, a label says how many instead of which


def label(expression: Expression, style: Style = "unicode", longest: int = _LONGEST) -> str:
    """The formula as text of at most ``longest`` characters."""
    if expression.length > _MANY_LITERALS:
        return f"a formula of {expression.length:,} literals"
    return shortened(expression.text(style), longest)


def shortened(text: str, longest: int = _LONGEST) -> str:
    """The text, cut with an ellipsis where it is longer."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
