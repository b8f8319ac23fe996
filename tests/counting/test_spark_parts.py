"""Which rewrites the parts of Spark are kept with, seen on data of Spark that are lists."""

import itertools
import os
from functools import partial
from operator import methodcaller
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from conjunct.columns import MergeRewrite, PackedColumns, Rewrite, SparseColumns
from conjunct.columns.kernel import pack
from conjunct.counting.spark import Spark, SparkPartitions, _silent_errors
from conjunct.errors import InputError

pytest.importorskip("pyspark")


class Listed:
    """As much of an RDD of two partitions as parts need; made when it is asked for."""

    held: set["Listed"]
    n_made = 0

    def __init__(self, make, depth=0):
        self._make, self.depth, self._kept = make, depth, None

    def map(self, function):
        return Listed(lambda: [[self._one(function, x) for x in some] for some in self._all()],
                      self.depth + 1)  # fmt: skip

    def _one(self, function, part):
        rewrites = function.args[0] if isinstance(function, partial) else ()
        Listed.n_made += len(rewrites) if isinstance(rewrites, tuple) else 0
        return function(part)

    def mapPartitions(self, function):  # noqa: N802
        rewrites = function.args[0] if isinstance(function, partial) else ()
        Listed.n_made += 2 * len(rewrites)
        return Listed(lambda: [list(function(some)) for some in self._all()])

    def mapPartitionsWithIndex(self, function):  # noqa: N802
        return Listed(lambda: [list(function(k, some)) for k, some in enumerate(self._all())])

    def partitionBy(self, n, by):  # noqa: N802
        def make():
            pairs = list(itertools.chain(*self._all()))
            return [[pair for pair in pairs if by(pair[0]) % n == k] for k in range(n)]

        return Listed(make)

    def getNumPartitions(self):  # noqa: N802
        return 2

    def collect(self):
        return list(itertools.chain(*self._all()))

    def persist(self, level):
        Listed.held.add(self)
        return self

    def unpersist(self):
        Listed.held.remove(self)
        self._kept = None

    def lose(self):
        self._kept = None

    def _all(self):
        if self in Listed.held:
            self._kept = self._kept or self._make()
            return self._kept
        return self._make()


@pytest.fixture
def columns():
    Listed.held, Listed.n_made = set(), 0
    cells = np.random.default_rng(0).random((256, 12)) < 0.4
    return SparseColumns.of(PackedColumns(pack(cells), 256))


def in_two(columns):
    halves = [columns.to_dense()[:128], columns.to_dense()[128:]]
    parts = [type(columns).of(PackedColumns(pack(half), 128)) for half in halves]
    store = "sparse" if isinstance(columns, SparseColumns) else "dense"
    return SparkPartitions(Listed(lambda: [[part] for part in parts]), columns.n_columns, store)


def test_a_merge_is_made_a_few_times_however_many_follow(columns):
    """At every later count they would be made 200 × 199 / 2 times in each of the two parts."""
    parts, rewrites, n = in_two(columns), (), columns.n_columns
    for k in range(200):
        assert (parts.total(rewrites, methodcaller("supports"), 0) == columns.supports()).all()
        assert len(Listed.held) <= 2  # packed, and with most merges
        assert parts._latest[1].depth <= 4
        if k % 50 == 30:
            for held in Listed.held:
                held.lose()
        rewrites += (MergeRewrite(k % n, (5 * k + 1) % n, n + k),)
        columns = columns.after(rewrites[-1:])
    assert Listed.n_made <= 2 * 200 * 16


def test_a_rewrite_of_all_columns_is_made_once(columns):
    nothing = np.empty(0, np.intp)
    turned = Rewrite(nothing, nothing, np.arange(11, -1, -1), np.full(12, -1))
    parts = in_two(columns)
    for _ in range(3):
        supports = parts.total((turned,), methodcaller("supports"), 0)
        assert (supports == columns.supports()[::-1]).all()
    assert Listed.n_made == 2
    # as it was, and another way
    assert (parts.total((), methodcaller("supports"), 0) == columns.supports()).all()
    again = Rewrite(nothing, nothing, np.arange(12), np.full(12, -1))
    assert (parts.total((again,), methodcaller("supports"), 0) == columns.supports()).all()
    assert len(Listed.held) == 2


def test_packed_parts_are_not_kept_with_merges(columns):
    """They would have one more column for each, all of which would be read at each count."""
    columns = PackedColumns.of(columns)
    parts = in_two(columns)
    rewrites = tuple(MergeRewrite(0, 1, 12 + k) for k in range(40))
    supports = parts.total(rewrites, methodcaller("supports"), 0)
    assert (supports == columns.after(rewrites).supports()).all()
    assert len(Listed.held) == 1


class Frame:
    """As much of a data frame of Spark as the engine needs."""

    def __init__(self, rows):
        self.rows = rows

    @property
    def rdd(self):
        return Listed(lambda: [[row] for row in self.rows])

    def mapInArrow(self, function, schema):  # noqa: N802
        assert schema.startswith("layout string")
        batches = [*function(iter(self.rows))]
        return type(self)([SimpleNamespace(**row) for b in batches for row in b.to_pylist()])


def test_only_a_connected_frame_is_refused(columns):
    Frame.__module__ = "pyspark.sql.dataframe"
    batch = pa.RecordBatch.from_arrays(
        list(columns.to_dense().T.astype(bool)), list("abcdefghijkl")
    )

    def read(part):
        return PackedColumns.from_table(np.array([*part.to_pydict().values()]).T)

    parts = Spark().partitions(Frame([batch]), read, 12, "auto", None)
    assert (parts.total((), methodcaller("supports"), 0) == columns.supports()).all()
    Frame.__module__ = "pyspark.sql.connect.dataframe"
    with pytest.raises(InputError, match="cannot fit on a Spark Connect DataFrame"):
        Spark().partitions(Frame([batch]), read, 12, "auto", None)


def test_messages_of_java_are_silenced_only_within(capfd):
    with _silent_errors():
        os.write(2, b"Java\n")
    os.write(2, b"ours\n")
    assert capfd.readouterr().err == "ours\n"
