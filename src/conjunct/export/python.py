"""Features as the source of a Python function that needs nothing but Python."""

from __future__ import annotations

from collections.abc import Mapping

from conjunct.expressions import Constant, Expression, Not, Or, Primitive
from conjunct.expressions.expression import nodes

_HEAD = '''\
"""Features constructed by conjunct. This file needs nothing but Python."""


def features(row):
    """The features of one row, by name: True, False, or None where a missing cell decides.

    ``row`` maps the names of the columns to {values}.
    A missing cell is None or NaN.
    """
'''

_TAIL = """

def _truth(row, name):
    value = row[name]
    if value is None or value != value:
        return None
{truth}

def _not(value):
    return None if value is None else not value


def _and(*values):
    return False if False in values else None if None in values else True


def _or(*values):
    return True if True in values else None if None in values else False
"""

_BOOLEAN = """\
    if value not in (0, 1):
        raise ValueError(f"{name!r}: {value!r} is not Boolean")
    return bool(value)
"""


def to_python(features: Mapping[str, Expression], *, cut: float | None = None) -> str:
    """The source of a function ``features(row)`` from a mapping of columns to one of features.

    Each part of a formula is computed once, however often it occurs. Names appear as string
    literals only. With ``cut``, values above it are true.
    """
    lines: list[str] = []
    variable: dict[Expression, str] = {}
    for feature in features.values():
        for node in nodes(feature):
            if node not in variable:
                variable[node] = f"v{len(variable)}"
                lines.append(f"    {variable[node]} = {_code(node, variable)}")
    lines.append("    return {")
    lines += [f"        {name!r}: {variable[feature]}," for name, feature in features.items()]
    lines.append("    }")
    values = "True and False, or 1 and 0" if cut is None else f"numbers, true above {cut!r}"
    truth = _BOOLEAN if cut is None else f"    return value > {cut!r}\n"
    head, tail = _HEAD.replace("{values}", values), _TAIL.replace("{truth}", truth)
    return head + "\n".join(lines) + "\n" + tail


def _code(node: Expression, variable: Mapping[Expression, str]) -> str:
    if isinstance(node, Primitive):
        return f"_truth(row, {node.name!r})"
    if isinstance(node, Constant):
        return repr(node.value)
    call = "_not" if isinstance(node, Not) else "_or" if isinstance(node, Or) else "_and"
    return f"{call}({', '.join(variable[operand] for operand in node._children)})"
