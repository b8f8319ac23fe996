"""Reproduce the paper's tables and figures, and measure the stability of features."""

from .experiments import outcomes as outcomes
from .experiments import reproduce as reproduce
from .study import Outcome as Outcome
from .study import Stability as Stability
from .study import Study as Study
from .study import stability as stability

"""For the other folders of conjunct."""

from .experiments import EXPERIMENTS as EXPERIMENTS
