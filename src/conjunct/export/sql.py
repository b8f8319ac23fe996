"""A SELECT that computes features in a database, built as a syntax tree by sqlglot.

SQL's own logic is Kleene's: NULL AND FALSE is FALSE, NULL AND TRUE is NULL. So missing cells need
no care, but where literals are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Literal, TypeAlias

from sqlglot import exp

from conjunct.errors import InputError
from conjunct.export.dialects.base import DIALECTS, Dialect, shortened, without_nan
from conjunct.export.raw import Check
from conjunct.export.raw_sql import check_sql
from conjunct.export.steps import STRIDES, WHOLE, Plan, parts_of, plan_of
from conjunct.expressions import Constant, Counted, Expression, Not, Or, Primitive, nodes

Source: TypeAlias = Literal["boolean", "integer"]

# Databases limit the depth of an expression (SQLite: 1,000), and each literal may add to it.
_LONGEST_IN_ONE = 100

_ROWS = "r"


def to_sql(
    features: Mapping[str, Expression],
    table: str | Sequence[str],
    *,
    dialect: str = "duckdb",
    source: Source = "boolean",
    cut: float | None = None,
    keep: Sequence[str] = (),
    raw: Mapping[str, Check] | None = None,
    fill: bool = False,
    nan: bool = False,
) -> str:
    """A SELECT with one column for each feature.

    Parameters
    ----------
    features : mapping of str to Expression
        Formulas by the name of the column they shall have.
    table : str or sequence of str
        The table with a column for each primitive; several parts for ``schema.table``.
    dialect : str, default="duckdb"
        One of `DIALECTS`.
    source : {"boolean", "integer"}, default="boolean"
        What the columns hold: Booleans, or 0 and 1.
    cut : float, optional
        Columns hold numbers, and values above it are true.
    keep : sequence of str
        Columns of the table to select as they are, before the features: a key, for instance.
    raw : mapping of str to Check, optional
        What the primitives ask of the columns of a raw table. ``source`` and ``cut`` are for
        Boolean ones.
    fill : bool, default=False
        Take missing cells as false.
    nan : bool, default=False
        Columns that ``source`` calls Boolean may be of numbers, some NaN: DuckDB takes such
        columns, and NaN for true.

    Returns
    -------
    str
        One statement. Where it is shorter so, parts that formulas share are computed once, in a
        chain of steps, each of which keeps only what later ones use. Formulas of more than 100
        literals always are: no database meets an expression too deep for it.
    """
    if dialect not in DIALECTS:
        raise InputError(f"unknown dialect {dialect!r}: choose one of {', '.join(DIALECTS)}")
    database = DIALECTS[dialect]
    if source not in ("boolean", "integer"):
        raise InputError(f"source must be 'boolean' or 'integer'; got {source!r}")
    parts = [table] if isinstance(table, str) else list(table)
    if not 1 <= len(parts) <= 3:
        raise InputError("the table must have a name of one to three parts")
    for name in features:
        database.check_new_name(name)
    both = [name for name in keep if name in features]
    if both:
        raise InputError(
            f"keep: a feature is called {shortened(both[0])!r} too; rename the column, or choose "
            "other names for the features (columns=)"
        )
    found = nodes(*features.values())
    primitives = {node.name for node in found if isinstance(node, Primitive)}
    if raw is not None and source != "boolean":
        raise InputError("source is about Boolean columns, and this model reads those of raw data")
    read_from = primitives if raw is None else {raw[name].column for name in primitives}
    for name in (*parts, *keep, *read_from):
        database.check_name(name)

    def read(primitive: Primitive) -> exp.Expr:
        if raw is not None:
            check = raw[primitive.name]
            value = check_sql(check, _column(check.column), database)
        else:
            value = _truth(_column(primitive.name), source, cut, database, nan)
        if not fill:
            return value
        return exp.Coalesce(this=value, expressions=[_constant(False)])

    origin = exp.Table(
        **dict(zip(("this", "db", "catalog"), map(_identifier, reversed(parts)), strict=False)),
        alias=_rows(),
    )
    plan = _best_plan(features.values(), has_checks=raw is not None and bool(primitives))
    if plan is None:
        columns: dict[str, exp.Expr] = {name: _column(name) for name in keep}
        columns |= {name: _sql(expression, read) for name, expression in features.items()}
        query = _select(columns, origin)
    else:
        query = _in_steps(plan, features, origin, keep, read, database.keeps_steps)
    return query.sql(dialect=dialect, pretty=True) + "\n"


def _select(columns: Mapping[str, exp.Expr], origin: exp.Expr) -> exp.Select:
    aliased = [exp.alias_(value, _identifier(name)) for name, value in columns.items()]
    return exp.Select(expressions=aliased).from_(origin)


def _sql(expression: Expression, read: Callable[[Primitive], exp.Expr]) -> exp.Expr:
    """A formula as SQL; ``read`` says how a primitive is."""
    if isinstance(expression, Constant):
        return _constant(expression.value)
    if isinstance(expression, Not):
        return exp.not_(_sql(expression.operand, read), copy=False)
    if isinstance(expression, Primitive):
        return read(expression)
    return _joined(expression, lambda operand: _sql(operand, read))


def _joined(expression: Expression, operand_sql: Callable[[Expression], exp.Expr]) -> exp.Expr:
    if isinstance(expression, Counted):
        return _counted(expression, operand_sql)
    join = exp.or_ if isinstance(expression, Or) else exp.and_
    return join(*map(operand_sql, expression._children), copy=False)


def _counted(node: Counted, operand_sql: Callable[[Expression], exp.Expr]) -> exp.Expr:
    """Whether so many operands are true; NULL where that depends on missing cells."""

    def number_of(*, denied: bool) -> exp.Expr:
        def one(operand: Expression) -> exp.Expr:
            value = operand_sql(operand)
            holds = exp.not_(value, copy=False) if denied else value
            return exp.Case(ifs=[_when(holds, _number(1))], default=_number(0))

        total = reduce(lambda x, y: exp.Add(this=x, expression=y), map(one, node.operands))
        return exp.paren(total, copy=False)

    def true(comparison: type[exp.Binary], number: int) -> exp.Expr:
        return comparison(this=number_of(denied=False), expression=_number(number))

    def false(comparison: type[exp.Binary], number: int) -> exp.Expr:
        return comparison(this=number_of(denied=True), expression=_number(number))

    # with n operands, n − k of them false leave k that are true or missing
    n = len(node.operands)
    certain, excluded = true(exp.GTE, node.number), false(exp.GT, n - node.number)
    if node.most < n:
        certain = exp.and_(certain, false(exp.GTE, n - node.most), copy=False)
        excluded = exp.or_(excluded, true(exp.GT, node.most), copy=False)
    return exp.Case(ifs=[_when(certain, _constant(True)), _when(excluded, _constant(False))])


def _when(condition: exp.Expr, value: exp.Expr) -> exp.If:
    return exp.If(this=condition, true=value)


def _constant(value: bool) -> exp.Expr:
    # not TRUE, which in SQLite is a column where one is called so
    return exp.EQ(this=_number(1), expression=_number(int(value)))


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def _best_plan(features: Iterable[Expression], *, has_checks: bool) -> Plan | None:
    """The steps that make the statement shortest; None if it is without any."""
    features = list(features)
    parts = parts_of(features)
    plans = [plan_of(features, parts, stride) for stride in STRIDES]
    fitting = [plan for plan in plans if plan.longest <= _LONGEST_IN_ONE] or plans[:1]
    best = min(fitting, key=lambda plan: plan.size)
    without = plan_of(features, parts, WHOLE)
    if not has_checks and without.longest <= _LONGEST_IN_ONE and without.written <= best.size:
        return None
    return best


def _in_steps(
    plan: Plan,
    features: Mapping[str, Expression],
    origin: exp.Expr,
    keep: Sequence[str],
    read: Callable[[Primitive], exp.Expr],
    materialized: bool,
) -> exp.Select:
    """Parts in queries on top of those that they are made of; in the last one, the features.

    Inside, columns have names of our own, so that none can clash with another.
    """
    made = {part: f"c{k}" for k, part in enumerate(plan.columns)}

    def value(part: Expression, step: int) -> exp.Expr:
        if isinstance(part, Not):
            return exp.not_(value(part.operand, step), copy=False)
        if isinstance(part, Constant) or step == 0:
            return _sql(part, read)
        if plan.step[part] < step:
            return _column(made[part])
        return _joined(part, lambda operand: value(operand, step))

    steps = []
    for step in range(plan.n_steps):
        known = {f"k{k}": _column(name if step == 0 else f"k{k}") for k, name in enumerate(keep)}
        parts = {made[part]: value(part, step) for part in plan.columns_of(step)}
        steps.append(_select({**known, **parts}, origin if step == 0 else _step(step - 1)))
    columns: dict[str, exp.Expr] = {name: _column(f"k{k}") for k, name in enumerate(keep)}
    columns |= {name: value(feature, plan.n_steps) for name, feature in features.items()}
    return _with_steps(_select(columns, _step(plan.n_steps - 1)), steps, materialized)


def _with_steps(query: exp.Select, steps: list[exp.Select], materialized: bool) -> exp.Select:
    for number, step in enumerate(steps):
        # left to themselves, databases may put the steps together again
        hint = True if materialized else None
        query = query.with_(_identifier(f"step{number}"), as_=step, materialized=hint, copy=False)
    return query


def _step(number: int) -> exp.Expr:
    return exp.Table(this=_identifier(f"step{number}"), alias=_rows())


def _rows() -> exp.TableAlias:
    return exp.TableAlias(this=_identifier(_ROWS))


def _column(name: str) -> exp.Column:
    # Qualified: SQLite takes an unknown "name" for a string, and other databases might take it
    # for the column of the result that has the same name.
    return exp.Column(this=_identifier(name), table=_identifier(_ROWS))


def _identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


def _truth(
    column: exp.Expr, source: Source, cut: float | None, dialect: Dialect, nan: bool
) -> exp.Expr:
    # NaN is above every number in some databases, and other than 0 in most: here it is missing
    if cut is not None:
        number = dialect.number(column)
        return exp.GT(this=number, expression=exp.Literal.number(cut))
    if source == "integer":
        return exp.NEQ(this=dialect.number(column), expression=exp.Literal.number(0))
    if nan and dialect.takes_nan_for_true:
        return exp.cast(without_nan(column), "boolean")
    return column
