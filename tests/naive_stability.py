"""§7.3 line by line; imports nothing from conjunct. A feature set is a set of texts."""

from itertools import combinations


def common_with_original(sets, original):
    return sum(len([f for f in features if f in original]) for features in sets) / len(sets)


def common_between_runs(sets):
    pairs = list(combinations(sets, 2))
    if not pairs:
        return len(sets[0])
    return sum(len([f for f in one if f in other]) for one, other in pairs) / len(pairs)


def share_of_runs(feature, sets):
    return sum(feature in features for features in sets) / len(sets)
