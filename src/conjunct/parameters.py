"""Checks of parameters: one clear line that says what a parameter must be and what it was."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from sys import float_info
from typing import Any, get_args

from conjunct.errors import InputError
from conjunct.expressions import Style


def check(holds: bool, name: str, value: object, wanted: str) -> None:
    """Refuse a value that is not what is wanted."""
    if not holds:
        raise InputError(f"{name} must be {wanted}; got {value!r}")


def check_choice(
    name: str, value: object, choices: Iterable[str], *, optional: bool = False
) -> None:
    """Refuse a value that is none of the choices, and not None where it is optional."""
    names = [repr(choice) for choice in choices] + ["None"] * optional
    is_one = (optional and value is None) or (isinstance(value, str) and repr(value) in names)
    check(is_one, name, value, " or ".join((", ".join(names[:-1]), names[-1])))


def check_whole(name: str, value: object, least: int, *, optional: bool = False) -> None:
    """Refuse anything but a whole number of at least ``least``, or None where it is optional."""
    holds = (optional and value is None) or (is_whole(value) and at_least(value, least))
    none_or = "None or " if optional else ""
    check(holds, name, value, f"{none_or}a whole number, at least {least}")


def check_risk(name: str, value: Any, *, optional: bool = False) -> None:
    """Refuse anything but a level of significance, or None where it is optional."""
    holds = (optional and value is None) or (is_number(value) and 0 < value < 0.5)
    check(holds, name, value, f"{'None or ' * optional}between 0 and 0.5")


def check_frequency(name: str, value: Any, *, optional: bool = False) -> None:
    """Refuse anything but a share of rows, or None where it is optional."""
    holds = (optional and value is None) or (is_number(value) and 0 < value <= 1)
    none_or = "None or " if optional else ""
    check(holds, name, value, f"{none_or}a number above 0, at most 1")


def check_common(estimator: Any) -> None:
    """Check the parameters that every estimator has."""
    binarize = estimator.binarize
    holds = binarize is None or (is_number(binarize) and abs(binarize) <= float_info.max)
    check(holds, "binarize", binarize, "None or a finite number")
    check_choice("style", estimator.style, get_args(Style))
    check_choice("missing", estimator.missing, estimator._ways_with_missing)
    check_jobs(estimator.n_jobs)


def check_jobs(n_jobs: Any) -> None:
    """Check the number of threads, before data are read: that uses threads already."""
    holds = n_jobs is None or (is_whole(n_jobs) and n_jobs != 0)
    check(holds, "n_jobs", n_jobs, "None or a whole number other than 0")


def at_least(value: Any, least: float) -> bool:
    """Return True if a number is at least ``least``."""
    return bool(value >= least)


def is_number(value: object) -> bool:
    """Return True for real numbers, but not for Booleans."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Return True for whole numbers, but not for Booleans."""
    return isinstance(value, Integral) and not isinstance(value, bool)
