"""The slow, obvious oracle of comparing: rows are counted one by one, tables by binomials.

A feature is a column of True, False and None (missing). It imports nothing from conjunct.
"""

import math
from fractions import Fraction

import naive_statistics


def at_least(inside, n_inside, outside, n_outside):
    """Chance that so many of the true rows, or more, fall on the inside by chance."""
    n, true = n_inside + n_outside, inside + outside
    ways = sum(
        math.comb(n_inside, k) * math.comb(n_outside, true - k)
        for k in range(inside, min(n_inside, true) + 1)
    )
    return Fraction(ways, math.comb(n, true))


def columns_with_all(table, tag_sets):
    """For each set of tags, the column "has all of them": False if one is, else None if one is."""
    return [
        [
            False if False in cells else None if None in cells else True
            for cells in zip(*(table[tag] for tag in tags), strict=True)
        ]
        for tags in tag_sets
    ]


def without_supersets(ranked):
    """The sets of tags that hold none of the earlier ones."""
    kept = []
    for tags in ranked:
        if not any(other <= tags for other in kept):
            kept.append(tags)
    return kept


def counted(column):
    """The rows in which a feature is true, and in which it is known."""
    return sum(cell is True for cell in column), sum(cell is not None for cell in column)


def two_sided(*counts):
    inside, n_inside, outside, n_outside = counts
    return min(
        Fraction(1), 2 * min(at_least(*counts), at_least(outside, n_outside, inside, n_inside))
    )


def can_be_tested(inside, n_inside, outside, n_outside, alpha, test):
    """Whether some table with these totals is significant at alpha."""
    n, true = n_inside + n_outside, inside + outside
    if not (0 < true < n and n_inside > 0 and n_outside > 0):
        return False
    possible = range(max(0, true - n_outside), min(n_inside, true) + 1)
    return alpha is None or any(
        test(k, n_inside, true - k, n_outside) <= Fraction(str(alpha)) for k in possible
    )


def compare(first, second, alpha, correction):
    """{feature: (true, known, true, known, p, adjusted p)} of all features that can be tested."""
    found = {}
    for k, columns in enumerate(zip(first, second, strict=True)):
        (a, n), (b, m) = map(counted, columns)
        if can_be_tested(a, n, b, m, alpha, two_sided):
            found[k] = a, n, b, m, two_sided(a, n, b, m)
    return with_adjusted(found, correction)


def describe(features, labels, alpha, correction):
    """The same by (group, feature): inside the group and outside; rows without label left out."""
    found = {}
    for group in {label for label in labels if label is not None}:
        for k, column in enumerate(features):
            labelled = [(x, y) for x, y in zip(column, labels, strict=True) if y is not None]
            a, n = counted([cell for cell, label in labelled if label == group])
            b, m = counted([cell for cell, label in labelled if label != group])
            if can_be_tested(a, n, b, m, alpha, at_least):
                found[group, k] = a, n, b, m, at_least(a, n, b, m)
    return with_adjusted(found, correction)


def with_adjusted(found, correction):
    p_values = naive_statistics.adjusted([row[-1] for row in found.values()], correction)
    return {key: (*row, p) for (key, row), p in zip(found.items(), p_values, strict=True)}
