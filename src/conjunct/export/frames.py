"""Features as expressions of narwhals, and as lazy tables of whatever library it knows.

Their logic is Kleene's in all lazy tables: null and false is false, null and true is null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, Self

import narwhals as nw

from conjunct.data import BLANKS, Container
from conjunct.errors import InputError
from conjunct.export.raw import NO, YES, Check, Flag, OneOf, PartOneOf
from conjunct.expressions import Constant, Counted, Expression, Not, Or, Primitive, nodes

MAX_LITERALS = 10_000
"""Libraries write out what expressions share, so a longer formula is refused."""

# How many merges within each other a step may hold.
_STRIDES = (1, 2, 3, 4)
# What float() takes, less 1_000 and digits of other scripts.
_NUMBER = r"^[+-]?(([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|[iI]nf(inity)?)$"


def to_narwhals(
    features: Mapping[str, Expression],
    *,
    source: str = "boolean",
    cut: float | None = None,
    raw: Mapping[str, Check] | None = None,
    fill: bool = False,
) -> list[nw.Expr]:
    """One expression a feature, named as the mapping says.

    ``source`` says what columns hold: Booleans (``"boolean"``), or 0 and 1 (``"integer"``); with
    ``cut``, numbers of which those above it are true; with ``raw``, those of a raw table, and what
    the primitives ask of them. Missing cells are null; with ``fill`` they are false.
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
            value = truth(column, dtype, cut) if check is None else passes(check, column)
            return value.fill_null(False) if fill else value
        if isinstance(node, Constant):
            return nw.lit(node.value)
        if isinstance(node, Not):
            return ~operands[0]
        if isinstance(node, Counted):
            return _counted(operands, node.number, node.most)
        return _joined(operands, is_or=isinstance(node, Or))

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


def _joined(operands: Sequence[nw.Expr], *, is_or: bool) -> nw.Expr:
    """In halves: libraries limit how deep an expression is."""
    if len(operands) == 1:
        return operands[0]
    half = len(operands) // 2
    left, right = (_joined(some, is_or=is_or) for some in (operands[:half], operands[half:]))
    return left | right if is_or else left & right


def _counted(operands: Sequence[nw.Expr], least: int, most: int) -> nw.Expr:
    """Whether so many operands are true; null where that depends on missing cells."""
    true = _number_of(operand.fill_null(False) for operand in operands)
    possible = _number_of(operand.fill_null(True) for operand in operands)
    excluded = (possible < least) | (true > most)
    certain = (true >= least) & (possible <= most)
    return nw.when(certain).then(True).otherwise(nw.when(excluded).then(False))


def _number_of(operands: Iterable[nw.Expr]) -> nw.Expr:
    return reduce(add, (operand.cast(nw.Int32) for operand in operands))


def truth(column: nw.Expr, dtype: Any, cut: float | None) -> nw.Expr:
    """Whether a cell of a column of Booleans or numbers is true; null where it is missing."""
    if dtype == nw.Boolean:
        return column
    number = _without_nan(column.cast(nw.Float64)) if dtype.is_float() else column
    return number != 0 if cut is None else number.cast(nw.Float64) > cut


def passes(check: Check, column: nw.Expr, dtype: Any = None) -> nw.Expr:
    """Whether a raw cell passes; null where it is missing. ``dtype``, if that is known."""
    if isinstance(check, Flag):
        # as text, whether it is Boolean, a number or a word; other words are neither
        word = _text(column).str.to_lowercase()
        number = _number_in(word)
        yes, no = word.is_in([*YES]) | (number == 1), word.is_in([*NO]) | (number == 0)
        return nw.when(_is(yes)).then(True).otherwise(nw.when(_is(no)).then(False))
    if isinstance(check, OneOf):
        word = _text(column)
        if check.are_numbers:
            numbers = [*map(float, check.words)]
            if dtype is not None and dtype.is_numeric():
                return _without_nan(column.cast(nw.Float64)).is_in(numbers)
            # other words are none of them
            is_missing = word.str.to_lowercase().is_in(["", "nan"])
            return nw.when(~is_missing).then(_is(_number_in(word).is_in(numbers)))
        return nw.when(word != "").then(word.is_in([*check.words]))
    if isinstance(check, PartOneOf):
        return _part(column, check.part).is_in([*check.numbers])
    if check.part is not None:
        value = _part(column, check.part)
    else:
        value = _without_nan(column.cast(nw.Float64))
    bounds = [] if check.low is None else [value >= check.low]
    bounds += [] if check.high is None else [value < check.high]
    return _joined(bounds, is_or=False) if bounds else value == value


def _is(expression: nw.Expr) -> nw.Expr:
    return expression.fill_null(False)


def _text(column: nw.Expr) -> nw.Expr:
    # Ibis strips no characters but its own
    return column.cast(nw.String).str.replace_all(f"^[{BLANKS}]+|[{BLANKS}]+$", "")


def _number_in(word: nw.Expr) -> nw.Expr:
    """The number that a word is; null where it is none, which a cast would refuse."""
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
    """The columns called ``names`` of a lazy table, in whatever order it has them.

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
            value = passes(check, cell, dtype)
        elif dtype == nw.Boolean or dtype.is_numeric():
            value = truth(cell, dtype, cut)
        else:
            raise InputError(
                f"column {column!r} holds {dtype}: the columns must be Boolean or 0/1; a model "
                "fitted on BooleanData.of(table) takes words, numbers and dates"
            )
        cells.append(value.fill_null(False) if fill else value)
    return LazyColumns.of(table, cells)


@dataclass(frozen=True, eq=False)
class Line:
    """A column of a lazy table that is not there yet.

    ``depth`` is the step that makes it, from ``operands`` which earlier steps make; ``make`` says
    how, from expressions of these.
    """

    depth: int
    operands: tuple[Line, ...]
    make: Callable[..., nw.Expr]


@dataclass(frozen=True, eq=False)
class LazyColumns:
    """Columns of a lazy table, to which a feature set is applied as to those in memory.

    What is shared is computed once: each merge is a column of its own, on top of those it is made
    from, so that a table of many merges grows with their number and not with their formulas.
    """

    table: nw.LazyFrame[Any]
    lines: Sequence[Line]

    @classmethod
    def of(cls, table: nw.LazyFrame[Any], cells: Sequence[nw.Expr]) -> Self:
        """``cells`` are the columns, as expressions on the table."""
        return cls(table, [Line(0, (), lambda cell=cell: cell) for cell in cells])

    def with_lines(self, lines: Sequence[Line]) -> Self:
        return replace(self, lines=lines)

    @property
    def nowhere(self) -> Line:
        return Line(0, (), lambda: nw.lit(False))

    def conjunction(self, left: Line, right: Line, *, not_left: bool, not_right: bool) -> Line:
        def make(one: nw.Expr, other: nw.Expr) -> nw.Expr:
            return (~one if not_left else one) & (~other if not_right else other)

        return _line((left, right), make)

    def disjunction(self, left: Line, right: Line) -> Line:
        return _line((left, right), lambda one, other: one | other)

    def tally(self, literals: Sequence[tuple[Line, bool]], number: int, *, exactly: bool) -> Line:
        lines, negated = zip(*literals, strict=True)

        def make(*cells: nw.Expr) -> nw.Expr:
            counted = [~cell if no else cell for cell, no in zip(cells, negated, strict=True)]
            return _counted(counted, number, number if exactly else len(counted))

        return _line(lines, make)

    def filled(self) -> Self:
        """False where a cell is missing."""
        return self.with_lines([_line((line,), _is) for line in self.lines])

    def as_texts(self, texts: Sequence[str], between: str, name: str) -> Any:
        """A lazy table of one column: the texts of the columns that are true, in order."""
        shown = [nw.when(nw.col(f"t{k}")).then(nw.lit(text)) for k, text in enumerate(texts)]
        columns = self._frame([f"t{k}" for k in range(len(texts))])
        text = nw.concat_str(*shown, separator=between, ignore_nulls=True)
        return columns.select(text.alias(name)).to_native()

    def named(self, names: Sequence[str]) -> Any:
        """The columns, called ``names``, as a lazy table of the same library."""
        return self._frame(names).to_native()

    def _frame(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        plans = (_Plan.of(self.lines, stride) for stride in _STRIDES)
        plan = min(plans, key=lambda plan: plan.size)
        first = [line for line, step in plan.step.items() if not step]
        called = {line: f"p{k}" for k, line in enumerate(first)}
        # beside the columns that there are, for a constant alone would be one row
        table = self.table.with_columns(**{called[line]: line.make() for line in first})
        for step in range(1, plan.n_steps + 1):
            built = {line: nw.col(name) for line, name in called.items()}
            # what no later step uses goes
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
    """In which step each line is made, each after its operands, and in which it is last used.

    More steps repeat less of what lines share, and more of the columns that are kept.
    """

    n_steps: int
    step: dict[Line, int]
    last: dict[Line, int]
    size: int
    """How long all expressions are."""

    @classmethod
    def of(cls, lines: Sequence[Line], stride: int) -> _Plan:
        """Lines within each other in one step are ``stride`` at most."""
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


def _line(operands: tuple[Line, ...], make: Callable[..., nw.Expr]) -> Line:
    return Line(1 + max(operand.depth for operand in operands), operands, make)
