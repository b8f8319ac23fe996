"""Hypothesis profiles, and how many examples a run has tried.

HYPOTHESIS_PROFILE is `quick` (the default, `make test`), `all` (`make test-all`) or `fuzz`
(`make fuzz`), for which HYPOTHESIS_EXAMPLES says how many.
"""

import functools
import os

import pytest
from hypothesis import HealthCheck, settings

for name, examples in {"quick": 8, "all": 24}.items():
    settings.register_profile(
        name,
        max_examples=examples,
        deadline=None,
        # The same examples on every run, so that a change is judged by what it changed.
        derandomize="CI" in os.environ,
    )
settings.register_profile(
    "fuzz",
    max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "5000")),
    deadline=None,
    derandomize=False,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

EXAMPLES = "hypothesis examples"


class Passed:
    """The number of examples of this process that went through a whole test."""

    number = 0


def counted(inner):
    @functools.wraps(inner)
    def test(*args, **kwargs):
        inner(*args, **kwargs)
        Passed.number += 1

    return test


def pytest_itemcollected(item):
    handle = getattr(getattr(item, "obj", None), "hypothesis", None)
    # the cases of a parametrized test share it
    if handle is not None and not hasattr(handle.inner_test, "__wrapped__"):
        handle.inner_test = counted(handle.inner_test)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    before = Passed.number
    try:
        return (yield)
    finally:
        if item.get_closest_marker("hypothesis"):
            item.user_properties.append((EXAMPLES, Passed.number - before))


def pytest_terminal_summary(terminalreporter):
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    counts = [
        number
        for report in reports
        for key, number in getattr(report, "user_properties", ())
        if key == EXAMPLES and report.when == "call"
    ]
    if counts:
        terminalreporter.write_line(f"{sum(counts):,} examples in {len(counts)} property tests")
