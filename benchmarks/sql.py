"""Exported SQL of 125, 250 and 500 merges: its size, and seconds in each real database.

The data is made here: 2,000 rows of 400 tags, which come in groups. Servers that are not installed
are left out.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time

import duckdb
import numpy as np
from numpy.typing import NDArray
from tests import servers

from benchmarks._measure import report
from conjunct import UFC

MERGES = (125, 250, 500)
N_ROWS, N_COLUMNS, GROUP = 2_000, 400, 20
# of four times the merges: four is linear, sixteen is quadratic
MOST_GROWTH = 8.0


def tagged() -> NDArray[np.bool_]:
    """Rows of tags: those of a group come together, more or less."""
    rng = np.random.default_rng(0)
    groups = rng.random((N_ROWS, N_COLUMNS // GROUP)) < 0.1
    spread = np.repeat(groups, GROUP, axis=1)
    return np.where(spread, rng.random(spread.shape) < 0.6, rng.random(spread.shape) < 0.01)


def main() -> int:
    rows = tagged()
    models = {n: UFC(max_iter=n).fit(rows) for n in MERGES}
    missed = 0
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
            missed += _measured(name, connection, models, rows)
    return missed


def _measured(name, connection, models, rows) -> int:  # type: ignore[no-untyped-def]
    mark = "?" if name in ("duckdb", "sqlite") else "%s"
    cursor = connection.cursor()
    columns = ", ".join(f"x{k} BOOLEAN" for k in range(rows.shape[1]))
    cursor.execute(f"CREATE TABLE data ({columns})")
    if name == "duckdb":
        frame = {f"x{k}": rows[:, k] for k in range(rows.shape[1])}
        connection.register("frame", frame)
        cursor.execute("INSERT INTO data SELECT * FROM frame")
    else:
        marks = ", ".join([mark] * rows.shape[1])
        cursor.executemany(f"INSERT INTO data VALUES ({marks})", rows.tolist())
    seconds = {}
    for n, model in models.items():
        sql = model.to_sql(dialect=name, source="boolean", columns="number")
        times = []
        for _ in range(3):
            start = time.perf_counter()
            cursor.execute(sql)
            found = cursor.fetchall()
            times.append(time.perf_counter() - start)
        seconds[n] = min(times)
        total = sum(map(sum, found))
        assert total == sum(model.feature_set_.supports), (name, n)
        print(f"{name}: {n} merges, {len(sql) / 1e3:,.0f} kB, {seconds[n]:.2f} s", flush=True)
    growth = seconds[MERGES[-1]] / seconds[MERGES[0]]
    what = f"{name}: time of {MERGES[-1]} merges by that of {MERGES[0]}"
    return report(what, growth, MOST_GROWTH, at_least=False)
