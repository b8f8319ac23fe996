"""How the steps of a statement are kept apart, and how long statements are."""

import duckdb
import numpy as np
import sqlglot

from conjunct.export.sql import to_sql
from conjunct.expressions import And, Not, Primitive
from export.test_export import merged, table_of


def test_duckdb_plans_steps_one_by_one() -> None:
    """It would plan them in more than linear time if each did not read all rows as a sample."""
    features, _, _ = merged(120, 272, 64)
    query = sqlglot.parse_one(to_sql(features, "data"), dialect="duckdb")
    first, *others = [step.this for step in query.ctes]
    assert len(others) > 1
    assert first.args.get("sample") is None  # the table of the user
    for reads_step in (*others, query):
        assert "(100 PERCENT)" in reads_step.args["sample"].sql("duckdb")
    assert not any(step.args.get("materialized") for step in query.ctes)


def test_duckdb_gives_every_row_in_order() -> None:
    """Of several row groups, on several threads, step after step."""
    features, few, wanted = merged(20, 60, 30)
    n = 100_000
    columns = {f"a{k}": np.tile(column, n) for k, column in enumerate(few.T)}
    connection = duckdb.connect(config={"threads": 4})
    connection.register("rows", {"id": np.arange(5 * n), **columns})
    connection.execute("CREATE TABLE data AS SELECT * FROM rows")
    sql = to_sql(features, "data", keep=["id"])
    assert "step1" in sql
    found = connection.execute(sql).fetchnumpy()
    np.testing.assert_array_equal(found.pop("id"), np.arange(5 * n))
    for column, values in zip(found.values(), zip(*wanted, strict=True), strict=True):
        np.testing.assert_array_equal(column, np.tile(values, n))


def denying(n_merges: int):  # type: ignore[no-untyped-def]
    """What a tag has left without what the one before had left, and so on; as ``merged``."""
    rows = np.random.default_rng(0).random((6, n_merges + 1)) < 0.5
    left, in_left, named, values = Primitive("a0"), rows[:, 0], {}, []
    for k in range(1, n_merges + 1):
        tag, in_tag = Primitive(f"a{k}"), rows[:, k]
        named |= {f"both{k}": And(left, tag), f"rest{k}": And(left, Not(tag))}
        values += [in_left & in_tag, in_left & ~in_tag]
        left, in_left = And(Not(left), tag), ~in_left & in_tag
    named["left"] = left
    wanted = np.column_stack([*values, in_left])
    return named, rows, list(map(tuple, wanted.tolist()))


def test_formulas_that_deny_each_other(database) -> None:  # type: ignore[no-untyped-def]
    """Each is within the next, as deep as there are merges, and SQL is not much longer for that."""
    features, rows, wanted = denying(200)
    sql = to_sql(
        features, "data", dialect=database.name, column_type="boolean", keep=["row_number_"]
    )
    half = to_sql(denying(100)[0], "data", dialect=database.name, column_type="boolean")
    assert len(sql) < 2.6 * len(half)
    columns = [f"a{k}" for k in range(rows.shape[1])]
    assert database.run(sql, table_of(columns, rows.tolist())) == wanted
