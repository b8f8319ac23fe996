"""Findings from the definitions in DESIGN, slowly: rows are sets of tags, nothing is clever.

``joined`` lists the two sets of tags of each merge; which pairs are joined is another oracle's
subject. ``variable`` maps a tag to its variable, or to the tag itself.
"""

import math
from itertools import combinations


def facts(rows, left, right):
    """Rows with the left tags, the right ones, both; lift and evidence of the 2 × 2 table."""
    n = len(rows)
    s = sum(left <= row for row in rows)
    t = sum(right <= row for row in rows)
    c = sum((left | right) <= row for row in rows)
    if c * n <= s * t:
        return None
    bits = 0.0
    for x, across, down in (
        (c, s, t),
        (s - c, s, n - t),
        (t - c, n - s, t),
        (n - s - t + c, n - s, n - t),
    ):
        if x:
            bits += x * math.log2(x * n / (across * down))
    return {"rows": c, "left": s, "right": t, "lift": c * n / (s * t), "evidence": bits}


def phi(rows, a, b):
    n = len(rows)
    s = sum(a <= row for row in rows)
    t = sum(b <= row for row in rows)
    c = sum((a | b) <= row for row in rows)
    spread = math.sqrt(s * (n - s) * t * (n - t))
    return (n * c - s * t) / spread if spread else 0.0


def find(rows, joined, variable):
    """Return the facts of all chunks, those to list, and the sets of tags that say the same."""
    rows = [frozenset(row) for row in rows]
    every = {}
    for left, right in joined:
        left, right = frozenset(left), frozenset(right)
        found = facts(rows, left, right)
        if found and found["evidence"] > 0:
            every[left | right] = dict(found, parts=(left, right))
    same = []
    for tags in sorted(every, key=len):
        left, right = every[tags]["parts"]
        if phi(rows, left, right) >= 0.98 and all(
            len(part) == 1 or part in same for part in (left, right)
        ):
            same = [one for one in same if not one <= tags] + [tags]

    def class_of(tag):
        return next((one for one in same if tag in one), tag)

    listed = [tags for tags in every if len({class_of(tag) for tag in tags}) > 1]

    # variables linked by values that say the same count as one
    groups = [{v} for v in set(variable.values())]
    for one in same:
        touched = [g for g in groups if g & {variable[tag] for tag in one}]
        groups = [g for g in groups if g not in touched] + [set().union(*touched)]

    def about(tags):
        return frozenset(frozenset(next(g for g in groups if variable[tag] in g)) for tag in tags)

    return {"every": every, "same": same, "listed": listed, "about": about}


def keeps_half(one, other):
    """Check that a set of tags has at least half of the rows of another."""
    return 2 * one["rows"] >= other["rows"]


def chunks_that_stand_alone(facts_of):
    """Return the sets of tags that no larger one of them keeps half of the rows of."""
    alone = []
    for tags in sorted(facts_of, key=len, reverse=True):
        if not any(tags < one and keeps_half(facts_of[one], facts_of[tags]) for one in alone):
            alone.append(tags)
    return alone


def exact_copies(rows, same):
    """Return the sets of tags that are in exactly the same rows."""
    rows = [frozenset(row) for row in rows]
    return [
        tags
        for tags in same
        if all(all((a in row) == (b in row) for row in rows) for a, b in combinations(tags, 2))
    ]
