"""Features as expressions of narwhals and of Polars, and as lazy tables of any library.

The logic of both is Kleene's: null and false is false, null and true is null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Self

import narwhals as nw

from conjunct.data import BLANKS, Container, DatePart
from conjunct.errors import InputError
from conjunct.export.raw import NO, YES, Check, Flag, OneOf, PartOneOf
from conjunct.expressions import Constant, Counted, Expression, Not, Or, Primitive, nodes

if TYPE_CHECKING:
    import polars as pl

MAX_LITERALS = 10_000
"""A longer formula is refused, because libraries repeat the parts that expressions share."""

# The most merges within each other of a step.
_STRIDES = (1, 2, 3, 4)
# The texts that float() takes, except 1_000 and digits of other scripts.
_NUMBER = r"^[+-]?(([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|[iI]nf(inity)?)$"


def to_narwhals(
    features: Mapping[str, Expression],
    *,
    source: str = "boolean",
    cut: float | None = None,
    raw: Mapping[str, Check] | None = None,
    fill: bool = False,
) -> list[nw.Expr]:
    """Build one expression per feature, with the names of the mapping.

    ``source`` says what columns hold: Booleans (``"boolean"``), or 0 and 1 (``"integer"``); with
    ``cut``, numbers of which those above it are true; with ``raw``, those of a raw table, with a
    check for each primitive. Missing cells are null; with ``fill`` they are false.
    """
    if source not in ("boolean", "integer"):
        raise InputError(f"source must be 'boolean' or 'integer'; got {source!r}")
    dtype: Any = nw.Boolean() if source == "boolean" and cut is None else nw.Float64()
    built: dict[Expression, nw.Expr] = {}

    def expression_of(node: Expression) -> nw.Expr:
        operands = [built[child] for child in node.children]
        if isinstance(node, Primitive):
            check = None if raw is None else raw[node.name]
            column = _column(node.name if check is None else check.column)
            value = _truth(column, dtype, cut) if check is None else _passes(check, column)
            return value.fill_null(False) if fill else value
        if isinstance(node, Constant):
            return nw.lit(node.value)
        if isinstance(node, Not):
            return ~operands[0]
        if isinstance(node, Counted):
            return _count(operands, node.number, node.most)
        return _join(operands, is_or=isinstance(node, Or))

    for name, feature in features.items():
        if feature.length > MAX_LITERALS:
            raise InputError(
                f"{name[:40]!r}… has {feature.length:,} literals, too many for one expression (the "
                f"limit is {MAX_LITERALS:,}): transform(table) computes it in steps"
            )
        for node in nodes(feature):
            if node not in built:
                built[node] = expression_of(node)
    return [built[feature].alias(name) for name, feature in features.items()]


def _column(name: str) -> nw.Expr:
    if name == "*" or (name.startswith("^") and name.endswith("$")):
        raise InputError(
            f"some libraries take {name!r} for a pattern of names: rename the column, or use "
            "transform(table)"
        )
    return nw.col(name)


def _join(operands: Sequence[nw.Expr], *, is_or: bool) -> nw.Expr:
    """Join in halves, because libraries limit the depth of an expression."""
    if len(operands) == 1:
        return operands[0]
    half = len(operands) // 2
    left, right = (_join(some, is_or=is_or) for some in (operands[:half], operands[half:]))
    return left | right if is_or else left & right


def _count(operands: Sequence[nw.Expr], least: int, most: int) -> nw.Expr:
    """Check that ``least`` to ``most`` operands are true; null where missing cells decide."""
    true = _count_true(operand.fill_null(False) for operand in operands)
    possible = _count_true(operand.fill_null(True) for operand in operands)
    excluded = (possible < least) | (true > most)
    certain = (true >= least) & (possible <= most)
    return nw.when(certain).then(True).otherwise(nw.when(excluded).then(False))


def _count_true(operands: Iterable[nw.Expr]) -> nw.Expr:
    return reduce(add, (operand.cast(nw.Int32) for operand in operands))


def _truth(column: nw.Expr, dtype: Any, cut: float | None) -> nw.Expr:
    """Check that a cell of a column of Booleans or numbers is true; null where it is missing."""
    if dtype == nw.Boolean:
        return column
    number = _without_nan(column.cast(nw.Float64)) if dtype.is_float() else column
    return number != 0 if cut is None else number.cast(nw.Float64) > cut


def _passes(check: Check, column: nw.Expr, dtype: Any = None) -> nw.Expr:
    """Check a raw cell; null where it is missing. ``dtype`` is that of the column, if known."""
    if isinstance(check, Flag):
        # as text, whether it is Boolean, a number or a word; other words are neither
        word = _text(column).str.to_lowercase()
        number = _parse_number(word)
        yes, no = word.is_in([*YES]) | (number == 1), word.is_in([*NO]) | (number == 0)
        return nw.when(_is_certain(yes)).then(True).otherwise(nw.when(_is_certain(no)).then(False))
    if isinstance(check, OneOf):
        word = _text(column)
        if check.are_numbers:
            numbers = [*map(float, check.words)]
            if dtype is not None and dtype.is_numeric():
                return _without_nan(column.cast(nw.Float64)).is_in(numbers)
            # other words are none of them
            is_missing = word.str.to_lowercase().is_in(["", "nan"])
            return nw.when(~is_missing).then(_is_certain(_parse_number(word).is_in(numbers)))
        return nw.when(word != "").then(word.is_in([*check.words]))
    if isinstance(check, PartOneOf):
        return _part(column, check.part).is_in([*check.numbers])
    if check.part is not None:
        value = _part(column, check.part)
    else:
        value = _without_nan(column.cast(nw.Float64))
    bounds = [] if check.low is None else [value >= check.low]
    bounds += [] if check.high is None else [value < check.high]
    return _join(bounds, is_or=False) if bounds else value == value


def _is_certain(expression: nw.Expr) -> nw.Expr:
    return expression.fill_null(False)


def _text(column: nw.Expr) -> nw.Expr:
    # Ibis strips no characters but its own
    return column.cast(nw.String).str.replace_all(f"^[{BLANKS}]+|[{BLANKS}]+$", "")


def _parse_number(word: nw.Expr) -> nw.Expr:
    """Parse a word as a number; null where it is none, which a cast would refuse."""
    return nw.when(word.str.contains(_NUMBER)).then(word).cast(nw.Float64)


def _without_nan(number: nw.Expr) -> nw.Expr:
    # NaN is other than 0 and above every number: here it is missing
    return nw.when(~number.is_nan()).then(number)


def _part(column: nw.Expr, part: str) -> nw.Expr:
    found: nw.Expr = getattr(column.dt, part)()
    return found


def lazy_columns(
    container: Container,
    names: Sequence[str],
    *,
    cut: float | None = None,
    raw: Mapping[str, Check] | None = None,
    fill: bool = False,
) -> LazyColumns:
    """Take the columns called ``names`` of a lazy table, in any order.

    With ``raw``, the table may be a raw one instead.
    """
    table: Any = container.lazy
    dtypes = table.collect_schema().dtypes()
    if raw is None or set(names) <= set(container.names or ()):
        wanted, checks = names, dict.fromkeys(names)
    else:
        checks = {name: raw[name] for name in names}
        wanted = [raw[name].column for name in names]

    cells = []
    for name, column, k in zip(names, wanted, container.positions(wanted), strict=True):
        cell, dtype, check = nw.col(f"c{k}"), dtypes[k], checks[name]
        if check is not None:
            value = _passes(check, cell, dtype)
        elif dtype == nw.Boolean or dtype.is_numeric():
            value = _truth(cell, dtype, cut)
        else:
            raise InputError(
                f"column {column!r} holds {dtype}: the columns must be Boolean or 0/1; a model "
                "fitted on BooleanData.of(table) takes words, numbers and dates"
            )
        cells.append(value.fill_null(False) if fill else value)
    return LazyColumns.of(table, cells)


@dataclass(frozen=True, eq=False)
class Line:
    """A column of a lazy table that is still to be computed.

    ``depth`` is the step that makes it, from ``operands`` which earlier steps make; ``make`` builds
    its expression from those of the operands.
    """

    depth: int
    operands: tuple[Line, ...]
    make: Callable[..., nw.Expr]


@dataclass(frozen=True, eq=False)
class LazyColumns:
    """Columns of a lazy table, to which a feature set is applied as to those in memory.

    Shared parts are computed once: each merge is a column, on top of those it is made from, so
    that a table of many merges grows with their number and not with their formulas.
    """

    table: nw.LazyFrame[Any]
    lines: Sequence[Line]

    @classmethod
    def of(cls, table: nw.LazyFrame[Any], cells: Sequence[nw.Expr]) -> Self:
        """Begin with columns that are expressions on the table."""
        return cls(table, [Line(0, (), lambda cell=cell: cell) for cell in cells])

    def with_lines(self, lines: Sequence[Line]) -> Self:
        return replace(self, lines=lines)

    @property
    def nowhere(self) -> Line:
        return Line(0, (), lambda: nw.lit(False))

    def conjunction(self, left: Line, right: Line, *, not_left: bool, not_right: bool) -> Line:
        def make(one: nw.Expr, other: nw.Expr) -> nw.Expr:
            return (~one if not_left else one) & (~other if not_right else other)

        return _make_line((left, right), make)

    def disjunction(self, left: Line, right: Line) -> Line:
        return _make_line((left, right), lambda one, other: one | other)

    def tally(self, literals: Sequence[tuple[Line, bool]], number: int, *, exactly: bool) -> Line:
        lines, negated = zip(*literals, strict=True)

        def make(*cells: nw.Expr) -> nw.Expr:
            counted = [~cell if no else cell for cell, no in zip(cells, negated, strict=True)]
            return _count(counted, number, number if exactly else len(counted))

        return _make_line(lines, make)

    def filled(self) -> Self:
        """Return the columns with false for missing cells."""
        return self.with_lines([_make_line((line,), _is_certain) for line in self.lines])

    def as_texts(self, texts: Sequence[str], between: str, name: str) -> Any:
        """Return a lazy table of one column: the texts of the columns that are true, in order."""
        shown = [nw.when(nw.col(f"t{k}")).then(nw.lit(text)) for k, text in enumerate(texts)]
        columns = self._frame([f"t{k}" for k in range(len(texts))])
        text = nw.concat_str(*shown, separator=between, ignore_nulls=True)
        return columns.select(text.alias(name)).to_native()

    def named(self, names: Sequence[str]) -> Any:
        """Return the columns, called ``names``, as a lazy table of the same library."""
        return self._frame(names).to_native()

    def _frame(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        plans = (_Plan.of(self.lines, stride) for stride in _STRIDES)
        plan = min(plans, key=lambda plan: plan.size)
        first = [line for line, step in plan.step.items() if not step]
        called = {line: f"p{k}" for k, line in enumerate(first)}
        # with the columns of the table, because a constant alone would be one row
        table = self.table.with_columns(**{called[line]: line.make() for line in first})
        for step in range(1, plan.n_steps + 1):
            built = {line: nw.col(name) for line, name in called.items()}
            # columns that no later step uses are dropped
            kept = [built[line] for line in called if plan.last[line] > step]
            for line in (line for line, made in plan.step.items() if made == step):
                built[line] = line.make(*(built[operand] for operand in line.operands))
                if plan.last[line] > step:
                    called[line] = f"p{len(called)}"
                    kept.append(built[line].alias(called[line]))
            table = table.select(*kept)
        named = zip(self.lines, names, strict=True)
        return table.select(*(nw.col(called[line]).alias(name) for line, name in named))


@dataclass(frozen=True)
class _Plan:
    """The step that makes each line, after its operands, and the step that uses it last.

    More steps repeat less of the parts that lines share, and more of the columns that are kept.
    """

    n_steps: int
    step: dict[Line, int]
    last: dict[Line, int]
    size: int
    """The length of all expressions."""

    @classmethod
    def of(cls, lines: Sequence[Line], stride: int) -> _Plan:
        """Plan steps that have at most ``stride`` lines within each other."""
        found: set[Line] = set()
        waiting = list(lines)
        while waiting:
            line = waiting.pop()
            if line not in found:
                found.add(line)
                waiting.extend(line.operands)
        step = {line: -(-line.depth // stride) for line in sorted(found, key=lambda one: one.depth)}
        n_steps = max(step.values())
        last = dict(step)
        length = dict.fromkeys(step, 1)
        for line, made in step.items():
            for operand in line.operands:
                last[operand] = max(last[operand], made)
                length[line] += length[operand] if step[operand] == made else 1
        last |= dict.fromkeys(lines, n_steps + 1)
        columns = [line for line, made in step.items() if last[line] > made]
        size = sum(last[line] - step[line] + length[line] for line in columns)
        return cls(n_steps, step, last, size)


def _make_line(operands: tuple[Line, ...], make: Callable[..., nw.Expr]) -> Line:
    return Line(1 + max(operand.depth for operand in operands), operands, make)


def to_polars(
    features: Mapping[str, Expression],
    *,
    cut: float | None = None,
    raw: Mapping[str, Check] | None = None,
    fill: bool = False,
) -> list[pl.Expr]:
    """Build one expression per feature, with the names of the mapping.

    Columns may be Boolean or 0/1; with ``cut``, numbers of which those above it are true; with
    ``raw``, those of a raw table, with a check for each primitive. Missing cells are null, and
    follow Kleene's logic as in Polars itself; with ``fill`` they are false.
    """
    import polars as pl
    from polars import selectors

    built: dict[Expression, pl.Expr] = {}

    def expression_of(node: Expression) -> pl.Expr:
        operands = [built[child] for child in node.children]
        if isinstance(node, Primitive):
            check = None if raw is None else raw[node.name]
            # pl.col would take "^a.*$" for a pattern and "*" for all columns
            column = selectors.by_name(node.name if check is None else check.column).as_expr()
            if check is not None:
                value = _passes_in_polars(check, column)
            else:
                # NaN is other than 0 and above every number: here it is missing
                value = _polars_number(column) != 0 if cut is None else _polars_number(column) > cut
            return value.fill_null(False) if fill else value
        if isinstance(node, Constant):
            return pl.lit(node.value)
        if isinstance(node, Not):
            return ~operands[0]
        if isinstance(node, Counted):
            return _count_in_polars(node, operands)
        return pl.any_horizontal(operands) if isinstance(node, Or) else pl.all_horizontal(operands)

    for name, feature in features.items():
        if feature.length > MAX_LITERALS:
            raise InputError(
                f"{name[:40]!r}… has {feature.length:,} literals, too many for Polars (the limit "
                f"is {MAX_LITERALS:,}): ask for form='simplified', or export as Python"
            )
        for node in nodes(feature):
            if node not in built:
                built[node] = expression_of(node)
    return [built[feature].alias(name) for name, feature in features.items()]


def _count_in_polars(node: Counted, operands: list[pl.Expr]) -> pl.Expr:
    """Check the number of true operands; null where missing cells decide."""
    import polars as pl

    true = pl.sum_horizontal(x.fill_null(False).cast(pl.Int32) for x in operands)
    possible = pl.sum_horizontal(x.fill_null(True).cast(pl.Int32) for x in operands)
    certain = (true >= node.number) & (possible <= node.most)
    excluded = (possible < node.number) | (true > node.most)
    return pl.when(certain).then(True).when(excluded).then(False)


def _passes_in_polars(check: Check, column: pl.Expr) -> pl.Expr:
    """Check a raw cell; null where it is missing."""
    import polars as pl

    if isinstance(check, Flag):
        # as text, whether it is Boolean, a number or a word; other words are neither
        word = _polars_text(column).str.to_lowercase()
        number = word.cast(pl.Float64, strict=False)
        yes, no = word.is_in([*YES]) | (number == 1), word.is_in([*NO]) | (number == 0)
        return pl.when(yes).then(True).when(no).then(False)
    if isinstance(check, OneOf):
        word = _polars_text(column)
        if check.are_numbers:
            # other words are none of them
            among = column.cast(pl.Float64, strict=False).is_in([*map(float, check.words)])
            is_missing = word.str.to_lowercase().is_in(["", "nan"])
            return pl.when(~is_missing).then(among.fill_null(False))
        return pl.when(word != "").then(word.is_in([*check.words]))
    if isinstance(check, PartOneOf):
        return _polars_part(column, check.part).is_in([*check.numbers])
    value = _polars_number(column) if check.part is None else _polars_part(column, check.part)
    low = pl.lit(True) if check.low is None else value >= check.low
    return low if check.high is None else low & (value < check.high)


def _polars_text(column: pl.Expr) -> pl.Expr:
    import polars as pl

    return column.cast(pl.String).str.strip_chars(BLANKS)


def _polars_number(column: pl.Expr) -> pl.Expr:
    import polars as pl

    return column.cast(pl.Float64).fill_nan(None)


def _polars_part(column: pl.Expr, part: DatePart) -> pl.Expr:
    parts = {
        "year": column.dt.year,
        "month": column.dt.month,
        "weekday": column.dt.weekday,
        "hour": column.dt.hour,
    }
    return parts[part]()
