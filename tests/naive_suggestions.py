"""Suggestions and relations from their definitions, slowly: lists of rows, and no shared algebra.

A tag is predicted by ridge regression on the other tags, solved by Gaussian elimination of the
normal equations of just these rows: to leave a row out, the regression is solved without it.
"""

from __future__ import annotations

import math
from itertools import combinations

Row = list[int]


def solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Return the solution of linear equations (Gauss, with the largest pivots)."""
    n = len(right)
    lines = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(lines[i][k]))
        lines[k], lines[best] = lines[best], lines[k]
        for i in range(k + 1, n):
            factor = lines[i][k] / lines[k][k]
            lines[i] = [a - factor * b for a, b in zip(lines[i], lines[k], strict=True)]
    found = [0.0] * n
    for k in reversed(range(n)):
        rest = lines[k][n] - sum(lines[k][j] * found[j] for j in range(k + 1, n))
        found[k] = rest / lines[k][k]
    return found


def others(j: int, variables: list[str | None]) -> list[int]:
    """Return the tags that a tag is predicted from."""
    own = variables[j]
    return [k for k in range(len(variables)) if k != j and (own is None or variables[k] != own)]


def regression(
    rows: list[Row], j: int, variables: list[str | None], ridge: float
) -> dict[int, float]:
    """Return the weights of the other tags for tag j."""
    used = others(j, variables)
    matrix = [[sum(row[a] * row[b] for row in rows) + ridge * (a == b) for b in used] for a in used]
    right = [sum(row[a] * row[j] for row in rows) for a in used]
    return dict(zip(used, solve(matrix, right), strict=True))


def predict(weights: dict[int, float], row: Row) -> float:
    return sum(weight * row[k] for k, weight in weights.items())


def left_out(rows: list[Row], variables: list[str | None], ridge: float) -> list[tuple[float, int]]:
    """Return each cell with its prediction by the regression on all other rows."""
    found = []
    for i, row in enumerate(rows):
        rest = rows[:i] + rows[i + 1 :]
        found += [
            (predict(regression(rest, j, variables, ridge), row), row[j]) for j in range(len(row))
        ]
    return found


def generalised_error(rows: list[Row], variables: list[str | None], ridge: float) -> float:
    """Return the sum over tags of n · (squared residuals) / (n − degrees of freedom)².

    The degrees of freedom are the sum over rows of what a row's own value adds to its prediction.
    """
    n, total = len(rows), 0.0
    for j in range(len(rows[0])):
        used = others(j, variables)
        weights = regression(rows, j, variables, ridge)
        squares = sum((row[j] - predict(weights, row)) ** 2 for row in rows)
        matrix = [
            [sum(row[a] * row[b] for row in rows) + ridge * (a == b) for b in used] for a in used
        ]
        freedom = sum(
            sum(
                row[a] * x for a, x in zip(used, solve(matrix, [row[b] for b in used]), strict=True)
            )
            for row in rows
        )
        total += n * squares / (n - freedom) ** 2
    return total


def mutual_bits(n: int, s: int, t: int, c: int) -> float:
    """Return n times the mutual information of a 2 × 2 table."""
    cells = {(1, 1): c, (1, 0): s - c, (0, 1): t - c, (0, 0): n - s - t + c}
    of_row, of_column = {1: s, 0: n - s}, {1: t, 0: n - t}
    return math.fsum(
        x * math.log2(x * n / (of_row[i] * of_column[j])) for (i, j), x in cells.items() if x
    )


def relations(
    names: list[str], rows: list[Row], variables: list[str | None]
) -> set[tuple[str, str, str]]:
    """Return kind, left and right of every implication, equality and avoidance that pays."""
    used = [k for k in range(len(names)) if any(row[k] for row in rows)]
    n, columns = len(rows), {k: [row[k] for row in rows] for k in used}
    tables = []
    for a, b in combinations(used, 2):
        if variables[a] is not None and variables[a] == variables[b]:
            continue
        a, b = sorted((a, b), key=lambda k: (sum(columns[k]), names[k]))
        s, t = sum(columns[a]), sum(columns[b])
        c = sum(x and y for x, y in zip(columns[a], columns[b], strict=True))
        tables.append((round(mutual_bits(n, s, t, c), 9) + 0.0, a, b, s, t, c))
    tables.sort(key=lambda one: (-one[0], names[one[1]], names[one[2]]))
    n_pairs = len(used) * (len(used) - 1) / 2
    paid = []
    for k, one in enumerate(tables, 1):
        if one[0] <= 0.5 * math.log2(n) + max(0.0, math.log2(n_pairs / k)):
            break
        paid.append(one)
    same = set()
    for _, a, b, s, t, c in paid:
        below = s * (n - s) * t * (n - t)
        if below and (c * n - s * t) / math.sqrt(below) >= 0.98:
            same.add((a, b))
    later = {a for a, _ in same}
    found, together = set(), {k: {k} for k in used}
    for _, a, b, *_ in paid:
        if (a, b) in same and b not in together[a]:
            found.add(("same", names[a], names[b]))
            joined = together[a] | together[b]
            for k in joined:
                together[k] = joined
    implied = set()
    for _, a, b, s, t, c in paid:
        if a in later or b in later:
            continue
        if c * n > s * t and c / s >= 0.95 and (s - c) * n <= 0.5 * s * (n - t):
            implied.add((a, b))
        if c * n <= 0.5 * s * t:
            found.add(("avoid", names[a], names[b]))
    for a, b in implied:
        if not any((a, k) in implied and (k, b) in implied for k in used):
            found.add(("implies", names[a], names[b]))
    return found


def alike_cosine(rows: list[Row], a: int, b: int) -> float:
    """Return the cosine of what is above or below chance in the rows with each of two tags."""
    n, m = len(rows), len(rows[0])
    shares = [sum(row[k] for row in rows) / n for k in range(m)]
    companies = []
    for tag in (a, b):
        own = [row for row in rows if row[tag]]
        company = []
        for k in range(m):
            chance = len(own) * shares[k]
            if k not in (a, b) and 0 < shares[k] < 1:
                surplus = sum(row[k] for row in own) - chance
                company.append(surplus / math.sqrt(chance * (1 - shares[k])))
        companies.append(company)
    one, other = companies
    lengths = math.sqrt(sum(x * x for x in one) * sum(y * y for y in other))
    return sum(x * y for x, y in zip(one, other, strict=True)) / lengths if lengths else 0.0


def calibration(cells: list[tuple[float, int]], knots: list[float]) -> list[float]:
    """Return the share of true cells at some predictions, made to rise.

    A cell counts for the two knots around its prediction, more for the nearer one; one more cell
    at each knot agrees with the prediction. The nearest rising values are, at each knot, the
    largest over all starts up to it of the smallest mean over all ends from it.
    """
    n_knots = len(knots)
    weights = [1.0] * n_knots
    true = [min(max(knot, 0.0), 1.0) for knot in knots]
    for prediction, value in cells:
        inside = min(max(prediction, knots[0]), knots[-1])
        k = max(k for k in range(n_knots - 1) if knots[k] <= inside)
        near = (knots[k + 1] - inside) / (knots[k + 1] - knots[k])
        for place, weight in ((k, near), (k + 1, 1 - near)):
            weights[place] += weight
            true[place] += weight * value

    def mean(a: int, b: int) -> float:
        return math.fsum(true[a : b + 1]) / math.fsum(weights[a : b + 1])

    return [
        max(min(mean(a, b) for b in range(k, n_knots)) for a in range(k + 1))
        for k in range(n_knots)
    ]
