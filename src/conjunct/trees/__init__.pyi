"""."""

from .clustering import Limits as Limits
from .clustering import Path as Path
from .clustering import Tree as Tree
from .clustering import grow as grow
from .clustering import simplest_first as simplest_first
from .fringe import Learner as Learner
from .fringe import PackedStage as PackedStage
from .fringe import Redundant as Redundant
from .fringe import Strategy as Strategy
from .fringe import clustering_paths as clustering_paths
from .fringe import run_fringe as run_fringe
from .fringe import simplest_of_equals as simplest_of_equals
