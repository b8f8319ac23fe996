"""Boolean data: named columns, read from any container or file, and converted to any."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np
from sklearn.utils.validation import validate_data

from conjunct.columns import Columns, Counts, PackedColumns, convert_layout, pack_columns
from conjunct.counting import Engine, PartitionedColumns, engine_of
from conjunct.data.cells import MISSING_ADVICE, CellRules, Mask, Missing, is_missing
from conjunct.data.containers import (
    FRAMES,
    ArrowStream,
    Baskets,
    Container,
    Frame,
    Preparation,
    check_distinct,
    make_baskets,
    make_frame,
    number_columns,
    refuse_absent,
    refuse_empty,
    wrap_data,
)
from conjunct.errors import CellError, InputError
from conjunct.parameters import CUTOFF, Registry, one_of

if TYPE_CHECKING:
    from conjunct.data.binarizer import Binarizer
    from conjunct.data.column_rules import Dropped
    from conjunct.data.tags import TagCleaner


_NOT_BOOLEAN = "is not Boolean"


class Ids(NamedTuple):
    """The names of the rows, and of the column that holds them."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class BooleanData:
    """Rows of named Boolean features. ``BooleanData.from_data`` makes it from any data.

    Attributes
    ----------
    names : tuple of str
        Names of the features.
    columns : Columns
        Their cells: bits, two bits if cells are missing, or lists of rows for many rare tags.
        Rows on disk or on a cluster are in parts.
    ids : Ids or None
        ``name`` and ``values`` of a column that names the rows.
    preparation : Preparation
        The steps from raw data to the features. Models fitted on the data keep and save them.
    tags : bool
        True if absent features are false, as in tags and baskets, and not unknown.
    rules : CellRules
        The rules for reading cells of other rows.
    has_names : bool
        True if the data has names. Otherwise they are x0, x1 and so on.

    Examples
    --------
    >>> import polars as pl
    >>> from conjunct import BooleanData
    >>> data = BooleanData.from_data(pl.DataFrame({"wet": ["yes", None], "legs": [2, 4]}))
    >>> data
    BooleanData(2 rows, 3 features, 1 missing)
    >>> data.convert("polars").rows()
    [(True, True, False), (None, False, True)]
    >>> data.read_like(pl.DataFrame({"wet": ["no"], "legs": [4]})).convert("baskets")
    [['legs = 4']]
    """

    names: tuple[str, ...]
    columns: Any
    ids: Ids | None = None
    preparation: Preparation = field(default_factory=Preparation)
    tags: bool = False
    rules: CellRules = field(default_factory=CellRules)
    has_names: bool = True

    @classmethod
    def from_data(
        cls,
        X: Any,
        *,
        binarizer: Binarizer | None = None,
        threshold: float | None = None,
        missing: Missing = "pairwise",
        **options: Any,
    ) -> BooleanData:
        """Make Boolean data from any container or file.

        Parameters
        ----------
        X : path, array, data frame, sparse matrix, list of baskets, stream or Dask collection
            A Binarizer makes other columns of data frames and files Boolean.
        binarizer : Binarizer, optional
            The Binarizer to use, which is fitted first if necessary; by default, a new one.
        threshold : float, optional
            Read values above this number as true, without a Binarizer.
        missing : {"pairwise", "false", "raise"}, default="pairwise"
            Keep missing cells, read them as false, or refuse them.
        **options
            For files, the options of :func:`conjunct.files.read_boolean`.
        """
        CUTOFF.check("threshold", threshold)
        if binarizer is not None and threshold is not None:
            raise InputError("pass either a binarizer or threshold=, not both")
        if isinstance(X, str | os.PathLike):
            if threshold is not None:
                raise InputError("threshold= is for data in memory: pass a binarizer for a file")
            data: BooleanData = SOURCES["file"].read(X, binarizer=binarizer, **options)
            return cls.read(data, CellRules(None, missing))
        if options:
            raise TypeError(f"only files have options such as {next(iter(options))!r}")
        container = container_of(X)
        rules = CellRules(threshold, missing)
        if binarizer is None and (threshold is not None or not isinstance(container, Frame)):
            return cls.read_any(container, rules)[1]
        if not container.is_table:
            raise InputError("a binarizer is for data frames and files")
        return cls.read(prepare_raw(container, binarizer), rules)

    @classmethod
    def read_any(
        cls, X: Any, rules: CellRules, *, counts: bool = False
    ) -> tuple[Container, BooleanData]:
        """Read any container, after making a raw table Boolean. Also return the container.

        A table is raw if some cell is neither Boolean nor missing.
        """
        container = container_of(X)
        may_be_raw = container.is_table and rules.threshold is None
        if may_be_raw and not isinstance(container, Frame) and container.holds_words():
            container, may_be_raw = prepare_raw(container), False
        try:
            return container, cls.read(container, rules, counts=counts)
        except (TypeError, ValueError) as error:
            # an error of a worker has no cell, but its message names one
            is_cell = isinstance(container, Frame) or _NOT_BOOLEAN in str(error)
            if not may_be_raw or not is_cell:
                raise
            if isinstance(error, CellError) and is_missing(error.value):
                raise
        container = prepare_raw(container)
        return container, cls.read(container, rules, counts=counts)

    @classmethod
    def read(cls, X: Any, rules: CellRules, *, counts: bool = False) -> BooleanData:
        """Read Boolean cells from any container. Errors name other cells.

        ``counts``: choose the storage for counting pairs of columns, too.
        """
        container = container_of(X)
        names = container.names
        if names:
            check_distinct(names)
        if container.names_itself and not names:
            raise InputError("the baskets have no items (0 feature(s)): at least 1 is needed")
        known = names or tuple(map("x{}".format, range(container.n_columns)))
        return cls(
            known,
            container.store_columns(known, rules, counts=counts),
            container.ids,
            container.preparation,
            container.tags,
            rules,
            container.has_names,
        )

    @classmethod
    def without_rows(
        cls, names: Sequence[str], rules: CellRules, preparation: Preparation | None = None
    ) -> BooleanData:
        """Return data without rows, which can read other rows."""
        nothing = PackedColumns(np.zeros((len(names), 0), np.uint8), 0)
        return cls(tuple(names), nothing, None, preparation or Preparation(), rules=rules)

    def read_like(self, X: Any) -> BooleanData:
        """Read and prepare other rows in the same way, with the same features."""
        container = container_of(prepare(self.preparation, self.names, X))
        if container.lazy is not None and self.preparation.binarizer is not None:
            is_raw = set(container.names or ()) != set(self.names)
            container = prepare_raw(container, self.preparation.binarizer) if is_raw else container
        columns = container.store_columns(self.names, self.rules)
        return replace(self, columns=columns, ids=container.ids)

    def convert(self, container: Any, *, nullable: bool = False) -> Any:
        """Convert the data to another container.

        Parameters
        ----------
        container : str or container
            ``"pandas"``, ``"polars"``, ``"pyarrow"`` (ids come first), ``"numpy"``, ``"scipy"``
            or ``"baskets"``; or some data, for a container of the same kind.
        nullable : bool, default=False
            Give data frames a type that allows missing cells, even if no cell is missing.
        """
        if isinstance(self.columns, PartitionedColumns):
            raise InputError("rows in parts cannot be converted: pass them to fit")
        if not isinstance(container, str):
            return container_of(container).write(self.columns, self.names, nullable=nullable)
        if container == "numpy":
            return self.columns.to_dense()
        if container == "scipy":
            return self.columns.to_scipy()
        if container == "baskets":
            return make_baskets(self.columns, self.names)
        one_of((*FRAMES, "numpy", "scipy", "baskets")).check("container", container)
        backend: Any = container
        ids = {}
        if self.ids is not None:
            name, values = self.ids
            if name in self.names:
                raise InputError(f"a feature and the ids are both called {name!r}")
            ids[name] = nw.new_series(name, list(values), nw.String, backend=backend)
        nullable = nullable or self.columns.has_missing
        return make_frame(self.columns, self.names, backend, nullable=nullable, before=ids)

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        missing = f", {self.n_missing} missing" if self.n_missing else ""
        return f"BooleanData({self.n_rows} rows, {len(self.names)} features{missing})"

    @property
    def n_rows(self) -> int:
        return int(self.columns.n_rows)

    @property
    def variables(self) -> tuple[str | None, ...]:
        """Return the variable of each feature from the Binarizer; () without variables.

        Features of one variable exclude each other: the words of a category, or the intervals of a
        number. A plain tag has no variable. A fit recognises further variables by itself.
        """
        return self.preparation.variables_of(self.names)

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, len(self.names)

    @property
    def n_missing(self) -> int:
        """Return the number of missing cells."""
        return int(self.columns.count_missing())

    @property
    def nbytes(self) -> int:
        """Return the memory of the cells in bytes."""
        return int(self.columns.nbytes)

    def supports(self) -> Counts:
        """Return the number of rows in which each feature is true."""
        supports: Counts = self.columns.supports()
        return supports

    def align(self, names: Sequence[str]) -> BooleanData:
        """Return the features called ``names``, in that order. Absent tags are false."""
        if tuple(names) == self.names:
            return self
        position = {name: k for k, name in enumerate(self.names)}
        if not self.tags:
            refuse_absent(names, position)
        columns = self.columns.select(map(position.get, names))
        return replace(self, names=tuple(names), columns=columns)

    def fit_cleaner(self, cleaner: TagCleaner) -> TagCleaner:
        """Fit a cleaner to the column names, which are tags."""
        if self.preparation.binarizer is not None:
            raise InputError(
                "only tags can be cleaned: some columns are not Boolean, or were left out; "
                "name the columns that are tags"
            )
        return cleaner.fit_counts(dict(zip(self.names, self.supports().tolist(), strict=True)))

    def clean(self, cleaner: TagCleaner) -> BooleanData:
        """Return tags in their clean spelling. A row has a tag if it had any spelling of it."""
        lines: dict[str, Any] = {}
        for name, line in zip(self.names, self.columns.raw_columns, strict=True):
            tag = cleaner.clean(name)
            lines[tag] = self.columns.disjunction(lines[tag], line) if tag in lines else line
        return replace(
            self,
            names=tuple(lines),
            columns=self.columns.with_raw_columns(list(lines.values())),
            preparation=Preparation(cleaner=cleaner),
        )

    def count_missing_cells(self) -> dict[str, int]:
        """Count the missing cells of each raw column that has any."""
        if not self.columns.has_missing:
            return {}
        counts: dict[str, int] = {}
        for name, known in zip(self.names, self.columns.count_known().tolist(), strict=True):
            # a missing cell is missing in each feature of its column
            source = self.preparation.source_of(name)
            counts[source] = max(counts.get(source, 0), self.n_rows - known)
        return {name: count for name, count in counts.items() if count}

    def refuse_missing(self, among: Mask | None = None) -> None:
        """Raise an error for the first missing cell in all rows, or in the rows ``among``."""
        for k, name in enumerate(self.names) if self.columns.has_missing else ():
            _, missing = self.columns.cells(k)
            missing = missing if missing is None or among is None else missing & among
            if missing is not None and missing.any():
                column, row = self.preparation.source_of(name), int(missing.argmax())
                raise CellError(column, row, None, "the value is missing", MISSING_ADVICE)


class _Header:
    """The names of a table, in the form that scikit-learn before 1.9 expects."""

    def __init__(self, table: nw.DataFrame[Any]) -> None:
        self.names, self.shape = table.columns, table.shape

    def __dataframe__(self) -> _Header:
        return self

    def column_names(self) -> list[str]:
        return self.names


_ASKS_FOR_HEADERS = tuple(map(int, version("scikit-learn").split(".")[:2])) < (1, 9)


def check_features(estimator: Any, X: Any, *, reset: bool) -> None:
    """Store the number and names of columns in an estimator, or compare them."""
    if _ASKS_FOR_HEADERS:  # polars 2 no longer has them
        table = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(table, nw.DataFrame) and not hasattr(X, "__dataframe__"):
            X = _Header(table)
    validate_data(estimator, X, reset=reset, skip_check_array=True)


class BooleanDataContainer(Container):
    """Boolean data, possibly from a raw data frame, whose results are data frames, too."""

    names_itself = True

    def __init__(self, data: BooleanData, frame: Frame | None = None) -> None:
        self.data, self._frame = data, frame
        self.names, self.ids, self.tags = data.names, data.ids, data.tags
        self.preparation = data.preparation
        if frame is not None:
            self.backend, self.index = frame.backend, frame.index

    @property
    def has_names(self) -> bool:
        return bool(self.data.has_names)

    def check_not_empty(self) -> None:
        refuse_empty(self.n_columns, self.data.n_rows)

    def columns(self, names: Sequence[str], rules: CellRules) -> Columns:
        data = self.data.align(names)
        if rules.missing == "raise":
            data.refuse_missing()
        columns: Columns = data.columns
        keeps = rules.missing == "pairwise" and columns.count_missing() > 0
        return columns if keeps else columns.fill_missing()

    def rename(self, names: tuple[str, ...]) -> Container:
        return BooleanDataContainer(replace(self.data, names=names), self._frame)

    def write(self, columns: Columns, names: Sequence[str], *, nullable: bool) -> Any:
        if self._frame is not None:
            return self._frame.write(columns, names, nullable=nullable)
        return BooleanData(tuple(names), columns, self.ids)


class PartitionedContainer(Container):
    """Rows that an engine holds in parts."""

    def __init__(self, engine: Engine, data: Any) -> None:
        self.engine, self.data = engine, data
        self._head = wrap_rows(engine.head(data))
        self.names, self.backend = self._head.names, self._head.backend
        self.preparation = self._head.preparation
        if engine.takes_expressions:
            self.lazy = number_columns(nw.from_native(data))

    @property
    def names_itself(self) -> bool:  # type: ignore[override]
        is_named = self.lazy is not None or self.raw_names is not None
        return self._head.names_itself or is_named

    @property
    def head(self) -> Any:
        return self._head.data

    @property
    def n_columns(self) -> int:
        return self._head.n_columns

    @property
    def may_lack_cells(self) -> bool:
        """Return True if the types of the columns allow missing cells."""
        if isinstance(self._head, Frame):
            kinds = self._head.frame.schema.values()
            return not all(kind == nw.Boolean or kind.is_integer() for kind in kinds)
        return getattr(self.head, "dtype", np.dtype(bool)).kind in "fO"

    def columns(self, names: Sequence[str], rules: CellRules) -> Columns:
        raise InputError(self.engine.advice)

    @property
    def is_table(self) -> bool:  # type: ignore[override]
        return self._head.is_table or self.lazy is not None

    def schema(self) -> Iterable[Any]:
        return self._head.schema() if self.lazy is None else super().schema()

    def collect(self, positions: Sequence[int]) -> Any:
        if self.lazy is None:
            return self.engine.collect_columns(self.data, positions)
        return self.lazy.select(*(f"c{k}" for k in positions)).collect().to_native()

    def store_columns(self, names: Sequence[str], rules: CellRules, *, counts: bool = False) -> Any:
        read, data = ReadPart(tuple(names), rules, self.preparation), self.data
        binarizer = self.preparation.binarizer
        if self.lazy is not None:
            source = tuple(names if binarizer is None else binarizer.feature_names_in_)
            read = replace(read, source=source)
            data = self.lazy.select(*(f"c{k}" for k in self.positions(source))).to_native()
        parts = self.engine.partitions(data, read, len(names), rules.storage, rules.n_jobs)
        refuse_empty(len(names), parts.n_rows)
        return PartitionedColumns(parts)

    def write(self, columns: Columns, names: Sequence[str], *, nullable: bool) -> Any:
        raise InputError(self.engine.advice)


@dataclass(frozen=True)
class ReadPart:
    """Reader of the columns of a part, here or on a worker."""

    names: tuple[str, ...]
    rules: CellRules
    preparation: Preparation = field(default_factory=Preparation)
    source: tuple[str, ...] | None = None
    """The column names to give to a part, if it has other names."""

    def __call__(self, data: Any) -> Columns:
        rows = wrap_rows(data)
        rows = rows if self.source is None else rows.rename(self.source)
        rows = wrap_rows(prepare(self.preparation, self.names, rows))
        columns = rows.columns(self.names, self.rules)
        # a storage that is quick to read; the best one for counting depends on all parts
        return columns if isinstance(data, BooleanData) else convert_layout(columns, "auto")


# The reader of files is in a folder above, and enters itself here.
SOURCES: Registry[Any] = Registry("source", "conjunct.files.reading")


def container_of(X: Any) -> Container:
    """Wrap data in a container, and check its shape. Cells are checked when they are read."""
    if isinstance(X, Container):
        return X
    engine = None if type(X) is np.ndarray else engine_of(X)
    if engine is not None:
        return PartitionedContainer(engine, X)
    container = wrap_rows(X)
    container.check_not_empty()
    return container


def wrap_rows(data: Any) -> Container:
    """Wrap rows that are in memory. Some parts have no rows."""
    if isinstance(data, Container):
        return data
    return BooleanDataContainer(data) if isinstance(data, BooleanData) else wrap_data(data)


def apply_binarizer(container: Frame, binarizer: Binarizer | None = None) -> BooleanData:
    """Make a data frame Boolean with a Binarizer, which is fitted first if necessary."""
    fitted = fit_binarizer(container, binarizer)
    # read one by one, because ``select`` takes a name such as * as a pattern
    columns = container.raw_columns(list(fitted.feature_names_in_))
    return BooleanData(
        tuple(fitted.get_feature_names_out()),
        pack_columns(fitted.apply(columns), len(container.frame)),
        preparation=Preparation(fitted).drop_idle_binarizer(),
    )


def fit_binarizer(container: Container, binarizer: Binarizer | None = None) -> Binarizer:
    """Fit a Binarizer to a raw table, reading a few columns at a time."""
    from conjunct.data.binarizer import Binarizer
    from conjunct.data.column_rules import choose_rules

    start = Binarizer() if binarizer is None else binarizer
    if hasattr(start, "rules_"):
        return start
    start.settings()
    found = choose_rules(container.raw_columns(), start)
    return type(start).from_rules(start.get_params(), found)


def prepare(wanted: Preparation, names: Sequence[str], X: Any) -> Any:
    """Make raw data Boolean and clean its tags, by steps that were fitted to other rows.

    Lazy tables stay raw, because expressions compute their features.
    """
    if isinstance(X, BooleanData) or (wanted.binarizer is None and wanted.cleaner is None):
        return X
    container = container_of(X)
    if wanted.cleaner is not None and isinstance(container, Baskets):
        return [[wanted.cleaner.clean(str(tag)) for tag in basket] for basket in container.data]
    if not container.is_table or set(container.names or ()) == set(names):
        return container
    if wanted.cleaner is not None:
        if not isinstance(container, Frame):
            return container
        return apply_binarizer(container).clean(wanted.cleaner)
    return container if container.lazy is not None else prepare_raw(container, wanted.binarizer)


def prepare_raw(container: Container, binarizer: Binarizer | None = None) -> Container:
    """Make a raw table Boolean with a Binarizer, by default a new one."""
    if isinstance(container, ArrowStream):
        container = container.read_whole()
    if isinstance(container, Frame):
        return BooleanDataContainer(apply_binarizer(container, binarizer), container)
    return container.prepare(fit_binarizer(container, binarizer))


@dataclass(frozen=True)
class DataSummary:
    """Summary of a Boolean table.

    Attributes
    ----------
    n_rows, n_distinct_rows, n_features, n_missing : int
        Features are Boolean columns. Missing cells are counted in raw columns.
    columns : dict of str to int
        Number of raw columns of each kind.
    dropped : tuple of Dropped
        Raw columns that made no feature, and the reasons.
    rare : dict of str to int
        Number of rare words by column.
    constant : tuple of str
        Features with a single value, which are never paired.
    density : float
        Share of observed cells that are true.
    n_bytes : int
        Memory of the cells.

    Examples
    --------
    >>> from conjunct import BooleanData, DataSummary
    >>> rows = [["fork", "knife"]] * 40 + [["cup"]] * 60
    >>> summary = DataSummary.of(BooleanData.from_data(rows))
    >>> summary.n_rows, summary.n_distinct_rows
    (100, 2)
    """

    n_rows: int
    n_distinct_rows: int
    n_features: int
    n_missing: int
    columns: dict[str, int]
    dropped: tuple[Dropped, ...]
    rare: dict[str, int]
    constant: tuple[str, ...]
    density: float
    n_bytes: int

    @classmethod
    def of(cls, table: BooleanData) -> DataSummary:
        """Summarise a table."""
        from conjunct.data.column_rules import BooleanRule, CategoryRule, TagsRule

        supports = table.supports()
        observed = table.columns.count_known()
        is_constant = (supports == 0) | (supports == observed)
        binarizer = table.preparation.binarizer
        rules = () if binarizer is None else binarizer.rules_
        kinds = {"tags" if table.tags else "Boolean": {*table.names}} if not rules else {}
        for rule in rules:
            if isinstance(rule, BooleanRule | TagsRule):
                kind = "Boolean" if isinstance(rule, BooleanRule) else "lists of tags"
            elif rule.part is not None:
                kind = "dates"
            else:
                kind = "categories" if isinstance(rule, CategoryRule) else "numbers"
            kinds.setdefault(kind, set()).add(rule.column)
        return cls(
            table.n_rows,
            table.columns.count_distinct_rows(),
            len(table.names),
            sum(table.count_missing_cells().values()),
            {kind: len(names) for kind, names in kinds.items()},
            () if binarizer is None else binarizer.dropped_,
            {r.column: len(r.rare) for r in rules if isinstance(r, CategoryRule) and r.rare},
            tuple(n for n, c in zip(table.names, is_constant, strict=True) if c),
            float(supports.sum() / max(1, int(observed.sum()))),
            table.nbytes,
        )
