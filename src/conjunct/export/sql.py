"""A SELECT that computes features in a database, built as a syntax tree by sqlglot.

SQL's own logic is Kleene's: NULL AND FALSE is FALSE, NULL AND TRUE is NULL. So missing cells need
no care, but where literals are counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from math import inf
from typing import Literal, TypeAlias

from sqlglot import exp

from conjunct.errors import InputError
from conjunct.export.blocks import in_blocks
from conjunct.export.dialects.base import DIALECTS, Dialect, shortened, truth
from conjunct.export.raw import Check, Flag
from conjunct.export.raw_sql import Checks
from conjunct.export.steps import STRIDES, WHOLE, Plan, parts_of, plan_of
from conjunct.expressions import Constant, Counted, Expression, Not, Or, Primitive, nodes

Source: TypeAlias = Literal["boolean", "integer", "text"]
Kind: TypeAlias = Literal["select", "view", "table", "dbt"]

# Databases limit the depth of an expression (SQLite: 1,000), and each literal may add to it; and
# some look for what long expressions share, in more than linear time.
_LONGEST_IN_ONE = 12
# operands of a conjunction that is put into blocks, and links of formulas that deny each other;
# these are put into blocks where there would be more steps than so many
_BLOCK, _BLOCK_OF_TURNS, _FEW_STEPS = 8, 3, 8

_ROWS = "r"

# no query gives more: a limit that only keeps a step apart from the next one
_ALL_ROWS = 2**63 - 1


def to_sql(
    features: Mapping[str, Expression],
    table: str | Sequence[str],
    *,
    dialect: str = "duckdb",
    source: Source | None = None,
    cut: float | None = None,
    keep: Sequence[str] = (),
    raw: Mapping[str, Check] | None = None,
    fill: bool = False,
    nan: bool = False,
    kind: Kind = "select",
    into: str | Sequence[str] = "features",
) -> str:
    """A SELECT with one column for each feature, or a view, a table or a dbt model of it.

    Parameters
    ----------
    features : mapping of str to Expression
        Formulas by the name of the column they shall have.
    table : str or sequence of str
        The table with a column for each primitive; several parts for ``schema.table``.
    dialect : str, default="duckdb"
        One of `DIALECTS`.
    source : {"boolean", "integer", "text"}, optional
        What the columns hold: Booleans, 0 and 1, or text. If not given, Booleans; in databases
        that take any text for false, cells are looked at, and may be any of them.
    cut : float, optional
        Columns hold numbers, and values above it are true.
    keep : sequence of str
        Columns of the table to select as they are, before the features: a key, for instance.
    raw : mapping of str to Check, optional
        What the primitives ask of the columns of a raw table. ``cut`` is for Boolean ones.
    fill : bool, default=False
        Take missing cells as false.
    nan : bool, default=False
        Columns that ``source`` calls Boolean may be of numbers, some NaN: DuckDB takes such
        columns, and NaN for true.
    kind : {"select", "view", "table", "dbt"}, default="select"
        A query; a statement that makes a view or a table of it; or the file of a dbt model, which
        refers to the table as a model, or in two parts as a source.
    into : str or sequence of str, default="features"
        What the view or the table is called.

    Returns
    -------
    str
        One statement. Where it is shorter so, parts that formulas share are computed once, in a
        chain of steps, each of which keeps only what later ones use. Formulas of more than 12
        literals always are: no database meets an expression too deep for it.
    """
    if dialect not in DIALECTS:
        raise InputError(f"unknown dialect {dialect!r}: choose one of {', '.join(DIALECTS)}")
    database = DIALECTS[dialect]
    if source not in (None, "boolean", "integer", "text"):
        raise InputError(f"source must be 'boolean', 'integer' or 'text'; got {source!r}")
    if kind not in ("select", "view", "table", "dbt"):
        raise InputError(f"kind must be 'select', 'view', 'table' or 'dbt'; got {kind!r}")
    if raw is not None and source in ("boolean", "integer"):
        raise InputError(
            f"source={source!r} is about Boolean columns, and this model reads those of raw data: "
            "leave it out, or say 'text' if they are all of text"
        )
    primitives = {n.name for n in nodes(*features.values()) if isinstance(n, Primitive)}
    read_from = primitives if raw is None else {raw[name].column for name in primitives}
    _check_names(features, keep, read_from, database, in_table=kind != "select")
    origin = table_of(table, "table", database)
    target = table_of(into, "into", database)
    if source is None and database.takes_any_text and raw is None and cut is None:
        source = "text"

    cells: dict[exp.Expr, str] = {}
    checked = Checks(
        database,
        source == "text",
        lambda value: _column(cells.setdefault(value, f"v{len(cells)}")),
    )

    def read(primitive: Primitive) -> exp.Expr:
        if raw is not None:
            check = raw[primitive.name]
            value = checked(check, _column(check.column))
        else:
            value = _truth(_column(primitive.name), source, cut, checked, nan)
        return database.filled(value) if fill else value

    if kind == "dbt":
        # no other name is as long
        longest = max(map(len, (*features, *keep, *read_from)), default=0)
        origin = exp.Table(this=_identifier("x" * (longest + 1)))
    has_checks = bool(primitives) and (raw is not None or cut is not None or source == "text")
    most = inf if database.most_columns is None else database.most_columns - len(keep)
    plan = _best_plan(features.values(), most, has_checks=has_checks)
    aliased = origin.copy()
    aliased.set("alias", _rows())
    if plan is None:
        columns: dict[str, exp.Expr] = {name: _column(name) for name in keep}
        columns |= {
            name: database.kept(_sql(expression, read, database))
            for name, expression in features.items()
        }
        query = _select(columns, aliased)
    else:
        query = _in_steps(plan, list(features), aliased, keep, read, database, cells)
        widest = max(len(step.this.expressions) for step in query.ctes)
        database.check_columns(widest, in_table=False)
    database.check_columns(len(features) + len(keep), in_table=kind != "select")
    if kind == "dbt":
        return dbt_model(query, origin, table, dialect)
    if kind == "select":
        return query.sql(dialect=dialect, pretty=True, copy=False) + "\n"
    return database.created(kind, target, query).sql(dialect=dialect, pretty=True) + ";\n"


def _check_names(
    features: Mapping[str, Expression],
    keep: Sequence[str],
    read_from: Iterable[str],
    database: Dialect,
    *,
    in_table: bool,
) -> None:
    """Refuse names that the database has not, or not twice."""
    for name in features:
        database.check_new_name(name)
    for name in (*keep, *read_from):
        database.check_name(name)
    both = [name for name in keep if name in features]
    if both:
        raise InputError(
            f"keep: a feature is called {shortened(both[0])!r} too; rename the column, or choose "
            "other names for the features (columns=)"
        )
    seen: dict[str, str] = {}
    for name in (*keep, *features) if in_table and database.folds_case else ():
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise InputError(
                f"{database.name} takes {shortened(other)!r} and {shortened(name)!r} for one name: "
                "number the columns instead (columns='number')"
            )


def table_of(name: str | Sequence[str], what: str, database: Dialect) -> exp.Table:
    """A table by its name, of one to three parts."""
    parts = [name] if isinstance(name, str) else list(name)
    if not 1 <= len(parts) <= 3:
        raise InputError(f"{what} must be a name of one to three parts")
    for part in parts:
        database.check_name(part)
    named = zip(("this", "db", "catalog"), map(_identifier, reversed(parts)), strict=False)
    return exp.Table(**dict(named))


def dbt_model(query: exp.Expr, origin: exp.Table, table: str | Sequence[str], dialect: str) -> str:
    """The file of a dbt model: braces that Jinja would read are written as strings."""
    parts = [table] if isinstance(table, str) else list(table)
    call = "ref" if len(parts) == 1 else "source"
    if len(parts) == 3:
        raise InputError("dbt knows a table by one part (ref) or two (source), not by three")
    text = re.sub(r"\{(?=[{%#])", "{{ '{' }}", query.sql(dialect=dialect, pretty=True))
    reference = f"{{{{ {call}({', '.join(map(ascii, parts))}) }}}}"
    return text.replace(origin.sql(dialect=dialect), reference) + "\n"


def _select(columns: Mapping[str, exp.Expr], origin: exp.Expr) -> exp.Select:
    aliased = [exp.Alias(this=value, alias=_identifier(name)) for name, value in columns.items()]
    return exp.Select(expressions=aliased).from_(origin, copy=False)


def _sql(
    expression: Expression, read: Callable[[Primitive], exp.Expr], database: Dialect
) -> exp.Expr:
    """A formula as SQL; ``read`` says how a primitive is."""
    if isinstance(expression, Constant):
        return truth(expression.value)
    if isinstance(expression, Not):
        return exp.not_(_sql(expression.operand, read, database), copy=False)
    if isinstance(expression, Primitive):
        return read(expression)
    return _joined(expression, lambda operand: _sql(operand, read, database), database)


def _joined(
    expression: Expression, operand_sql: Callable[[Expression], exp.Expr], database: Dialect
) -> exp.Expr:
    if isinstance(expression, Counted):
        return database.either(*_counted(expression, operand_sql))
    join = exp.or_ if isinstance(expression, Or) else exp.and_
    return join(*map(operand_sql, expression.children), copy=False)


def _counted(
    node: Counted, operand_sql: Callable[[Expression], exp.Expr]
) -> tuple[exp.Expr, exp.Expr]:
    """Where it is certain that so many operands are true, and where that they are not.

    It is neither where that depends on missing cells.
    """

    def number_of(*, denied: bool) -> exp.Expr:
        def one(operand: Expression) -> exp.Expr:
            value = operand_sql(operand)
            holds = exp.not_(value, copy=False) if denied else value
            return exp.Case(ifs=[exp.If(this=holds, true=_number(1))], default=_number(0))

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
    return certain, excluded


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def _best_plan(
    features: Iterable[Expression], most_columns: float, *, has_checks: bool
) -> Plan | None:
    """The steps that make the statement shortest; None if it is without any."""
    as_given = list(features)
    plans = _plans(as_given)
    without = plan_of(as_given, parts_of(as_given), WHOLE)
    is_short = without.longest <= _LONGEST_IN_ONE
    if not has_checks and is_short and without.written <= _shortest(plans, most_columns).size:
        return None
    if plans[0].n_steps > 1:
        plans += _plans(in_blocks(as_given, _BLOCK))
    best = _shortest(plans, most_columns)
    if best.n_steps > _FEW_STEPS:
        plans += _plans(in_blocks(as_given, _BLOCK_OF_TURNS, turns=True))
        best = _shortest(plans, most_columns)
    return best


def _plans(features: Sequence[Expression]) -> list[Plan]:
    parts = parts_of(features)
    return [plan_of(features, parts, stride) for stride in STRIDES]


def _shortest(plans: Sequence[Plan], most_columns: float) -> Plan:
    """The shortest of some plans, of those that databases take without complaint."""
    short = [plan for plan in plans if plan.longest <= _LONGEST_IN_ONE] or plans[:1]
    fitting = [plan for plan in short if plan.widest <= most_columns] or short
    return min(fitting, key=lambda plan: plan.size)


def _in_steps(
    plan: Plan,
    names: Sequence[str],
    origin: exp.Expr,
    keep: Sequence[str],
    read: Callable[[Primitive], exp.Expr],
    database: Dialect,
    cells: Mapping[exp.Expr, str],
) -> exp.Select:
    """Parts in queries on top of those that they are made of; in the last one, the features.

    Inside, columns have names of our own, so that none can clash with another.
    """
    made = {part: f"c{k}" for k, part in enumerate(plan.columns)}

    def value(part: Expression, step: int) -> exp.Expr:
        if isinstance(part, Not):
            return exp.not_(value(part.operand, step), copy=False)
        if isinstance(part, Constant) or step == 0:
            return _sql(part, read, database)
        if plan.step[part] < step:
            return database.holds(_column(made[part]))
        return _joined(part, lambda operand: value(operand, step), database)

    def stored(part: Expression, step: int) -> exp.Expr:
        is_column = part in plan.step and plan.step[part] < step
        return _column(made[part]) if is_column else database.kept(value(part, step))

    steps = []
    known = {f"k{k}": _column(name) for k, name in enumerate(keep)}
    for step in range(plan.n_steps):
        parts = {made[part]: stored(part, step) for part in plan.columns_of(step)}
        if step == 0 and cells:
            read_once = {name: value for value, name in cells.items()}
            steps.append(_select({**known, **read_once}, origin))
            known = {name: _column(name) for name in known}
        steps.append(_select({**known, **parts}, _step(len(steps) - 1) if steps else origin))
        known = {name: _column(name) for name in known}
    columns: dict[str, exp.Expr] = {name: _column(f"k{k}") for k, name in enumerate(keep)}
    named = zip(names, plan.features, strict=True)
    columns |= {name: stored(feature, plan.n_steps) for name, feature in named}
    query = _select(columns, _step(len(steps) - 1))
    # left to themselves, databases may put the steps together again
    if database.keeps_steps == "sample":
        for reads_step in (*steps[1:], query):
            all_rows = exp.TableSample(method=exp.var("SYSTEM"), percent=_number(100))
            reads_step.set("sample", all_rows)
    hint = True if database.keeps_steps == "hint" else None
    for number, made_there in enumerate(steps):
        if database.keeps_steps == "limit":
            made_there = made_there.limit(_ALL_ROWS, copy=False)
        name = _identifier(f"step{number}")
        query = query.with_(name, as_=made_there, materialized=hint, copy=False)
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
    column: exp.Column, source: Source | None, cut: float | None, checked: Checks, nan: bool
) -> exp.Expr:
    # NaN is above every number in some databases, and other than 0 in most: here it is missing
    if cut is not None:
        return exp.GT(this=checked.number(column), expression=exp.Literal.number(cut))
    if source == "text":
        return checked(Flag(column.name), column)
    dialect = checked.dialect
    if source == "integer":
        return exp.NEQ(this=dialect.number(column), expression=exp.Literal.number(0))
    if nan and dialect.takes_nan_for_true:
        return exp.cast(dialect.without_nan(column), "boolean")
    return dialect.holds(column)
