"""Figure 12 as an outcome, and the same for bootstrap samples."""

from __future__ import annotations

from dataclasses import asdict

from conjunct.paper.outcome import Outcome
from conjunct.paper.perturbation import N_RUNS, paper_model, stability_of
from conjunct.paper.study import Study


def noise_stability(study: Study) -> Outcome:
    """Figure 12: uFCα(0.001) without pruning, on ten noised data sets for each level."""
    found = stability_of(study.store, study.names, paper_model(), "noise")
    rows = [asdict(level) for level in found.levels]
    first, last = found.levels[0], found.levels[-1]
    text = (
        f"Averages of {N_RUNS} runs. OI goes from {first.oi:.3f} without noise to {last.oi:.3f} "
        f"at {last.noise:.0%}, C0 from {first.c0:.3f} to {last.c0:.3f}, the number of features "
        f"from {first.n_features:.1f} to {last.n_features:.1f}, of which "
        f"{last.common_with_original:.1f} are those of the data without noise."
    )
    return Outcome(
        "figure-12-noise",
        f"Stability under noise on {study.name}",
        text,
        rows,
        {"-a-indicators": found.plot_indicators, "-b-features": found.plot_features},
    )


def bootstrap_stability(study: Study) -> Outcome:
    """The features of bootstrap samples, by how often they come back."""
    found = stability_of(study.store, study.names, paper_model(), "bootstrap")
    level = found.levels[0]
    text = (
        f"{N_RUNS} samples of the rows. Of {level.n_features:.1f} features on average, "
        f"{level.common_with_original:.1f} are those of the data as it is, and two samples have "
        f"{level.common_between_runs:.1f} in common."
    )
    return Outcome(
        "stability-bootstrap",
        f"Features of bootstrap samples on {study.name}",
        text,
        [asdict(feature) for feature in found.features],
        {"": found.plot_recurrence},
    )
