"""Count pairs of columns wherever the rows are: in memory, on disk, or on workers."""

from .dask import DaskPartitions as DaskPartitions
from .dask import connect as connect
from .dask import task as task
from .merging import CompiledMaskedMerging as CompiledMaskedMerging
from .merging import CompiledMerging as CompiledMerging
from .merging import GrowableArray as GrowableArray
from .merging import Merging as Merging
from .partitioned import ENGINES as ENGINES
from .partitioned import DiskPartitions as DiskPartitions
from .partitioned import Engine as Engine
from .partitioned import PartitionedColumns as PartitionedColumns
from .partitioned import Partitions as Partitions
from .partitioned import ReadPart as ReadPart
from .partitioned import ScratchFile as ScratchFile
from .partitioned import StreamedRows as StreamedRows
from .partitioned import engine_of as engine_of
from .partitioned import room_in_scratch as room_in_scratch
from .tally import NativePatterns as NativePatterns
from .tally import Patterns as Patterns
from .tally import PatternTable as PatternTable
from .tally import RowSample as RowSample
from .tally import Store as Store
from .tally import TagCounts as TagCounts
from .tally import Tally as Tally
from .tally import WeightedColumns as WeightedColumns
from .tally import sample_rows as sample_rows
