"""Families of things by name. A new member is defined in one place, and found everywhere."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator, Mapping
from pathlib import Path
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
            order = sorted(self._members, key=lambda name: (_rank(self._members[name]), name))
            self._members = {name: self._members[name] for name in order}
            self._is_complete = True
        return self._members

    def __getitem__(self, name: str) -> T:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


def described(home: str) -> dict[str, dict[str, Any]]:
    """Return the constants of a family's members, read from its files, which are not run.

    Help must be fast, and to import a family takes a second. A member has a ``name`` and a
    ``summary``, as constants of its class or of the call that makes it.

    Examples
    --------
    >>> described("conjunct.ufc.criteria")["bits"]["summary"]
    'join what makes the description of the data shortest'
    """
    spec = importlib.util.find_spec(home)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"there is no {home}")
    folders = spec.submodule_search_locations or ()
    files = [Path(spec.origin), *(file for place in folders for file in Path(place).glob("*.py"))]
    texts = (file.read_text(encoding="utf-8") for file in files)
    found = [
        constants
        for text in texts
        if "summary=" in text or "summary =" in text  # to parse the others takes time
        for constants in map(_read_constants, _outside_functions(ast.parse(text)))
        if "name" in constants and "summary" in constants
    ]
    found.sort(key=lambda one: (one.get("rank", 0), one["name"]))
    return {one["name"]: one for one in found}


def summaries(home: str) -> dict[str, str]:
    """Return the names of a family's members, and what each does."""
    return {name: one["summary"] for name, one in described(home).items()}


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the classes and calls of a file that run when it is imported."""
    if isinstance(node, ast.ClassDef | ast.Call):
        yield node
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, ast.FunctionDef | ast.Import | ast.ImportFrom):
            yield from _outside_functions(part)


def _read_constants(node: ast.AST) -> dict[str, Any]:
    """Return the constants that a class sets, or that a call gives by name."""
    pairs: list[tuple[Any, ast.expr]] = []
    if isinstance(node, ast.ClassDef):
        assigned = [part for part in node.body if isinstance(part, ast.Assign)]
        pairs = [(getattr(part.targets[0], "id", ""), part.value) for part in assigned]
    elif isinstance(node, ast.Call):
        pairs = [(keyword.arg, keyword.value) for keyword in node.keywords]
    return {name: value.value for name, value in pairs if isinstance(value, ast.Constant)}


def _rank(member: object) -> int:
    return int(getattr(member, "rank", 0))


def _definition(member: object) -> str:
    owner = member if isinstance(member, type) else type(member)
    return f"{owner.__module__}.{owner.__qualname__}"
