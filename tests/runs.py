"""Whole runs of uFC in one call, for tests."""

from conjunct.ufc import STOPS, Risk, Threshold
from conjunct.ufc.run import Plan, run_ufc
from conjunct.ufc.stops import Rule


def ran(store, names, plan, *, stop="never", **options):
    return run_ufc(store, names, plan, STOPS.resolve(stop), **options)


def planned(criterion, search="batch", max_length=None):
    return Plan(criterion, search, max_length)


def with_null(stop):
    """A stopping rule that counts the paper's feature "null" in OI."""
    return {"rule": stop, "null_feature": True}


def rule_of(options):
    """The criterion that the oracle's options stand for."""
    if "alpha" in options:
        return Risk(**options)
    kept = ("threshold", "measure", "prune")
    return Threshold(**{name: options[name] for name in kept if name in options})


def settings_of(model):
    """The parameters of a model; two rules with the same settings are the same."""
    return {
        name: value.record() if isinstance(value, Rule) else value
        for name, value in model.get_params().items()
    }
