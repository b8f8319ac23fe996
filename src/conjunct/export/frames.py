"""Write features as expressions of narwhals and Polars, and as lazy tables of any library.

Both libraries use Kleene's logic: null and false is false, null and true is null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf
from operator import add, and_
from typing import TYPE_CHECKING, Any, Self

import narwhals as nw

from conjunct.data import BLANKS, Container
from conjunct.errors import InputError
from conjunct.export.formulas import (
    NO,
    YES,
    Check,
    Flag,
    HasTag,
    OneOf,
    PartOneOf,
    best_plan,
    refuse_lists,
    write_formula,
    write_formulas,
)
from conjunct.expressions import And, AtLeast, Constant, Exactly, Expression, Not, Or, Primitive
from conjunct.parameters import one_of

if TYPE_CHECKING:
    import polars as pl

MAX_LITERALS = 10_000
"""Longer formulas are refused, because libraries expand shared parts of expressions."""

_FALSE = "false"  # a column that is false in every row
# the texts that float() accepts, except 1_000 and digits of other scripts
_NUMBER = r"^[+-]?(([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|[iI]nf(inity)?)$"


def to_narwhals(
    features: Mapping[str, Expression],
    *,
    column_type: str = "boolean",
    cut: float | None = None,
    raw: Mapping[str, Check] | None = None,
    fill: bool = False,
) -> list[nw.Expr]:
    """Build one expression per feature, with the names of the mapping.

    Columns hold Booleans (``column_type="boolean"``) or 0 and 1 (``"integer"``). With ``cut`` they
    hold numbers, and larger ones are true. With ``raw`` they are those of a raw table, with a check
    for each primitive. Missing cells are null; with ``fill`` they are false.
    """
    one_of(("boolean", "integer")).check("column_type", column_type)
    dtype: Any = nw.Boolean() if column_type == "boolean" and cut is None else nw.Float64()
    return _Builder(nw, _column, dtype, cut, raw, fill).build(
        features, "one expression", "transform(table) computes it in steps"
    )


def to_polars(
    features: Mapping[str, Expression],
    *,
    cut: float | None = None,
    raw: Mapping[str, Check] | None = None,
    fill: bool = False,
) -> list[pl.Expr]:
    """Build one Polars expression per feature. Columns may be Boolean or 0/1."""
    import polars as pl
    from polars import selectors

    def column(name: str) -> Any:
        # pl.col would read "^a.*$" as a pattern and "*" as all columns
        return selectors.by_name(name).as_expr()

    return _Builder(pl, column, nw.Float64(), cut, raw, fill).build(
        features, "a Polars expression", "ask for form='simplified', or export as Python"
    )


class _Logic:
    """The connectives of narwhals and of Polars, which have the same methods."""

    library: Any

    def negate(self, value: Any) -> Any:
        return ~value

    def join(self, values: Sequence[Any], *, is_or: bool) -> Any:
        """Join halves recursively, because libraries limit the depth of an expression."""
        if len(values) == 1:
            return values[0]
        half = len(values) // 2
        left, right = (self.join(some, is_or=is_or) for some in (values[:half], values[half:]))
        return left | right if is_or else left & right

    def count(self, values: Sequence[Any], least: int, most: int) -> Any:
        """Check that ``least`` to ``most`` values are true; null if missing cells decide."""
        true, possible = (
            reduce(add, (value.fill_null(missing).cast(self.library.Int32) for value in values))
            for missing in (False, True)
        )
        excluded = (possible < least) | (true > most)
        certain = (true >= least) & (possible <= most)
        return _either(certain, excluded, self.library)


@dataclass(frozen=True)
class _Builder(_Logic):
    """Build expressions on named columns; ``dtype`` is the type of Boolean columns."""

    library: Any
    column: Callable[[str], Any]
    dtype: Any
    cut: float | None
    raw: Mapping[str, Check] | None
    fill: bool

    def build(self, features: Mapping[str, Expression], limited: str, advice: str) -> list[Any]:
        """Build one expression per feature, with the names of the mapping."""
        for name, feature in features.items():
            if feature.length > MAX_LITERALS:
                raise InputError(
                    f"{name[:40]!r}… has {feature.length:,} literals, but {limited} may have at "
                    f"most {MAX_LITERALS:,}: {advice}"
                )
        built = write_formulas(features.values(), self)
        return [value.alias(name) for name, value in zip(features, built, strict=True)]

    def primitive(self, name: str) -> Any:
        if self.raw is None:
            value = _truth(self.column(name), self.dtype, self.cut, self.library)
        else:
            check = self.raw[name]
            value = _passes(check, self.column(check.column), library=self.library)
        return value.fill_null(False) if self.fill else value

    def constant(self, value: bool) -> Any:
        return self.library.lit(value)


def _column(name: str) -> nw.Expr:
    if name == "*" or (name.startswith("^") and name.endswith("$")):
        raise InputError(
            f"some libraries read {name!r} as a pattern: rename the column, or use transform(table)"
        )
    return nw.col(name)


def _either(yes: Any, no: Any, library: Any) -> Any:
    return library.when(yes).then(True).otherwise(library.when(no).then(False))


def _truth(column: Any, dtype: Any, cut: float | None, library: Any = nw) -> Any:
    """Check that a Boolean cell or a number is true; null if it is missing."""
    if dtype == nw.Boolean:
        return column
    number = _without_nan(column, library) if dtype.is_float() else column
    return number != 0 if cut is None else number.cast(library.Float64) > cut


def _passes(check: Check, column: Any, dtype: Any = None, library: Any = nw) -> Any:
    """Check a raw cell; null if it is missing. ``dtype`` is the type of the column, if known."""
    if isinstance(check, Flag | OneOf):
        # as text, because the cell may be Boolean, a number or a word; Ibis cannot strip BLANKS
        word = column.cast(library.String).str.replace_all(f"^[{BLANKS}]+|[{BLANKS}]+$", "")
        lower = word.str.to_lowercase()
    if isinstance(check, Flag):
        number = _parse_number(lower, library)
        yes, no = lower.is_in([*YES]) | (number == 1), lower.is_in([*NO]) | (number == 0)
        # other words are neither
        return _either(yes.fill_null(False), no.fill_null(False), library)
    if isinstance(check, OneOf):
        if not check.are_numbers:
            return library.when(word != "").then(word.is_in([*check.words]))
        numbers = [*map(float, check.words)]
        if dtype is not None and dtype.is_numeric():
            return _without_nan(column, library).is_in(numbers)
        # words that are no number match none
        number = _parse_number(word, library)
        if library is not nw:  # Polars casts any type; the text of 32-bit numbers is not exact
            number = column.cast(library.Float64, strict=False)
        is_one = number.is_in(numbers).fill_null(False)
        return library.when(~lower.is_in(["", "nan"])).then(is_one)
    if isinstance(check, HasTag):
        return _has_tag(check, column, library)
    if check.are_digits:
        digits = column.cast(library.Int64).cast(library.String)
        column = digits.str.to_datetime(format="%Y%m%d")
    part: Any = None if check.part is None else getattr(column.dt, check.part)()
    if isinstance(check, PartOneOf):
        return part.is_in([*check.numbers])
    value = _without_nan(column, library) if part is None else part
    bounds = [] if check.low is None else [value >= check.low]
    bounds += [] if check.high is None else [value < check.high]
    return reduce(and_, bounds) if bounds else value == value


def _has_tag(check: HasTag, column: Any, library: Any) -> Any:
    refuse_lists(check, "an expression", (None, ";", "|", ","))
    if check.separator is None:
        if library is not nw:
            text = library.element().cast(library.String)
            column = column.list.eval(text.str.strip_chars(BLANKS))
        return column.list.contains(check.tag).fill_null(False)
    blanks, between = f"[{BLANKS}]*", f"[{check.separator}]"
    tag = "".join(c if c.isalnum() else f"\\x{{{ord(c):x}}}" for c in check.tag)
    found = column.cast(library.String).str.contains(
        f"(^|{between}){blanks}{tag}{blanks}({between}|$)"
    )
    return found.fill_null(False)


def _parse_number(word: Any, library: Any) -> Any:
    """Parse a word as a number, or as null if it is not one; a cast would fail."""
    return library.when(word.str.contains(_NUMBER)).then(word).cast(library.Float64)


def _without_nan(column: Any, library: Any) -> Any:
    """Replace NaN by null, because NaN counts as missing."""
    number = column.cast(library.Float64)
    return library.when(~number.is_nan()).then(number)


def lazy_columns(
    container: Container,
    names: Sequence[str],
    *,
    cut: float | None = None,
    raw: Mapping[str, Check] | None = None,
    fill: bool = False,
) -> LazyColumns:
    """Select the columns ``names`` of a lazy table, or with ``raw`` those of a raw table."""
    table: Any = container.lazy
    dtypes = table.collect_schema().dtypes()
    if raw is None or set(names) <= set(container.names or ()):
        wanted, checks = names, dict.fromkeys(names)
    else:
        checks = {name: raw[name] for name in names}
        wanted = [raw[name].column for name in names]

    cells: dict[str, nw.Expr] = {}
    for name, column, k in zip(names, wanted, container.positions(wanted), strict=True):
        cell, dtype, check = nw.col(f"c{k}"), dtypes[k], checks[name]
        if check is not None:
            value = _passes(check, cell, dtype)
        elif dtype == nw.Boolean or dtype.is_numeric():
            value = _truth(cell, dtype, cut)
        else:
            raise InputError(
                f"column {column!r} holds {dtype}, but this model needs Boolean or 0/1 columns. A "
                "model fitted on BooleanData.from_data(table) accepts words, numbers and dates"
            )
        cells[str(len(cells))] = value.fill_null(False) if fill else value
    return LazyColumns(table, cells, [*map(Primitive, cells)])


@dataclass(frozen=True, eq=False)
class LazyColumns(_Logic):
    """Columns of a lazy table, with the interface of columns in memory.

    They are formulas over ``cells``, computed in steps with shared parts as columns. So the cost
    grows with the number of merges and not with the length of formulas.
    """

    table: nw.LazyFrame[Any]
    cells: Mapping[str, nw.Expr]
    raw_columns: Sequence[Expression]
    library = nw

    def with_raw_columns(self, columns: Sequence[Expression]) -> Self:
        return replace(self, raw_columns=columns)

    @property
    def empty_column(self) -> Expression:
        return Constant(False)

    def conjunction(
        self, left: Expression, right: Expression, *, not_left: bool, not_right: bool
    ) -> Expression:
        return And(Not(left) if not_left else left, Not(right) if not_right else right)

    def disjunction(self, left: Expression, right: Expression) -> Expression:
        return Or(left, right)

    def tally(
        self, literals: Sequence[tuple[Expression, bool]], number: int, *, exactly: bool
    ) -> Expression:
        operands = [Not(column) if negated else column for column, negated in literals]
        return Exactly(number, operands) if exactly else AtLeast(number, operands)

    def fill_missing(self) -> Self:
        """Replace missing cells of the table by false."""
        cells = {name: cell.fill_null(False) for name, cell in self.cells.items()}
        return replace(self, cells=cells)

    def as_texts(self, texts: Sequence[str], between: str, name: str) -> Any:
        """Return a lazy table of one column: the joined texts of the true columns, in order."""
        shown = [nw.when(nw.col(f"t{k}")).then(nw.lit(text)) for k, text in enumerate(texts)]
        columns = self._frame([f"t{k}" for k in range(len(texts))])
        text = nw.concat_str(*shown, separator=between, ignore_nulls=True)
        return columns.select(text.alias(name)).to_native()

    def rename_columns(self, names: Sequence[str]) -> Any:
        """Return the columns under new names as a lazy table of the same library."""
        return self._frame(names).to_native()

    def primitive(self, name: str) -> nw.Expr:
        return self.cells[name]

    def constant(self, value: bool) -> Any:
        # a literal alone would give a single row
        return nw.col(_FALSE) if not value else ~nw.col(_FALSE)

    def _frame(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        plan = best_plan(self.raw_columns, inf)
        made = {part: f"p{k}" for k, part in enumerate(plan.columns)}

        def write(part: Expression, step: int, name: str) -> Any:
            def column(one: Expression) -> nw.Expr | None:
                return nw.col(made[one]) if plan.is_column(one, step) else None

            return write_formula(part, self, column).alias(name)

        table = self.table.with_columns(nw.lit(False).alias(_FALSE))
        for step in range(plan.n_steps):
            columns = [write(part, step, made[part]) for part in plan.columns_of(step)]
            table = table.select(_FALSE, *columns)
        named = zip(plan.features, names, strict=True)
        return table.select(*(write(part, plan.n_steps, name) for part, name in named))
