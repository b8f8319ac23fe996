"""The grid of §5.3 in plain NumPy: uFC at each λ on its own, ties broken as documented.

It imports nothing from conjunct and is itself checked against naive.py. A formula is interned: the
same formula, whatever the order and nesting of its conjunctions, has the same number here.
"""

import numpy as np


class Formulas:
    def __init__(self):
        self.numbers = {}
        self.forms = []
        self.texts = {}

    def number(self, form):
        if form not in self.numbers:
            self.numbers[form] = len(self.forms)
            self.forms.append(form)
        return self.numbers[form]

    def primitive(self, name):
        return self.number(("primitive", name))

    def negation(self, number):
        return self.number(("not", number))

    def conjunction(self, *numbers):
        return self.number(("and", tuple(sorted(x for n in numbers for x in self.operands(n)))))

    def operands(self, number):
        kind, content = self.forms[number]
        return content if kind == "and" else (number,)

    def text(self, number):
        if number not in self.texts:
            kind, content = self.forms[number]
            if kind == "primitive":
                text = content
            elif kind == "not":
                inner = self.text(content)
                text = f"~({inner})" if self.forms[content][0] == "and" else f"~{inner}"
            else:
                text = " & ".join(sorted(map(self.text, content)))
            self.texts[number] = text
        return self.texts[number]


def correlations(X):
    n = len(X)
    joint = X.T.astype(np.int64) @ X.astype(np.int64)
    s = np.diagonal(joint)
    variance = (s * (n - s)).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (n * joint - np.outer(s, s)) / np.sqrt(np.outer(variance, variance))
    return joint, r


def step(formulas, X, features, threshold, prune=False):
    """One iteration: the next columns and features, or None where no pair passes."""
    n, m = X.shape
    joint, r = correlations(X)
    passes = np.triu(r > threshold, k=1)
    if prune:
        s = np.diagonal(joint)
        for one in (s, n - s):
            for other in (s, n - s):
                passes &= np.outer(one, other) >= 5 * n
    pairs = [(i, j) for i, j in np.argwhere(passes)]
    pairs.sort(
        key=lambda pair: (
            -r[pair],
            -joint[pair],
            *sorted(formulas.text(features[k]) for k in pair),
        )
    )
    free = [True] * m
    new = []
    for i, j in pairs:
        if free[i] and free[j]:
            free[i] = free[j] = False
            new.append((i, j))
    if not new:
        return None
    columns = [X[:, k] for k in range(m) if free[k]]
    made = [features[k] for k in range(m) if free[k]]
    for i, j in new:
        x, y, f, g = X[:, i], X[:, j], features[i], features[j]
        for column, one, other in (
            (x & y, f, g),
            (~x & y, formulas.negation(f), g),
            (x & ~y, f, formulas.negation(g)),
        ):
            if column.any():
                columns.append(column)
                made.append(formulas.conjunction(one, other))
    return np.column_stack(columns), made


def run(formulas, X, names, threshold, limit_iter, prune=False):
    """The feature sets F_0, F_1, … of one λ, until nothing changes."""
    features = [formulas.primitive(name) for name in names]
    sets = [features]
    formulas.texts.clear()
    for _ in range(limit_iter):
        following = step(formulas, X, features, threshold, prune)
        if following is None:
            break
        X, features = following
        sets.append(features)
    return sets
