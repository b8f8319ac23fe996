"""scikit-learn faces of the algorithms."""

from conjunct.estimators.loading import load
from conjunct.estimators.ufc import UFC

__all__ = ["UFC", "load"]
