"""The slow, obvious oracle of measures, tests and corrections. It imports nothing from conjunct.

Everything starts from the rows of two columns; p-values are those of the whole family; the step
procedures follow their definitions.
"""

import math
import statistics
from fractions import Fraction

import naive


def phi(a, b, c, d):
    n, s, t = a + b + c + d, a + b, a + c
    return (n * a - s * t) / math.sqrt(float(s * (n - s)) * float(t * (n - t)))


def jaccard(a, b, c, d):
    return a / (a + b + c)


def cosine(a, b, c, d):
    return a / math.sqrt((a + b) * (a + c))


def yule_q(a, b, c, d):
    return (a * d - b * c) / (a * d + b * c)


def lift(a, b, c, d):
    return (a + b + c + d) * a / ((a + b) * (a + c))


def pmi(a, b, c, d):
    return math.log2(lift(a, b, c, d)) if a else -math.inf


def npmi(a, b, c, d):
    return pmi(a, b, c, d) / -math.log2(a / (a + b + c + d)) if a else -1.0


def mutual_information(a, b, c, d):
    n = a + b + c + d
    cells = ((a, a + b, a + c), (b, a + b, b + d), (c, c + d, a + c), (d, c + d, b + d))
    bits = sum(x / n * math.log2(n * x / (row * column)) for x, row, column in cells if x)
    return bits if a * d >= b * c else -bits


MEASURES = {
    f.__name__: f for f in (phi, jaccard, cosine, yule_q, lift, pmi, npmi, mutual_information)
}


def normal_p(a, b, c, d):
    r = phi(a, b, c, d)
    return statistics.NormalDist().cdf(-r * math.sqrt(a + b + c + d))


def exact_p(a, b, c, d):
    """Share of the ways to place the second column in which at least ``a`` rows have both."""
    n, s, t = a + b + c + d, a + b, a + c
    ways = sum(math.comb(s, k) * math.comb(n - s, t - k) for k in range(a, min(s, t) + 1))
    return Fraction(ways, math.comb(n, t))


TESTS = {"normal": normal_p, "exact": exact_p}


def rejected(p_values, alpha, correction):
    """Which hypotheses each procedure rejects, one step after the other."""
    m = len(p_values)
    order = sorted(range(m), key=lambda k: p_values[k])
    if correction is None:
        return {k for k in order if p_values[k] <= alpha}
    if correction == "bonferroni":
        return {k for k in order if p_values[k] <= alpha / m}
    if correction == "holm":
        steps = set()
        for rank, k in enumerate(order, start=1):
            if p_values[k] > alpha / (m - rank + 1):
                break
            steps.add(k)
        return steps
    weight = sum(1 / k for k in range(1, m + 1)) if correction == "by" else 1
    last = 0
    for rank, k in enumerate(order, start=1):
        if p_values[k] <= alpha * rank / (m * weight):
            last = rank
    return set(order[:last])


def adjusted(p_values, correction):
    """The least level at which each hypothesis is rejected."""
    m = len(p_values)
    order = sorted(range(m), key=lambda k: p_values[k])
    weight = sum(1 / k for k in range(1, m + 1)) if correction == "by" else 1
    result = [None] * m
    for rank, k in enumerate(order, start=1):
        if correction is None:
            value = p_values[k]
        elif correction == "bonferroni":
            value = m * p_values[k]
        elif correction == "holm":
            value = max((m - j) * p_values[order[j]] for j in range(rank))
        else:
            value = min(weight * m * p_values[order[j]] / (j + 1) for j in range(rank - 1, m))
        result[k] = min(value, 1)
    return result


def family(features, prune=False):
    """All pairs that are tested: no constant column, expected frequencies of 5 if asked."""
    for i in range(len(features)):
        for j in range(i + 1, len(features)):
            x, y = features[i][1], features[j][1]
            if naive.pearson(x, y) is None:
                continue
            if prune and any(e < 5 for e in naive.expected_frequencies(x, y)):
                continue
            yield i, j


def candidates(
    features, *, threshold=None, alpha=None, measure="phi", test="normal", correction=None,
    prune=False,
):  # fmt: skip
    """``[(score, joint, i, j, r, p, adjusted p)]`` and the size of the family."""
    pairs = list(family(features, prune))
    tables = [naive.contingency(features[i][1], features[j][1]) for i, j in pairs]
    p_values = [TESTS[test](*table) for table in tables]
    # a level that is given in decimals, as fractions are
    level = alpha
    if test == "exact" and isinstance(alpha, float):
        level = Fraction(str(alpha))
    significant = None if alpha is None else rejected(p_values, level, correction)
    found = []
    for k, ((i, j), table) in enumerate(zip(pairs, tables, strict=True)):
        r, score = phi(*table), MEASURES[measure](*table)
        passes = r > 0 and (score > threshold if alpha is None else k in significant)
        if passes:
            found.append((score, table[0], i, j, r, p_values[k], adjusted(p_values, correction)[k]))
    return found, len(pairs)


def drawn_once(features, *, alpha, test="normal", correction=None, prune=False, **options):
    """The same options with the level that the correction leaves, which then needs none."""
    tables = [naive.contingency(features[i][1], features[j][1]) for i, j in family(features, prune)]
    p_values = [TESTS[test](*table) for table in tables]
    level = Fraction(str(alpha)) if test == "exact" else alpha
    step, size = max(len(rejected(p_values, level, correction)), 1), max(len(p_values), 1)
    weight = sum(Fraction(1, k) for k in range(1, size + 1)) if correction == "by" else 1
    share = {
        None: 1,
        "bonferroni": Fraction(1, size),
        "holm": Fraction(1, size - step + 1),
        "bh": Fraction(step, size),
        "by": Fraction(step, size) / weight,
    }[correction]
    exact = test == "exact"
    left = level * share if exact else float(level * share)
    return {**options, "alpha": left, "test": test, "prune": prune, "correction": None}


def ufc(columns, max_iter, *, search="batch", max_length=None, **options):
    """The last feature set of a run on ``{name: column}``."""
    features = [(name, tuple(map(bool, column))) for name, column in columns.items()]
    if search == "pairwise" and options.get("alpha") is not None:
        options = drawn_once(features, **options)
    for _ in range(max_iter):
        pool = []
        for score, joint, i, j, *_ in candidates(features, **options)[0]:
            lengths = naive.length(features[i][0]) + naive.length(features[j][0])
            if max_length is None or lengths <= max_length:
                texts = sorted(naive.canonical(features[k][0]) for k in (i, j))
                pool.append((score, joint, *texts, i, j))
        if search == "pairwise":
            pool.sort(key=lambda c: (-c[1], -c[0], c[2], c[3]))
            pool = pool[:1]
        else:
            pool.sort(key=lambda c: (-c[0], -c[1], c[2], c[3]))
        used, new = set(), []
        for *_, i, j in pool:
            if not used & {i, j}:
                used |= {i, j}
                new += naive.construct(features, i, j)
        if not used:
            break
        features = [f for k, f in enumerate(features) if k not in used]
        features += [f for f in new if any(f[1])]
    return features


def rare_conjunctions(conjunctions, *, max_support, min_lift, alpha, correction):
    """``{name: (support, lift, r, p, adjusted p)}`` of the rare ones of ``[(name, x, y)]``."""
    tested = [(name, x, y) for name, x, y in conjunctions if naive.pearson(x, y) is not None]
    tables = [naive.contingency(x, y) for _, x, y in tested]
    p_values = [exact_p(*table) for table in tables]
    found = {}
    for k in rejected(p_values, Fraction(str(alpha)), correction):
        support = tables[k][0]
        if support / sum(tables[k]) <= max_support and lift(*tables[k]) >= min_lift:
            p_adjusted = adjusted(p_values, correction)[k]
            row = (support, lift(*tables[k]), phi(*tables[k]), p_values[k], p_adjusted)
            found[tested[k][0]] = row
    return found
