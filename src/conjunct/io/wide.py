"""Tables with one column per attribute, in whatever file: what their formats have in common."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from conjunct.binarize.columns import Column
from conjunct.binarize.rules import BooleanRule, Rule
from conjunct.errors import ConjunctWarning, InputError
from conjunct.io.cells import column_of
from conjunct.io.files import reason

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")

AsText = Callable[[str], bool]
"""Whether a column is read as it is written."""


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file; ``conjunct.io.read_boolean`` says what each field means."""

    format: str | None = None
    columns: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    id: str | None = None
    separator: str | None = None
    tags: str | None = None
    null_values: Sequence[str] = ()

    def selected(self, names: Sequence[str], file: Path) -> list[str]:
        """The columns to make features of, in the order asked for or else of the file."""
        columns = _one_by_one(self.columns or (), names)
        exclude = _one_by_one(self.exclude, names)
        for name in [*columns, *exclude, *([self.id] if self.id is not None else ())]:
            if name not in names:
                raise InputError(f"{file} has no column {name!r}: it has {_listed(names)}")
        left_out = {*exclude, self.id}
        chosen = [name for name in columns or names if name not in left_out]
        if not chosen:
            raise InputError(f"{file}: no column is left to make features of")
        return chosen


def nothing(name: str) -> bool:
    """No column is to be read as text."""
    return False


def words_of(rules: Mapping[str, Sequence[Rule]]) -> AsText:
    """The columns that rules must see as they are written: all that are not Boolean."""
    return lambda name: name in rules and list(rules[name]) != [BooleanRule(name)]


@dataclass(frozen=True)
class Scan:
    """A table not yet read: its columns, and about how many rows there are."""

    frame: pl.LazyFrame
    names: Sequence[str]
    n_rows: int | None = None


class WideFormat(ABC):
    """How one kind of file is read. What goes wrong is said with file, line and column."""

    reads_short_rows: ClassVar[bool] = False
    """Whether a row that is too short is read, with nulls at its end."""

    counts_rows: ClassVar[bool] = False
    """Whether the file itself says how many rows it has."""

    @abstractmethod
    def scans(self, file: Path, options: ReadOptions, as_text: AsText = nothing) -> Iterator[Scan]:
        """Ways to read the file, the quickest first; the next is for when one fails.

        ``as_text``: columns of text files whose cells come as they are written, numbers too.
        """

    def completed(self, scan: Scan, wanted: Iterable[str]) -> Scan:
        """The table with columns wanted that the file leaves out where all of their cells are."""
        return scan

    def read(
        self,
        file: Path,
        options: ReadOptions,
        use: Callable[[Scan], T],
        as_text: AsText = nothing,
    ) -> T:
        """What ``use`` makes of the table, read in the first way that works."""
        import polars as pl

        failed: BaseException = InputError("there is no way to read it")
        try:
            for scan in self.scans(file, options, as_text):
                try:
                    return use(scan)
                except pl.exceptions.PolarsError as error:
                    failed = error
        except pl.exceptions.PolarsError as error:
            failed = error
        raise self.explain(file, options, failed) from None

    def remark(self, file: Path, options: ReadOptions) -> str | None:
        """What a person should know about how the file is read, if anything."""
        return None

    def explain(self, file: Path, options: ReadOptions, error: BaseException) -> InputError:
        """Why no way worked."""
        return InputError(f"{file} cannot be read: {reason(error)}")

    def n_blank_at_the_end(self, file: Path, options: ReadOptions) -> int:
        """Rows at the end that are none; called if the last column has a missing cell."""
        return 0

    def check_whole(self, file: Path, scan: Scan, n_rows: int) -> None:
        """Refuse a file of which fewer rows were read than it says it has."""
        if self.counts_rows and scan.n_rows is not None and n_rows < scan.n_rows:
            raise InputError(
                f"{file}: only {n_rows:,} of its {scan.n_rows:,} rows can be read; a column may be "
                "of a kind that polars does not know, such as decimal256, or two share a name"
            )

    def place(self, file: Path, options: ReadOptions, row: int) -> str:
        """Where a row is, for messages."""
        return f"row {row + 1}"

    def typed(self, column: pl.Series) -> pl.Series:
        """A column as what it is: text as numbers or dates if all of it is."""
        return column

    def column(self, cells: pl.Series, rules: Sequence[Rule] | None = None) -> Column:
        """A column as the rules of a model read it; without rules, as what all of it says."""
        return column_of(cells)


def tell_remark(wide: WideFormat, file: Path, options: ReadOptions) -> None:
    """Warn of what a person should know about how the file is read."""
    remark = wide.remark(file, options)
    if remark is not None:
        warnings.warn(remark, ConjunctWarning, stacklevel=2)


def picked(frame: pl.LazyFrame, names: Iterable[str]) -> pl.LazyFrame:
    """Some columns, whatever they are called: to ``select``, ``^a.*$`` is a pattern."""
    import polars as pl

    return frame.select(pl.selectors.by_name(*names))


def check_kinds(file: Path, schema: Any) -> None:
    """Refuse columns that hold neither numbers, words, dates nor Booleans."""
    import polars as pl

    words = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null, pl.Date, pl.Datetime)
    for name, kind in schema.items():
        if isinstance(kind, pl.List):
            raise InputError(
                f"{file}, column {name!r}: {kind} is not Boolean; read it as tags "
                f"(tags={name!r}) or leave the column out"
            )
        if not kind.is_numeric() and kind not in words:
            raise InputError(
                f"{file}, column {name!r}: {kind} is not Boolean; leave the column out"
            )


def _one_by_one(given: Sequence[str], names: Sequence[str]) -> list[str]:
    """Names with ``a,b`` as two, unless a column is called that."""
    known = set(names)
    parts = ([name] if name in known or "," not in name else name.split(",") for name in given)
    return list(dict.fromkeys(part for named in parts for part in named))


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:5]))
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown
