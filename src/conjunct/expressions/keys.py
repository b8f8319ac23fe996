"""Sort keys that order formulas as their canonical texts do, compared at C speed.

A key is the text cut at the edges of its operands, each piece with the sign that follows it:
that of ``a & ~(b & c)`` is ``(("a & ",), ("~(", (("b & ",), ("c)",)), " & "))``. As long as names
are plain, no piece of a text goes on where a piece of another one ends, so that comparing piece by
piece is comparing texts. Parts that formulas share are the same object, which Python does not open.
"""

from __future__ import annotations

import re
from bisect import bisect
from typing import Any

Operand = tuple[Any, ...]
Key = tuple[Operand, ...]

# a sign, what is below a space, or a space before a sign, before what is below one, or at the end
_NOT_PLAIN = re.compile(r"[~&()\x00-\x1f]| [\x00-&]| \Z")


def is_plain(name: str) -> bool:
    """Whether keys tell a name from the notation around it.

    Apart from the signs themselves, that takes a sign or something below it after a space, or
    characters below the space.
    """
    return _NOT_PLAIN.search(name) is None


def primitive_key(name: str) -> Key:
    return ((name + " & ",),)


def conjunction_key(left: Key, right: Key) -> Key:
    if len(left) < len(right):
        left, right = right, left
    if len(right) > 1:
        return tuple(sorted(left + right))
    place = bisect(left, right[0])
    return (*left[:place], right[0], *left[place:])


def negation_key(key: Key, *, is_conjunction: bool) -> Key:
    if is_conjunction:
        return (("~(", (*key[:-1], _closed(key[-1])), " & "),)
    sign, *rest = key[0]
    return (("~" + sign, *rest),)


def _closed(operand: Operand) -> Operand:
    """The operand as the last one between parentheses."""
    if len(operand) == 1:
        return (operand[0].removesuffix(" & ") + ")",)
    return (operand[0], operand[1], ")")
