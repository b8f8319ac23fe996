"""The algorithms as scikit-learn estimators."""

from .classifier import ChunkClassifier as ChunkClassifier
from .constructor import FeatureConstructor as FeatureConstructor
from .constructor import formula_columns as formula_columns
from .curation import DriftCheck as DriftCheck
from .curation import compare as compare
from .curation import describe_groups as describe_groups
from .family import CAT as CAT
from .family import Fringe as Fringe
from .family import ID2of3 as ID2of3
from .family import XofN as XofN
from .groups import RowGroups as RowGroups
from .integrations import load as load
from .integrations import register_onnx as register_onnx
from .integrations import save_mlflow as save_mlflow
from .invertible import Chunk as Chunk
from .invertible import InvertibleConstructor as InvertibleConstructor
from .invertible import row_chunks as row_chunks
from .trees import ClusteringTree as ClusteringTree
from .trees import UFringe as UFringe
from .ufc import UFC as UFC
from .ufc import correlated_pairs as correlated_pairs
from .ufc_path import UFCPath as UFCPath
