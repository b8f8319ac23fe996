"""Which columns are values of one variable: slow and obvious. Imports nothing from conjunct.

A row is a list of True, False and None, where None is a missing cell.
"""

import math
from fractions import Fraction
from itertools import combinations


def stems(name):
    """The stems of a name, shortest first: (stem, separator, whether it is in many names)."""
    if len(name) > 200:
        return []
    words = name.split(" ")
    if len(words) >= 3 and words[-2] in ("<", "≥") and "" not in (words[0], words[-1]):
        return [(" ".join(words[:-2]), "interval", False)]
    if len(words) >= 4 and words[-3] == "in":
        low, high = words[-2:]
        opens, closes = low[0:1] == "[" and low[-1:] == ",", high[-1:] == ")"
        if opens and closes and len(low) > 2 and len(high) > 1:
            return [(" ".join(words[:-3]), "interval", False)]
    opening = name.find("[")
    if opening > 0 and name.endswith("]") and len(name) > opening + 2:
        return [(name[:opening].strip(), "[", False)]
    found = []
    k = 0
    while k < len(name):
        if name[k] == "=" or name[k : k + 2] == ": ":
            end = k + (2 if name[k] == ":" else 1)
            while name[k] == "=" and name[end : end + 1] == "=":
                end += 1
            before, after = name[:k].rstrip(" "), name[end:].lstrip(" ")
            if before and after:
                found.append((before, name[k:end], False))
            k = end
        else:
            k += 1
    if found:
        return found
    k = 0
    while k < len(name):
        end = k
        while end < len(name) and name[end] in "_.:":
            end += 1
        if end > k and k > 0 and end < len(name):
            found.append((name[:k], name[k:end], True))
        k = max(end, k + 1)
    return found


def meet(rows, i, j):
    return any(row[i] is True and row[j] is True for row in rows)


def expected(rows, i, j):
    """Rows in which chance would have both be true, of those in which both are known."""
    known = [row for row in rows if row[i] is not None and row[j] is not None]
    if not known:
        return Fraction(0)
    one = sum(row[i] for row in known)
    other = sum(row[j] for row in known)
    return Fraction(one * other, len(known))


def variables(names, rows):
    """The columns of each variable, as a set of frozen sets of names."""
    found = []
    free = set(range(len(names)))

    def by_name(stem, columns):
        separators = {s for k in columns for s in stems(names[k]) if s == stem}
        if any(meet(rows, i, j) for i, j in combinations(columns, 2)):
            return False
        if not next(iter(separators))[2]:
            return True
        covers = all(any(row[k] for k in columns) for row in rows)
        return covers or sum(expected(rows, i, j) for i, j in combinations(columns, 2)) >= 8

    every = {stem for name in names for stem in stems(name)}
    for stem in sorted(every, key=lambda stem: (len(stem[0]), stem)):
        columns = [k for k in sorted(free) if stem in stems(names[k])]
        if len(columns) >= 2 and by_name(stem, columns):
            found.append(columns)
            free -= set(columns)

    def support(k):
        return sum(row[k] is True for row in rows)

    # of N pairs by chance alone, about one should be taken for exclusive
    needed = max(8, math.ceil(math.log(max(1, len(names) * (len(names) - 1) / 2))))
    left, sets = sorted(free, key=lambda k: (-support(k), names[k])), []
    while left:
        one = [left[0]]
        for k in left[1:]:
            if all(not meet(rows, k, j) and expected(rows, k, j) >= needed for j in one):
                one.append(k)
        left = [k for k in left if k not in one]
        sets.append(one)
    n = len(rows)

    def extend(some, columns):
        """Add the columns that meet none of a set, if that is too unlikely by chance."""
        if any(cell is None for row in rows for cell in row):
            return
        inside = {k for one in some for k in one}
        for k in sorted(columns - inside, key=lambda k: (-support(k), names[k])):
            s, fits = support(k), []
            for place, one in enumerate(some):
                u = sum(map(support, one))
                by_chance = Fraction(math.comb(n - u, s), math.comb(n, s))
                clear = not any(meet(rows, k, j) for j in one)
                if s and clear and by_chance and math.log(by_chance) <= -needed:
                    fits.append((u, -place))
            if fits:
                some[-max(fits)[1]].append(k)

    by_counts = [one for one in sets if len(one) > 2]
    extend(by_counts, free)
    inside = {k for one in by_counts for k in one}
    pairs = [one for one in sets if len(one) == 2 and not inside & set(one)]
    extend(pairs, free - inside)
    by_counts += [one for one in pairs if all(any(row[k] for k in one) for row in rows)]
    found += by_counts
    return {frozenset(names[k] for k in columns) for columns in found}
