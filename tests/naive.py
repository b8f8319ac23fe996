"""The slow, obvious oracle. It imports nothing from conjunct and follows the paper line by line.

A feature is ``(text, length, column)``: its canonical text, its literal occurrences and a tuple of
Booleans, one a row. A canonical text is kept as a tree so that nested conjunctions flatten:
a string for a primitive, ``("not", tree)`` or ``("and", (tree, ...))``.
"""

import math
import statistics
from fractions import Fraction


def canonical(tree):
    if isinstance(tree, str):
        return tree
    kind, rest = tree
    if kind == "not":
        inner = canonical(rest)
        return f"~({inner})" if rest[0] == "and" and not isinstance(rest, str) else f"~{inner}"
    return " & ".join(sorted(canonical(operand) for operand in flattened(tree)))


def flattened(tree):
    if isinstance(tree, tuple) and tree[0] == "and":
        return [leaf for operand in tree[1] for leaf in flattened(operand)]
    return [tree]


def length(tree):
    if isinstance(tree, str):
        return 1
    kind, rest = tree
    return length(rest) if kind == "not" else sum(length(operand) for operand in rest)


def contingency(x, y):
    """The paper's a, b, c, d."""
    a = sum(p and q for p, q in zip(x, y, strict=True))
    b = sum(p and not q for p, q in zip(x, y, strict=True))
    c = sum(q and not p for p, q in zip(x, y, strict=True))
    return a, b, c, len(x) - a - b - c


def pearson(x, y):
    """r of two Boolean columns; None where one is constant."""
    a, b, c, d = contingency(x, y)
    n, s, t = a + b + c + d, a + b, a + c
    if s in (0, n) or t in (0, n):
        return None
    return (n * a - s * t) / math.sqrt(float(s * (n - s)) * float(t * (n - t)))


def expected_frequencies(x, y):
    a, b, c, d = contingency(x, y)
    n = a + b + c + d
    sides = ((a + b) * (a + c), (a + b) * (b + d), (c + d) * (a + c), (c + d) * (b + d))
    return [side / n for side in sides]


def risk_threshold(alpha, n):
    return statistics.NormalDist().inv_cdf(1 - alpha) / math.sqrt(n)


def candidates(features, threshold, strict=True, prune=False, max_length=None):
    """O of §3.2 with everything that orders it: (r, joint, text, text, i, j)."""
    found = []
    for i in range(len(features)):
        for j in range(i + 1, len(features)):
            (tree_i, x), (tree_j, y) = features[i], features[j]
            r = pearson(x, y)
            if r is None or not (r > threshold if strict else r >= threshold):
                continue
            if prune and any(e < 5 for e in expected_frequencies(x, y)):
                continue
            if max_length is not None and length(tree_i) + length(tree_j) > max_length:
                continue
            texts = sorted((canonical(tree_i), canonical(tree_j)))
            found.append((r, contingency(x, y)[0], *texts, i, j))
    return found


def conjunction(tree_i, tree_j, x, y):
    return ("and", (tree_i, tree_j)), tuple(p and q for p, q in zip(x, y, strict=True))


def negation(tree, x):
    return ("not", tree), tuple(not p for p in x)


def construct(features, i, j):
    """construct_new_feat of §3.3, in the documented order."""
    one, other = features[i], features[j]
    pairs = ((one, other), (negation(*one), other), (one, negation(*other)))
    return [conjunction(a[0], b[0], a[1], b[1]) for a, b in pairs]


def iteration(features, threshold, strict=True, prune=False, max_length=None, search="batch"):
    """One turn of Algorithm 2's loop (or one step of the pairwise search)."""
    pool = candidates(features, threshold, strict, prune, max_length)
    if search == "pairwise":
        pool.sort(key=lambda c: (-c[1], -c[0], c[2], c[3]))
        pool = pool[:1]
    else:
        pool.sort(key=lambda c: (-c[0], -c[1], c[2], c[3]))
    used, new = set(), []
    for *_, i, j in pool:
        if i not in used and j not in used:
            used |= {i, j}
            new += construct(features, i, j)
    kept = [feature for k, feature in enumerate(features) if k not in used]
    return kept + [feature for feature in new if any(feature[1])]


def ufc(columns, max_iter, threshold, **options):
    """All feature sets F_0 … F_limit of a run on ``{name: column}``; ends when nothing changes."""
    sets = [[(name, tuple(map(bool, column))) for name, column in columns.items()]]
    for _ in range(max_iter):
        features = iteration(sets[-1], threshold, **options)
        if [f[0] for f in features] == [f[0] for f in sets[-1]]:
            break
        sets.append(features)
    return sets


def texts(features):
    return {canonical(tree) for tree, _ in features}


def overlapping_index(features, null=False):
    n = len(features[0][1])
    columns = [x for _, x in features]
    if null:
        columns.append(tuple(not any(row) for row in zip(*columns, strict=True)))
    if len(columns) == 1:
        return 0.0
    return float((Fraction(sum(map(sum, columns)), n) - 1) / (len(columns) - 1))


def distinct_rows(features):
    return len(set(zip(*(x for _, x in features), strict=True)))


def complexity(features, primitives):
    return (len(features) - len(primitives)) / (distinct_rows(primitives) - len(primitives))


def mean_length(features):
    return sum(length(tree) for tree, _ in features) / len(features)


def rms(features, primitives, null=False):
    oi, c0 = overlapping_index(features, null), complexity(features, primitives)
    return math.sqrt((oi**2 + c0**2) / 2)


def until_rms_rises(sets):
    """The feature set the risk-based heuristic keeps."""
    kept = 0
    for k in range(1, len(sets)):
        if rms(sets[k], sets[0]) > rms(sets[kept], sets[0]):
            break
        kept = k
    return kept


def pareto_front(points):
    """Positions of points that no other beats; the first of equal ones."""
    front = []
    for k, (x, y) in enumerate(points):
        beaten = any((u <= x and v <= y) and (u < x or v < y) for u, v in points)
        if not beaten and (x, y) not in points[:k]:
            front.append(k)
    return sorted(front, key=lambda k: points[k][1])
