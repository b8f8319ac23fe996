"""Slow, obvious meanings of formulas. It imports nothing from conjunct.

A formula is plain nested tuples: ("name", "sky"), ("constant", True), ("not", f),
("and", f, g, ...), ("or", f, g, ...), ("at least", 2, f, g, ...), ("exactly", 2, f, g, ...).
"""

import itertools
import math


def names(formula):
    kind, *parts = formula
    if kind == "name":
        return {parts[0]}
    if kind == "constant":
        return set()
    if kind in ("at least", "exactly"):
        parts = parts[1:]
    return set().union(*map(names, parts))


def holds(kind, number, n_true):
    return n_true >= number if kind == "at least" else n_true == number


def value(formula, values):
    """Truth value under an assignment."""
    kind, *parts = formula
    if kind == "name":
        return values[parts[0]]
    if kind == "constant":
        return parts[0]
    if kind == "not":
        return not value(parts[0], values)
    if kind in ("at least", "exactly"):
        number, *operands = parts
        return holds(kind, number, sum(value(operand, values) for operand in operands))
    return (any if kind == "or" else all)(value(part, values) for part in parts)


def kleene(formula, values):
    """Truth value where some are missing (None): unknown unless every way to fill them agrees
    at each connective (Kleene's strong logic)."""
    kind, *parts = formula
    if kind == "name":
        return values[parts[0]]
    if kind == "constant":
        return parts[0]
    if kind == "not":
        inner = kleene(parts[0], values)
        return None if inner is None else not inner
    if kind in ("at least", "exactly"):
        number, *operands = parts
        inner = [kleene(operand, values) for operand in operands]
        ways = itertools.product(*[[False, True] if one is None else [one] for one in inner])
        outcomes = {holds(kind, number, sum(way)) for way in ways}
        return outcomes.pop() if len(outcomes) == 1 else None
    inner = [kleene(part, values) for part in parts]
    decisive = kind == "or"
    if decisive in inner:
        return decisive
    return None if None in inner else not decisive


def assignments(variables):
    variables = sorted(variables)
    for truths in itertools.product([False, True], repeat=len(variables)):
        yield dict(zip(variables, truths, strict=True))


def equivalent(one, other):
    variables = names(one) | names(other)
    return all(value(one, v) == value(other, v) for v in assignments(variables))


def fewest_literals(n_variables):
    """For each function of n variables (a tuple of values) the length of its shortest formula.

    Starts from constants and literals and joins whatever is known until nothing gets shorter.
    """
    rows = list(itertools.product([False, True], repeat=n_variables))
    cost = {tuple([False] * len(rows)): 0, tuple([True] * len(rows)): 0}
    for k in range(n_variables):
        cost[tuple(row[k] for row in rows)] = 1
        cost[tuple(not row[k] for row in rows)] = 1
    bound = 1
    while bound < max(cost.values()) * 2:
        bound += 1
        for f, g in itertools.combinations(list(cost), 2):
            if cost[f] + cost[g] == bound:
                for joined in (
                    tuple(p and q for p, q in zip(f, g, strict=True)),
                    tuple(p or q for p, q in zip(f, g, strict=True)),
                ):
                    cost[joined] = min(cost.get(joined, math.inf), bound)
    return cost
