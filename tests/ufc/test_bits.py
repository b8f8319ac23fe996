"""The rule of bits against its oracle: every choice, every length, and the final set."""

from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import naive_bits
from conjunct.columns import MaskedColumns, PackedColumns, SparseColumns, kernel, packed
from conjunct.counting import PartitionedColumns, merging, tally
from conjunct.counting.partitioned import DiskPartitions, ScratchFile
from conjunct.expressions import canonical_text
from conjunct.features import description_length, largest_rise, pair_saving, pair_savings
from conjunct.ufc import STOPS, Bits, Risk, Threshold
from conjunct.ufc.run import Plan, run_ufc
from tables import tables

NAMES = "abcdefgh"


def paged(table):
    scratch = ScratchFile()
    for part in np.array_split(table, 3):
        if len(part):
            scratch.append(PackedColumns.from_table(part))
    return PartitionedColumns(DiskPartitions(scratch, 10**7))


def sparse_pages(table):
    scratch = ScratchFile()
    for part in np.array_split(table, 3):
        if len(part):
            scratch.append(SparseColumns.from_table(part))
    return PartitionedColumns(DiskPartitions(scratch, 10**7, storage="sparse"))


LAYOUTS = {
    "bits": PackedColumns.from_table,
    "lists": SparseColumns.from_table,
    "masked": lambda table: MaskedColumns.of(PackedColumns.from_table(table)),
    "pages of bits": paged,
    "pages of lists": sparse_pages,
}

alphas = st.sampled_from([None, 0.05, 0.2, 0.49])


def run(store, criterion, *, stop="gain", search="pairwise", max_length=None, max_iter=None):
    plan = Plan(criterion, search, max_length)
    return run_ufc(store, NAMES[: store.n_columns], plan, STOPS.resolve(stop), max_iter=max_iter)


def assert_same(actual, stages):
    """Each choice, what it saved, L after it, and the features with their patterns."""
    assert actual.n_iter == len(stages) - 1
    for step, (features, saved) in zip(actual.kept, stages, strict=True):
        assert step.indicators.n_features == len(features)
        assert step.gain == pytest.approx(saved, abs=2e-6)
    fitted = actual.feature_set
    features, _ = stages[-1]
    assert {naive.canonical(tree) for tree, _, _ in features} == {
        canonical_text(expression) for expression in fitted.expressions
    }
    found = zip(fitted.expressions, fitted.patterns, fitted.supports, strict=True)
    assert {
        (naive.canonical(tree), tuple(sorted(pattern)), naive_bits.support(column))
        for tree, pattern, column in features
    } == {(canonical_text(expression), pattern, support) for expression, pattern, support in found}


@pytest.mark.parametrize("layout", LAYOUTS)
@given(
    table=tables(max_columns=6),
    alpha=alphas,
    max_length=st.sampled_from([None, 2, 3]),
    stop=st.sampled_from(["gain", "never"]),
)
def test_every_choice_is_the_oracles(layout, table, alpha, max_length, stop):
    columns = dict(zip(NAMES, table.T.tolist(), strict=False))
    expected = naive_bits.run(columns, alpha, max_iter=8, max_length=max_length, stop=stop)
    store = LAYOUTS[layout](table)
    actual = run(store, Bits(alpha), stop=stop, max_length=max_length, max_iter=8)
    assert_same(actual, expected)
    primitives = expected[0][0]
    for step, (features, _) in zip(actual.kept, expected, strict=True):
        assert step.indicators.bits == pytest.approx(naive_bits.length_of(features, primitives))


@given(table=tables(max_columns=6), alpha=alphas, data=st.data())
def test_missing_cells_are_judged_where_both_are_known(table, alpha, data):
    missing = data.draw(
        st.lists(st.booleans(), min_size=table.size, max_size=table.size).map(
            lambda cells: np.array(cells, bool).reshape(table.shape)
        )
    )
    columns = {
        name: [None if gone else bool(cell) for cell, gone in zip(x, g, strict=True)]
        for name, x, g in zip(NAMES, table.T, missing.T, strict=False)
    }
    store = MaskedColumns(
        PackedColumns.from_table(table & ~missing), PackedColumns.from_table(~missing)
    )
    expected = naive_bits.run(columns, alpha, max_iter=6)
    assert_same(run(store, Bits(alpha), max_iter=6), expected)


@given(table=tables(), alpha=alphas, data=st.data())
def test_no_order_of_rows_or_columns_matters(table, alpha, data):
    rows = data.draw(st.permutations(range(len(table))))
    columns = data.draw(st.permutations(range(table.shape[1])))
    straight = run(PackedColumns.from_table(table), Bits(alpha))
    plan = Plan(Bits(alpha), "pairwise")
    names = [NAMES[k] for k in columns]
    mixed = run_ufc(
        PackedColumns.from_table(table[rows][:, columns]), names, plan, STOPS.resolve("gain")
    )
    assert {canonical_text(e) for e in straight.feature_set.expressions} == {
        canonical_text(e) for e in mixed.feature_set.expressions
    }


@given(table=tables())
def test_long_lists_of_pairs_choose_as_a_matrix_does(table):
    expected = run(SparseColumns.from_table(table), Bits(None))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "LARGEST_MATRIX", 0)
        actual = run(SparseColumns.from_table(table), Bits(None))
    assert [s.merges for s in actual.tried] == [s.merges for s in expected.tried]


@contextmanager
def without_c():
    """As if conjunct had been installed without a compiler."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "native", None)
        patch.setattr(packed, "native_library", None)
        patch.setattr(tally, "native_library", None)
        yield


needs_c = pytest.mark.skipif(kernel.native is None, reason="installed without a C compiler")


@given(
    joint=st.integers(1, 1000),
    rest=st.tuples(st.integers(0, 1000), st.integers(0, 10**6)),
    others=st.integers(0, 10**8),
    n_used=st.integers(2, 1000),
)
def test_one_pair_saves_what_many_do(joint, rest, others, n_used):
    left, right = joint + rest[0], joint + rest[1]
    counts = (left, right, joint, left + right + others, n_used, 3.5, 7.25)
    assert pair_saving(*counts) == pytest.approx(float(pair_savings(*counts)), rel=1e-9, abs=1e-7)


@needs_c
@pytest.mark.parametrize("layout", ["bits", "lists", "pages of bits", "pages of lists"])
@given(
    table=tables(),
    alpha=alphas,
    max_length=st.sampled_from([None, 2, 3]),
    largest=st.sampled_from([0, 2000, 1 << 28]),
)
def test_c_chooses_what_numpy_does(layout, table, alpha, max_length, largest):
    """Every merge and indicator to the bit, with a matrix of pairs, lists, or first one, then
    the other."""
    options = {"max_length": max_length, "stop": "never"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "LARGEST_MATRIX", largest)
        actual = run(LAYOUTS[layout](table), Bits(alpha), **options)
        with without_c():
            expected = run(LAYOUTS[layout](table), Bits(alpha), **options)
    # as text, for NaN is not equal to itself
    assert [str(step.merges) for step in actual.tried] == [
        str(step.merges) for step in expected.tried
    ]
    assert [str(step.indicators) for step in actual.tried] == [
        str(step.indicators) for step in expected.tried
    ]


@needs_c
@pytest.mark.parametrize("layout", ["bits", "lists"])
@pytest.mark.parametrize("criterion", [Bits(), Bits(None), Risk(), Threshold(0.1)])
def test_c_chooses_what_numpy_does_on_many_columns(layout, criterion):
    """Hundreds of merges, rows that grow, ties and refused pairs."""
    random = np.random.default_rng(3)
    topics = random.random((600, 12)) < 0.15
    table = (topics @ (random.random((12, 60)) < 0.2)) & (random.random((600, 60)) < 0.6)
    table |= random.random((600, 60)) < 0.02
    names = [f"c{k}" for k in range(60)]
    plan, stop = Plan(criterion, "pairwise"), STOPS.resolve("never")
    runs = []
    for context in (nullcontext, without_c):
        with context():
            made = run_ufc(LAYOUTS[layout](table), names, plan, stop, max_iter=120)
            runs.append([str((step.merges, step.indicators)) for step in made.tried])
    assert len(runs[0]) > 60
    assert runs[0] == runs[1]


@given(table=tables(), alpha=alphas)
def test_the_patterns_of_true_features_partition_every_row(table, alpha):
    fitted = run(PackedColumns.from_table(table), Bits(alpha)).feature_set
    assert len(set(fitted.patterns)) == len(fitted.patterns)
    columns = dict(zip(NAMES, table.T.tolist(), strict=False))
    for row in range(len(table)):
        cells = {name: column[row] for name, column in columns.items()}
        true = [
            pattern
            for expression, pattern in zip(fitted.expressions, fitted.patterns, strict=True)
            if expression.evaluate(cells)
        ]
        tags = [tag for pattern in true for tag in pattern]
        assert sorted(tags) == sorted(name for name, cell in cells.items() if cell)


@given(table=tables(max_columns=6), search=st.sampled_from(["batch", "pairwise"]))
def test_what_merges_save_adds_up_to_what_the_description_loses(table, search):
    for criterion in (Bits(None), Risk(0.2, prune=False), Threshold(0.1)):
        done = run(
            PackedColumns.from_table(table), criterion, stop="never", search=search, max_iter=6
        )
        lengths = [line.bits for line in done.history]
        assert lengths[0] - lengths[-1] == pytest.approx(sum(s.gain for s in done.kept), abs=1e-6)
        fitted = done.feature_set
        supports = dict(zip(NAMES, table.sum(axis=0).tolist(), strict=False))
        length = description_length(fitted.supports, fitted.patterns, supports)
        assert length == pytest.approx(lengths[-1], abs=1e-6)


def test_only_what_is_left_of_a_chunk_is_marked_so():
    rows = ["abc"] * 40 + ["ab"] * 20 + ["c"] * 5 + ["d"] * 60
    table = np.array([[name in row for name in "abcd"] for row in rows])
    texts = run(PackedColumns.from_table(table), Bits()).feature_set.pattern_texts
    assert sorted(texts) == ["a + b (rest)", "a + b + c", "c (rest)", "d"]
    # "a + c" denies b, but was never split
    rows = ["ac"] * 40 + ["ab"] * 40 + ["c"] * 3 + ["d"] * 60
    table = np.array([[name in row for name in "abcd"] for row in rows])
    texts = run(PackedColumns.from_table(table), Bits()).feature_set.pattern_texts
    assert sorted(texts) == ["a + b", "a + c", "c (rest)", "d"]


counts = st.integers(1, 10**6)


@given(counts, counts, counts, st.integers(0, 10**7), st.integers(1, 10**5), st.integers(0, 10**6))
def test_a_merge_makes_no_other_pair_worth_more_than_the_rise(
    joint, left, right, rest, used, other
):
    """Whatever is merged, and whatever pair is looked at beside it."""
    total = 2 * joint + left + right + rest + 4 * other
    merged, added = joint, 1 - (left == joint) - (right == joint)
    n_used = min(used + 4, total)
    rise = largest_rise(total, n_used, merged, added, max(other, 1))
    for a in {1, max(other, 1), max(other // 2, 1)}:
        for s, t in ((a, a), (a, a + 3), (a + 1, a + 2)):
            before = pair_savings(s, t, a, total, n_used, 3.0, 5.0)
            after = pair_savings(s, t, a, total - merged, n_used + added, 3.0, 5.0)
            assert after - before <= rise


def test_independent_columns_are_left_alone():
    rng = np.random.default_rng(7)
    tables_ = [rng.random((300, 8)) < 0.3 for _ in range(60)]
    made = [run(PackedColumns.from_table(t), Bits()).n_iter > 0 for t in tables_]
    assert sum(made) <= 6


def test_chunks_that_belong_together_are_found():
    table = np.zeros((60, 4), bool)
    table[:20, :2] = table[20:40, 2:] = True
    done = run(PackedColumns.from_table(table), Bits())
    assert set(done.feature_set.patterns) == {("a", "b"), ("c", "d")}
    assert "It stopped after 2 merges" in done.stop_reason
