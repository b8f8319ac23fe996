"""The containers that Boolean data is read from and written to.

They are arrays and nested lists, data frames (through narwhals), SciPy's sparse matrices, and lists
of baskets (sets, or lists that hold strings). Lazy tables, streams of Arrow and Hugging Face
datasets are read in batches of rows. Objects are recognised without importing their libraries.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from conjunct.columns import (
    Columns,
    MaskedColumns,
    PackedColumns,
    SparseColumns,
    check_packed_size,
    concat_parts,
    concat_rows,
    convert_layout,
    pack_columns,
)
from conjunct.counting import DiskPartitions, PartitionedColumns, ScratchFile
from conjunct.data.cells import (
    CellRules,
    Cells,
    Column,
    Mask,
    as_narwhals,
    describe_duplicate,
    from_series,
)
from conjunct.errors import CellError, ConjunctWarning, InputError
from conjunct.memory import available_bytes

if TYPE_CHECKING:
    from conjunct.data.binarizer import Binarizer
    from conjunct.data.tags import TagCleaner

Backend = Literal["pandas", "polars", "pyarrow", "dict"]
FRAMES = ("pandas", "polars", "pyarrow")

# Rows per batch: a multiple of 64, for whole words of bits.
_BATCH_ROWS = 1 << 16

# Bytes that are written to disk at a time.
_PAGE_BYTES = 1 << 24

# Cells of a raw table that are in memory at a time, unless one column has more.
_GROUP_CELLS = 1 << 22

# Packed columns stay in memory while they take less than 1/8 of the free memory.
_SHARE_IN_MEMORY = 8
_NO_ROWS = (
    "the table has no rows (0 sample(s)): at least 1 is needed; a stream can be read only once"
)
_NO_ARROW = "reading this table in batches needs Arrow: pip install pyarrow"


@dataclass(frozen=True, eq=False)
class Preparation:
    """The fitted Binarizer or TagCleaner that prepares raw data for a model, if any."""

    binarizer: Binarizer | None = None
    cleaner: TagCleaner | None = None

    def drop_idle_binarizer(self) -> Preparation:
        """Return the same steps without a Binarizer that changes no column."""
        fitted = self.binarizer
        return self if fitted is None or fitted.changes_columns else Preparation(None, self.cleaner)

    def variables_of(self, features: Sequence[str]) -> tuple[str | None, ...]:
        """Return the variable of each feature or None; () if no feature has a variable."""
        if self.binarizer is None:
            return ()
        known = self.binarizer.get_variables()
        variable = {feature: name for name, values in known.items() for feature in values}
        return tuple(map(variable.get, features)) if known else ()

    def source_of(self, feature: str) -> str:
        """Return the raw column behind a feature."""
        return feature if self.binarizer is None else self.binarizer.source_of(feature)


def as_table(columns: dict[str, list[Any]], backend: Any) -> Any:
    """Return the columns as a data frame of ``backend``, or unchanged for ``"dict"``."""
    if backend == "dict":
        return columns
    try:
        return nw.from_dict(columns, backend=backend).to_native()
    except ImportError:
        raise ImportError(
            f"a table needs {backend}: pip install {backend}, or ask for backend='dict'"
        ) from None


def boolean_series(
    name: str, values: Mask, missing: Mask | None, backend: Any, nullable: bool = True
) -> nw.Series[Any]:
    """Return a series of Booleans that is null where ``missing``.

    ``nullable`` requests a type of pandas that has nulls, even if no cell is missing.
    """
    if missing is None or not missing.any():
        series = nw.new_series(name, values, nw.Boolean, backend=backend)
        return nw.maybe_convert_dtypes(series) if nullable else series
    series = nw.maybe_convert_dtypes(nw.new_series(name, values, nw.Boolean, backend=backend))
    if series.implementation.is_pandas():
        series.to_native()[missing] = None
        return series
    cells = [None if gone else bool(v) for v, gone in zip(values, missing.tolist(), strict=True)]
    return nw.new_series(name, cells, nw.Boolean, backend=backend)


class Container(ABC):
    """Data from the user: its column names, its cells, and the way to write similar data."""

    tags: bool = False
    """True if an absent column is false rather than unknown."""
    names_itself: ClassVar[bool] = False
    """True if columns are found by name, in any order."""
    backend: str | None = None
    """The library of a data frame."""
    preparation: Preparation = Preparation()
    """The steps from raw data to the columns, if the container has applied or planned any."""
    ids: Any = None
    index: Any = None
    """The index of a data frame, if it has one."""
    data: Any
    names: tuple[str, ...] | None = None
    """The names of the columns or features, None if the data has no names."""
    raw_names: tuple[str, ...] | None = None
    """The column names of a raw table, if ``names`` are those of its features."""
    lazy: nw.LazyFrame[Any] | None = None
    """The rows as a lazy table with columns c0, c1, …"""
    is_table: ClassVar[bool] = False
    """True if columns of words, numbers and dates can be made Boolean."""

    @property
    def has_names(self) -> bool:
        """Return True if the data names its columns."""
        return self.names is not None

    @property
    def head(self) -> Any:
        """Return the object that scikit-learn inspects."""
        return self.data

    @property
    def n_columns(self) -> int:
        return len(self.names or ())

    @abstractmethod
    def columns(self, names: Sequence[str], rules: CellRules) -> Columns:
        """Return the columns called ``names``."""

    def write(self, columns: Columns, names: Sequence[str], *, nullable: bool) -> Any:
        """Write other columns to a container of this kind.

        Missing cells are null in data frames, and NaN in arrays, which then hold floats.
        ``nullable`` gives data frames a type that allows missing cells.
        """
        return self.adopt(make_frame(columns, names, self.backend, nullable=nullable))

    def rename(self, names: tuple[str, ...]) -> Container:
        """Return the same container with other column names."""
        other = copy(self)
        other.names = names
        return other

    def schema(self) -> Iterable[Any]:
        """Return the types of the columns of a table."""
        return () if self.lazy is None else self.lazy.collect_schema().values()

    def holds_words(self) -> bool:
        """Return True if some column of a table is neither Boolean nor numeric by its type."""
        return not all(kind == nw.Boolean or kind.is_numeric() for kind in self.schema())

    def collect(self, positions: Sequence[int]) -> Any:
        """Return some columns of a table as a data frame in memory."""
        raise NotImplementedError

    def raw_columns(self, names: Sequence[str] | None = None) -> Iterator[Column]:
        """Yield columns of a table, by default all. Only a few are in memory at a time."""
        wanted = list((self.names or ()) if names is None else names)
        positions = self.positions(wanted)
        step, done = 1, 0
        while done < len(wanted):
            some = slice(done, done + step)
            frame = nw.from_native(self.collect(positions[some]), eager_only=True)
            refuse_empty(len(wanted), len(frame))
            for name, series in zip(wanted[some], frame.iter_columns(), strict=True):
                yield from_series(name, series)
            step, done = max(1, _GROUP_CELLS // len(frame)), done + step

    def prepare(self, binarizer: Binarizer) -> Container:
        """Return the same rows, with features that a fitted Binarizer will make."""
        other = self.rename(tuple(binarizer.get_feature_names_out()))
        other.preparation, other.raw_names = Preparation(binarizer), self.names
        return other

    def positions(self, names: Sequence[str]) -> list[int]:
        """Return the positions of the columns called ``names``."""
        known = self.names if self.raw_names is None else self.raw_names
        check_distinct(known or ())
        position = {name: k for k, name in enumerate(known or ())}
        refuse_absent(names, position)
        return [position[name] for name in names]

    def adopt(self, table: Any) -> Any:
        """Return a data frame of ``backend`` as a container of this kind."""
        if self.index is not None:
            table.index = self.index
        return table

    def check_not_empty(self) -> None:  # noqa: B027
        """Refuse a table without columns or rows."""

    def store_columns(self, names: Sequence[str], rules: CellRules, *, counts: bool = False) -> Any:
        """Return the columns called ``names``, in the storage that the rules require."""
        columns = self.columns(names, rules).with_jobs(rules.n_jobs)
        return convert_layout(columns, rules.storage, counts=counts)


class Array(Container):
    """An array, or lists of rows."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def check_not_empty(self) -> None:
        try:
            self.data = check_array(
                self.data, accept_sparse="csr", dtype=None, ensure_all_finite=False
            )
        except ValueError as error:
            if "inhomogeneous" in str(error):
                raise InputError(
                    "the rows differ in length: make them equally long, "
                    "or pass baskets of numbers as sets"
                ) from None
            what, *rest = str(error).splitlines()
            advice = [line for line in rest if line.startswith("Reshape")]
            raise InputError(" ".join([what, *advice])) from None

    @property
    def n_columns(self) -> int:
        return int(self.data.shape[1])

    def columns(self, names: Sequence[str], rules: CellRules) -> Columns:
        # pack some rows at a time
        is_sparse = sp.issparse(self.data)
        table: Any = self.data.tocsr() if is_sparse else np.asarray(self.data)
        n_rows, n_columns = table.shape
        check_packed_size(n_rows, n_columns)
        some_missing = False

        def read(start: int, stop: int, *, wants_known: bool = False) -> Any:
            nonlocal some_missing
            block = table[start:stop]
            cells = rules.read(block.toarray() if is_sparse else block, names, start)
            some_missing = some_missing or cells.missing is not None
            if not wants_known:
                return cells.true
            return np.ones_like(cells.true) if cells.missing is None else ~cells.missing

        store = PackedColumns.from_blocks(read, n_rows, n_columns, rules.n_jobs)
        if not some_missing:
            return store
        read_known = partial(read, wants_known=True)
        mask = PackedColumns.from_blocks(read_known, n_rows, n_columns, rules.n_jobs)
        return MaskedColumns(store, mask)

    def write(self, columns: Columns, names: Sequence[str], *, nullable: bool) -> Any:
        return columns.to_dense()


class SparseMatrix(Array):
    """A sparse matrix or array of SciPy."""

    def columns(self, names: Sequence[str], rules: CellRules) -> Columns:
        rows = self.data.tocsr()
        true = rules.read_stored(rows.data)
        if true is not None:
            ones = sp.csr_array((true, rows.indices, rows.indptr), shape=rows.shape)
            return SparseColumns.from_matrix(ones, rules.n_jobs)
        return super().columns(names, rules)

    def write(self, columns: Columns, names: Sequence[str], *, nullable: bool) -> Any:
        written = columns.to_scipy()
        return sp.csr_matrix(written) if isinstance(self.data, sp.spmatrix) else written


class Frame(Container):
    """A data frame of any library that narwhals knows."""

    is_table = True

    def __init__(self, data: Any, frame: nw.DataFrame[Any]) -> None:
        self.data, self.frame = data, frame
        self.backend = str(frame.implementation.value)
        names = tuple(frame.columns)
        self.names = names if all(isinstance(name, str) for name in names) else None
        self.index = nw.maybe_get_index(frame)

    def schema(self) -> Iterable[Any]:
        return self.frame.schema.values()

    def raw_columns(self, names: Sequence[str] | None = None) -> Iterator[Column]:
        # pandas may have columns 1 and "1": readers refuse names that occur twice
        known = [*(self.names or map(str, self.frame.columns))]
        columns = dict(zip(known, self.frame.iter_columns(), strict=True))
        wanted = known if names is None else names
        refuse_absent([*wanted], columns)
        for name in wanted:
            yield from_series(name, columns[name])

    @property
    def n_columns(self) -> int:
        return len(self.frame.columns)

    def check_not_empty(self) -> None:
        refuse_empty(self.n_columns, len(self.frame))

    def columns(self, names: Sequence[str], rules: CellRules) -> Columns:
        def lines() -> Iterator[Cells]:
            for column, name in zip(self.frame.iter_columns(), names, strict=True):
                true, missing = rules.read(column.to_numpy().reshape(-1, 1), [name])
                yield Cells(true[:, 0], None if missing is None else missing[:, 0])

        return pack_columns(lines(), len(self.frame), rules.n_jobs)


class Baskets(Container):
    """A list of baskets, one per row."""

    names_itself = True
    tags = True

    def __init__(self, data: Any) -> None:
        self.data = data

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Return the distinct items, as text, in code-point order."""
        return tuple(sorted({item for basket in self.data for item in _iter_items(basket)}))

    def columns(self, names: Sequence[str], rules: CellRules) -> Columns:
        position = {name: k for k, name in enumerate(names)}
        rows: list[int] = []
        columns: list[int] = []
        unknown: set[str] = set()
        for row, basket in enumerate(self.data):
            for item in _iter_items(basket):
                if item in position:
                    rows.append(row)
                    columns.append(position[item])
                else:
                    unknown.add(item)
        if unknown:
            items = "1 item" if len(unknown) == 1 else f"{len(unknown):,} items"
            warnings.warn(
                f"ignoring {items} not seen in fit, for instance {min(unknown)!r}",
                ConjunctWarning,
                stacklevel=2,
            )
        ones = np.ones(len(rows), np.bool_)
        matrix = sp.coo_array((ones, (rows, columns)), shape=(len(self.data), len(names)))
        return SparseColumns.from_matrix(matrix, rules.n_jobs)

    def write(self, columns: Columns, names: Sequence[str], *, nullable: bool) -> list[list[str]]:
        return make_baskets(columns, names)


def is_baskets(data: Any) -> bool:
    """Return True for a list of baskets: sets, or lists with a string among their items.

    Lists of numbers are rows of a table, so baskets of numbers must be sets. Lists that are all
    empty are baskets, because a table has columns.
    """
    if not isinstance(data, list | tuple) or not len(data):
        return False
    if any(isinstance(row, set | frozenset) for row in data):
        return True
    if not all(isinstance(row, list | tuple) for row in data):
        return False
    return not any(data) or any(isinstance(item, str) for row in data for item in row)


def refuse_empty(n_columns: int, n_rows: int = 1) -> None:
    """Refuse a table without columns or rows, in the wording that scikit-learn expects."""
    if not n_columns or not n_rows:
        what = "rows (0 sample(s))" if n_columns else "columns (0 feature(s))"
        raise InputError(f"the table has no {what}: at least 1 is needed")


def check_distinct(names: Sequence[str]) -> None:
    """Refuse names that occur twice."""
    if len(set(names)) < len(names):
        raise InputError(describe_duplicate(names))


def refuse_absent(names: Sequence[str], known: Collection[str]) -> None:
    """Refuse a table without some columns of the model."""
    absent = [name for name in names if name not in known]
    if absent:
        shown = ", ".join(map(repr, absent[:3])) + (", …" if len(absent) > 3 else "")
        raise InputError(f"the table lacks {len(absent)} features of the model: {shown}")


def make_frame(
    columns: Columns,
    names: Sequence[str],
    backend: Any,
    *,
    nullable: bool,
    before: Mapping[str, nw.Series[Any]] | None = None,
) -> Any:
    """Return a data frame of the columns, after some other series."""
    made = {
        name: boolean_series(name, *columns.cells(k), backend, nullable)
        for k, name in enumerate(names)
    }
    return nw.from_dict({**(before or {}), **made}).to_native()


def make_baskets(columns: Columns, names: Sequence[str]) -> list[list[str]]:
    """Return the names of the true columns of each row."""
    baskets: list[list[str]] = [[] for _ in range(columns.n_rows)]
    for k, name in enumerate(names):
        for row in columns.true_rows(k).tolist():
            baskets[row].append(name)
    return baskets


class Batched(Container):
    """A table that is read in batches of rows."""

    names_itself = True
    names: tuple[str, ...]
    is_table = True

    def collect(self, positions: Sequence[int]) -> Any:
        batches = [nw.from_native(batch) for batch in self.batches(positions)]
        return nw.concat(batches).to_native() if batches else refuse_empty(len(positions), 0)

    def check_not_empty(self) -> None:
        refuse_empty(self.n_columns)

    @abstractmethod
    def batches(self, positions: Sequence[int]) -> Iterator[Any]:
        """Yield the columns at some positions, as data frames in memory."""

    def columns(self, names: Sequence[str], rules: CellRules) -> Columns:
        return concat_rows(list(self._read_parts(names, rules)))

    def store_columns(self, names: Sequence[str], rules: CellRules, *, counts: bool = False) -> Any:
        """Pack the rows in memory, or in a scratch file if memory is short."""
        parts = concat_parts(self._read_parts(names, rules), _PAGE_BYTES)
        held: list[Columns] = []
        limit = available_bytes() // _SHARE_IN_MEMORY
        for part in parts:
            held.append(part)
            if sum(one.nbytes for one in held) > limit:
                break
        else:
            columns = concat_rows(held).with_jobs(rules.n_jobs)
            return convert_layout(columns, rules.storage, counts=counts)
        scratch = ScratchFile()
        while held:
            scratch.append(held.pop(0))
        for part in parts:
            scratch.append(part)
        disk = DiskPartitions(scratch, available_bytes() // 2, rules.n_jobs, rules.storage)
        return PartitionedColumns(disk)

    def _read_parts(self, names: Sequence[str], rules: CellRules) -> Iterator[Columns]:
        from conjunct.data.boolean_data import ReadPart

        first_row = 0
        binarizer = self.preparation.binarizer
        source = tuple(names if binarizer is None else binarizer.feature_names_in_)
        read = ReadPart(tuple(names), rules, self.preparation, source)
        for batch in self.batches(self.positions(source)):
            if not len(batch):
                continue
            try:
                yield read(batch)
            except CellError as error:
                error.row += first_row
                raise
            first_row += len(batch)
        if not first_row:
            raise InputError(_NO_ROWS)


class LazyTable(Batched):
    """A lazy table of Polars, DuckDB or Ibis."""

    def __init__(self, data: Any, frame: nw.LazyFrame[Any]) -> None:
        self.data = data
        self.names = tuple(frame.collect_schema().names())
        self.backend = "polars" if frame.implementation.is_polars() else "pyarrow"
        self.lazy = self._table = number_columns(frame)

    def batches(self, positions: Sequence[int]) -> Iterator[Any]:
        native = self._table.select(*(f"c{k}" for k in positions)).to_native()
        if hasattr(native, "get_backend"):
            # Ibis 12 calls a method that DuckDB 2 lacks; relations of DuckDB have batches
            as_relation = getattr(native.get_backend(), "_to_duckdb_relation", lambda table: table)
            native = as_relation(native)
        if hasattr(native, "collect_batches"):
            yield from native.collect_batches(chunk_size=_BATCH_ROWS)
        elif hasattr(native, "to_pyarrow_batches"):
            yield from _iter_tables(native.to_pyarrow_batches(chunk_size=_BATCH_ROWS))
        elif hasattr(native, "__arrow_c_stream__"):
            yield from _iter_tables(_import_arrow().RecordBatchReader.from_stream(native))
        else:
            raise InputError("this lazy table cannot be read in batches: call .collect() first")


class ArrowStream(Batched):
    """An object with ``__arrow_c_stream__``. Results are tables of pyarrow."""

    backend = "pyarrow"

    def __init__(self, data: Any) -> None:
        self.data = data
        # some streams can be read only once: keep the reader that gave the names
        try:
            self._reader: Any = _import_arrow().RecordBatchReader.from_stream(data)
        except _import_arrow().ArrowInvalid:
            raise InputError(
                f"a {type(data).__name__} is not a table: pass one with a name for each column"
            ) from None
        self.names = tuple(self._reader.schema.names)

    def schema(self) -> Iterable[Any]:
        return _arrow_types(self._reader.schema)

    def read_whole(self) -> Frame:
        """Return all rows as a data frame."""
        tables = list(self.batches(range(len(self.names))))
        if not tables:
            raise InputError(_NO_ROWS)
        table = _import_arrow().concat_tables(tables)
        return Frame(table, nw.from_native(table))

    def batches(self, positions: Sequence[int]) -> Iterator[Any]:
        reader, self._reader = self._reader, None
        if reader is None:
            reader = _import_arrow().RecordBatchReader.from_stream(self.data)
        for table in _iter_tables(reader):
            yield table.select(list(positions))


class HuggingFace(Batched):
    """A ``datasets.Dataset``. Results are others."""

    backend = "pyarrow"

    def __init__(self, data: Any) -> None:
        self.data = data
        self.names = tuple(data.column_names)

    def batches(self, positions: Sequence[int]) -> Iterator[Any]:
        names = [self.data.column_names[k] for k in positions]
        rows = self.data.select_columns(names).with_format("arrow")
        for table in rows.iter(batch_size=_BATCH_ROWS):
            yield table.select(names)

    def schema(self) -> Iterable[Any]:
        return _arrow_types(self.data.features.arrow_schema)

    def adopt(self, table: Any) -> Any:
        import datasets

        return datasets.Dataset(datasets.table.InMemoryTable(table))


def wrap_data(data: Any) -> Container:
    """Wrap rows that are in memory or come in batches. There may be none."""
    data = nw.to_native(data, pass_through=True)
    if is_baskets(data):
        return Baskets(data)
    if sp.issparse(data):
        return SparseMatrix(data)
    is_records = isinstance(data, list) and data and all(isinstance(row, dict) for row in data)
    if is_records or isinstance(data, dict):
        what = "list of dicts" if is_records else "dict"
        raise InputError(f"a {what} is not a table: pass pandas.DataFrame(data)")
    if getattr(data, "ndim", 2) == 1 or type(data).__name__ == "Series":
        series = nw.from_native(data, allow_series=True, pass_through=True)
        if isinstance(series, nw.Series):
            rows = series.to_list()
            if rows and all(isinstance(row, list | tuple | set | frozenset) for row in rows):
                return Baskets(rows)
            what = "pass s.to_frame(), or a list of tags per row"
            if any(isinstance(row, str) for row in rows):
                what = (
                    "pass a list of tags per row, as s.str.split(',') does for text such as "
                    "'sea,sky', or s.to_frame() for categories"
                )
            raise InputError(f"a Series is not a table: {what}")
    frame = as_narwhals(data)
    if isinstance(frame, nw.DataFrame):
        return Frame(data, frame)
    if isinstance(frame, nw.LazyFrame):
        return LazyTable(data, frame)
    if type(data).__module__ == "datasets.arrow_dataset":
        return HuggingFace(data)
    if hasattr(data, "__arrow_c_stream__") and not hasattr(data, "ndim"):
        return ArrowStream(data)
    if hasattr(data, "__dataframe__"):
        table = _import_arrow("interchange").from_dataframe(data)
        return Frame(table, nw.from_native(table))
    return Array(data)


def number_columns(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Rename the columns of a lazy table c0, c1, …, because names may have another meaning.

    To DuckDB, * stands for all columns; to Spark, a.b is a part of a.
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


def _iter_items(basket: Any) -> Iterator[str]:
    if isinstance(basket, str) or not isinstance(basket, Iterable):
        raise InputError(f"a basket must be a set or a list of items; got {basket!r}")
    for item in basket:
        if item is None or item != item:
            raise InputError(f"a basket holds {item!r}, but items must be strings or numbers")
        yield str(item)


def _arrow_types(schema: Any) -> list[Any]:
    return [*nw.from_native(schema.empty_table()).schema.values()]


def _import_arrow(part: str = "lib") -> Any:
    try:
        return import_module(f"pyarrow.{part}")
    except ImportError:
        raise InputError(_NO_ARROW) from None


def _iter_tables(batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        yield _import_arrow().Table.from_batches([batch])
