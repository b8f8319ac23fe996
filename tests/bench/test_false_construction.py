"""The false construction rate of each option on data whose dependence is known."""

import numpy as np
import pytest
from benchmarks.false_construction import (
    Option,
    Rate,
    balanced,
    half_dependent,
    options,
    rare,
    report,
    simulate,
)
from scipy.stats import binomtest

from conjunct.ufc.association import CORRECTIONS

ALPHA = 0.05


def outcome(draw, test, prune, correction, runs=300):
    return simulate(draw, Option(test, prune, correction), alpha=ALPHA, runs=runs, max_iter=2)


every_correction = pytest.mark.parametrize(
    "correction",
    [pytest.param(name, marks=() if name == "bh" else pytest.mark.slow) for name in CORRECTIONS],
)


@every_correction
@pytest.mark.parametrize(
    ("draw", "test", "prune"),
    [(balanced, "normal", True), (balanced, "exact", False), (rare, "exact", False)],
)
def test_corrected_options_stay_within_the_nominal_level(draw, test, prune, correction):
    low, high = outcome(draw, test, prune, correction).any_false.interval
    assert low <= ALPHA
    assert high < 2 * ALPHA


@pytest.mark.parametrize(
    ("draw", "test", "prune"),
    [(balanced, "normal", True), (balanced, "exact", False), (rare, "exact", False)],
)
def test_uncorrected_options_construct_something_nearly_always(draw, test, prune):
    low, _ = outcome(draw, test, prune, None, runs=40).any_false.interval
    assert low > 0.9


@pytest.mark.parametrize("correction", ["bonferroni", "holm", "bh"])
def test_the_normal_test_is_not_made_for_corrections_of_rare_columns(correction):
    # docs/risk.md says so, and why the exact test is there
    low, _ = outcome(rare, "normal", True, correction).any_false.interval
    assert low > ALPHA


@every_correction
def test_false_discoveries_are_few_among_true_ones(correction):
    found = outcome(half_dependent, "exact", False, correction, runs=200)
    assert found.n_true > 4.9
    assert found.false_share < ALPHA
    without = outcome(half_dependent, "exact", False, None, runs=20)
    assert without.false_share > 0.5


@pytest.mark.parametrize(("hits", "runs"), [(0, 30), (3, 40), (17, 17), (250, 1000)])
def test_intervals_are_clopper_and_pearsons(hits, runs):
    expected = binomtest(hits, runs).proportion_ci(0.95, "exact")
    assert Rate(hits, runs).interval == pytest.approx((expected.low, expected.high))


def test_what_is_false_is_known():
    def draw(rng):
        base = rng.random(400) < 0.5
        other = base ^ (rng.random(400) < 0.1)
        return np.column_stack([base, other, base, other]), [0, 0, 1, 1]

    # x0 and x2 are the same column, and so are x1 and x3: both pairs mix the blocks
    found = simulate(draw, Option("exact", False, "holm"), alpha=ALPHA, runs=5, max_iter=1)
    assert (found.any_false.value, found.false_share, found.n_true) == (1, 1, 0)


def test_report_has_a_line_an_option():
    lines = list(report(runs=2, max_iter=1))
    assert len(lines) == 1 + 3 * (2 + len(options()))
    assert list(report(runs=2, max_iter=1)) == lines
