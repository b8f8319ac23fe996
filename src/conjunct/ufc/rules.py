"""The base of criteria and stopping rules: settings that scikit-learn knows, and a name."""

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
    """A description of the rule, in a line of the command line's help."""

    def check(self) -> None:
        """Refuse settings that cannot be used, by name."""

    def record(self) -> dict[str, Setting]:
        """Return the rule as it is written to files."""
        return {"rule": self.name, **self.get_params(deep=False)}


R = TypeVar("R", bound=Rule)


class RuleRegistry(Registry[type[R]]):
    """The rules of a family; ``what`` is the parameter that takes one."""

    def __init__(self, what: str, home: str) -> None:
        super().__init__(what, home)
        # a report asks for the rule of its model thousands of times
        self._by_name: dict[str, R] = {}

    def made(self, value: object) -> R | None:
        """Return the rule that a name, a rule or the output of ``Rule.record`` stands for."""
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
        """Return the rule that a value stands for, or raise an error that says what is wrong.

        A name always gives the same object, which must not be changed; ``made`` gives new ones.
        """
        if isinstance(value, str) and value in self._by_name:
            return self._by_name[value]
        rule = self.made(value)
        if rule is None:
            names = ", ".join(map(repr, self))
            objects = ", ".join(f"{rule.__name__}(...)" for rule in self.values())
            raise InputError(f"{self.what} must be {names}, or one of {objects}; got {value!r}")
        rule.check()
        if isinstance(value, str):
            self._by_name[value] = rule
        return rule
