"""What criteria and stopping rules have in common: settings that scikit-learn knows, and a name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

from sklearn.base import BaseEstimator

from conjunct.errors import InputError

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


class Registry(Generic[R]):
    """The rules of a family by name. A rule enters itself where it is defined."""

    def __init__(self, parameter: str) -> None:
        self.parameter = parameter
        self._rules: dict[str, type[R]] = {}

    def enter(self, rule: type[R]) -> type[R]:
        self._rules[rule.name] = rule
        return rule

    @property
    def rules(self) -> Mapping[str, type[R]]:
        return self._rules

    def made(self, value: object) -> R | None:
        """The rule that a name, a rule or what ``Rule.record`` wrote stands for."""
        for rule in self._rules.values():
            if isinstance(value, rule):
                return value
        if isinstance(value, str) and value in self._rules:
            return self._rules[value]()
        if isinstance(value, dict) and value.get("rule") in self._rules:
            settings = {name: setting for name, setting in value.items() if name != "rule"}
            try:
                return self._rules[value["rule"]](**settings)
            except TypeError as error:
                raise InputError(f"{self.parameter}: {error}") from None
        return None

    def wanted(self) -> str:
        """What a parameter of this family may be, for messages."""
        names = ", ".join(map(repr, self._rules))
        objects = ", ".join(f"{rule.__name__}(...)" for rule in self._rules.values())
        return f"{names}, or one of {objects}"

    def refusal(self, value: Any) -> InputError:
        return InputError(f"{self.parameter} must be {self.wanted()}; got {value!r}")
