"""Tables that are read some rows at a time: lazy ones, streams of Arrow, Hugging Face datasets.

No library is imported for what is given: an object says by its type where it comes from.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import narwhals as nw
import scipy.sparse as sp

from conjunct.columns import Columns, joined_parts, stored_as, united
from conjunct.counting import PartitionedColumns
from conjunct.data.cells import CellRules
from conjunct.data.containers import (
    Array,
    Baskets,
    Container,
    Frame,
    SparseMatrix,
    frame_of_columns,
    is_baskets,
)
from conjunct.data.raw_columns import twice
from conjunct.errors import CellError, InputError
from conjunct.memory import available_bytes

# Rows of a batch: whole words of bits.
_BATCH_ROWS = 1 << 16
# Bits that are written to disk at a time.
_PAGE_BYTES = 1 << 24
# Packed columns stay in memory while they take less than this share of what is free.
_SHARE_IN_MEMORY = 8
_NO_ARROW = "this table is read in batches of Arrow: pip install pyarrow"


class Batched(Container):
    """A table whose rows come in batches, each of which is packed as it comes."""

    names_itself = True
    names: tuple[str, ...]

    @property
    def n_columns(self) -> int:
        return len(self.names)

    def check_filled(self) -> None:
        if not self.names:
            raise InputError("the table has no columns (0 feature(s)): at least 1 is needed")

    @abstractmethod
    def batches(self, positions: Sequence[int]) -> Iterator[Any]:
        """Data frames in memory with the columns at some positions, one after the other."""

    def columns(self, names: Sequence[str], rules: CellRules) -> Columns:
        return united(list(self._parts(names, rules)))

    def stored(self, names: Sequence[str], rules: CellRules, *, counts: bool = False) -> Any:
        """Packed in memory, or in a scratch file if they would take much of it."""
        parts = joined_parts(self._parts(names, rules), _PAGE_BYTES)
        held: list[Columns] = []
        limit = available_bytes() // _SHARE_IN_MEMORY
        for part in parts:
            held.append(part)
            if sum(one.nbytes for one in held) > limit:
                break
        else:
            columns = united(held).with_jobs(rules.n_jobs)
            return stored_as(columns, rules.store, counts=counts)
        from conjunct.counting import DiskPartitions, ScratchFile

        scratch = ScratchFile()
        while held:
            scratch.append(held.pop(0))
        for part in parts:
            scratch.append(part)
        disk = DiskPartitions(scratch, available_bytes() // 2, rules.n_jobs, rules.store)
        return PartitionedColumns(disk)

    def written(self, columns: Columns, names: Sequence[str], *, nullable: bool) -> Any:
        return self.adopted(frame_of_columns(columns, names, self.backend, nullable=nullable))

    def _parts(self, names: Sequence[str], rules: CellRules) -> Iterator[Columns]:
        first_row = 0
        for batch in self.batches(self.positions(names)):
            frame = nw.from_native(batch, eager_only=True)
            if not len(frame):
                continue
            try:
                columns = Frame(batch, frame).columns(names, rules)
            except CellError as error:
                raise CellError(
                    error.column, first_row + error.row, error.value, error.problem, error.advice
                ) from None
            yield stored_as(columns, "auto")
            first_row += len(frame)
        if not first_row:
            raise InputError(
                "the table has no rows (0 sample(s)): at least 1 is needed, and a stream gives "
                "them once"
            )


class LazyTable(Batched):
    """A lazy table of Polars, DuckDB or Ibis."""

    def __init__(self, data: Any, frame: nw.LazyFrame[Any]) -> None:
        self.data = data
        self.names = tuple(frame.collect_schema().names())
        self.backend = "polars" if frame.implementation.is_polars() else "pyarrow"
        self.lazy = self._table = by_position(frame)

    def batches(self, positions: Sequence[int]) -> Iterator[Any]:
        native = self._table.select(*(f"c{k}" for k in positions)).to_native()
        if hasattr(native, "get_backend"):
            # Ibis 12 asks for batches by a method that DuckDB 2 has not; its relations have them
            as_relation = getattr(native.get_backend(), "_to_duckdb_relation", lambda table: table)
            native = as_relation(native)
        if hasattr(native, "collect_batches"):
            yield from native.collect_batches(chunk_size=_BATCH_ROWS)
        elif hasattr(native, "to_pyarrow_batches"):
            yield from _tables(native.to_pyarrow_batches(chunk_size=_BATCH_ROWS))
        elif hasattr(native, "__arrow_c_stream__"):
            yield from _tables(_arrow().RecordBatchReader.from_stream(native))
        else:
            raise InputError("this lazy table gives no batches: call .collect() first")


class ArrowStream(Batched):
    """Whatever has ``__arrow_c_stream__``. What it becomes is a table of pyarrow."""

    backend = "pyarrow"

    def __init__(self, data: Any) -> None:
        self.data = data
        # some can be read only once, so the reader that told the names is the one to use first
        try:
            self._reader = _arrow().RecordBatchReader.from_stream(data)
        except _arrow().ArrowInvalid:
            raise InputError(
                f"a {type(data).__name__} is no table: give one with a name for each column"
            ) from None
        self.names = tuple(self._reader.schema.names)

    def batches(self, positions: Sequence[int]) -> Iterator[Any]:
        reader, self._reader = self._reader, None
        if reader is None:
            reader = _arrow().RecordBatchReader.from_stream(self.data)
        for table in _tables(reader):
            yield table.select(list(positions))


class HuggingFace(Batched):
    """A ``datasets.Dataset``, which becomes another."""

    backend = "pyarrow"

    def __init__(self, data: Any) -> None:
        self.data = data
        self.names = tuple(data.column_names)

    def batches(self, positions: Sequence[int]) -> Iterator[Any]:
        names = [self.data.column_names[k] for k in positions]
        rows = self.data.select_columns(names).with_format("arrow")
        for table in rows.iter(batch_size=_BATCH_ROWS):
            yield table.select(names)

    def adopted(self, table: Any) -> Any:
        import datasets

        return datasets.Dataset(datasets.table.InMemoryTable(table))


def container_for(data: Any) -> Container:
    """The container of rows that are in memory, or come in batches; there may be none."""
    if is_baskets(data):
        return Baskets(data)
    if sp.issparse(data):
        return SparseMatrix(data)
    try:
        frame = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError:
        # the columns of an Arrow table are its cells
        raise InputError(twice(list(getattr(data, "column_names", data.columns)))) from None
    if isinstance(frame, nw.DataFrame):
        return Frame(data, frame)
    if isinstance(frame, nw.LazyFrame):
        return LazyTable(data, frame)
    if type(data).__module__ == "datasets.arrow_dataset":
        return HuggingFace(data)
    if hasattr(data, "__arrow_c_stream__") and not hasattr(data, "ndim"):
        return ArrowStream(data)
    if hasattr(data, "__dataframe__"):
        table = _arrow("interchange").from_dataframe(data)
        return Frame(table, nw.from_native(table))
    return Array(data)


def by_position(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """The same lazy table with columns called c0, c1, …: its own names may mean something else.

    DuckDB takes a column called * for all columns, and Spark one called a.b for a part of a.
    """
    names = frame.collect_schema().names()
    native, kind = frame.to_native(), frame.implementation
    if kind.is_duckdb():
        quoted = (name.replace('"', '""') for name in names)
        native = native.project(", ".join(f'"{name}" AS c{k}' for k, name in enumerate(quoted)))
    elif kind.is_spark_like():
        native = native.toDF(*(f"c{k}" for k in range(len(names))))
    else:
        return frame.rename({name: f"c{k}" for k, name in enumerate(names)})
    renamed: nw.LazyFrame[Any] = nw.from_native(native)
    return renamed


def _arrow(part: str = "lib") -> Any:
    try:
        return import_module(f"pyarrow.{part}")
    except ImportError:
        raise InputError(_NO_ARROW) from None


def _tables(batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        yield _arrow().Table.from_batches([batch])
