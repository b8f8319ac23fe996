"""Exported SQL of 125, 250 and 500 merges: its size, and seconds in each real database.

Two models, whose data are made here. In one, tags come in groups. The other is one long chain: what
is left of a common tag is merged with one tag after the other. Of formulas that deny each other in
turn, which few data make, only the size is measured. Servers that are not installed are
left out. DuckDB and SQLite work in this process, so that processor time is what they take; the
servers are measured on the clock, which other work on the machine makes longer.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray
from tests import servers

from benchmarks._measure import report
from benchmarks._results import save
from conjunct import UFC
from conjunct.export.sql import to_sql
from conjunct.expressions import And, Expression, Not, Primitive

MERGES = (125, 250, 500)
N_ROWS, N_COLUMNS, GROUP = 2_000, 400, 20
# of four times the merges: four is linear, sixteen is quadratic
MOST_GROWTH, MOST_GROWTH_IN_TURNS = 4.5, 6.5
REPEAT = 3


def tagged() -> NDArray[np.bool_]:
    """Rows of tags: those of a group come together, more or less."""
    rng = np.random.default_rng(0)
    groups = rng.random((N_ROWS, N_COLUMNS // GROUP)) < 0.1
    spread = np.repeat(groups, GROUP, axis=1)
    return np.where(spread, rng.random(spread.shape) < 0.6, rng.random(spread.shape) < 0.01)


def chained() -> NDArray[np.bool_]:
    """A common tag, and others that come with it more often than without, never two of them."""
    n = MERGES[-1]
    rows = np.zeros((4 * n, 1 + n), np.bool_)
    rows[: 2 * n, 0] = True
    for start in (0, n, 2 * n):
        rows[start : start + n, 1:] = np.eye(n, dtype=np.bool_)
    return rows


def main() -> int:
    kinds = {
        "groups": ("bits", tagged()),
        "chain": (0.0, chained()),
    }
    models = {
        kind: {n: UFC(rule, search="pairwise", max_iter=n).fit(rows) for n in MERGES}
        for kind, (rule, rows) in kinds.items()
    }
    missed, lines = denying(), []
    for name, opened in (
        ("duckdb", duckdb.connect),
        ("sqlite", lambda: contextlib.closing(sqlite3.connect(":memory:"))),
        ("postgres", servers.postgres),
        ("mysql", servers.mariadb),
    ):
        program = {"postgres": "postgres", "mysql": "mariadbd"}.get(name)
        if program and (reason := servers.missing(program)):
            print(f"{name}: left out: {reason}")
            continue
        with opened() as connection:
            for kind, (_, rows) in kinds.items():
                found = _measured(name, kind, connection, models[kind], rows)
                lines += found
                growth = found[-1]["seconds"] / found[0]["seconds"]
                what = f"{name}, {kind}: time of {MERGES[-1]} merges by that of {MERGES[0]}"
                missed += report(what, growth, MOST_GROWTH, at_least=False)
    shapes = {kind: list(rows.shape) for kind, (_, rows) in kinds.items()}
    save("sql", {"shapes": shapes, "lines": lines})
    return missed


def denying() -> int:
    """What a tag has left without what the one before had left, and so on: sizes."""
    sizes = {}
    for n in MERGES:
        left: Expression = Primitive("x0")
        features = []
        for k in range(1, n + 1):
            tag = Primitive(f"x{k}")
            features += [And(left, tag), And(left, Not(tag))]
            left = And(Not(left), tag)
        named = {f"f{k}": feature for k, feature in enumerate([*features, left])}
        sizes[n] = len(to_sql(named, "turns", column_type="boolean").encode())
        print(f"in turns: {n} merges, {sizes[n] / 1e3:,.0f} kB", flush=True)
    growth = sizes[MERGES[-1]] / sizes[MERGES[0]]
    what = f"in turns: size of {MERGES[-1]} merges by that of {MERGES[0]}"
    return report(what, growth, MOST_GROWTH_IN_TURNS, at_least=False)


def _measured(
    name: str, kind: str, connection: Any, models: dict[int, UFC], rows: NDArray[np.bool_]
) -> list[dict[str, Any]]:
    here = name in ("duckdb", "sqlite")
    clock = time.process_time if here else time.perf_counter
    cursor = connection.cursor()
    columns = ", ".join(f"x{k} BOOLEAN" for k in range(rows.shape[1]))
    cursor.execute(f"CREATE TABLE {kind} ({columns})")
    if name == "duckdb":
        cursor.register("frame", {f"x{k}": rows[:, k] for k in range(rows.shape[1])})
        cursor.execute(f"INSERT INTO {kind} SELECT * FROM frame")
    else:
        marks = ", ".join(["?" if here else "%s"] * rows.shape[1])
        cursor.executemany(f"INSERT INTO {kind} VALUES ({marks})", rows.tolist())
    lines = []
    for n, model in models.items():
        sql = model.to_sql(kind, dialect=name, column_type="boolean", feature_names="number")
        times = []
        for _ in range(REPEAT):
            start = clock()
            cursor.execute(sql)
            found = cursor.fetchall()
            times.append(clock() - start)
        total = sum(map(sum, found))
        assert total == sum(model.feature_set_.supports), (name, kind, n)
        seconds, size = min(times), len(sql.encode())
        print(f"{name}, {kind}: {n} merges, {size / 1e3:,.0f} kB, {seconds:.2f} s", flush=True)
        line = {"database": name, "kind": kind, "merges": n, "bytes": size, "seconds": seconds}
        lines.append(line)
    return lines
