"""What a feature is: a formula over named primitives, and its text."""

from conjunct.expressions.expression import And, Constant, Expression, Not, Or, Primitive, Style
from conjunct.expressions.order import canonical_key, compare_canonical
from conjunct.expressions.parser import ExpressionSyntaxError, parse
from conjunct.expressions.text import canonical_text, render

__all__ = [
    "And",
    "Constant",
    "Expression",
    "ExpressionSyntaxError",
    "Not",
    "Or",
    "Primitive",
    "Style",
    "canonical_key",
    "canonical_text",
    "compare_canonical",
    "parse",
    "render",
]
