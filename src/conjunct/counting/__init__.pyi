"""Counts of pairs of columns, wherever rows are: in memory, on disk, on the workers of Dask."""

from .dask import DaskPartitions as DaskPartitions
from .dask import connected as connected
from .dask import task as task
from .disk import DiskPartitions as DiskPartitions
from .disk import ScratchFile as ScratchFile
from .disk import StreamedRows as StreamedRows
from .disk import room_in_scratch as room_in_scratch
from .merging import CompiledMerging as CompiledMerging
from .merging import Growing as Growing
from .merging import Merging as Merging
from .partitioned import ENGINES as ENGINES
from .partitioned import Engine as Engine
from .partitioned import PartitionedColumns as PartitionedColumns
from .partitioned import Partitions as Partitions
from .partitioned import ReadPart as ReadPart
from .partitioned import engine_of as engine_of
from .patterns import NativePatterns as NativePatterns
from .patterns import Patterns as Patterns
from .patterns import PatternTable as PatternTable
from .tally import Store as Store
from .tally import Tally as Tally
from .tally import WeightedColumns as WeightedColumns
