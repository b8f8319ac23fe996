"""scikit-learn faces of the algorithms."""

from conjunct.estimators.clustering_tree import ClusteringTree
from conjunct.estimators.fringe import Fringe
from conjunct.estimators.loading import load
from conjunct.estimators.pairs import correlated_pairs
from conjunct.estimators.ufc import UFC
from conjunct.estimators.ufc_path import UFCPath
from conjunct.estimators.ufringe import UFringe

__all__ = ["UFC", "ClusteringTree", "Fringe", "UFCPath", "UFringe", "correlated_pairs", "load"]
