"""Slow, obvious oracles of what serves wide data. Imports nothing from conjunct."""

import math

import naive


def balances(sets, **options):
    """For each feature set: rows in which candidates meet, and features added, as shares."""
    found = [naive.candidates(features, **options) for features in sets]
    meetings = [sum(joint for _, joint, *_ in pairs) for pairs in found]
    correlated = {end for *_, i, j in found[0] for end in (i, j)}
    return [
        (met / (meetings[0] or 1), (len(features) - len(sets[0])) / (len(correlated) or 1))
        for met, features in zip(meetings, sets, strict=True)
    ]


def until_balance_worsens(sets, **options):
    """Which feature set is kept: the last before the distance from (0, 0) rises."""
    distances = [math.hypot(*balance) for balance in balances(sets, **options)]
    kept = 0
    while kept + 1 < len(sets) and distances[kept + 1] <= distances[kept]:
        kept += 1
    return kept
