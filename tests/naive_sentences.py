"""What a sentence about a formula says, read back by the rules of English alone."""

import re
from itertools import product

NAMES = [
    "ant", "bee", "cat", "dining table", "F1", "x2", "colour = red", "colour = black or white",
    "size ≤ 4", "age in [30, 45)", "salt and pepper", "no, thanks",
]  # fmt: skip

# how each name is said, and how it is denied where it has a way of its own
_STATEMENTS = {
    "colour is red": ("colour = red", True),
    "colour is not red": ("colour = red", False),
    'colour is "black or white"': ("colour = black or white", True),
    'colour is not "black or white"': ("colour = black or white", False),
    "size is at most 4": ("size ≤ 4", True),
    "size is above 4": ("size ≤ 4", False),
    "age is in [30, 45)": ("age in [30, 45)", True),
    "age is not in [30, 45)": ("age in [30, 45)", False),
}
_SAID = {
    **{name: name for name in ("ant", "bee", "cat", "dining table", "F1", "x2")},
    '"salt and pepper"': "salt and pepper",
    '"no, thanks"': "no, thanks",
}
_WORDS = (
    "every row", "no row", "either", "neither", "nor", "none of", "not", "both", "all of",
    "no", "without", "with", "where", "and", "or", ",", ";", "(", ")",
)  # fmt: skip
_COUNT = r"(at least|fewer than|exactly) (\d+) of"
_TOKEN = re.compile(_COUNT + "|" + "|".join(map(re.escape, [*_STATEMENTS, *_SAID, *_WORDS])) + "| ")


def meaning(sentence):
    """The formula that a sentence states, as nested tuples."""
    tokens, end = [], 0
    while end < len(sentence):
        found = _TOKEN.match(sentence, end)
        tokens += [found[0]] * (found[0] != " ")
        end = found.end()
    reader = _Reader(tokens)
    stated = reader.sentence()
    assert reader.at == len(tokens), tokens[reader.at :]
    return stated


def truth_table(formula):
    """Whether a formula is true, for all truth values of the names in it."""
    names = sorted(_names(formula))
    values = (
        dict(zip(names, row, strict=True)) for row in product([False, True], repeat=len(names))
    )
    return names, [_is_true(formula, value) for value in values]


def _names(formula):
    if formula[0] == "name":
        return {formula[1]}
    parts = formula[2:] if formula[0] in ("at least", "exactly") else formula[1:]
    return set() if formula[0] == "constant" else set().union(*map(_names, parts))


def _is_true(formula, values):
    kind, *parts = formula
    if kind == "name":
        return values[parts[0]]
    if kind == "constant":
        return parts[0]
    if kind == "not":
        return not _is_true(parts[0], values)
    if kind in ("at least", "exactly"):
        number, *operands = parts
        n_true = sum(_is_true(operand, values) for operand in operands)
        return n_true == number or (kind == "at least" and n_true > number)
    return (all if kind == "and" else any)(_is_true(part, values) for part in parts)


class _Reader:
    def __init__(self, tokens):
        self.tokens, self.at = tokens, 0

    def next_is(self, *words):
        return tuple(self.tokens[self.at : self.at + len(words)]) == words

    def accept(self, *words):
        found = self.next_is(*words)
        self.at += len(words) * found
        return found

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def sentence(self):
        clauses = [self.clause()]
        while self.accept(";"):
            clauses.append(self.clause())
        return ("and", *clauses)

    def inner(self):
        assert self.accept("(")
        stated = self.sentence()
        assert self.accept(")")
        return stated

    def clause(self):
        if self.accept("every row") or self.accept("no row"):
            return ("constant", self.tokens[self.at - 1] == "every row")
        if self.accept("either"):
            found = [self.alternative()]
            while self.accept("or"):
                found.append(self.alternative())
            return ("or", *found)
        if count := re.fullmatch(_COUNT, self.tokens[self.at]):
            return self.count(count)
        if self.accept("not"):
            if count := re.fullmatch(_COUNT, self.tokens[self.at]):
                return ("not", self.count(count))
            if self.accept("both") or self.accept("all of"):
                return ("not", ("and", *self.series()[0]))
            return ("not", self.inner())
        return self.listing()

    def count(self, words):
        self.take()
        counted = [self.alternative()]
        while self.accept(","):
            counted.append(self.alternative())
        assert self.accept("and")
        counted.append(self.alternative())
        kind, number = words.groups()
        stated = ("exactly" if kind == "exactly" else "at least", int(number), *counted)
        return ("not", stated) if kind == "fewer than" else stated

    def alternative(self):
        return self.inner() if self.next_is("(") else self.literal()

    def literal(self):
        if self.accept("no"):
            return ("not", self.literal())
        said = self.take()
        if said in _STATEMENTS:
            name, holds = _STATEMENTS[said]
            return ("name", name) if holds else ("not", ("name", name))
        return ("name", _SAID[said])

    def series(self):
        """Literals with commas, and the word before the last one."""
        found = [self.literal()]
        while self.next_is(",") and not self.next_is(",", "where") and not self.next_is(",", "and"):
            self.take()
            found.append(self.literal())
        if self.accept("or"):
            return [*found, self.literal()], "or"
        denies = [("and", word) for word in ("no", "neither", "none of")]
        if self.next_is("and") and not any(self.next_is(*words) for words in denies):
            self.take()
            return [*found, self.literal()], "and"
        return found, "and"

    def denial(self):
        if self.accept("neither"):
            one = self.literal()
            assert self.accept("nor")
            return [("not", one), ("not", self.literal())]
        if self.accept("none of"):
            return [("not", one) for one in self.series()[0]]
        return [self.literal()]

    def listing(self):
        if self.next_is("neither") or self.next_is("none of"):
            stated = self.denial()
        else:
            stated, word = self.series()
            if word == "or":
                return ("or", *stated)
            # statements stand side by side
            while self.accept("and"):
                stated.append(self.literal())
            stated += self.described()
        if self.accept(",", "where"):
            stated.append(self.literal())
            while self.accept("and"):
                stated.append(self.literal())
        return ("and", *stated)

    def described(self):
        if self.accept("without"):
            return [("not", self.literal())]
        if not self.accept("with"):
            return []
        if self.next_is("neither") or self.next_is("none of"):
            return self.denial()
        stated = self.series()[0]
        if self.accept(",", "and") or self.accept("and"):
            stated += self.denial()
        return stated
