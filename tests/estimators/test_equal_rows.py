"""Equal rows are counted once: the same model to the byte, in every layout, search and place."""

import warnings
from collections import Counter
from itertools import pairwise

import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conjunct import UFC, Bits, ConjunctWarning, Risk, Threshold, files
from conjunct.columns import (
    MaskedColumns,
    PackedColumns,
    SparseColumns,
    native_library,
)
from conjunct.counting import WeightedColumns, tally
from conjunct.counting.tally import DistinctRows
from conjunct.files import streaming
from conjunct.ufc import NoStop, RmsStop
from tables import tables

pytestmark = pytest.mark.skipif(native_library is None, reason="C finds equal rows")

MODELS = [
    UFC(),
    UFC(max_length=3, max_features=12),
    UFC(Bits(None), stop="never", max_iter=8),
    UFC(Bits(0.2), search="batch"),
    UFC(Risk(0.2, prune=False, test="exact", correction="bh")),
    UFC(Threshold(0.1), search="pairwise", stop=NoStop(null_feature=True), max_iter=6),
    UFC(Risk(0.2), stop=RmsStop(null_feature=True)),
]


def masked(table):
    rows = PackedColumns.from_table(table)
    # the first column is known only where the last is true
    known = np.ones_like(table)
    known[:, 0] = table[:, -1]
    return MaskedColumns(rows.from_table(table & known), rows.from_table(known))


LAYOUTS = {
    "dense": PackedColumns.from_table,
    "sparse": SparseColumns.from_table,
    "masked": masked,
}


def contents(model):
    return model.to_dict(), model.n_distinct_rows_, repr(model.history_), model.stop_reason_


@pytest.fixture(autouse=True, scope="module")
def always():
    """Small tables too, and however few rows are equal."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tally, "_FEWEST_ROWS", 0)
        patch.setattr(tally, "_FEWEST_REPEATS", 1)
        yield


def fit(model, *data, once=True, **more):
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore", ConjunctWarning)
        if not once:
            patch.setattr(tally, "_FEWEST_ROWS", 1 << 40)
        return contents(model.fit(*data, **more))


@pytest.mark.parametrize("layout", LAYOUTS)
@given(table=tables(), data=st.data())
def test_distinct_rows_of_parts(layout, table, data):
    whole = LAYOUTS[layout](table)
    cells = whole.to_dense()
    expected = Counter(map(str, cells.tolist()))
    ends = sorted(data.draw(st.lists(st.integers(0, len(table)), max_size=3)))
    edges = [0, *ends, len(table)]
    parts = [whole.take_rows(np.arange(*edge)) for edge in pairwise(edges)]
    found = [DistinctRows.of(1000, part) for part in parts if part.n_rows]
    total = found[0]
    for part in found[1:]:
        total = total + part
    lines = map(str, total.rows.to_dense().tolist())
    assert dict(zip(lines, total.weights.tolist(), strict=True)) == expected
    assert total.n_distinct == len(expected) == whole.count_distinct_rows()
    assert DistinctRows.of(len(expected) - 1, whole).rows is None
    counts = WeightedColumns.of(total.rows, total.weights)
    assert counts.fingerprint() == whole.fingerprint()


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("layout", ["dense", "sparse"])
@given(table=tables(max_columns=7), copies=st.integers(1, 4))
def test_every_rule_and_layout(model, layout, table, copies):
    table = np.tile(table, (copies, 1))
    model.set_params(storage=layout)
    expected = fit(model, table, once=False)
    assert fit(model, table) == expected


@given(table=tables(max_columns=6), data=st.data())
def test_missing_cells(table, data):
    gone = data.draw(st.lists(st.booleans(), min_size=table.size, max_size=table.size))
    cells = np.where(np.array(gone).reshape(table.shape), np.nan, table)
    expected = fit(UFC(), np.tile(cells, (3, 1)), once=False)
    assert fit(UFC(), np.tile(cells, (3, 1))) == expected


@pytest.fixture
def rows():
    random = np.random.default_rng(0)
    drawn = random.random((3000, 8)) < 0.3
    drawn[:, 1] |= drawn[:, 0] & (random.random(3000) < 0.7)
    drawn[:, 5] |= drawn[:, 4]
    return drawn


def test_rows_on_disk_and_on_workers(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "_PAGE_BYTES", 500)
    path = tmp_path / "rows.csv"
    lines = [",".join(f"c{k}" for k in range(8)), *(",".join(map(str, r)) for r in rows * 1)]
    path.write_text("\n".join(lines) + "\n")
    names = files.read_boolean(path)
    expected = fit(UFC(), names, once=False)
    assert expected[0] == fit(UFC(), files.stream(path), once=False)[0]
    in_memory = []
    merging = WeightedColumns.in_place
    monkeypatch.setattr(
        WeightedColumns, "in_place", lambda self: in_memory.append(self.n_rows) or merging(self)
    )
    assert fit(UFC(), files.stream(path)) == expected
    collection = da.from_array(rows, chunks=(700, -1))
    assert fit(UFC(), collection) == fit(UFC(), rows, once=False)
    assert in_memory == [3000, 3000]


def test_suggestions_are_learned_from_distinct_rows(rows, monkeypatch):
    copies = np.tile(rows, (4, 1))
    expected = UFC().fit(rows.repeat(4, axis=0)).learn_suggestions().record()
    hashed, hash_rows = [], PackedColumns.row_hashes
    monkeypatch.setattr(
        PackedColumns, "row_hashes", lambda self: hashed.append(self.n_rows) or hash_rows(self)
    )
    model = UFC().fit(copies)
    assert model.learn_suggestions().record() == expected
    assert hashed == [len(np.unique(rows, axis=0))]
    monkeypatch.setattr(tally, "_FEWEST_ROWS", 1 << 40)
    assert UFC().fit(copies).learn_suggestions().record() == expected
    assert hashed[1:] == [len(copies)]


def test_a_checkpoint_goes_on_either_way(rows, tmp_path):
    expected = fit(UFC(), rows, once=False)
    for first in (False, True):
        path = tmp_path / f"{first}.checkpoint"
        fit(UFC(max_iter=2), rows, once=first, checkpoint=path)
        assert fit(UFC(), rows, once=not first, checkpoint=path) == expected
    assert expected[3].startswith("It stopped after ")


def test_few_equal_rows_stay_as_they_are(rows, monkeypatch):
    monkeypatch.setattr(tally, "_FEWEST_REPEATS", 100)
    store = PackedColumns.from_table(rows)
    assert WeightedColumns.deduplicate(store) is store
    assert store.n_distinct == len(np.unique(rows, axis=0))
    monkeypatch.setattr(tally, "_FEWEST_REPEATS", 10)
    assert isinstance(WeightedColumns.deduplicate(store), WeightedColumns)
