"""Expressions: primitives, negations, conjunctions, disjunctions, constants and counts.

uFC and the FRINGE family make primitives, negations and conjunctions. Trees that count literals
make ``AtLeast`` and ``Exactly``. Simplification needs disjunctions and constants.

Expressions share operands, so a few dozen nodes may stand for a formula with a million literals.
Nothing here expands this graph: building, comparing, hashing and measuring look only at operands,
and walks visit each node once, without recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, ClassVar, Literal, NoReturn, TypeAlias, final

Style: TypeAlias = Literal["unicode", "ascii", "latex"]

# Maximum number of literals to show in full; `text` has no such limit.
_LONGEST_SHOWN = 1_000


class Expression:
    """A Boolean formula over named primitives; immutable and hashable.

    Equality ignores the order of operands and the nesting of conjunctions or disjunctions. It
    compares structure rather than logic: ``And(a, a) != a`` and ``Not(Not(a)) != a``.

    Examples
    --------
    >>> sky, building, panorama = map(Primitive, ("sky", "building", "panorama"))
    >>> print(sky & ~building & panorama)
    sky ∧ ¬building ∧ panorama
    >>> And(sky, And(building, panorama)) == And(panorama, sky, building)
    True
    """

    __slots__ = ("__weakref__", "_digest", "_length", "children")

    children: tuple[Expression, ...]
    """The operands of this expression in their original order; none for a primitive."""
    _digest: int
    _length: int

    def __init__(self) -> None:
        raise TypeError("Expression is abstract: build a Primitive, a Not, an And or an Or")

    def _store(self, children: tuple[Expression, ...], length: int, digest: int) -> None:
        _set(self, "children", children)
        _set(self, "_digest", digest)
        _set(self, "_length", length)

    @property
    def digest(self) -> int:
        """Return a 128-bit fingerprint, the same for equal expressions on all machines."""
        return self._digest

    @property
    def length(self) -> int:
        """Return the number of literals, counted with repetition.

        >>> And(Primitive("a"), Not(Primitive("a"))).length
        2
        """
        return self._length

    @property
    def literals(self) -> frozenset[Expression]:
        """Return the distinct literals as written: ``¬(a ∧ ¬b)`` has ``a`` and ``¬b``."""
        found: set[Expression] = {self} if isinstance(self, Primitive) else set()
        for node in nodes(self):
            if isinstance(node, Not) and isinstance(node.operand, Primitive):
                found.add(node)
            elif isinstance(node, _Connective | Counted):
                found.update(child for child in node.operands if isinstance(child, Primitive))
        return frozenset(found)

    @property
    def primitives(self) -> frozenset[str]:
        """Return the names of the primitives in the formula.

        >>> sorted(Not(And(Primitive("tree"), Not(Primitive("forest")))).primitives)
        ['forest', 'tree']
        """
        return frozenset(node.name for node in nodes(self) if isinstance(node, Primitive))

    def evaluate(self, values: Mapping[str, bool]) -> bool:
        """Return the truth value of the formula, given the values of its primitives.

        Raises
        ------
        KeyError
            If a primitive of the formula has no value.

        Examples
        --------
        >>> (Primitive("sky") & ~Primitive("building")).evaluate({"sky": True, "building": False})
        True
        """
        from conjunct.expressions.truth import combine_columns  # which needs the classes below

        # columns with a single case
        known: dict[int, int] = {}
        for node in nodes(self):
            if isinstance(node, Primitive):
                known[id(node)] = bool(values[node.name])
            else:
                operands = [known[id(child)] for child in node.children]
                known[id(node)] = combine_columns(node, operands, 1)
        return bool(known[id(self)])

    def simplify(self) -> Expression:
        """Return a short equivalent formula.

        >>> sky, tree = Primitive("sky"), Primitive("tree")
        >>> print((~(sky & tree) & tree).simplify())
        ¬sky ∧ tree
        """
        from conjunct.expressions.simplify import simplify

        return simplify(self)

    def to_dnf(self) -> Expression:
        """Return an equivalent disjunction of conjunctions of literals, without redundant terms.

        >>> sky, tree, road = map(Primitive, ("sky", "tree", "road"))
        >>> print((sky & ~(tree & road)).to_dnf())
        (sky ∧ ¬tree) ∨ (sky ∧ ¬road)
        """
        from conjunct.expressions.simplify import to_dnf

        return to_dnf(self)

    def text(self, style: Style = "unicode") -> str:
        """Render the formula in its original order; see `text.render`.

        >>> Not(And(Primitive("tree"), Not(Primitive("forest")))).text("ascii")
        '~(tree & ~forest)'
        """
        from conjunct.expressions.text import render

        return render(self, style)

    def __and__(self, other: object) -> And:
        return And(self, other) if isinstance(other, Expression) else NotImplemented

    def __or__(self, other: object) -> Or:
        return Or(self, other) if isinstance(other, Expression) else NotImplemented

    def __invert__(self) -> Not:
        return Not(self)

    def __eq__(self, other: object) -> bool:
        return self._digest == other._digest if isinstance(other, Expression) else NotImplemented

    def __hash__(self) -> int:
        # Hashes of ints, unlike bytes, give sets the same order in all processes.
        return hash(self._digest)

    def __str__(self) -> str:
        """Render the formula; a conjunction that is too long is shown by its tags."""
        if self._length <= _LONGEST_SHOWN or not isinstance(self, And):
            return self.text()
        from conjunct.expressions.text import pattern_text

        # asserted primitives, including those in nested conjunctions
        names, seen, pending = set(), {id(self)}, [self]
        while pending:
            for part in pending.pop().operands:
                if isinstance(part, Primitive):
                    names.add(part.name)
                elif isinstance(part, And) and id(part) not in seen:
                    seen.add(id(part))
                    pending.append(part)
        is_rest = any(isinstance(part, Not) for part in self.operands)
        return pattern_text([*names], is_rest=is_rest)

    def __repr__(self) -> str:
        # A debugger must be able to show an expression of any length.
        if self._length > _LONGEST_SHOWN:
            return f"<{type(self).__name__} of about 2**{self._length.bit_length() - 1} literals>"
        return f"parse({self.text('ascii')!r})"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"expressions are immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"expressions are immutable: cannot delete {name!r}")

    def __copy__(self) -> Expression:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Expression:
        return self

    def __reduce__(self) -> tuple[Callable[..., Expression], tuple[object]]:
        # pickle would recurse into operands, but a flat tuple has no depth and keeps sharing
        return unpack, (pack(self),)


@final
class Primitive(Expression):
    """A column of the data, by name. Any string is a valid name, even an empty one.

    Examples
    --------
    >>> from conjunct.expressions import Primitive
    >>> print(Primitive("sky") & ~Primitive("sea"))
    sky ∧ ¬sea
    """

    __slots__ = ("name",)
    __match_args__ = ("name",)
    name: str

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a Primitive must be a str, not {type(name).__name__!r}")
        plain = str.__str__(name)  # drops subclasses such as numpy.str_
        _set(self, "name", plain)
        self._store((), 1, _digest(b"primitive", plain.encode("utf-8", "surrogatepass")))


@final
class Not(Expression):
    """The negation of an expression.

    Examples
    --------
    >>> from conjunct.expressions import Not, Primitive
    >>> print(Not(Primitive("sky")))
    ¬sky
    """

    __slots__ = ("operand",)
    __match_args__ = ("operand",)
    operand: Expression

    def __init__(self, operand: Expression) -> None:
        if not isinstance(operand, Expression):
            raise TypeError(
                f"the operand of Not must be an Expression, not {type(operand).__name__!r}"
            )
        _set(self, "operand", operand)
        digest = _digest(b"not", operand._digest.to_bytes(16, "big"))
        self._store((operand,), operand._length, digest)


@final
class Constant(Expression):
    """Always true or always false; it has no literals.

    Examples
    --------
    >>> from conjunct.expressions import Constant
    >>> print(Constant(True))
    ⊤
    """

    __slots__ = ("value",)
    __match_args__ = ("value",)
    value: bool

    def __init__(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(f"the value of a Constant must be a bool, not {type(value).__name__!r}")
        _set(self, "value", value)
        self._store((), 0, _digest(b"constant", b"1" if value else b"0"))


class _Connective(Expression):
    """Two or more expressions in their original order; equality ignores order and nesting."""

    __slots__ = ("_count", "_sorted", "_sum", "operands")
    __match_args__ = ("operands",)
    operands: tuple[Expression, ...]
    _count: int
    _sorted: tuple[Expression, ...] | None  # a cache that belongs to text.py
    _sum: int

    def __init__(self, *operands: Expression) -> None:
        kind = type(self)
        _check_operands(kind.__name__, operands)
        _set(self, "operands", operands)
        _set(self, "_sorted", None)
        # The flattened operands are a multiset. The sum of their digests identifies it without
        # sorting or expanding, because a nested conjunction adds its own sum. The sum is exact:
        # modulo 2**128, doubling an expression 128 times would give 0. Another hash makes a
        # conjunction under a Not differ from the sum of its parts.
        _set(self, "_sum", sum(x._sum if isinstance(x, kind) else x._digest for x in operands))
        _set(self, "_count", sum(x._count if isinstance(x, kind) else 1 for x in operands))
        digest = _digest(kind.__name__.lower().encode(), f"{self._count:x} {self._sum:x}".encode())
        self._store(operands, sum(x._length for x in operands), digest)


@final
class And(_Connective):
    """The conjunction of two or more expressions; `operands` keeps their order and nesting.

    Examples
    --------
    >>> from conjunct.expressions import And, Primitive
    >>> print(And(Primitive("sky"), Primitive("sea")))
    sky ∧ sea
    """

    __slots__ = ()


@final
class Or(_Connective):
    """The disjunction of two or more expressions; `operands` keeps their order and nesting.

    Examples
    --------
    >>> from conjunct.expressions import Or, Primitive
    >>> print(Or(Primitive("sky"), Primitive("sea")))
    sky ∨ sea
    """

    __slots__ = ()


class Counted(Expression):
    """A condition on the number of true expressions among two or more: `AtLeast` or `Exactly`."""

    __slots__ = ("_sorted", "number", "operands")
    __match_args__ = ("number", "operands")
    number: int
    operands: tuple[Expression, ...]
    _sorted: tuple[Expression, ...] | None  # a cache that belongs to text.py
    _least: ClassVar[int]

    def __init__(self, number: int, operands: Iterable[Expression]) -> None:
        kind = type(self).__name__
        operands = tuple(operands)
        _check_operands(kind, operands)
        if isinstance(number, bool) or not isinstance(number, int):
            raise TypeError(f"the number of {kind} must be an int, not {type(number).__name__!r}")
        if not self._least <= number <= len(operands):
            raise ValueError(
                f"the number of {kind} must be from {self._least} to {len(operands)}, "
                f"the number of its operands; got {number}"
            )
        _set(self, "number", number)
        _set(self, "operands", operands)
        _set(self, "_sorted", None)
        total = sum(x._digest for x in operands)  # exact, as in a connective
        content = f"{number:x} {len(operands):x} {total:x}".encode()
        digest = _digest(kind.lower().encode(), content)
        self._store(operands, sum(x._length for x in operands), digest)

    @property
    def most(self) -> int:
        """Return the largest number of true operands that satisfies it; ``number`` is the least."""
        return self.number if isinstance(self, Exactly) else len(self.operands)


@final
class AtLeast(Counted):
    """At least ``number`` of the operands, usually literals, are true (M-of-N).

    Repeated operands count repeatedly.

    >>> print(AtLeast(2, [Primitive("bicycle"), Primitive("backpack"), ~Primitive("car")]))
    at least 2 of {bicycle, backpack, ¬car}
    """

    __slots__ = ()
    _least = 1


@final
class Exactly(Counted):
    """Exactly ``number`` of the operands are true (a value of X-of-N); see `Count`.

    >>> print(Exactly(0, [Primitive("bicycle"), Primitive("backpack")]))
    exactly 0 of {bicycle, backpack}
    """

    __slots__ = ()
    _least = 0


_set = object.__setattr__  # the only way past the immutability above


def _check_operands(kind: str, operands: Sequence[Expression]) -> None:
    for position, operand in enumerate(operands, start=1):
        if not isinstance(operand, Expression):
            raise TypeError(
                f"operand {position} of {kind} must be an Expression, "
                f"not {type(operand).__name__!r}"
            )
    if len(operands) < 2:
        raise ValueError(f"{kind} takes at least two operands, got {len(operands)}")


def _digest(tag: bytes, content: bytes) -> int:
    return int.from_bytes(blake2b(content, digest_size=16, person=tag).digest(), "big")


def nodes(*roots: Expression) -> list[Expression]:
    """List each distinct node of the graph once, after its operands."""
    order: list[Expression] = []
    entered: set[int] = set()
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        node, operands_done = stack.pop()
        if operands_done:
            order.append(node)
        elif id(node) not in entered:
            entered.add(id(node))
            if node.children:
                stack.append((node, True))
                stack += [(child, False) for child in reversed(node.children)]
            else:
                order.append(node)
    return order


def all_of(operands: Sequence[Expression]) -> Expression:
    """Join operands with "and"; without operands, return true."""
    if len(operands) < 2:
        return operands[0] if operands else Constant(True)
    return And(*operands)


def any_of(operands: Sequence[Expression]) -> Expression:
    """Join operands with "or"; without operands, return false."""
    if len(operands) < 2:
        return operands[0] if operands else Constant(False)
    return Or(*operands)


@final
class Count:
    """A number of true expressions (X-of-N); comparing it with a number gives an expression.

    Parameters
    ----------
    operands : iterable of Expression
        Two or more expressions, usually literals. Repeated operands count repeatedly.

    Examples
    --------
    >>> from conjunct.expressions import Count, Primitive
    >>> wheels = Count([Primitive("bicycle"), Primitive("car"), Primitive("bus")])
    >>> print(wheels == 2)
    exactly 2 of {bicycle, car, bus}
    >>> print(wheels >= 2)
    at least 2 of {bicycle, car, bus}
    >>> print(wheels < 2)
    ¬(at least 2 of {bicycle, car, bus})
    """

    __slots__ = ("operands",)
    __hash__ = None  # type: ignore[assignment]  # == makes an expression, so it cannot find equals

    def __init__(self, operands: Iterable[Expression]) -> None:
        self.operands = Exactly(0, operands).operands  # which checks them

    def __eq__(self, number: object) -> Exactly:  # type: ignore[override]
        return Exactly(number, self.operands) if isinstance(number, int) else NotImplemented

    def __ne__(self, number: object) -> Not:  # type: ignore[override]
        return Not(Exactly(number, self.operands)) if isinstance(number, int) else NotImplemented

    def __ge__(self, number: int) -> AtLeast:
        return AtLeast(number, self.operands)

    def __lt__(self, number: int) -> Not:
        return Not(AtLeast(number, self.operands))

    def __gt__(self, number: int) -> AtLeast:
        return AtLeast(number + 1, self.operands)

    def __le__(self, number: int) -> Not:
        return Not(AtLeast(number + 1, self.operands))

    def __repr__(self) -> str:
        return f"Count([{', '.join(map(repr, self.operands))}])"


Packed: TypeAlias = tuple[Any, ...]
"""One entry per node, after its operands, which are given by position. A str is a primitive, a bool
a constant, an int the negation of an entry, and a tuple a conjunction (True) or a disjunction
(False) of entries; with a number, at least (True) or exactly (False) that many of them."""


def pack(root: Expression) -> Packed:
    """Convert an expression to a flat tuple, in which shared parts occur once.

    >>> pack(Not(Primitive("sky")) & Primitive("tree"))
    ('sky', 0, 'tree', (True, (1, 2)))
    """
    packed: list[Any] = []
    position: dict[int, int] = {}
    for node in nodes(root):
        position[id(node)] = len(packed)
        if isinstance(node, Primitive):
            packed.append(node.name)
        elif isinstance(node, Not):
            packed.append(position[id(node.operand)])
        elif isinstance(node, Constant):
            packed.append(node.value)
        else:
            operands = tuple(position[id(child)] for child in node.children)
            number = (node.number,) if isinstance(node, Counted) else ()
            packed.append((isinstance(node, And | AtLeast), operands, *number))
    return tuple(packed)


def unpack(packed: Packed) -> Expression:
    """Rebuild an expression from the output of `pack`.

    >>> print(unpack(("sky", 0, "tree", (True, (1, 2)))))
    ¬sky ∧ tree
    """
    built: list[Expression] = []
    for entry in packed:
        if isinstance(entry, str):
            built.append(Primitive(entry))
        elif isinstance(entry, bool):
            built.append(Constant(entry))
        elif isinstance(entry, int):
            built.append(Not(built[entry]))
        else:
            is_first, positions, *number = entry
            operands = [built[index] for index in positions]
            if number:
                built.append((AtLeast if is_first else Exactly)(number[0], operands))
            else:
                built.append((And if is_first else Or)(*operands))
    return built[-1]
