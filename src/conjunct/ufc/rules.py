"""What criteria and stopping rules have in common: settings that scikit-learn knows, and a name."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from sklearn.base import BaseEstimator

from conjunct.errors import InputError
from conjunct.registry import Registry

Setting = str | int | float | bool | None


class Rule(BaseEstimator):
    """A rule of uFC. Its settings are parameters of scikit-learn; it checks and explains itself."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """What the rule does, in a line of the command line's help."""

    def check(self) -> None:
        """Refuse settings that cannot be used, by name."""

    def record(self) -> dict[str, Setting]:
        """The rule as it is written to files."""
        return {"rule": self.name, **self.get_params(deep=False)}


R = TypeVar("R", bound=Rule)


class RuleRegistry(Registry[type[R]]):
    """The rules of a family; ``what`` is the parameter that takes one."""

    def made(self, value: object) -> R | None:
        """The rule that a name, a rule or what ``Rule.record`` wrote stands for."""
        for rule in self.values():
            if isinstance(value, rule):
                return value
        if isinstance(value, str) and value in self:
            return self[value]()
        if isinstance(value, dict) and value.get("rule") in self:
            settings = {name: setting for name, setting in value.items() if name != "rule"}
            try:
                return self[value["rule"]](**settings)
            except TypeError as error:
                raise InputError(f"{self.what}: {error}") from None
        return None

    def checked(self, value: object) -> R:
        """The rule that a value stands for, with settings that can be used."""
        rule = self.made(value)
        if rule is None:
            names = ", ".join(map(repr, self))
            objects = ", ".join(f"{rule.__name__}(...)" for rule in self.values())
            raise InputError(f"{self.what} must be {names}, or one of {objects}; got {value!r}")
        rule.check()
        return rule
