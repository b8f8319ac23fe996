"""Counts of pairs of columns, wherever rows are: in memory, on disk, on the workers of Dask."""

from .compiled import CompiledMerging as CompiledMerging
from .dask import DaskPartitions as DaskPartitions
from .dask import task as task
from .dask_cluster import connected as connected
from .disk import DiskPartitions as DiskPartitions
from .engines.base import ENGINES as ENGINES
from .engines.base import Engine as Engine
from .engines.base import ReadPart as ReadPart
from .engines.base import engine_of as engine_of
from .engines.disk import StreamedRows as StreamedRows
from .merging import Growing as Growing
from .merging import Merging as Merging
from .partitioned import PartitionedColumns as PartitionedColumns
from .partitioned import Partitions as Partitions
from .patterns import NativePatterns as NativePatterns
from .patterns import Patterns as Patterns
from .patterns import PatternTable as PatternTable
from .scratch import ScratchFile as ScratchFile
from .scratch import room_in_scratch as room_in_scratch
from .tally import Store as Store
from .tally import Tally as Tally
from .weighted import WeightedColumns as WeightedColumns
