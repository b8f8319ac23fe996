"""The slow, obvious oracle of the classifier by code length. It imports nothing from conjunct."""

import math

import naive_bits


def patterns_of(tags, merges):
    """All chunks that a row could have: the tags, and the union of each merge."""
    return {frozenset([tag]) for tag in tags} | {p | q for p, q in merges}


def answers(row, tags, merges):
    """{chunk: whether it is there}, of those that are asked for."""
    there, taken, found = naive_bits.chunks(row, merges), set(), {}
    for pattern in sorted(patterns_of(tags, merges), key=lambda p: (-len(p), sorted(p))):
        if not pattern & taken:
            found[pattern] = pattern in there
            taken |= pattern if pattern in there else set()
    return found


def row_bits(answered, others, smoothing):
    """Bits of a row in the code of a class, whose rows are ``others``, all as answers."""
    bits = 0.0
    for pattern, is_there in answered.items():
        told = [other[pattern] for other in others if pattern in other]
        bits -= math.log2((told.count(is_there) + smoothing) / (len(told) + 2 * smoothing))
    return bits


def shares(bits, trust):
    values = {name: 2 ** (trust * (min(bits.values()) - b)) for name, b in bits.items()}
    return {name: value / sum(values.values()) for name, value in values.items()}


def probabilities(row, rows, classes, tags, merges, smoothing, trust):
    """{class: probability} of a row."""
    known = [answers(other, tags, merges) for other in rows]
    bits = {}
    for name in set(classes):
        own = [k for k, c in zip(known, classes, strict=True) if c == name]
        answered = row_bits(answers(row, tags, merges), own, smoothing)
        bits[name] = answered - math.log2(len(own) / len(rows))
    return shares(bits, trust)


def losses_left_out(rows, classes, tags, merges, smoothing):
    """{trust: bits of the classes of all rows}, each row told by all the others."""
    known = [answers(row, tags, merges) for row in rows]
    names, losses = sorted(set(classes)), dict.fromkeys((k / 20 for k in range(1, 21)), 0.0)
    for k, (own_answers, own_class) in enumerate(zip(known, classes, strict=True)):
        bits = {}
        for name in names:
            mine = name == own_class
            others = [a for j, a in enumerate(known) if classes[j] == name and j != k]
            n, every = len(others), len(rows)
            # of the own class one row is gone, so that its share is smoothed
            share = (n + smoothing) / (every - 1 + len(names) * smoothing) if mine else n / every
            bits[name] = row_bits(own_answers, others, smoothing) - math.log2(share)
        for trust in losses:
            losses[trust] -= math.log2(shares(bits, trust)[own_class])
    return losses
