"""What pictures show, computed the slow and obvious way."""

import math


def correlation(one, other):
    """Pearson's r of two lists of 0/1; NaN where one is constant."""
    n = len(one)
    mean, other_mean = sum(one) / n, sum(other) / n
    covariance = sum((a - mean) * (b - other_mean) for a, b in zip(one, other, strict=True))
    spread = sum((a - mean) ** 2 for a in one) * sum((b - other_mean) ** 2 for b in other)
    return covariance / math.sqrt(spread) if spread > 1e-12 else math.nan


def truth(literal, conjunctions, n_primitives, row):
    """Whether a literal (``~number``: negated) of a lineage is true in a row."""
    if literal < 0:
        return not truth(~literal, conjunctions, n_primitives, row)
    if literal < n_primitives:
        return bool(row[literal])
    left, right = conjunctions[literal - n_primitives]
    return truth(left, conjunctions, n_primitives, row) and truth(
        right, conjunctions, n_primitives, row
    )


def support(number, conjunctions, n_primitives, rows):
    return sum(truth(number, conjunctions, n_primitives, row) for row in rows)
