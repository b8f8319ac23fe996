"""Checks of parameters, and registries of the objects that parameters name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from numbers import Integral, Real
from sys import float_info
from typing import Any, TypeVar, dataclass_transform

from conjunct.errors import InputError


def is_number(value: object) -> bool:
    """Return True for real numbers, but not for Booleans."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Return True for whole numbers, but not for Booleans."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check(holds: bool, name: str, value: object, wanted: str) -> None:
    """Raise an InputError unless the value of a parameter is valid."""
    if not holds:
        raise InputError(f"{name} must be {wanted}; got {value!r}")


@dataclass(frozen=True)
class Constraint:
    """The valid values of a parameter: a test, and its description in errors.

    ``choices`` are read during a check, because a registry is not complete before.
    """

    allows: Callable[[Any], bool] = bool
    wanted: str = ""
    optional: bool = False
    choices: Iterable[str] | None = None

    def check(self, name: str, value: Any) -> None:
        """Raise an InputError for other values."""
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
# a limit, because a model file may set the number of threads
JOBS = Constraint(
    lambda value: is_whole(value) and value != 0 and abs(value) <= 10_000,
    "a whole number other than 0, from -10000 to 10000",
    optional=True,
)
VERBOSE = Constraint(
    lambda value: isinstance(value, Integral) and bool(value >= 0),  # type: ignore[operator]
    "a whole number, at least 0, or True or False",
)
# cells above it are true
CUTOFF = real("a finite number", lambda value: abs(value) <= float_info.max, optional=True)


def check_parameters(holder: object) -> None:
    """Check all parameters with ``constraints`` in the class or its bases."""
    constraints: dict[str, Constraint] = {}
    for kind in reversed(type(holder).__mro__):
        constraints |= vars(kind).get("constraints", {})
    for name, constraint in constraints.items():
        constraint.check(name, getattr(holder, name))


T = TypeVar("T")


@dataclass_transform(eq_default=False)
def with_parameters(kind: type[T]) -> type[T]:
    """Write the ``__init__`` of an estimator from its annotations, which are its parameters."""
    dataclass(eq=False, repr=False, match_args=False)(kind)
    for field in fields(kind):  # type: ignore[arg-type]
        # in scikit-learn, parameters are attributes of instances only
        if field.name in vars(kind):
            delattr(kind, field.name)
    return kind


class Registry(Mapping[str, T]):
    """The members of a family by name; each registers itself in the file that defines it.

    ``home`` is a module, or a package. The first use imports every module of a package, so a new
    file needs no entry elsewhere. Members are sorted by ``rank``, if they have one, then by name.
    """

    def __init__(self, what: str, home: str) -> None:
        self.what = what
        self.home = home
        self._members: dict[str, T] = {}
        self._is_complete = False

    def enter(self, member: Any) -> Any:
        """Add a member under its ``name``; works as a class decorator, too."""
        other = self._members.get(member.name)
        if other is not None and _definition(other) != _definition(member):
            raise ValueError(f"two members of {self.what} are called {member.name!r}")
        self._members[member.name] = member
        return member

    def _all(self) -> dict[str, T]:
        if not self._is_complete:
            home = importlib.import_module(self.home)
            for module in pkgutil.iter_modules(getattr(home, "__path__", ())):
                importlib.import_module(f"{self.home}.{module.name}")
            ranks = {name: getattr(one, "rank", 0) for name, one in self._members.items()}
            order = sorted(ranks, key=lambda name: (ranks[name], name))
            self._members = {name: self._members[name] for name in order}
            self._is_complete = True
        return self._members

    def __getitem__(self, name: str) -> T:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


def _definition(member: object) -> str:
    owner = member if isinstance(member, type) else type(member)
    return f"{owner.__module__}.{owner.__qualname__}"
