"""Clustering trees, and features built from the paths and tests of trees."""

from .clustering import Limits as Limits
from .clustering import Path as Path
from .clustering import Tree as Tree
from .clustering import grow as grow
from .clustering import simplest_first as simplest_first
from .count_trees import CatProposer as CatProposer
from .count_trees import CountProposer as CountProposer
from .count_trees import CountTree as CountTree
from .count_trees import TreeProposer as TreeProposer
from .count_trees import best_m_of_n as best_m_of_n
from .count_trees import best_x_of_n as best_x_of_n
from .schema import Learner as Learner
from .schema import PackedStage as PackedStage
from .schema import Proposer as Proposer
from .schema import Strategy as Strategy
from .schema import clustering_paths as clustering_paths
from .schema import join_conditions as join_conditions
from .schema import run_schema as run_schema
from .schema import telling_columns as telling_columns
