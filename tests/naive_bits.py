"""The slow, obvious oracle of bits, patterns and chunks. It imports nothing from conjunct.

A feature is ``(tree, pattern, column)``: its formula as in ``naive``, the set of primitives that it
asserts, and a tuple of True, False or None (missing), one a row.
"""

import itertools
import math

import naive
import naive_missing
import naive_statistics


def support(column):
    return sum(cell is True for cell in column)


def description_length(supports, patterns, primitive_supports):
    """Krimp's two-part code: the cells in the codes of their features, and the code table."""
    total, all_cells = sum(supports), sum(primitive_supports.values())
    parts = []
    for s, pattern in zip(supports, patterns, strict=True):
        if s:
            code = math.log2(total / s)
            parts += [s * code, code]
            parts += [math.log2(all_cells / primitive_supports[p]) for p in pattern]
    return math.fsum(parts)


def length_of(features, primitives):
    return description_length(
        [support(x) for _, _, x in features],
        [pattern for _, pattern, _ in features],
        {name: support(x) for name, _, x in primitives},
    )


def replaced(features, i, j):
    """The feature set in which the pair gives way to its conjunctions that occur."""
    (one, p, x), (other, q, y) = features[i], features[j]
    kleene_and, kleene_not = naive_missing.kleene_and, naive_missing.kleene_not
    new = [
        (("and", (one, other)), p | q, kleene_and(x, y)),
        (("and", (("not", one), other)), q, kleene_and(kleene_not(x), y)),
        (("and", (one, ("not", other))), p, kleene_and(x, kleene_not(y))),
    ]
    kept = [feature for k, feature in enumerate(features) if k not in (i, j)]
    return kept + [feature for feature in new if support(feature[2])]


def saved(features, i, j, primitives):
    """What replacing a pair saves, of the rows in which both are known."""
    (one, p, x), (other, q, y) = features[i], features[j]
    seen = [a is not None and b is not None for a, b in zip(x, y, strict=True)]

    def within(column):
        return tuple(cell if known else False for cell, known in zip(column, seen, strict=True))

    # the other features, and the cells of these two in other rows, stay as they are
    outside = sum(support(c) - support(within(c)) for c in (x, y))
    known = [*features]
    known[i], known[j] = (one, p, within(x)), (other, q, within(y))
    before = _length_beside(known, outside, primitives)
    return before - _length_beside(replaced(known, i, j), outside, primitives)


def _length_beside(features, outside, primitives):
    """L of the features, where so many more cells are written, each for log₂ S bits."""
    all_cells = sum(support(x) for _, _, x in primitives)
    costs = {name: math.log2(all_cells / support(x)) for name, _, x in primitives if support(x)}
    counts = [(support(x), pattern) for _, pattern, x in features]
    total = sum(s for s, _ in counts) + outside
    parts = [outside * math.log2(total)] if outside else []
    for s, pattern in counts:
        if s:
            code = math.log2(total / s)
            parts += [s * code, code, *(costs[p] for p in pattern)]
    return math.fsum(parts)


def contingency(features, i, j):
    x, y = naive_missing.known_pairs(features[i][2], features[j][2])
    return naive.contingency(x, y)


def is_tested(a, b, c, d):
    """Whether neither column is constant."""
    return min(a + b, c + d) > 0 and min(a + c, b + d) > 0


def line(primitives, alpha):
    """The p-value that a pair must not exceed: Benjamini and Hochberg's, over all pairs."""
    if alpha is None:
        return None
    p_values = []
    for i, j in itertools.combinations(range(len(primitives)), 2):
        cells = contingency(primitives, i, j)
        if is_tested(*cells):
            p_values.append(naive_statistics.exact_p(*cells))
    # a p-value may equal its bound but for rounding
    n_rejected = len(naive_statistics.rejected(p_values, alpha * (1 + 1e-9), "bh"))
    return alpha * max(n_rejected, 1) / max(len(p_values), 1)


def is_real(features, i, j, critical):
    a, b, c, d = contingency(features, i, j)
    if not is_tested(a, b, c, d) or not a * d > b * c:
        return False
    return critical is None or naive_statistics.exact_p(a, b, c, d) <= critical * (1 + 1e-9)


def best_pair(features, primitives, critical, max_length=None):
    """(saved, i, j) of the real pair that saves most; None if no pair is real."""
    found = []
    for i, j in itertools.combinations(range(len(features)), 2):
        (one, p, _), (other, q, _) = features[i], features[j]
        if max_length is not None and len(p | q) > max_length:
            continue
        if is_real(features, i, j, critical):
            bits = round(saved(features, i, j, primitives), 6)
            texts = sorted((naive.canonical(one), naive.canonical(other)))
            found.append((-bits, -contingency(features, i, j)[0], *texts, i, j))
    if not found:
        return None
    bits, *_, i, j = min(found)
    return -bits, i, j


def run(columns, alpha=0.05, max_iter=None, max_length=None, stop="gain"):
    """All stages ``(features, saved)`` of a run on ``{name: column}``, primitives first."""
    features = [(name, frozenset([name]), tuple(column)) for name, column in columns.items()]
    primitives = features
    critical = line(primitives, alpha)
    stages = [(features, 0.0)]
    while max_iter is None or len(stages) <= max_iter:
        best = best_pair(features, primitives, critical, max_length)
        if best is None or (stop == "gain" and best[0] <= 0):
            break
        bits, i, j = best
        features = replaced(features, i, j)
        stages.append((features, bits))
    return stages


def last_within(stages, max_features):
    """The stages up to the shortest with at most so many features; None if none has so few."""
    lengths = [
        (round(length_of(features, stages[0][0]), 6), k)
        for k, (features, _) in enumerate(stages)
        if len(features) <= max_features
    ]
    return stages[: min(lengths)[1] + 1] if lengths else None


def final_length(stages):
    return length_of(stages[-1][0], stages[0][0])


def chunks(row, merges):
    """The tags of a row after merges of patterns: each pair of chunks that are there is joined."""
    found = {frozenset([tag]) for tag in row}
    for p, q in merges:
        if p in found and q in found:
            found = (found - {p, q}) | {p | q}
    return found


def merged_patterns(stages):
    """The two patterns of each merge of a run."""
    pairs = []
    for (before, _), (after, _) in itertools.pairwise(stages):
        trees = {naive.canonical(tree) for tree, _, _ in after}
        gone = [pattern for tree, pattern, _ in before if naive.canonical(tree) not in trees]
        pairs.append(tuple(gone))
    return pairs
