"""Hypothesis profiles: HYPOTHESIS_PROFILE=fuzz runs many more examples than the default `ci`."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci",
    max_examples=40,
    deadline=None,
    # The same examples on every run, so that a change is judged by what it changed.
    derandomize="CI" in os.environ,
)
settings.register_profile(
    "fuzz",
    max_examples=5000,
    deadline=None,
    derandomize=False,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
