"""Parameters that are rules: their settings by name, and in model files of every version."""

from __future__ import annotations

from typing import Any, Self

from conjunct import files
from conjunct.estimators.lossless import LosslessConstructor
from conjunct.ufc import CRITERIA, STOPS, Criterion, RuleRegistry, Stop

_RULES: dict[str, RuleRegistry[Any]] = {"criterion": CRITERIA, "stop": STOPS}


class RuledConstructor(LosslessConstructor):
    """A constructor whose ``criterion`` and ``stop`` are rules with settings of their own."""

    criterion: str | float | Criterion
    stop: str | Stop | None
    max_iter: int | None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with ``deep`` also those of the rules, as ``criterion__alpha``."""
        parameters: dict[str, Any] = super().get_params(deep=deep)
        for family, rules in _RULES.items() if deep else ():
            rule = rules.made(parameters[family])
            if rule is not None:
                settings = rule.get_params().items()
                parameters |= {f"{family}__{name}": value for name, value in settings}
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``criterion__alpha`` is a setting of the criterion."""
        for family, rules in _RULES.items():
            if any(name.startswith(f"{family}__") for name in params):
                # only a rule has settings, not the name of one
                value = params.get(family, getattr(self, family))
                params[family] = rules.made(value) or rules.checked(value)
        super().set_params(**params)
        return self

    @property
    def _by_pattern(self) -> bool:
        return CRITERIA.checked(self.criterion).counts_tags

    def _stop(self, criterion: Criterion) -> Stop:
        if self.stop is not None:
            return STOPS.checked(self.stop)
        # the paper's uFC(λ, limit_iter) makes all iterations it is asked for
        by_number = self.max_iter is not None and not criterion.draws_once
        return STOPS.checked("never" if by_number else criterion.stop)

    @classmethod
    def _read_parameters(cls, model: files.ModelFile) -> dict[str, Any]:
        parameters = dict(model.parameters)
        if model.version == 1:
            parameters = _from_version_1(parameters)
        for family, rules in _RULES.items():
            if isinstance(parameters.get(family), dict):
                value = parameters[family]
                parameters[family] = rules.made(value) or rules.checked(value)
        return parameters


def _from_version_1(old: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a model file of version 1, when a rule's settings were the estimator's."""
    parameters = {**old, "names": "formula"}
    settings = {
        name: parameters.pop(name)
        for name in ("alpha", "prune", "measure", "test", "correction")
        if name in parameters
    }
    threshold, stop = parameters.pop("threshold", "risk"), parameters.pop("stop", "rms")
    null_feature = parameters.pop("null_feature", False)
    parameters["criterion"] = {"rule": "risk", **settings}
    if threshold != "risk":
        kept = {name: settings[name] for name in ("measure", "prune") if name in settings}
        parameters["criterion"] = {"rule": "threshold", "threshold": threshold, **kept}
    # a number of iterations took the place of the stopping rule
    stop = "never" if stop is None or parameters.get("max_iter") is not None else stop
    parameters["stop"] = stop
    if null_feature:
        parameters["stop"] = {"rule": stop, "null_feature": True}
    return parameters
