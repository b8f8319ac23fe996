"""Write a SELECT that computes features in a database, as a syntax tree of sqlglot.

SQL uses Kleene's logic: NULL AND FALSE is FALSE, and NULL AND TRUE is NULL. So missing cells need
special treatment only where literals are counted. Values are always nodes of the tree, never pasted
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import inf, isinf
from typing import Literal, TypeAlias, get_args

from sqlglot import exp

from conjunct.errors import InputError
from conjunct.export.dialects import (
    DIALECTS,
    Dialect,
    case,
    check_text,
    literal,
    shorten_name,
    truth_value,
)
from conjunct.export.formulas import (
    NO,
    YES,
    Check,
    Flag,
    HasTag,
    OneOf,
    PartOneOf,
    Plan,
    best_plan,
    is_shorter_inline,
    refuse_lists,
    write_formula,
)
from conjunct.expressions import Expression, Primitive, nodes
from conjunct.parameters import one_of

ColumnType: TypeAlias = Literal["boolean", "integer", "text"]
Kind: TypeAlias = Literal["select", "view", "table", "dbt"]

_ROWS = exp.TableAlias(this=exp.Identifier(this="r", quoted=True))

# no query returns more: this limit only keeps the database from merging two steps
_ALL_ROWS = 2**63 - 1


def to_sql(
    features: Mapping[str, Expression],
    table: str | Sequence[str],
    *,
    dialect: str = "duckdb",
    column_type: ColumnType | None = None,
    cut: float | None = None,
    keep: Sequence[str] = (),
    raw: Mapping[str, Check] | None = None,
    fill: bool = False,
    nan: bool = False,
    kind: Kind = "select",
    into: str | Sequence[str] = "features",
) -> str:
    """Write a SELECT with one column per feature, or a view, a table or a dbt model of it.

    The parameters are those of ``UFC.to_sql``, and four more: numbers above ``cut`` are true;
    ``raw`` has the checks of raw columns behind the primitives; ``fill`` treats missing cells as
    false; ``nan`` means that Boolean columns may be numbers with NaN, which DuckDB reads as true.

    Steps compute shared parts of formulas once if the statement becomes shorter. Each step keeps
    only the columns that later steps use. Formulas of more than 12 literals always become steps,
    because databases limit the depth of an expression.
    """
    if dialect not in DIALECTS:
        raise InputError(f"unknown dialect {dialect!r}: choose one of {', '.join(DIALECTS)}")
    database = DIALECTS[dialect]
    one_of(get_args(ColumnType), optional=True).check("column_type", column_type)
    one_of(get_args(Kind)).check("kind", kind)
    if raw is not None and column_type in ("boolean", "integer"):
        raise InputError(
            f"column_type={column_type!r} is for Boolean columns, and this model reads raw ones: "
            "leave it out, or use 'text' if all of them hold text"
        )
    primitives = {n.name for n in nodes(*features.values()) if isinstance(n, Primitive)}
    read_from = primitives if raw is None else {raw[name].column for name in primitives}
    _check_names(features, keep, read_from, database, in_table=kind != "select")
    origin = _table(table, "table", database)
    target = _table(into, "into", database)
    if column_type is None and database.takes_any_text and raw is None and cut is None:
        column_type = "text"

    writer = _Writer(database, column_type, cut, raw, fill, nan)
    if kind == "dbt":
        # a placeholder, longer than any other name
        longest = max(map(len, (*features, *keep, *read_from)), default=0)
        origin = exp.Table(this=_identifier("x" * (longest + 1)))
    has_checks = bool(primitives) and (raw is not None or cut is not None or column_type == "text")
    most = inf if database.most_columns is None else database.most_columns - len(keep)
    aliased = origin.copy()
    aliased.set("alias", _ROWS.copy())
    if not has_checks and is_shorter_inline(features.values(), most):
        columns: dict[str, exp.Expr] = {name: _column(name) for name in keep}
        for name, formula in features.items():
            columns[name] = database.as_value(write_formula(formula, writer, lambda part: None))
        query = _select(columns, aliased)
    else:
        query = _select_in_steps(
            best_plan(features.values(), most), features, aliased, keep, writer
        )
        widest = max(len(step.this.expressions) for step in query.ctes)
        database.check_columns(widest, in_table=False)
    database.check_columns(len(features) + len(keep), in_table=kind != "select")
    if kind == "dbt":
        return _dbt_model(query, origin, table, dialect)
    if kind == "select":
        return query.sql(dialect=dialect, pretty=True, copy=False) + "\n"
    return database.create(kind, target, query).sql(dialect=dialect, pretty=True) + ";\n"


def _check_names(
    features: Mapping[str, Expression],
    keep: Sequence[str],
    read_from: Iterable[str],
    database: Dialect,
    *,
    in_table: bool,
) -> None:
    """Refuse names that the database does not allow, and duplicates."""
    for name in features:
        database.check_new_name(name)
    for name in (*keep, *read_from):
        database.check_name(name)
    if both := [name for name in keep if name in features]:
        raise InputError(
            f"keep: a feature has the same name, {shorten_name(both[0])!r}: rename the column, or "
            "number the features (feature_names='number')"
        )
    seen: dict[str, str] = {}
    for name in (*keep, *features) if in_table and database.folds_case else ():
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise InputError(
                f"{database.name} ignores case, so {shorten_name(other)!r} and "
                f"{shorten_name(name)!r} are the same: number the columns (feature_names='number')"
            )


def _table(name: str | Sequence[str], what: str, database: Dialect) -> exp.Table:
    """Build a table from its name of one to three parts."""
    parts = [name] if isinstance(name, str) else list(name)
    if not 1 <= len(parts) <= 3:
        raise InputError(f"{what} must be a name of one to three parts")
    for part in parts:
        database.check_name(part)
    named = zip(("this", "db", "catalog"), map(_identifier, reversed(parts)), strict=False)
    return exp.Table(**dict(named))


def _dbt_model(query: exp.Expr, origin: exp.Table, table: str | Sequence[str], dialect: str) -> str:
    """Write the file of a dbt model, with the braces that Jinja would read as strings."""
    parts = [table] if isinstance(table, str) else list(table)
    call = "ref" if len(parts) == 1 else "source"
    if len(parts) == 3:
        raise InputError("dbt needs a table name of one part (ref) or two (source), not three")
    text = re.sub(r"\{(?=[{%#])", "{{ '{' }}", query.sql(dialect=dialect, pretty=True))
    reference = f"{{{{ {call}({', '.join(map(ascii, parts))}) }}}}"
    return text.replace(origin.sql(dialect=dialect), reference) + "\n"


def _select(columns: Mapping[str, exp.Expr], origin: exp.Expr) -> exp.Select:
    aliased = [exp.Alias(this=value, alias=_identifier(name)) for name, value in columns.items()]
    return exp.Select(expressions=aliased).from_(origin, copy=False)


def _select_in_steps(
    plan: Plan,
    names: Iterable[str],
    origin: exp.Expr,
    keep: Sequence[str],
    writer: _Writer,
) -> exp.Select:
    """Build a chain of queries, one per step; the last one computes the features.

    Columns of steps have generated names, which cannot clash.
    """
    database = writer.dialect
    made = {part: f"c{k}" for k, part in enumerate(plan.columns)}

    def as_column(part: Expression, step: int) -> exp.Expr:
        if plan.is_column(part, step):
            return _column(made[part])

        def column(one: Expression) -> exp.Expr | None:
            known = plan.is_column(one, step)
            return database.as_condition(_column(made[one])) if known else None

        return database.as_value(write_formula(part, writer, column))

    steps = []
    known = {f"k{k}": _column(name) for k, name in enumerate(keep)}
    for step in range(plan.n_steps):
        parts = {made[part]: as_column(part, step) for part in plan.columns_of(step)}
        if step == 0 and writer.cells:
            cells = {name: value for value, name in writer.cells.items()}
            steps.append(_select({**known, **cells}, origin))
            known = {name: _column(name) for name in known}
        steps.append(_select({**known, **parts}, _step(len(steps) - 1) if steps else origin))
        known = {name: _column(name) for name in known}
    columns: dict[str, exp.Expr] = {name: _column(f"k{k}") for k, name in enumerate(keep)}
    named = zip(names, plan.features, strict=True)
    columns |= {name: as_column(feature, plan.n_steps) for name, feature in named}
    query = _select(columns, _step(len(steps) - 1))
    # keep the database from merging the steps again
    if database.keeps_steps == "sample":
        for reads_step in (*steps[1:], query):
            all_rows = exp.TableSample(method=exp.var("SYSTEM"), percent=literal(100))
            reads_step.set("sample", all_rows)
    hint = True if database.keeps_steps == "hint" else None
    for number, step_query in enumerate(steps):
        if database.keeps_steps == "limit":
            step_query = step_query.limit(_ALL_ROWS, copy=False)
        name = _identifier(f"step{number}")
        query = query.with_(name, as_=step_query, materialized=hint, copy=False)
    return query


def _step(number: int) -> exp.Expr:
    return exp.Table(this=_identifier(f"step{number}"), alias=_ROWS.copy())


def _column(name: str) -> exp.Column:
    # qualified: SQLite reads an unknown "name" as a string, and other databases might read it as
    # the column of the result with the same name
    return exp.Column(this=_identifier(name), table=_ROWS.this.copy())


def _identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


@dataclass(frozen=True, eq=False)
class _Writer:
    """A target that writes SQL. A first step reads each cell of the table once.

    ``cells`` maps the number, word or date in a cell to the name of its column in that step. With
    ``column_type="text"`` all columns hold text, regardless of their type in training.
    """

    dialect: Dialect
    column_type: ColumnType | None
    cut: float | None
    raw: Mapping[str, Check] | None
    fill: bool
    nan: bool
    cells: dict[exp.Expr, str] = field(default_factory=dict)

    @property
    def is_text(self) -> bool:
        return self.column_type == "text"

    def primitive(self, name: str) -> exp.Expr:
        if self.raw is None:
            value = self._boolean(_column(name))
        else:
            check = self.raw[name]
            value = self.check(check, _column(check.column))
        return self.dialect.fill(value) if self.fill else value

    def constant(self, value: bool) -> exp.Expr:
        return truth_value(value)

    def negate(self, value: exp.Expr) -> exp.Expr:
        return exp.not_(value, copy=False)

    def join(self, values: Sequence[exp.Expr], *, is_or: bool) -> exp.Expr:
        return (exp.or_ if is_or else exp.and_)(*values, copy=False)

    def count(self, values: Sequence[exp.Expr], least: int, most: int) -> exp.Expr:
        def compare(comparison: type[exp.Binary], number: int, *, denied: bool) -> exp.Expr:
            holds = [exp.not_(value) if denied else value.copy() for value in values]
            ones = [case((one, literal(1)), default=literal(0)) for one in holds]
            total = exp.paren(reduce(lambda x, y: exp.Add(this=x, expression=y), ones), copy=False)
            return comparison(this=total, expression=literal(number))

        # "certain" and "excluded" are both false if the result depends on missing cells; of n
        # operands, k can be true if at most n − k are false
        n = len(values)
        certain = compare(exp.GTE, least, denied=False)
        excluded = compare(exp.GT, n - least, denied=True)
        if most < n:
            certain = exp.and_(certain, compare(exp.GTE, n - most, denied=True), copy=False)
            excluded = exp.or_(excluded, compare(exp.GT, most, denied=False), copy=False)
        return self.dialect.either(certain, excluded)

    def _boolean(self, column: exp.Column) -> exp.Expr:
        """Write the truth of a cell of a Boolean table; NULL if it is missing or NaN."""
        dialect = self.dialect
        if self.cut is not None:
            return exp.GT(this=self.number(column), expression=exp.Literal.number(self.cut))
        if self.is_text:
            return self.check(Flag(column.name), column)
        if self.column_type == "integer":
            return exp.NEQ(this=dialect.number(column), expression=literal(0))
        if self.nan and dialect.takes_nan_for_true:
            return exp.cast(dialect.without_nan(column), "boolean")
        return dialect.as_condition(column)

    def number(self, column: exp.Expr) -> exp.Expr:
        """Write the number in a cell."""
        return self._cell(self.dialect.number(column, is_text=self.is_text))

    def check(self, check: Check, column: exp.Expr) -> exp.Expr:
        """Write the check of a raw cell; NULL if the cell is missing."""
        dialect = self.dialect
        if isinstance(check, Flag):
            return self._flag(column)
        if isinstance(check, OneOf):
            if check.are_numbers:
                numbers = map(float, check.words)
                literals = (dialect.infinity(x) if isinf(x) else literal(x) for x in numbers)
                return _is_in(self.number(column), literals)
            for word in check.words:
                check_text(word, f"column {check.column!r}: the word {word!r}")
            return _is_in(self._cell(dialect.cell_text(column)), map(dialect.string, check.words))
        if isinstance(check, HasTag):
            return self._has_tag(check, column)
        if check.part is None:
            value = self.number(column)
        else:
            moment = self._spell_date(column) if check.are_digits else column
            is_text = self.is_text or check.are_digits
            value = self._cell(dialect.part(moment, check.part, is_text=is_text))
        if isinstance(check, PartOneOf):
            parts: Iterable[int] = check.numbers
            if check.part == "weekday":
                parts = (dialect.weekdays[number - 1] for number in check.numbers)
            return _is_in(value, map(literal, parts))
        sides: list[exp.Expr] = []
        if check.low is not None:
            sides.append(exp.GTE(this=value.copy(), expression=literal(check.low)))
        if check.high is not None:
            sides.append(exp.LT(this=value.copy(), expression=literal(check.high)))
        return exp.and_(*sides, copy=False)

    def _cell(self, value: exp.Expr) -> exp.Expr:
        return _column(self.cells.setdefault(value, f"v{len(self.cells)}"))

    def _has_tag(self, check: HasTag, column: exp.Expr) -> exp.Expr:
        refuse_lists(check, "SQL", (";", "|", ","))
        check_text(check.tag, f"column {check.column!r}: the word {check.tag!r}")
        string, between = self.dialect.string, check.separator or ""
        text = self.dialect.text(column)
        # remove up to four blanks on each side of a separator
        for written in (f"{between} ", f" {between}") * 4:
            text = exp.Replace(this=text, expression=string(written), replacement=string(between))
        whole = exp.Concat(expressions=[string(between), text, string(between)], safe=False)
        place = exp.StrPosition(
            this=self._cell(whole), substr=string(f"{between}{check.tag}{between}")
        )
        return self.dialect.fill(exp.GT(this=place, expression=literal(0)))

    def _spell_date(self, column: exp.Expr) -> exp.Expr:
        """Write 20241231 as 2024-12-31."""
        number = self.dialect.number(column, is_text=self.is_text)
        digits = exp.cast(exp.cast(number, "bigint"), "text")
        year, month, day = (
            exp.Substring(this=digits.copy(), start=literal(start), length=literal(length))
            for start, length in ((1, 4), (5, 2), (7, 2))
        )
        dash = self.dialect.string("-")
        return exp.Concat(expressions=[year, dash, month, dash.copy(), day], safe=False)

    def _flag(self, column: exp.Expr) -> exp.Expr:
        # as text, because the cell may be Boolean, a number or a word; other words are neither
        written = self._cell(exp.Lower(this=self.dialect.text(column)))
        # decimals have trailing zeros: 1.00
        zero = exp.Literal.string("0")
        short = exp.Trim(this=written.copy(), expression=zero, position="TRAILING")
        yes, no = (
            exp.or_(
                _is_in(written.copy(), map(self.dialect.string, words)),
                exp.EQ(this=short.copy(), expression=self.dialect.string(number)),
            )
            for words, number in ((YES, "1."), (NO, "0."))
        )
        return self.dialect.either(yes, no)


def _is_in(value: exp.Expr, wanted: Iterable[exp.Expr | None]) -> exp.Expr:
    literals = [literal for literal in wanted if literal is not None]
    if not literals:  # false, or NULL if the value is
        return exp.NEQ(this=value, expression=value.copy())
    if len(literals) == 1:
        return exp.EQ(this=value, expression=literals[0])
    return exp.In(this=value, expressions=literals)
