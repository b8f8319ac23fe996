"""scikit-learn faces of the algorithms."""

from .cat import CAT as CAT
from .chunks import Chunk as Chunk
from .chunks import row_chunks as row_chunks
from .classifier import ChunkClassifier as ChunkClassifier
from .clustering_tree import ClusteringTree as ClusteringTree
from .comparing import compare as compare
from .comparing import describe_groups as describe_groups
from .constructor import FeatureConstructor as FeatureConstructor
from .fringe import Fringe as Fringe
from .id2of3 import ID2of3 as ID2of3
from .loading import load as load
from .lossless import LosslessConstructor as LosslessConstructor
from .mlflow_model import save_mlflow as save_mlflow
from .onnx_converters import register_onnx as register_onnx
from .pairs import correlated_pairs as correlated_pairs
from .rule_table import formula_columns as formula_columns
from .ufc import UFC as UFC
from .ufc_path import UFCPath as UFCPath
from .ufringe import UFringe as UFringe
from .updating import Update as Update
from .xofn import XofN as XofN
