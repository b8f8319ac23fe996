"""The public names."""

__version__: str

from . import datasets as datasets
from . import expressions as expressions
from . import features as features
from . import files as files
from . import paper as paper
from . import plots as plots
from .data import Binarizer as Binarizer
from .data import BooleanData as BooleanData
from .data import DataSummary as DataSummary
from .data import TagCleaner as TagCleaner
from .errors import CellError as CellError
from .errors import ClusterError as ClusterError
from .errors import ConjunctError as ConjunctError
from .errors import ConjunctWarning as ConjunctWarning
from .errors import InputError as InputError
from .errors import ModelFileError as ModelFileError
from .estimators import CAT as CAT
from .estimators import UFC as UFC
from .estimators import ChunkClassifier as ChunkClassifier
from .estimators import ClusteringTree as ClusteringTree
from .estimators import DriftCheck as DriftCheck
from .estimators import Fringe as Fringe
from .estimators import ID2of3 as ID2of3
from .estimators import RowGroups as RowGroups
from .estimators import UFCPath as UFCPath
from .estimators import UFringe as UFringe
from .estimators import XofN as XofN
from .estimators import compare as compare
from .estimators import correlated_pairs as correlated_pairs
from .estimators import describe_groups as describe_groups
from .estimators import load as load
from .estimators import register_onnx as register_onnx
from .estimators import save_mlflow as save_mlflow
from .expressions import Expression as Expression
from .expressions import parse as parse
from .paper import stability as stability
from .report import Report as Report
from .ufc import Bits as Bits
from .ufc import Evidence as Evidence
from .ufc import NoGainStop as NoGainStop
from .ufc import NoStop as NoStop
from .ufc import Risk as Risk
from .ufc import RmsStop as RmsStop
from .ufc import Threshold as Threshold
