"""Families of things by name. A new member is defined in one place, and found everywhere."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """The members of one family by name. Each enters itself in the file that defines it.

    ``home`` is a module, or a package of which the first use imports every module: a new file is
    found without being named anywhere else. Members are sorted by ``rank``, if they have one, and
    by name.
    """

    def __init__(self, what: str, home: str) -> None:
        self.what = what
        self.home = home
        self._members: dict[str, T] = {}
        self._is_complete = False

    def enter(self, member: Any) -> Any:
        """Add a member under its ``name``; also a decorator of classes."""
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
