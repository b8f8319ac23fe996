"""The complete code of rows from its definition, slow and obvious; nothing is from conjunct.

A row is a sequence of True, False and None (missing), one for each column. A merge is
``(left, right, both, right only, left only)``: numbers of features, of which the first are the
columns; None where training never saw a conjunction.
"""

import math
from itertools import count


def conjunction(one, other):
    """Kleene's logic: false if either is, otherwise missing if either is."""
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def negation(value):
    return None if value is None else not value


def features_of(merges, n_columns):
    """All features a row could have: (value of a row, columns asserted, {merge: branch})."""
    there = {k: (lambda row, k=k: row[k], {k}, {}) for k in range(n_columns)}
    unseen = (f"unseen {k}" for k in count())
    for which, (left, right, *made) in enumerate(merges):
        (f, p, x), (g, q, y) = there.pop(left), there.pop(right)
        both = lambda row, f=f, g=g: conjunction(f(row), g(row))  # noqa: E731
        right_only = lambda row, f=f, g=g: conjunction(negation(f(row)), g(row))  # noqa: E731
        left_only = lambda row, f=f, g=g: conjunction(f(row), negation(g(row)))  # noqa: E731
        for number, feature in zip(
            made,
            (
                (both, p | q, {**x, **y, which: "both"}),
                (right_only, q, {**y, which: "right"}),
                (left_only, p, {**x, which: "left"}),
            ),
            strict=True,
        ):
            there[next(unseen) if number is None else number] = feature
    return list(there.values())


def in_order(features, training, names):
    """Larger patterns first, then larger supports, then the sorted names."""

    def key(feature):
        value, columns, _ = feature
        support = sum(value(row) is True for row in training)
        return -len(columns), -support, sorted(names[k] for k in columns)

    return sorted(features, key=key)


def excludes(one, other):
    """Whether two features are on different branches of a merge."""
    return any(other[2].get(merge, branch) != branch for merge, branch in one[2].items())


def other_value(one, other, variables):
    """Whether two features assert different values of a variable."""
    return any(
        p != q and variables[p] is not None and variables[p] == variables[q]
        for p in one[1]
        for q in other[1]
    )


def coded(row, features, variables):
    """[(columns of the feature, "first" or "second" probability, is it true)], in their order.

    What is missing is not coded, nor is what would be excluded by something missing.
    """
    found, true, possible = [], [], []
    for feature in features:
        value = feature[0](row)
        excluded = any(excludes(earlier, feature) for earlier in possible)
        if value is not False:
            possible.append(feature)
        if value is None or excluded:
            continue
        second = any(other_value(earlier, feature, variables) for earlier in true)
        found.append((frozenset(feature[1]), "second" if second else "first", value))
        if value:
            true.append(feature)
    return found


def counts(rows, features, variables):
    """{(columns, which probability): [rows in which it is coded, rows in which it is true]}."""
    total = {(frozenset(f[1]), which): [0, 0] for f in features for which in ("first", "second")}
    for row in rows:
        for columns, which, value in coded(row, features, variables):
            total[columns, which][0] += 1
            total[columns, which][1] += value
    return total


def row_bits(row, features, variables, counted):
    bits = 0.0
    second = [some for (_, which), some in counted.items() if which == "second"]
    for columns, which, value in coded(row, features, variables):
        n, k = counted[columns, which]
        if which == "second":
            # one probability for the whole code
            n, k = sum(n for n, _ in second), sum(k for _, k in second)
        p = (k + 0.5) / (n + 1)
        bits -= math.log2(p if value else 1 - p)
    return bits


def bits_after(training, merges, rows, variables=()):
    """Bits of each row with the probabilities of the training rows.

    Both are arrays, of Booleans or of numbers with NaN for missing cells; ``variables`` names the
    variable of each column.
    """
    training, rows = plain(training), plain(rows)
    names = [f"x{k}" for k in range(len(training[0]))]
    features = in_order(features_of(merges, len(names)), training, names)
    variables = variables or [None] * len(names)
    counted = counts(training, features, variables)
    return [row_bits(row, features, variables, counted) for row in rows]


def plain(table):
    return [[None if cell != cell else bool(cell) for cell in row] for row in table.tolist()]


def model_bits(n_merges, n_rows, n_columns, n_occurring):
    """What merges and columns cost; ``n_occurring`` of the columns are true in any row."""
    merges = sum(
        0.5 * math.log2(n_rows) + max(0.0, math.log2(math.comb(n_occurring + k - 1, 2) / k))
        for k in range(1, n_merges + 1)
    )
    return merges + n_columns * 0.5 * math.log2(n_rows)


def pattern_tables(merges, rows, n_columns):
    """For each merge: rows in which both patterns are known, and that have all tags of the left
    one, of the right one, of both."""
    pattern = {k: {k} for k in range(n_columns)}
    tables = []
    for left, right, both, right_only, left_only in merges:
        p, q = pattern[left], pattern[right]
        pattern |= {both: p | q, right_only: q, left_only: p}
        table = [0, 0, 0, 0]
        for row in rows:
            one, other = all_of(row, p), all_of(row, q)
            if one is not None and other is not None:
                for k, holds in enumerate((True, one, other, one and other)):
                    table[k] += holds
        tables.append(table)
    return tables


def all_of(row, columns):
    value = True
    for k in columns:
        value = conjunction(value, row[k])
    return value
