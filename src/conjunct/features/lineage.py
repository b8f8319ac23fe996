"""The origin of features: primitives, and features made of literals over earlier features.

With any learner, Algorithm 1 constructs only conjunctions of two literals and counts of several.
Features have numbers: primitives first, then the others in the order in which they were made. A
literal is the number of a feature, or its bitwise complement (``~number``) for the negation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from copy import copy
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

from conjunct.errors import InputError
from conjunct.expressions import (
    And,
    AtLeast,
    Exactly,
    Expression,
    Not,
    Or,
    Primitive,
    Style,
    canonical_key,
    render_conjunction,
    render_negation,
)

Literal = int
Start = tuple[float, ...]


class Tally(NamedTuple):
    """A feature that is true if at least, or exactly, ``number`` of some literals are true."""

    literals: tuple[Literal, ...]
    number: int
    exactly: bool

    @property
    def is_conjunction(self) -> bool:
        """True if all of them must be true."""
        return not self.exactly and self.number == len(self.literals)


Made = tuple[Literal, Literal] | Tally
"""The parts of a feature: two joined literals, or several counted literals."""

# limit for all formulas written together, including their parts
_MOST_CHARACTERS = 1 << 25

# Plain names have no sign, no character below the space, and no space at the end or before a
# character up to &. Then no piece of a canonical text continues where a piece of another one ends.
_NOT_PLAIN = re.compile(r"[~&()\x00-\x1f]| [\x00-&]| \Z")

# comes after the last rank of a start, so a text that ends there precedes longer texts
_END = -1
_MORE = math.inf


class Lineage:
    """All features made so far. A feature made again from the same literals keeps its number."""

    def __init__(self, primitives: Sequence[str]) -> None:
        self.primitives = tuple(primitives)
        self.made: list[Made] = []
        self.all_lengths = [1] * len(self.primitives)
        # created on first use, because most features of a long run are never written or compared
        self._expressions: dict[int, Expression] = {}
        self._patterns: dict[int, tuple[str, ...]] = {}
        # for each feature, the one whose pattern it shares: i ∧ ¬j asserts the same tags as i
        self._wholes: dict[int, int] = {}
        self._counts_literals = False
        self._numbers_of_made: dict[Made, int] = {}

    @property
    def _numbers(self) -> dict[Made, int]:
        numbers, made = self._numbers_of_made, self.made
        if len(numbers) < len(made):
            # a long run makes thousands of features without testing whether they are new
            n, first = len(numbers), len(self.primitives)
            numbers.update(zip(made[n:], count(first + n), strict=False))
        return numbers

    @cached_property
    def _starts(self) -> dict[int, Start]:
        """The ranks of the names before every negation."""
        order = sorted(range(len(self.primitives)), key=lambda n: self.primitives[n] + " & ")
        return {n: (k, _END) if self.primitives[n] < "~" else (_MORE,) for k, n in enumerate(order)}

    @cached_property
    def _has_plain_names(self) -> bool:
        return not any(map(_NOT_PLAIN.search, self.primitives))

    def __getstate__(self) -> dict[str, list[Any]]:
        # plain values, which every way of saving supports; the rest is rebuilt when needed
        return {"primitives": [*self.primitives], "made": [*map(tuple, self.made)]}

    def __setstate__(self, state: dict[str, list[Any]]) -> None:
        self.__init__(state["primitives"])  # type: ignore[misc]
        for made in state["made"]:
            self.make(made if len(made) == 2 else Tally(*made))

    def __len__(self) -> int:
        return len(self.all_lengths)

    @property
    def conjunctions(self) -> list[tuple[Literal, Literal]]:
        """The pairs of joined literals in the order in which they were made, without counts."""
        return [made for made in self.made if not isinstance(made, Tally)]

    def conjoin(self, left: Literal, right: Literal) -> int:
        """Return the number of ``left ∧ right``, and create it if it is new."""
        if (number := self._numbers.get((left, right))) is not None:
            return number
        lengths = self.all_lengths
        self.made.append((left, right))
        lengths.append(
            lengths[left if left >= 0 else ~left] + lengths[right if right >= 0 else ~right]
        )
        return len(lengths) - 1

    def conjoin_pair(
        self, left: int, right: int, occur: tuple[object, object, object]
    ) -> tuple[int | None, int | None, int | None]:
        """Create ``i ∧ j``, ``¬i ∧ j`` and ``i ∧ ¬j``, except those that do not occur.

        All of them must be new. Return their numbers, or ``None`` where nothing was created.
        """
        lengths, both, right_only, left_only = self.all_lengths, *occur
        new, length = len(lengths), lengths[left] + lengths[right]
        if both and right_only and left_only:
            self.made += ((left, right), (~left, right), (left, ~right))
            lengths += (length, length, length)
            return new, new + 1, new + 2
        numbers: list[int | None] = []
        for occurs, made in zip(
            occur, ((left, right), (~left, right), (left, ~right)), strict=True
        ):
            numbers.append(len(lengths) if occurs else None)
            if occurs:
                self.made.append(made)
                lengths.append(length)
        return numbers[0], numbers[1], numbers[2]

    def make(self, made: Made) -> int:
        """Return the number of the feature with these parts, and create it if it is new."""
        if not isinstance(made, Tally):
            return self.conjoin(*made)
        number = self._numbers.get(made)
        if number is None:
            number = len(self.all_lengths)
            self.made.append(made)
            self.all_lengths.append(sum(self.all_lengths[feature_of(x)] for x in made.literals))
            self._counts_literals = True
        return number

    def formula(self, made: Made) -> Expression:
        """Return the expression of the feature that these parts would make."""
        parts = made.literals if isinstance(made, Tally) else made
        expressions = self.expressions(map(feature_of, parts))
        literals = [e if x >= 0 else Not(e) for x, e in zip(parts, expressions, strict=True)]
        if not isinstance(made, Tally) or made.is_conjunction:
            return And(*literals)
        if made.number == 1 and not made.exactly:
            return Or(*literals)
        return (Exactly if made.exactly else AtLeast)(made.number, literals)

    def forget_after(self, length: int) -> None:
        """Delete all but the first ``length`` features."""
        for number in range(length, len(self)):
            self._numbers_of_made.pop(self.made[number - len(self.primitives)], None)
            self._expressions.pop(number, None)
            self._starts.pop(number, None)
            self._patterns.pop(number, None)
            self._wholes.pop(number, None)
        del self.all_lengths[length:]
        del self.made[length - len(self.primitives) :]

    def expression(self, number: int) -> Expression:
        pending = [] if number in self._expressions else [number]
        while pending:
            literals = self.operands(pending[-1]) or ()
            missing = [feature_of(x) for x in literals if feature_of(x) not in self._expressions]
            if missing:
                pending += missing
                continue
            made = pending.pop()
            if made < len(self.primitives):
                self._expressions[made] = Primitive(self.primitives[made])
            elif made not in self._expressions:
                self._expressions[made] = self.formula(self.made[made - len(self.primitives)])
        return self._expressions[number]

    def expressions(self, numbers: Iterable[int]) -> tuple[Expression, ...]:
        return tuple(self.expression(number) for number in numbers)

    def texts(self, numbers: Iterable[int], style: Style = "unicode") -> list[str]:
        """Write formulas as ``Expression.text`` does, each shared part only once.

        Raises
        ------
        InputError
            If they are too long to write.
        """
        wanted = list(numbers)
        names = [Primitive(name).text(style) for name in self.primitives]
        made = self.ancestors(wanted)
        if any(isinstance(self.made[number - len(names)], Tally) for number in made):
            # names have another form inside counts
            return [self.expression(number).text(style) for number in wanted]
        # refuse texts that do not fit in memory, by computing their lengths
        size, total = dict(enumerate(map(len, names))), 0
        for number in made:
            left, right = self._pair(number)
            size[number] = size[feature_of(left)] + size[feature_of(right)] + 9
            total += size[number]
            if total > _MOST_CHARACTERS:
                n = sum(self.lengths(wanted))
                have = f"have {n:,} literals together, too many" if n < 10**15 else "are too long"
                raise InputError(f"the formulas {have} to write out: use feature_names='tags'")
        texts = dict(enumerate(names))

        def literal(x: Literal) -> str:
            is_group = feature_of(x) >= len(names)
            text = texts[feature_of(x)]
            return text if x >= 0 else render_negation(text, style, is_group=is_group)

        for number in made:
            left, right = self._pair(number)
            texts[number] = render_conjunction(literal(left), literal(right), style)
        return [texts[number] for number in wanted]

    def length(self, number: int) -> int:
        """Count literal occurrences."""
        return self.all_lengths[number]

    def pattern(self, number: int) -> tuple[str, ...]:
        """Return the primitives that a feature asserts, in the order of their names.

        A count asserts none of the features that it counts.
        """
        patterns, whole = self._patterns, self._whole(number)
        if whole not in patterns:
            # do not cache patterns of parts: those of a long chain would fill the memory
            names, seen, pending = set(), {whole}, [whole]
            while pending:
                part = pending.pop()
                if part < len(self.primitives):
                    names.add(self.primitives[part])
                more = {*map(self._whole, self._list_asserted(part))} - seen
                seen |= more
                pending += more
            patterns[whole] = tuple(sorted(names))
        return patterns[whole]

    def _whole(self, number: int) -> int:
        """Return the feature whose pattern a feature shares, which may be the feature itself."""
        wholes, passed, whole = self._wholes, [], number
        while whole not in wholes:
            passed.append(whole)
            asserted = self._list_asserted(whole)
            if len(asserted) != 1:
                wholes[whole] = whole
            else:
                whole = asserted[0]
        for other in passed:
            wholes[other] = wholes[whole]
        return wholes[number]

    def _list_asserted(self, number: int) -> list[int]:
        k = number - len(self.primitives)
        made: Any = self.made[k] if k >= 0 else ()
        if isinstance(made, Tally):
            made = made.literals if made.is_conjunction else ()
        return [x for x in made if x >= 0]

    def denies(self, number: int) -> bool:
        """Return True if a feature is ``f ∧ ¬g``, which is the rest of the pattern of f.

        ``f ∧ g`` is not a rest, even if f or g is one: it is true in all rows with its pattern.
        """
        return not self.is_count(number) and any(x < 0 for x in self.operands(number) or ())

    def by_text(self, numbers: Iterable[int]) -> list[int]:
        """Sort features by their canonical texts."""
        wanted = list(numbers)
        # these are the starts of conjunctions
        if self._has_plain_names and not self._counts_literals:
            starts = self._starts
            for number in wanted:
                if number not in starts:
                    self._make_start(number)
            ordered = sorted(wanted, key=starts.__getitem__)
            if len({*map(starts.__getitem__, wanted)}) == len(wanted):
                return ordered
        return sorted(wanted, key=lambda number: canonical_key(self.expression(number)))

    def lengths(self, numbers: Iterable[int]) -> list[int]:
        """Count the literal occurrences of each feature."""
        return [*map(self.all_lengths.__getitem__, numbers)]

    def operands(self, number: int) -> tuple[Literal, ...] | None:
        """Return the literals that a feature is made of; ``None`` for a primitive."""
        k = number - len(self.primitives)
        if k < 0:
            return None
        made = self.made[k]
        return made.literals if isinstance(made, Tally) else made

    def is_count(self, number: int) -> bool:
        """Return True if a feature counts literals instead of joining them."""
        k = number - len(self.primitives)
        made = self.made[k] if k >= 0 else None
        return isinstance(made, Tally) and not made.is_conjunction

    def ancestors(self, numbers: Iterable[int]) -> list[int]:
        """Return these features and all their ancestors except primitives, in order."""
        n_primitives = len(self.primitives)
        found: set[int] = set()
        pending = [number for number in numbers if number >= n_primitives]
        while pending:
            number = pending.pop()
            if number not in found:
                found.add(number)
                parts = map(feature_of, self.operands(number) or ())
                pending += [part for part in parts if part >= n_primitives]
        return sorted(found)

    def first(self, n_made: int) -> Lineage:
        """Return an extensible copy with the primitives and only the first other features."""
        other = Lineage(self.primitives)
        other.made = self.made[:n_made]
        other.all_lengths = self.all_lengths[: len(self.primitives) + n_made]
        other._counts_literals = self._counts_literals
        return other

    def copy(self) -> Lineage:
        """Return an extensible copy."""
        other = Lineage.__new__(Lineage)
        vars(other).update((name, copy(value)) for name, value in vars(self).items())
        return other

    def rename(self, primitives: Sequence[str]) -> Lineage:
        """Return the same features over primitives with other names."""
        other = Lineage(primitives)
        for made in self.made:
            other.make(made)
        return other

    def _pair(self, number: int) -> tuple[Literal, Literal]:
        """Return the two literals of a conjunction."""
        left, right = self.made[number - len(self.primitives)]  # type: ignore[misc]
        return left, right

    def _make_start(self, number: int) -> None:
        """Store the start of a text: its primitives, and whether more follows.

        Different starts sort in the order of the texts.
        """
        starts = self._starts
        pending = [number]
        while pending:
            made = pending[-1]
            left, right = self._pair(made)
            one = starts.get(left) if left >= 0 else (_MORE,)
            other = starts.get(right) if right >= 0 else (_MORE,)
            if one is None or other is None:
                pending.append(left if one is None else right)
                continue
            ranks = sorted(one[:-1] + other[:-1])
            starts[pending.pop()] = (*ranks, max(one[-1], other[-1]))


def feature_of(literal: Literal) -> int:
    """Return the feature that a literal asserts or negates."""
    return literal if literal >= 0 else ~literal
