"""Patterns as text: the primitives that a feature asserts, without what it denies."""

from __future__ import annotations

from collections.abc import Sequence

from conjunct.expressions.text import quoted

_BETWEEN = " + "
_REST = " (rest)"

CHUNKS_BETWEEN = " · "
"""Between the chunks of a row."""


def pattern_text(pattern: Sequence[str], *, is_rest: bool = False) -> str:
    """A pattern as text, marked where it is what is left of its primitives.

    Different patterns have different texts: names that could be misread are quoted. A pattern
    says nothing of what a feature denies, so ``parse`` does not read it.

    Examples
    --------
    >>> pattern_text(["chair", "dining table"])
    'chair + dining table'
    >>> pattern_text(["person"], is_rest=True)
    'person (rest)'
    >>> pattern_text(["C + +", "book"])
    '"C + +" + book'
    """
    text = _BETWEEN.join(map(_name, pattern))
    return text + _REST if is_rest else text


def _name(name: str) -> str:
    odd = not name or name != name.strip() or not name.isprintable() or name.startswith('"')
    misread = any(mark in name for mark in (_BETWEEN.strip(), CHUNKS_BETWEEN.strip()))
    return quoted(name) if odd or misread or name.endswith(_REST.strip()) else name
