"""The paper's tables and figures as functions and files, and the stability of features."""

from conjunct.experiments.outcome import Outcome
from conjunct.experiments.reproduce import outcomes, reproduce
from conjunct.experiments.stability import Stability, stability
from conjunct.experiments.study import Study

__all__ = ["Outcome", "Stability", "Study", "outcomes", "reproduce", "stability"]
