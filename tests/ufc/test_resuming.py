"""Interrupted runs against those that were not."""

import json
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conjunct.columns import PackedColumns, SparseColumns
from conjunct.counting import PartitionedColumns
from conjunct.counting.partitioned import DiskPartitions, ScratchFile
from conjunct.errors import InputError
from conjunct.files.checkpoint import Checkpoint
from conjunct.ufc import Bits, Risk, Threshold
from runs import planned, ran
from tables import tables

NAMES = "abcdefgh"
BATCH = planned(Threshold(0.0))

rules = st.builds(
    planned,
    st.builds(Threshold, st.sampled_from([0.0, 0.1, 0.3]))
    | st.builds(Risk, st.just(0.3), correction=st.sampled_from([None, "holm"]))
    | st.builds(Bits, st.sampled_from([None, 0.3])),
    st.sampled_from(["batch", "pairwise"]),
)


class KilledError(Exception):
    pass


@dataclass
class Failing:
    """A checkpoint after whose ``n``-th writing the run is killed."""

    file: Checkpoint
    n: int
    load = property(lambda self: self.file.load)
    wrong_run = property(lambda self: self.file.wrong_run)
    written: int = field(default=0)

    def save(self, identity, news, *, last):
        if self.written == self.n:
            raise KilledError
        # however quick the steps are
        self.file.save(identity, news, last=True)
        self.written += 1


def paged(table):
    scratch = ScratchFile()
    for part in np.array_split(table, 3):
        if len(part):
            scratch.append(PackedColumns.from_table(part))
    return PartitionedColumns(DiskPartitions(scratch, 10**7))


def run(store, rule=BATCH, **options):
    done = ran(store, NAMES[: store.n_columns], rule, **options)
    found = done.feature_set
    lineage = found.lineage.conjunctions, found.iterations
    told = [(step.indicators, step.merges) for step in done.tried]
    return repr((found.features, found.supports, found.merges, lineage, told))


# the file is removed by hand
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tables(),
    rules,
    st.integers(0, 3),
    st.sampled_from(["rms", "never", "gain"]),
    st.sampled_from([PackedColumns.from_table, SparseColumns.from_table, paged]),
)
def test_a_resumed_run_ends_as_one_that_was_not_interrupted(
    tmp_path, table, rule, n_written, stop, as_store
):
    store = as_store(table)
    file = tmp_path / "checkpoint.json"
    file.unlink(missing_ok=True)
    options = {"max_iter": 4, "stop": stop}
    expected = run(PackedColumns.from_table(table), rule, **options)
    try:
        assert (
            run(store, rule, progress_store=Failing(Checkpoint(file), n_written), **options)
            == expected
        )
    except KilledError:
        assert file.exists() == (n_written > 0)
    assert run(store, rule, progress_store=Checkpoint(file), **options) == expected
    # and once more from its end
    assert run(store, rule, progress_store=Checkpoint(file), **options) == expected


def test_columns_that_were_not_replaced_are_resumed(tmp_path):
    # iterations 3 and 4 join columns that iteration 1 keeps
    table = np.random.default_rng(0).random((300, 8)) < 0.4
    table[:, 0] |= table[:, 1]
    table[:, 2:] |= np.random.default_rng(1).random((300, 1)) < 0.1
    rule, store = planned(Threshold(0.1)), PackedColumns.from_table(table)
    file = Checkpoint(tmp_path / "checkpoint.json")
    run(store, rule, progress_store=file, max_iter=1, stop="never")
    expected = run(store, rule, max_iter=4, stop="never")
    assert run(store, rule, progress_store=file, max_iter=4, stop="never") == expected


@pytest.fixture
def zoo():
    table = np.random.default_rng(1).random((200, 6)) < 0.4
    table[:, 3:] |= table[:, :3]
    return table


def test_no_count_brings_a_run_to_where_it_was(zoo, tmp_path, monkeypatch):
    progress_store = Checkpoint(tmp_path / "checkpoint.json")
    expected = run(PackedColumns.from_table(zoo), progress_store=progress_store, max_iter=3)
    counted = []
    count = PackedColumns.joint_counts
    monkeypatch.setattr(
        PackedColumns, "joint_counts", lambda *store: counted.append(store) or count(*store)
    )
    assert run(PackedColumns.from_table(zoo), progress_store=progress_store, max_iter=3) == expected
    assert not counted


def test_more_iterations_go_on_from_a_checkpoint(zoo, tmp_path):
    progress_store = Checkpoint(tmp_path / "checkpoint.json")
    run(PackedColumns.from_table(zoo), progress_store=progress_store, max_iter=1)
    expected = run(PackedColumns.from_table(zoo), max_iter=3)
    assert run(PackedColumns.from_table(zoo), progress_store=progress_store, max_iter=3) == expected
    # and fewer are had from it
    assert run(PackedColumns.from_table(zoo), progress_store=progress_store, max_iter=2) == run(
        PackedColumns.from_table(zoo), max_iter=2
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: (t[:-1], BATCH), r"it has 200 rows, but the data has 199"),
        (lambda t: (t[:, :-1], BATCH), r"its columns differ"),
        (lambda t: (np.roll(t, 1, axis=1), BATCH), r"it was made from different data"),
        (lambda t: (t, planned(Threshold(0.1))), r"its options differ"),
    ],
)
def test_checkpoints_of_other_runs_are_refused(zoo, tmp_path, change, message):
    file = tmp_path / "checkpoint.json"
    run(PackedColumns.from_table(zoo), progress_store=Checkpoint(file), max_iter=2)
    table, rule = change(zoo)
    with pytest.raises(InputError, match=rf"checkpoint of another run \({message}\): remove it"):
        run(PackedColumns.from_table(table), rule, progress_store=Checkpoint(file), max_iter=2)


def damaged(number, part, key, value):
    """A line with another value for a key, its own or that of the first thing in a part of it."""

    def damage(content):
        lines = content.splitlines()
        record = json.loads(lines[number])
        (record if part is None else record[part][0][0])[key] = value
        lines[number] = json.dumps(record)
        return "\n".join([*lines, ""])

    return damage


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[9:], "not a checkpoint of conjunct"),
        (lambda content: "[]", "not a checkpoint of conjunct"),
        (lambda content: content[:9], "not a checkpoint of conjunct"),
        (damaged(0, None, "version", 9), "not a checkpoint that this version of conjunct can read"),
        (damaged(1, "iterations", "right", 99), "a merge refers to later features"),
        (damaged(1, "iterations", "joint", 10**6), "a joint count is out of range"),
        (damaged(1, "iterations", "joint", 10**30), "not a checkpoint of conjunct"),
        (damaged(1, None, "iterations", [[]]), "an iteration has no merges"),
        (damaged(1, None, "supports", [1, 2]), "supports and columns differ in number"),
        (damaged(1, None, "tests", []), "tests and iterations differ in number"),
    ],
)
def test_damaged_checkpoints_are_refused(zoo, tmp_path, damage, message):
    file = tmp_path / "checkpoint.json"
    run(PackedColumns.from_table(zoo), progress_store=Checkpoint(file), max_iter=2)
    file.write_text(damage(file.read_text()))
    with pytest.raises(InputError, match=message):
        run(PackedColumns.from_table(zoo), progress_store=Checkpoint(file), max_iter=2)


@pytest.mark.parametrize("n_cut", [1, 9, 10**3])
def test_a_line_that_was_cut_off_is_made_again(zoo, tmp_path, n_cut):
    file = tmp_path / "checkpoint.json"
    often = Failing(Checkpoint(file), 99)
    expected = run(PackedColumns.from_table(zoo), progress_store=often, max_iter=3)
    whole = file.read_bytes()
    *_, last = whole.splitlines(keepends=True)
    file.write_bytes(whole[: -min(n_cut, len(last))])
    again = Failing(Checkpoint(file), 99)
    assert run(PackedColumns.from_table(zoo), progress_store=again, max_iter=3) == expected
    assert again.written == 1
    assert file.read_bytes() == whole


def test_a_step_costs_a_line(zoo, tmp_path):
    """What is written after a merge does not grow with the merges before it."""
    file = tmp_path / "checkpoint.json"
    often = Failing(Checkpoint(file), 99)
    run(
        PackedColumns.from_table(zoo),
        planned(Threshold(0.0), "pairwise"),
        progress_store=often,
        max_iter=9,
    )
    _, first, *lines = map(len, file.read_bytes().splitlines())
    assert len(lines) == often.written - 1 == 8
    # the first line has the columns too; numbers grow by a digit or two
    assert max(lines) < 1.2 * min(lines)
    assert max(lines) < first
