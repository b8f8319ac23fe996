"""The slow, obvious oracle for trees and what is built on them. It imports nothing from conjunct.

A feature is ``(tree, column)`` as in ``naive``. A node of a clustering tree is a dictionary. All
arithmetic is in fractions, straight from the rows.
"""

import math
from fractions import Fraction

import naive


def squared_error(columns, rows):
    """Within-cluster squared error of some rows, summed over all columns."""
    total = Fraction(0)
    for column in columns:
        values = [int(column[row]) for row in rows]
        mean = Fraction(sum(values), len(values))
        total += sum((value - mean) ** 2 for value in values)
    return total


def halves(column, rows):
    return [row for row in rows if column[row]], [row for row in rows if not column[row]]


def gain_of(columns, new):
    """By how much a split of all rows on a new column reduces the squared error of the others."""
    rows = range(len(new))
    parts = [part for part in halves(new, rows) if part]
    return squared_error(columns, rows) - sum(squared_error(columns, part) for part in parts)


def best_split(features, rows, min_samples_leaf):
    """(gain, position): the largest reduction; shorter, then smaller text, then older on ties."""
    columns = [column for _, column in features]
    before = squared_error(columns, rows)
    found = []
    for k, (tree, column) in enumerate(features):
        yes, no = halves(column, rows)
        if min(len(yes), len(no)) < max(min_samples_leaf, 1):
            continue
        gain = before - squared_error(columns, yes) - squared_error(columns, no)
        found.append((-gain, naive.length(tree), naive.canonical(tree), k))
    if not found:
        return None
    gain, _, _, position = min(found)
    return -gain, position


def grow(
    features,
    max_depth=None,
    min_samples_split=2,
    min_samples_leaf=1,
    min_impurity_decrease=0.0,
    max_leaf_nodes=None,
):
    """The root of the tree; always splits the leaf of the largest gain, the oldest of equals."""
    n = len(features[0][1])

    def leaf(rows, path):
        found = None
        if (max_depth is None or len(path) < max_depth) and len(rows) >= min_samples_split:
            found = best_split(features, rows, min_samples_leaf)
        if found and float(found[0]) / (n * len(features)) < min_impurity_decrease:
            found = None
        return {"rows": rows, "path": path, "found": found, "children": None}

    leaves = [leaf(list(range(n)), ())]  # in the order made
    root = leaves[0]
    while max_leaf_nodes is None or len(leaves) < max_leaf_nodes:
        open_leaves = [node for node in leaves if node["found"]]
        if not open_leaves:
            break
        node = max(open_leaves, key=lambda node: node["found"][0])
        position = node["found"][1]
        yes, no = halves(features[position][1], node["rows"])
        node["children"] = [
            leaf(yes, (*node["path"], (position, True))),
            leaf(no, (*node["path"], (position, False))),
        ]
        leaves.remove(node)
        leaves += node["children"]
    return root


def preorder(node):
    yield node
    for child in node["children"] or ():
        yield from preorder(child)


def paths(root):
    return [node["path"] for node in preorder(root) if not node["children"]]


def literal(features, condition):
    position, value = condition
    return features[position] if value else naive.negation(*features[position])


def chosen(path, strategy):
    return {
        "fringe": (path[-2], path[-1]),
        "root": (path[0], path[1]),
        "root-fringe": (path[0], path[-1]),
    }[strategy]


def written_literals(tree):
    """The literals of a formula as written: those of ¬(a ∧ ¬b) are a and ¬b."""
    if isinstance(tree, str):
        return [tree]
    kind, rest = tree
    if kind == "not":
        return [tree] if isinstance(rest, str) else written_literals(rest)
    return [found for operand in rest for found in written_literals(operand)]


def without_redundant(features):
    kept = []
    for feature in sorted(features):
        if any(feature[1]) and feature[1] not in [column for _, column in kept]:
            kept.append(feature)
    return [feature for feature in features if feature in kept]


def fringe(columns, strategy, drop_redundant, max_features, learn=None, **limits):
    """All feature sets of a run on ``{name: column}``. ``learn`` gives paths; uFRINGE's is ours."""
    if learn is None:
        # no more leaves than features are wanted, or than a hundred
        fewest = math.ceil(len(next(iter(columns.values()))) / max(max_features, 100))
        limits["min_samples_leaf"] = max(limits.get("min_samples_leaf", 1), fewest)
    learn = learn or (lambda features: paths(grow(features, **limits)))
    first = [(name, tuple(map(bool, column))) for name, column in columns.items()]
    sets = [without_redundant(first) if drop_redundant else first]
    joined = set()
    while len(sets[-1]) < max_features:
        features = list(sets[-1])
        for path in learn(sets[-1]):
            if len(path) < 2:
                continue
            one, other = chosen(path, strategy)
            if frozenset((one, other)) in joined:
                continue
            (tree_1, x), (tree_2, y) = literal(features, one), literal(features, other)
            tree, column = naive.conjunction(tree_1, tree_2, x, y)
            if drop_redundant:
                literals = written_literals(tree)
                if len(set(literals)) < len(literals) or column in [c for _, c in features]:
                    continue
            joined.add(frozenset((one, other)))
            features.append((tree, column))
        if len(features) == len(sets[-1]):
            break
        sets.append(features)
    return sets
