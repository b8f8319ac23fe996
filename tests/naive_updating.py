"""Bits of new rows by a vocabulary and by the bare columns, from the definition."""

from math import log2


def bits(supports, patterns, chunks, training):
    """Each chunk of each new row in the code of its feature; each tag in that of its column.

    ``supports`` are those of all features in training, which ``patterns`` tell apart; half a row is
    added to each.
    """
    total = sum(support + 0.5 for support in supports)
    code = {
        tuple(sorted(pattern)): log2(total / (support + 0.5))
        for pattern, support in zip(patterns, supports, strict=True)
    }
    columns = [sum(row[k] for row in training) + 0.5 for k in range(len(training[0]))]
    by_features = sum(code[tuple(chunk)] for row in chunks for chunk in row)
    by_columns = sum(
        log2(sum(columns) / columns[tag]) for row in chunks for chunk in row for tag in chunk
    )
    return by_features, by_columns
