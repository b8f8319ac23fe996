"""The paper's tables and figures as functions and files, and the stability of features."""

from conjunct.experiments.outcome import Outcome
from conjunct.experiments.perturbation import Stability, stability
from conjunct.experiments.study import Study
from conjunct.experiments.writing import outcomes, reproduce

__all__ = ["Outcome", "Stability", "Study", "outcomes", "reproduce", "stability"]
