"""The slow, obvious oracle of the classifier by code length. It imports nothing from conjunct."""

import math

import naive_code


def features_of(rows, tags, merges):
    """All chunks that a row could have, in the order in which they are asked for."""

    def key(pattern):
        return tags.index(*pattern) if len(pattern) == 1 else pattern

    numbered = [(key(p), key(q), p | q, key(q), key(p)) for p, q in merges]
    features = naive_code.features_of(numbered, len(tags))
    return naive_code.in_order(features, cells(rows, tags), tags)


def cells(rows, tags):
    return [[tag in row for tag in tags] for row in rows]


def answers(rows, features, tags):
    """{question: whether it is so} of each row, of those that are asked."""
    variables = [None] * len(tags)
    return [
        {
            (chunk, which): value
            for chunk, which, value in naive_code.coded(row, features, variables)
        }
        for row in cells(rows, tags)
    ]


def row_bits(answered, others, smoothing):
    """Bits of a row in the code of a class, whose rows are ``others``, all as answers."""
    bits = 0.0
    for question, is_so in answered.items():
        known = [other[question] for other in others if question in other]
        bits -= math.log2((known.count(is_so) + smoothing) / (len(known) + 2 * smoothing))
    return bits


def shares(bits, calibration):
    values = {name: 2 ** (calibration * (min(bits.values()) - b)) for name, b in bits.items()}
    return {name: value / sum(values.values()) for name, value in values.items()}


def probabilities(row, rows, classes, tags, merges, smoothing, calibration):
    """{class: probability} of a row."""
    features = features_of(rows, tags, merges)
    known, (own_answers,) = answers(rows, features, tags), answers([row], features, tags)
    bits = {}
    for name in set(classes):
        own = [k for k, c in zip(known, classes, strict=True) if c == name]
        answered = row_bits(own_answers, own, smoothing)
        bits[name] = answered - math.log2(len(own) / len(rows))
    return shares(bits, calibration)


def losses_left_out(rows, classes, tags, merges, smoothing):
    """{calibration: bits of the classes of all rows}, each row told by all the others."""
    known = answers(rows, features_of(rows, tags, merges), tags)
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
        for calibration in losses:
            losses[calibration] -= math.log2(shares(bits, calibration)[own_class])
    return losses
