"""Slow, obvious CAT, ID2-of-3 and XofN. It imports nothing from conjunct.

Rows are tuples of Booleans, a literal is a pair (column, wanted value). Columns must be in the
order in which ties between them are broken.
"""

import itertools
import math
from collections import Counter

DECIMALS = 6


def class_bits(labels, k):
    """Each row in turn, its class as likely as it was so far, and half a row more."""
    seen, bits = Counter(), 0.0
    for n, label in enumerate(labels):
        bits -= math.log2((seen[label] + 0.5) / (n + k / 2))
        seen[label] += 1
    return bits


def entropy_bits(labels):
    counts = Counter(labels).values()
    return -sum(count * math.log2(count / len(labels)) for count in counts)


def gain(groups):
    whole = [label for group in groups for label in group]
    return round(entropy_bits(whole) - sum(map(entropy_bits, groups)), DECIMALS)


def literals_bits(n, n_columns):
    return 2 * math.log2(n) + 1 + math.log2(math.comb(n_columns, n)) + n - 1


def n_true(literals, row):
    return sum(row[column] is wanted for column, wanted in literals)


def branch(test, row):
    """A test is (literals, number); number None: each number of true literals is a branch."""
    literals, number = test
    found = n_true(literals, row)
    return found if number is None else int(found >= number)


def split(test, rows, labels):
    groups = {}
    for row, label in zip(rows, labels, strict=True):
        groups.setdefault(branch(test, row), []).append((row, label))
    return dict(sorted(groups.items()))


def best_m_of_n(rows, labels, k, least, max_literals=None):
    n_columns = len(rows[0])
    literals, number, best = (), 0, 0.0
    while max_literals is None or len(literals) < max_literals:
        used = {column for column, _ in literals}
        found = []
        for more, wanted, column in itertools.product(
            (0, 1), (True, False), [c for c in range(n_columns) if c not in used]
        ):
            test = ((*literals, (column, wanted)), number + more)
            groups = [[label for _, label in g] for g in split(test, rows, labels).values()]
            if len(groups) == 2 and min(map(len, groups)) >= least:
                found.append((gain(groups), test))
        if not found or max(value for value, _ in found) <= best:
            break
        best = max(value for value, _ in found)
        literals, number = next(test for value, test in found if value == best)
    return (literals, number) if literals else None


def x_of_n_bits(literals, rows, labels, k, least):
    groups = [[y for _, y in g] for g in split((literals, None), rows, labels).values()]
    if not literals or sum(len(group) >= least for group in groups) < 2:
        return math.inf
    bits = literals_bits(len(literals), len(rows[0]))
    return round(bits + sum(1 + class_bits(group, k) for group in groups), DECIMALS)


def climbed(literals, rows, labels, k, least, patience):
    """The best set on the way from one, taking the best neighbour whether better or not."""
    columns = range(len(rows[0]))
    best, fewest, waited = literals, x_of_n_bits(literals, rows, labels, k, least), 0
    seen = [frozenset(literals)]
    while waited < patience:
        used = {column for column, _ in literals}
        sets = [tuple(x for x in literals if x != one) for one in literals if len(literals) > 1]
        for wanted in (True, False):
            sets += [(*literals, (column, wanted)) for column in columns if column not in used]
        if not literals:
            for wanted in (True, False):
                for one, other in itertools.combinations(columns, 2):
                    sets.append(((one, True), (other, wanted)))
        found = [
            (x_of_n_bits(each, rows, labels, k, least), each)
            for each in sets
            if frozenset(each) not in seen
        ]
        bits = min((value for value, _ in found), default=math.inf)
        if bits == math.inf:
            break
        literals = next(each for value, each in found if value == bits)
        seen.append(frozenset(literals))
        waited += 1
        if bits < fewest:
            best, fewest, waited = literals, bits, 0
    return fewest, best


def best_x_of_n(rows, labels, k, least, patience):
    counted = best_m_of_n(rows, labels, k, least)
    starts = [(), *([counted[0]] if counted else [])]
    found = [climbed(start, rows, labels, k, least, patience) for start in starts]
    _, best = min(found, key=lambda each: each[0])
    return (best, None) if best else None


def grow(rows, labels, k, search, max_depth=None, min_samples_split=2):
    """A node is (labels, test, {branch: node})."""
    leaf = (labels, None, {})
    if max_depth == 0 or len(rows) < min_samples_split or len(set(labels)) == 1:
        return leaf
    test = search(rows, labels, k)
    if test is None:
        return leaf
    deeper = None if max_depth is None else max_depth - 1
    children = {
        value: grow([r for r, _ in g], [y for _, y in g], k, search, deeper, min_samples_split)
        for value, g in split(test, rows, labels).items()
    }
    return (labels, test, children)


def tree_bits(node, k, n_columns):
    labels, test, children = node
    if test is None:
        return 1 + class_bits(labels, k)
    literals, number = test
    bits = 1 + literals_bits(len(literals), n_columns)
    bits += 0 if number is None else math.log2(len(literals))
    return bits + sum(tree_bits(child, k, n_columns) for child in children.values())


def pruned(node, k, n_columns):
    labels, test, children = node
    if test is None:
        return node
    cut = (labels, test, {v: pruned(child, k, n_columns) for v, child in children.items()})
    longer = tree_bits(cut, k, n_columns) - (1 + class_bits(labels, k))
    return (labels, None, {}) if round(longer, DECIMALS) >= 0 else cut


def preorder(node):
    yield node
    for _, child in sorted(node[2].items()):
        yield from preorder(child)


def paths(node, path=()):
    """Conditions of each leaf of a tree with one literal a test, and the leaf's labels."""
    labels, test, children = node
    if test is None:
        yield path, labels
        return
    ((column, wanted),), _ = test
    for value, child in children.items():
        yield from paths(child, (*path, (column, wanted if value else not wanted)))


def best_conjunction(path, rows, labels, code):
    """Every subset of two conditions or more: largest gain, fewest conditions, nearest to root."""
    found = []
    for size in range(2, len(path) + 1):
        for order, chosen in enumerate(itertools.combinations(path, size)):
            inside = [n_true(chosen, row) == size for row in rows]
            groups = [
                [y == code for y, x in zip(labels, inside, strict=True) if x is side]
                for side in (True, False)
            ]
            told = gain([group for group in groups if group])
            if told > 0:
                found.append((-told, size, order, chosen))
    return min(found)[3] if found else None
