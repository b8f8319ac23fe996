"""Columns that are merged in place and their patterns, against rows that are merged one by one."""

import numpy as np
import pytest

from conjunct.columns import MaskedColumns, PackedColumns, SparseColumns
from conjunct.counting import Tally, WeightedColumns
from conjunct.counting.tally import TagCounts, _pair_blocks
from counting.test_sampling import in_dask


def both(a, b):
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def without(a, b):
    return both(a, None if b is None else not b)


def table_of(one, other, weights):
    """Rows in which both are known, and in these those of one, of the other, of both."""
    n = s = t = c = 0
    for a, b, weight in zip(one, other, weights, strict=True):
        if a is not None and b is not None:
            n, s, t, c = n + weight, s + weight * a, t + weight * b, c + weight * (a and b)
    return n, s, t, c


class Naive:
    """Columns as lists of cells."""

    def __init__(self, table, known, weights):
        cells = [
            [bool(cell) if there else None for cell, there in zip(*column, strict=True)]
            for column in zip(table.T, known.T, strict=True)
        ]
        self.columns, self.patterns = cells, [list(column) for column in cells]
        self.weights = weights

    def meeting(self):
        """The pairs that are true together in any row, which alone are ever merged."""
        true = np.array([[cell is True for cell in column] for column in self.columns], int)
        joint = np.triu(true @ true.T, 1)
        return {(i, j): int(joint[i, j]) for i, j in np.argwhere(joint).tolist()}

    def merge(self, left, right):
        columns, patterns = self.columns, self.patterns
        one, other = columns[left], columns[right]
        columns.append([*map(both, one, other)])
        columns[left], columns[right] = [*map(without, one, other)], [*map(without, other, one)]
        patterns.append([*map(both, patterns[left], patterns[right])])


def stores(table, known, weights):
    """The same rows in every form; those with weights count as often as these say."""
    ones = [1] * len(table)
    if not known.all():
        true = PackedColumns.from_table(table & known)
        columns = MaskedColumns(true, PackedColumns.from_table(known))
        return [(columns, ones), (WeightedColumns.of(columns, np.array(weights)), weights)]
    packed, listed = PackedColumns.from_table(table), SparseColumns.from_table(table)
    return [
        (packed, ones),
        (listed, ones),
        (WeightedColumns.of(packed, np.array(weights)), weights),
        (WeightedColumns.of(listed, np.array(weights)), weights),
        (in_dask(table, 3), ones),
    ]


def check(merging, patterns, naive):
    supports = [sum(w for a, w in zip(x, naive.weights, strict=True) if a) for x in naive.columns]
    assert merging.supports.tolist() == supports
    n = len(supports)
    for k in range(n):
        found = merging.row(k)
        tables = {
            j: table_of(naive.columns[k], naive.columns[j], naive.weights)
            for j in range(n)
            if j != k
        }
        met = {j: each for j, each in tables.items() if each[3]}
        rows = zip(*(np.broadcast_to(x, len(found)).tolist() for x in found.table), strict=True)
        assert dict(zip(found.right.tolist(), rows, strict=True)) == met
        assert set(found.left.tolist()) <= {k}
    for i in range(n):
        for j in range(n):
            if i != j:
                expected = table_of(naive.patterns[i], naive.patterns[j], naive.weights)
                assert tuple(patterns.table(i, j)) == expected


@pytest.mark.parametrize("has_gaps", [False, True])
@pytest.mark.parametrize("in_c", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_every_count_after_every_merge(seed, in_c, has_gaps, monkeypatch):
    rng = np.random.default_rng(seed)
    table = rng.random((25, 5)) < 0.6
    known = rng.random(table.shape) < (0.8 if has_gaps else 1)
    weights = rng.choice([1, 2, 3, 6, 9], len(table)).tolist()
    if not in_c:
        for name in ("tally", "merging"):
            monkeypatch.setattr(f"conjunct.counting.{name}.native_library", None)
    for store, own in stores(table, known, weights):
        naive = Naive(table, known, own)
        merging, patterns = Tally.of(store).merging_with_patterns()
        check(merging, patterns, naive)
        for number in range(4):
            n, meeting = len(naive.columns), naive.meeting()
            left, right = sorted(meeting)[rng.integers(len(meeting))]
            assert merging.merge(left, right) == n
            patterns.join(left, right)
            naive.merge(left, right)
            check(merging, patterns, naive)
            assert merging.n_columns == 6 + number


@pytest.mark.parametrize("in_c", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_merges_that_are_counted_ahead(seed, in_c, monkeypatch):
    """One pass counts three merges; after each, the counts are those of one at a time."""
    table = np.random.default_rng(seed).random((25, 8)) < 0.6
    if not in_c:
        for name in ("tally", "merging"):
            monkeypatch.setattr(f"conjunct.counting.{name}.native_library", None)
    naive, store = Naive(table, np.ones_like(table), [1] * 25), in_dask(table, 3)
    merging, patterns = Tally.of(store).merging_with_patterns()
    for pairs in ([(0, 3), (5, 1), (2, 7)], [(8, 4), (10, 0)], [(9, 3)]):
        patterns.count_ahead(pairs)
        with monkeypatch.context() as patch:
            patch.setattr(type(store.parts), "total", None)
            for left, right in pairs:
                merging.merge(left, right)
                naive.merge(left, right)
                check(merging, patterns, naive)


@pytest.mark.parametrize("largest", [1 << 40, 4 * 80**2])
@pytest.mark.parametrize("in_c", [True, False])
def test_room_grows_with_the_merges(in_c, largest, monkeypatch):
    rng = np.random.default_rng(7)
    table = rng.random((200, 8)) < 0.6
    monkeypatch.setattr("conjunct.counting.merging.LARGEST_MATRIX", largest)
    if not in_c:
        for name in ("tally", "merging"):
            monkeypatch.setattr(f"conjunct.counting.{name}.native_library", None)
    naive = Naive(table, np.ones_like(table), [1] * len(table))
    merging, patterns = Tally.of(PackedColumns.from_table(table)).merging_with_patterns()
    room = merging._room
    for _ in range(70):
        meeting = naive.meeting()
        left, right = max(meeting, key=lambda pair: (meeting[pair], pair))
        merging.merge(left, right)
        patterns.join(left, right)
        naive.merge(left, right)
    assert merging.n_columns > room
    check(merging, patterns, naive)


@pytest.mark.parametrize("seed", range(4))
def test_counts_of_tags_are_those_of_the_rows(seed):
    rng = np.random.default_rng(seed)
    n, m = 30, 6
    table = rng.random((n, m)) < rng.choice([0.0, 0.1, 0.5, 0.9], m)
    table[0] = True
    known = rng.random(table.shape) < (0.8 if seed % 2 else 1)
    known[0] = True
    [(store, _), *_] = stores(table, known, [1] * n)
    names = [*rng.permutation([*"abcdef"])]
    variables = [*rng.choice(["u", "v", None], m)]
    counts = TagCounts.of(names, Tally.of(store).counts, variables)
    naive = Naive(table, known, [1] * n)
    assert counts.tags == tuple(sorted(names))
    assert counts.places == tuple(names.index(tag) for tag in counts.tags)
    assert counts.variables == tuple(variables[k] for k in counts.places)
    assert (counts.n_rows, counts.n_tags) == (n, m)
    assert (counts.known is None) == (counts.alone is None) == known.all()
    tables = {
        (i, j): table_of(naive.columns[a], naive.columns[b], naive.weights)
        for i, a in enumerate(counts.places)
        for j, b in enumerate(counts.places)
    }
    for (i, j), (n_known, s, t, c) in tables.items():
        assert counts.joint[i, j] == c
        if not known.all():
            assert (counts.known[i, j], counts.alone[i, j], counts.alone[j, i]) == (n_known, s, t)
        assert counts.gram()[i, j] == pytest.approx(c * n / max(n_known, 1))
    shares = [c / n_known for (i, j), (n_known, _, _, c) in tables.items() if i == j]
    assert counts.shares == pytest.approx(shares)
    halvings = [int(-np.log2(share)) for share in shares]
    assert counts.strata.tolist() == [sorted({*halvings}).index(x) for x in halvings]
    groups = sorted(map(tuple, (group.tolist() for group in counts.groups)))
    assert sorted(k for group in groups for k in group) == [*range(m)]
    for group in groups:
        own = {counts.variables[k] for k in group}
        assert len(own) == 1
        assert len(group) == (1 if own == {None} else counts.variables.count(*own))
    seen = {}
    for block in counts.pairs():
        rows = zip(*(np.broadcast_to(x, len(block)).tolist() for x in block.table), strict=True)
        seen |= dict(zip(zip(block.left.tolist(), block.right.tolist(), strict=True), rows))  # noqa: B905
    may_meet = {
        (i, j)
        for i, j in tables
        if i < j and (counts.variables[i] is None or counts.variables[i] != counts.variables[j])
    }
    assert seen == {pair: tables[pair] for pair in may_meet}
    some = counts.take(np.array([4, 1]))
    assert some.tags == (counts.tags[4], counts.tags[1])
    assert some.gram()[0, 1] == counts.gram()[4, 1]
    few = TagCounts.of(names, Tally.of(store).counts, variables, max_tags=3)
    order = sorted(range(m), key=lambda k: (-counts.supports[k], k))[:3]
    assert few.tags == tuple(counts.tags[k] for k in sorted(order))
    assert few.n_tags == m


@pytest.mark.parametrize("n", [0, 1, 2, 7, 1100])
def test_every_pair_is_in_one_block(n):
    blocks = [*_pair_blocks(n)]
    seen = np.zeros((n, n), int)
    for left, right in blocks:
        seen[left, right] += 1
        assert len(left) <= 1 << 20
    assert (seen == np.triu(np.ones((n, n), int), 1)).all()
    assert len(blocks) == (n > 0) + (n > 1000)


@pytest.mark.parametrize("form", [PackedColumns, SparseColumns, "dask", "masked"])
def test_equal_rows_are_counted_once_where_that_pays(form, monkeypatch):
    monkeypatch.setattr("conjunct.counting.tally._FEWEST_ROWS", 40)
    rng = np.random.default_rng(1)
    rows = rng.permutation([[k >> j & 1 for j in range(5)] for k in range(32)])[:10].astype(bool)

    def store_of(table):
        if form == "dask":
            return in_dask(table, 3)
        if form == "masked":
            known = PackedColumns.from_table(table | True)
            return MaskedColumns(PackedColumns.from_table(table), known)
        return form.from_table(table)

    # 16 times as many rows where cells are missing
    least = 40 * (16 if form == "masked" else 1)
    for n, pays in ((least - 1, False), (least, True)):
        table = rows[np.arange(n) % 10]
        store = store_of(table)
        found = WeightedColumns.deduplicate(store)
        assert isinstance(found, WeightedColumns) == pays
        assert found.n_rows == n
        if pays:
            assert found.rows.n_rows == found.count_distinct_rows() == 10
            assert sorted(found.weights.tolist()) == sorted(np.bincount(np.arange(n) % 10).tolist())
            assert WeightedColumns.deduplicate(found) is found
        counts = Tally.of(found).counts
        assert counts.supports.tolist() == table.sum(axis=0).tolist()
        assert found.count_null_rows() == (~table.any(axis=1)).sum()
        assert found.fingerprint() == store.fingerprint()
    # distinct rows must be four times fewer
    for n_distinct, pays in ((least // 4, True), (least // 4 + 1, False)):
        many = np.array([[k >> j & 1 for j in range(8)] for k in range(256)], bool)[:n_distinct]
        found = WeightedColumns.deduplicate(store_of(many[np.arange(least) % n_distinct]))
        assert isinstance(found, WeightedColumns) == pays
