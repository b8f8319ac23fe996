"""Checks of parameters: one clear line that says what a parameter must be and what it was."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from sys import float_info
from typing import Any

from conjunct.errors import InputError


def is_number(value: object) -> bool:
    """Return True for real numbers, but not for Booleans."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Return True for whole numbers, but not for Booleans."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check(holds: bool, name: str, value: object, wanted: str) -> None:
    """Refuse a value that is not what is wanted."""
    if not holds:
        raise InputError(f"{name} must be {wanted}; got {value!r}")


@dataclass(frozen=True)
class Constraint:
    """The values that a parameter may have: a test of one, and its description in errors.

    ``choices`` are looked at when a value is, because a registry is complete only then.
    """

    allows: Callable[[Any], bool] = bool
    wanted: str = ""
    optional: bool = False
    choices: Iterable[str] | None = None

    def check(self, name: str, value: Any) -> None:
        """Refuse other values."""
        if self.optional and value is None:
            return
        if self.choices is None:
            if self.allows(value):
                return
            wanted = f"{'None or ' * self.optional}{self.wanted}"
        else:
            known = [*self.choices]
            if isinstance(value, str) and value in known:
                return
            names = [repr(choice) for choice in known] + ["None"] * self.optional
            wanted = " or ".join((", ".join(names[:-1]), names[-1]))
        check(False, name, value, wanted)


def one_of(choices: Iterable[str], *, optional: bool = False) -> Constraint:
    """Allow one of several words."""
    return Constraint(choices=choices, optional=optional)


def whole(least: int, *, optional: bool = False) -> Constraint:
    """Allow a whole number of at least ``least``."""
    return Constraint(
        lambda value: is_whole(value) and bool(value >= least),
        f"a whole number, at least {least}",
        optional,
    )


def real(wanted: str, allows: Callable[[Any], bool], *, optional: bool = False) -> Constraint:
    """Allow a real number that passes a test."""
    return Constraint(lambda value: is_number(value) and bool(allows(value)), wanted, optional)


def risk_level(*, optional: bool = False) -> Constraint:
    """Allow a level of significance."""
    return real("between 0 and 0.5", lambda value: 0 < value < 0.5, optional=optional)


def frequency(*, optional: bool = False) -> Constraint:
    """Allow a share of rows."""
    return real("a number above 0, at most 1", lambda value: 0 < value <= 1, optional=optional)


FLAG = Constraint(lambda value: isinstance(value, bool), "True or False")
# a model file may ask for threads too, so their number has an end
JOBS = Constraint(
    lambda value: is_whole(value) and value != 0 and abs(value) <= 10_000,
    "a whole number other than 0, from -10000 to 10000",
    optional=True,
)
VERBOSE = Constraint(
    lambda value: isinstance(value, Integral) and bool(value >= 0),  # type: ignore[operator]
    "a whole number, at least 0, or True or False",
)
# above which cells are true
CUTOFF = real("a finite number", lambda value: abs(value) <= float_info.max, optional=True)


def check_parameters(holder: object) -> None:
    """Check what has a constraint in ``constraints`` of the class or one of its bases."""
    constraints: dict[str, Constraint] = {}
    for kind in reversed(type(holder).__mro__):
        constraints |= vars(kind).get("constraints", {})
    for name, constraint in constraints.items():
        constraint.check(name, getattr(holder, name))
