"""The slow, obvious oracle of uFC on columns of True, False and None (missing).

A pair is judged in the rows in which both are known; conjunctions follow Kleene's logic. It
imports nothing from conjunct; texts and lengths are those of the oracle without missing cells.
"""

import itertools

import naive


def known_pairs(x, y):
    """The two columns in the rows in which both are known."""
    rows = [(p, q) for p, q in zip(x, y, strict=True) if p is not None and q is not None]
    return tuple(p for p, _ in rows), tuple(q for _, q in rows)


def kleene_not(x):
    return tuple(None if p is None else not p for p in x)


def kleene_and(x, y):
    def cell(p, q):
        if p is False or q is False:
            return False
        return None if p is None or q is None else True

    return tuple(cell(p, q) for p, q in zip(x, y, strict=True))


def candidates(features, threshold=0.0, alpha=None, prune=False):
    """(r, joint, text, text, i, j) of the pairs that pass."""
    found = []
    for (i, (tree_i, x)), (j, (tree_j, y)) in itertools.combinations(enumerate(features), 2):
        x, y = known_pairs(x, y)
        r = naive.pearson(x, y) if x else None
        if r is None:
            continue
        if alpha is None and not r > threshold:
            continue
        if alpha is not None and not r >= naive.risk_threshold(alpha, len(x)):
            continue
        if prune and any(e < 5 for e in naive.expected_frequencies(x, y)):
            continue
        texts = sorted((naive.canonical(tree_i), naive.canonical(tree_j)))
        found.append((r, naive.contingency(x, y)[0], *texts, i, j))
    return found


def iteration(features, search="batch", **options):
    pool = candidates(features, **options)
    if search == "pairwise":
        pool.sort(key=lambda c: (-c[1], -c[0], c[2], c[3]))
        pool = pool[:1]
    else:
        pool.sort(key=lambda c: (-c[0], -c[1], c[2], c[3]))
    used, new = set(), []
    for *_, i, j in pool:
        if i in used or j in used:
            continue
        used |= {i, j}
        (one, x), (other, y) = features[i], features[j]
        new += [
            (("and", (one, other)), kleene_and(x, y)),
            (("and", (("not", one), other)), kleene_and(kleene_not(x), y)),
            (("and", (one, ("not", other))), kleene_and(x, kleene_not(y))),
        ]
    kept = [feature for k, feature in enumerate(features) if k not in used]
    return kept + [feature for feature in new if any(feature[1])]


def ufc(columns, max_iter, **options):
    """The last feature set of a run on ``{name: column}``."""
    features = [(name, tuple(column)) for name, column in columns.items()]
    for _ in range(max_iter):
        features = iteration(features, **options)
    return features


def support(column):
    return sum(value is True for value in column)


def known(column):
    return sum(value is not None for value in column)


def overlapping_index(features):
    if len(features) == 1:
        return 0.0
    shares = [support(x) / known(x) if known(x) else 0.0 for _, x in features]
    return (sum(shares) - 1) / (len(features) - 1)
