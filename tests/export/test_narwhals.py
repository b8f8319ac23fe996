"""Features as expressions of narwhals, run on lazy tables, against transform and the Binarizer."""

import math

import duckdb
import ibis
import narwhals as nw
import polars as pl
import polars.selectors as cs
import pytest
from hypothesis import given

from conjunct import UFC, InputError, datasets
from conjunct.export.formulas import checks_of
from conjunct.export.frames import to_narwhals
from conjunct.expressions import AtLeast, Exactly, Not, Primitive
from export.test_raw import fitted, raw_tables, settings, wanted

CELLS = [True, False, None]
KLEENE = pl.DataFrame(
    [(a, b, c) for a in CELLS for b in CELLS for c in CELLS],
    schema={"a": pl.Boolean, "b": pl.Boolean, "c": pl.Boolean},
    orient="row",
)
TABLES = {
    "polars": pl.DataFrame.lazy,
    "duckdb": lambda table: duckdb.from_arrow(table.to_arrow()),
    "ibis": lambda table: ibis.memtable(table.to_arrow()),
}


def rows(table, expressions):
    found = nw.from_native(table).select(*expressions).collect("polars")
    return found.to_native().rows()


def count(row, number, most):
    """All that the number of true ones may be, whatever is missing."""
    true, unknown = row.count(True), row.count(None)
    outcomes = {number <= k <= most for k in range(true, true + unknown + 1)}
    return outcomes.pop() if len(outcomes) == 1 else None


@pytest.mark.parametrize("kind", TABLES)
def test_missing_cells_follow_kleene(kind):
    a, b, c = map(Primitive, "abc")
    features = {
        "and": a & ~b,
        "or": a | b,
        "not": Not(a & b),
        "two": AtLeast(2, [a, b, c]),
        "one": Exactly(1, [a, b, c]),
    }
    expected = []
    for x, y, z in KLEENE.rows():
        true, false = (x is True and y is False), (x is False or y is True)
        and_not = True if true else False if false else None
        either = True if True in (x, y) else None if None in (x, y) else False
        both = False if False in (x, y) else None if None in (x, y) else True
        negated = None if both is None else not both
        row = (x, y, z)
        expected.append((and_not, either, negated, count(row, 2, 3), count(row, 1, 1)))
    made = rows(TABLES[kind](KLEENE), to_narwhals(features))
    assert made == expected


@pytest.mark.parametrize("kind", TABLES)
def test_as_transform_does(kind):
    zoo = datasets.load_zoo()
    table = pl.DataFrame(zoo.values, schema=list(zoo.feature_names))
    model = UFC().fit(table)
    made = model.transform(table).rows()
    assert rows(TABLES[kind](table), model.to_narwhals()) == made
    numbers = table.cast(pl.Int8)
    assert rows(TABLES[kind](numbers), model.to_narwhals(column_type="integer")) == made
    names = [
        expression.meta.output_name() for expression in model.to_polars(feature_names="number")
    ]
    found = nw.from_native(table.lazy()).select(*model.to_narwhals(feature_names="number"))
    assert found.collect_schema().names() == names


def test_nan_is_missing():
    table = pl.DataFrame({"a": [1.0, 0.0, math.nan, None], "b": [1.0] * 4})
    formula = {"f": Primitive("a") & Primitive("b")}
    for kind in TABLES.values():
        made = rows(kind(table), to_narwhals(formula, column_type="integer"))
        assert made == [(True,), (False,), (None,), (None,)]
        assert rows(kind(table), to_narwhals(formula, cut=0.5)) == made
        filled = rows(kind(table), to_narwhals(formula, column_type="integer", fill=True))
        assert filled == [(True,), (False,), (False,), (False,)]


@pytest.mark.parametrize("name", ["*", "^a.*$"])
def test_names_that_are_patterns_are_refused(name):
    with pytest.raises(InputError, match="as a pattern"):
        to_narwhals({"f": Primitive(name)})


def test_what_cannot_be_exported():
    with pytest.raises(InputError, match="column_type must be 'boolean' or 'integer'"):
        to_narwhals({"f": Primitive("a")}, column_type="text")
    long = Primitive("a")
    for _ in range(14):
        long = long & ~(long & Primitive("b"))
    with pytest.raises(InputError, match=r"literals, but .*: transform\(table\) computes it"):
        to_narwhals({"f": long})


@given(raw_tables(), settings)
def test_raw_columns(drawn, chosen):
    train, table = drawn
    binarizer = fitted(train, **chosen)
    features, expected = wanted(binarizer, table)
    raw = checks_of(binarizer.rules_)
    if not {check.column for check in raw.values()} & {"*", "^a.*$"}:
        # as text, 0.2 of single precision is another number: transform, which sees the type, knows
        table = table.with_columns(cs.float().cast(pl.Float64))
        for kind in ("polars", "duckdb"):
            assert rows(TABLES[kind](table), to_narwhals(features, raw=raw)) == expected
