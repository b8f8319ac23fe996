"""RowGroups: groups that were planted are found, and what is said of them is true of the rows."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from conjunct import UFC, ConjunctWarning, InputError, ModelFileError, Report, RowGroups, datasets
from conjunct import files as io
from conjunct.estimators import groups as module

WITHIN = ["chunks", "columns"]


def planted(seed, n_rows=None, n_columns=None, n_groups=None):
    """Rows of groups whose columns are independent inside each, and the group of each row."""
    rows, labels, *_ = planted_with_truth(seed, n_rows, n_columns, n_groups)
    return rows, labels


def planted_with_truth(seed, n_rows=None, n_columns=None, n_groups=None):
    """The same, and the log-probability of each row and group by the planted numbers."""
    rng = np.random.default_rng(seed)
    n_groups = n_groups or int(rng.integers(2, 9))
    n_rows = n_rows or int(rng.choice([500, 1500, 4000]))
    n_columns = n_columns or int(rng.choice([40, 80]))
    frequencies = rng.beta(0.5, 1.0, (n_groups, n_columns))
    shares = rng.dirichlet(np.full(n_groups, 5))
    labels = rng.choice(n_groups, n_rows, p=shares)
    rows = rng.random((n_rows, n_columns)) < frequencies[labels]
    with np.errstate(divide="ignore"):
        logs = np.where(rows[:, None], np.log(frequencies), np.log(1 - frequencies)).sum(2)
    return rows, labels, logs + np.log(shares)


@pytest.fixture(scope="module")
def zoo():
    data = datasets.load_zoo()
    return pd.DataFrame(data.values, columns=data.feature_names)


@pytest.mark.parametrize("within", ["columns", pytest.param("chunks", marks=pytest.mark.slow)])
def test_planted_groups_are_found(within):
    found = []
    for seed in range(20):
        rows, labels = planted(seed)
        model = RowGroups(within=within).fit(rows)
        agreement = adjusted_rand_score(labels, model.labels_)
        found.append(agreement >= 0.95 and model.n_groups_ == len(set(labels.tolist())))
    assert sum(found) >= 18


def test_20_columns_do_not_say_enough_and_no_more_could_be_found():
    """The planted probabilities themselves reach an ARI of .95 in 5 of 20 settings only.

    The number is right all the same, the groups are as good as those of the truth, which knows
    more than 500 rows can say, and they describe the rows better than the truth does.
    """
    right, near, could, better = 0, 0, 0, 0
    for seed in range(20):
        rows, labels, logs = planted_with_truth(seed, n_columns=20)
        model = RowGroups(within="columns").fit(rows)
        truth = adjusted_rand_score(labels, logs.argmax(1))
        could += truth >= 0.95
        right += model.n_groups_ == len(set(labels.tolist()))
        near += adjusted_rand_score(labels, model.labels_) >= truth - 0.04
        better += model.log_prob(rows).mean() > np.logaddexp.reduce(logs, axis=1).mean()
    assert could <= 6
    assert min(right, near, better) >= 18


def test_independent_columns_are_one_group():
    single = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, m = int(rng.choice([200, 1000, 4000])), int(rng.choice([8, 20, 60, 120]))
        shares = rng.beta(1, 4, m) if seed % 2 else rng.uniform(0.1, 0.9, m)
        model = RowGroups(within="columns", variables=False).fit(rng.random((n, m)) < shares)
        single.append(model.n_groups_ == 1)
    assert sum(single) >= 19


@pytest.mark.parametrize("within", WITHIN)
def test_probabilities_of_all_possible_rows_sum_to_one(within):
    rows, _ = planted(3, 300, 7, 3)
    rows[:, 5] &= ~rows[:, 4]
    model = RowGroups(3, within=within, variables={"v": ["x4", "x5"]}).fit(rows)
    every = np.array(list(product([False, True], repeat=7)))
    assert np.exp(model.log_prob(every)).sum() == pytest.approx(1)
    assert model.predict_proba(every).sum(1) == pytest.approx(np.ones(len(every)))
    assert (model.predict_proba(every).argmax(1) == model.predict(every)).all()
    assert model.score(rows) == pytest.approx(model.log_prob(rows).mean() / np.log(2))


@pytest.mark.parametrize("within", WITHIN)
def test_every_mark_is_true_of_the_rows(within, zoo):
    model = RowGroups(within=within).fit(zoo)
    assert model.n_groups_ > 3
    assert [group.rows for group in model.groups_] == sorted(
        np.bincount(model.labels_).tolist(), reverse=True
    )
    assert len({group.name for group in model.groups_}) == model.n_groups_
    for number, group in enumerate(model.groups_):
        inside = model.labels_ == number
        assert group.rows == inside.sum()
        assert group.share == inside.mean()
        assert all(inside[[*group.typical, *group.borderline]])
        for mark in group.marks:
            has = zoo[list(mark.tags)].all(axis=1)
            assert mark.rows == has[inside].sum()
            assert mark.rows_outside == has[~inside].sum()
            assert mark.share == has[inside].mean()
            assert mark.share_outside == has[~inside].mean()
            assert mark.is_absent == (mark.share < mark.share_outside)
            assert mark.evidence > 0
    first = model.groups_[0].marks[0]
    assert first.sentence == "milk: 100% of this group, 9.1% of the rows outside it"
    assert model.groups_[0].sentence == f"35 rows (35%); {first.sentence}"


@pytest.mark.parametrize("within", WITHIN)
def test_rows_in_other_order_have_the_same_labels(within):
    rows, _ = planted(5, 600, 30, 4)
    order = np.random.default_rng(0).permutation(len(rows))
    one, other = (RowGroups(within=within).fit(each) for each in (rows, rows[order]))
    assert (one.labels_[order] == other.labels_).all()
    assert [group.name for group in one.groups_] == [group.name for group in other.groups_]


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("other", [{"n_jobs": 2}, {"storage": "sparse"}, {"storage": "dense"}])
def test_threads_and_layouts_do_not_matter(within, other):
    rows, _ = planted(6, 600, 30, 4)
    one, two = RowGroups(within=within).fit(rows), RowGroups(within=within, **other).fit(rows)
    assert (one.labels_ == two.labels_).all()
    assert one.log_prob(rows) == pytest.approx(two.log_prob(rows))


def test_sparse_matrix_is_read_as_the_array():
    rows, _ = planted(7, 400, 30, 3)
    one, two = RowGroups().fit(rows), RowGroups().fit(sp.csr_matrix(rows))
    assert (one.labels_ == two.labels_).all()


@pytest.mark.parametrize("within", WITHIN)
@given(st.integers(0, 1000))
def test_weights_are_repeated_rows(within, seed):
    rows, _ = planted(seed, 60, 12, 3)
    weights = np.random.default_rng(seed).integers(0, 4, len(rows))
    one = RowGroups(within=within).fit(rows, sample_weight=weights)
    repeated = np.repeat(np.arange(len(rows)), weights)
    two = RowGroups(within=within).fit(rows[repeated])
    assert one.n_groups_ == two.n_groups_
    assert one.log_prob(rows) == pytest.approx(two.log_prob(rows))
    assert [(g.name, g.rows) for g in one.groups_] == [(g.name, g.rows) for g in two.groups_]
    assert one.score(rows, sample_weight=weights) == pytest.approx(one.score(rows[repeated]))


@pytest.mark.parametrize("within", WITHIN)
def test_missing_cells_are_ignored(within):
    rows, labels = planted(8, 1500, 60, 4)
    cells = rows.astype(float)
    cells[np.random.default_rng(0).random(cells.shape) < 0.2] = np.nan
    with pytest.raises(InputError, match="missing"):
        RowGroups(within=within, missing="raise").fit(cells)
    model = RowGroups(within=within).fit(cells)
    assert model.n_groups_ == 4
    assert adjusted_rand_score(labels, model.labels_) > 0.9
    nothing = np.full((1, 60), np.nan)
    assert model.log_prob(nothing) == pytest.approx([0])
    for number, group in enumerate(model.groups_):
        inside = cells[model.labels_ == number]
        for mark in group.marks:
            if len(mark.tags) == 1:
                assert mark.share == np.nanmean(inside[:, int(mark.text[1:])])


def test_values_of_a_variable_are_one_category():
    rng = np.random.default_rng(0)
    colours = np.eye(5, dtype=bool)[rng.integers(0, 5, 2000)]
    frame = pd.DataFrame(colours, columns=[f"colour={k}" for k in range(5)])
    frame["tag"] = rng.random(2000) < 0.3
    # columns that exclude each other are no reason for groups
    assert RowGroups(within="columns").fit(frame).n_groups_ == 1
    assert RowGroups(within="columns", variables=False).fit(frame).n_groups_ > 1


@pytest.fixture
def raw():
    """A table of words, numbers, lists and gaps, and the kind of each row."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, 600)
    some = np.where(rng.random(600) < 0.9, kinds, rng.integers(0, 3, 600))
    table = pd.DataFrame(
        {
            "colour": np.array(["red", "<b>", "blue"])[some],
            "size": rng.normal(10 * kinds, 2),
            "tags": [["a", "b"] if kind == 0 else ["c"] for kind in kinds],
            "fresh": rng.random(600) < np.array([0.1, 0.5, 0.9])[kinds],
        }
    )
    table.loc[rng.random(600) < 0.1, "colour"] = None
    table.loc[rng.random(600) < 0.1, "size"] = np.nan
    return table, kinds


@pytest.mark.parametrize("within", WITHIN)
def test_raw_tables(within, raw, tmp_path):
    table, kinds = raw
    with pytest.warns(ConjunctWarning, match="113 missing cells as unknown"):
        model = RowGroups(within=within).fit(table)
    assert model.n_groups_ == 3
    assert adjusted_rand_score(kinds, model.labels_) > 0.95
    assert (model.predict(table) == model.labels_).all()
    marks = [mark for group in model.groups_ for mark in group.marks]
    mark = next(mark for mark in marks if mark.text == "colour = <b>" and not mark.is_absent)
    number = next(k for k, group in enumerate(model.groups_) if mark in group.marks)
    inside = table["colour"][model.labels_ == number].dropna()
    assert mark.share == (inside == "<b>").mean()
    model.save(tmp_path / "groups.json")
    read = RowGroups.load(tmp_path / "groups.json")
    for rows in (table, table[5:6]):
        assert (read.log_prob(rows) == model.log_prob(rows)).all()
    with pytest.warns(ConjunctWarning, match="'violet'"):
        read.predict(table[:2].assign(colour=["violet", None]))
    assert '<section id="groups"' in Report(UFC().fit(table), table, groups=model).html()


@pytest.mark.parametrize("within", WITHIN)
def test_a_file_holds_everything(within, zoo, tmp_path):
    model = RowGroups(within=within).fit(zoo)
    model.save(tmp_path / "groups.json")
    read = RowGroups.load(tmp_path / "groups.json")
    assert (read.log_prob(zoo) == model.log_prob(zoo)).all()
    assert (read.predict(zoo) == model.labels_).all()
    assert read.groups_ == model.groups_
    assert read.stop_reason_ == model.stop_reason_
    assert read.within == within
    assert read.description_length_ == model.description_length_
    assert read.description_length_ < read.baseline_length_


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("shares",), [0.5]),
        (("shares", 0), 2.0),
        (("outcomes", 0), [0.5]),
        (("none", 0, 0), 0.0),
        (("none", 0, 0), 0.999),
        (("groups", 0, "rows"), "many"),
        (("groups", 0, "rows"), 10**30),
        (("groups", 0, "rows"), 3),
        (("groups", 0, "name"), "a\nb"),
        (("groups", 0, "typical"), [10**12]),
        (("groups", 0, "marks", 0, "rows"), 10**6),
        (("groups", 0, "marks", 0, "share"), 1.5),
        (("groups", 0, "marks", 0, "evidence"), 1e300),
        (("groups", 0, "marks", 0, "tags"), ["unknown"]),
        (("groups", 0, "marks", 0, "text"), "a sentence"),
        (("stop_reason",), "as asked\nall is well"),
        (("parameters", "n_init"), 10**30),
        (("parameters", "max_seconds"), "1"),
        (("parameters", "within"), "rows"),
        (("format",), "conjunct-model"),
        (("version",), 99),
    ],
)
def test_damaged_files_are_refused(path, value, zoo, tmp_path):
    file = tmp_path / "groups.json"
    RowGroups(within="columns").fit(zoo).save(file)
    content = json.loads(file.read_text())
    place = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    file.write_text(json.dumps(content))
    with pytest.raises(ModelFileError, match=r"groups\.json"):
        RowGroups.load(file)


def test_rows_on_disk_give_the_same_groups(tmp_path, monkeypatch):
    rows, _ = planted(9, 3000, 20, 4)
    frame = pd.DataFrame(rows.astype(int), columns=[f"t{k}" for k in range(20)])
    frame[:1000].to_csv(tmp_path / "a.csv", index=False)
    frame[1000:].to_csv(tmp_path / "b.csv", index=False)
    for limit in (100_000, 500):
        # a sample of the rows is searched, and all of them are converged on
        monkeypatch.setattr(module, "SAMPLE_ROWS", limit)
        here = RowGroups(within="columns").fit(frame)
        there = RowGroups(within="columns").fit(io.stream(tmp_path / "a.csv", tmp_path / "b.csv"))
        assert here.n_groups_ == there.n_groups_ == 4
        assert there.log_prob(frame) == pytest.approx(here.log_prob(frame))
        assert [(g.name, g.rows, g.marks) for g in there.groups_] == [
            (g.name, g.rows, g.marks) for g in here.groups_
        ]
        assert not hasattr(there, "labels_")
        assert there.description_length_ == pytest.approx(here.description_length_)
    with pytest.warns(ConjunctWarning, match="groups have no chunks"):
        chunks = RowGroups().fit(io.stream(tmp_path / "a.csv", tmp_path / "b.csv"))
    assert chunks.vocabularies_ == ()
    assert (chunks.log_prob(frame) == there.log_prob(frame)).all()
    chunks.save(tmp_path / "groups.json")
    assert (RowGroups.load(tmp_path / "groups.json").predict(frame) == here.labels_).all()
    with pytest.raises(InputError, match="sample_weight needs all rows in memory"):
        RowGroups().fit(io.stream(tmp_path / "a.csv"), sample_weight=np.ones(1000, int))


def test_a_number_that_rows_cannot_have():
    rows = np.array([[True, False]] * 5 + [[False, True]] * 5)
    with pytest.warns(ConjunctWarning, match="only 2 groups"):
        model = RowGroups(5).fit(rows)
    assert model.n_groups_ == 2


@pytest.mark.parametrize("n_groups", [5, 10, 12])
def test_a_number_that_is_given_is_reached(n_groups, zoo):
    """Also beyond the number that is best."""
    model = RowGroups(n_groups).fit(zoo)
    assert model.n_groups_ == len({*model.labels_}) == n_groups
    assert model.stop_reason_ == "reached the requested number of groups"


def test_time_limit_and_most_groups():
    rows, _ = planted(10, 1500, 40, 8)
    short = RowGroups(max_seconds=1e-9).fit(rows)
    assert short.n_groups_ == 1
    assert "seconds" in short.stop_reason_
    with pytest.warns(ConjunctWarning, match="found only 1 group in 1e-09 seconds"):
        RowGroups(8, max_seconds=1e-9).fit(rows)
    some = RowGroups(max_groups=3).fit(rows)
    assert (some.n_groups_, some.stop_reason_) == (3, "reached the requested number of groups")
    assert "splitting a group" in RowGroups().fit(rows).stop_reason_


def test_progress_is_printed_and_handed_to_a_callback(capsys):
    rows, _ = planted(11, 500, 40, 3)
    rounds = []
    model = RowGroups(verbose=1, within="columns")
    model.fit(rows, callback=lambda n_groups, bits: rounds.append((n_groups, bits)))
    lines = [f"{n_groups} groups: {bits:,.0f} bits" for n_groups, bits in rounds]
    assert capsys.readouterr().out.splitlines() == lines
    assert rounds[-1][0] == 3
    assert rounds[-1][1] == pytest.approx(model.description_length_, rel=1e-3)


def test_a_value_that_is_rarer_because_another_is_more_common_is_not_said_again():
    month = np.array(["April", "May"]).repeat(60)
    frame = pd.DataFrame({"month": month, "rain": np.where(month == "May", "no", "yes")})
    frame["wind"] = np.random.default_rng(0).permutation(["low", "high", "none"] * 40)
    model = RowGroups(2).fit(frame)
    said = [{mark.text: mark.is_absent for mark in group.marks} for group in model.groups_]
    assert sorted(map(sorted, said)) == [["month = April", "rain"], ["month = May", "rain"]]
    assert [mark["rain"] for mark in said] == ["month = May" in mark for mark in said]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_groups": 0}, "n_groups"),
        ({"n_groups": "many"}, "n_groups"),
        ({"within": "rows"}, "within"),
        ({"max_groups": 0}, "max_groups"),
        ({"n_init": 0}, "n_init"),
        ({"max_seconds": 0}, "max_seconds"),
        ({"max_seconds": "1"}, "max_seconds"),
        ({"missing": "drop"}, "missing"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(InputError, match=message):
        RowGroups(**options).fit(np.eye(3, dtype=bool))


def test_hostile_names():
    names = ["<script>alert(1)</script>", "a\nb", "", '"', "a + b", "none"]
    rows, _ = planted(12, 400, 6, 2)
    model = RowGroups(2).fit(pd.DataFrame(rows, columns=names))
    assert {tag for group in model.groups_ for mark in group.marks for tag in mark.tags} <= {*names}


def test_a_notebook_shows_the_groups_with_names_escaped():
    rows, _ = planted(12, 400, 6, 2)
    model = RowGroups(2)
    assert "strongest mark" not in model._repr_html_()
    page = model.fit(pd.DataFrame(rows, columns=[f"<b>{k}" for k in range(6)]))._repr_html_()
    assert "strongest mark" in page
    assert "&lt;b&gt;" in page
    assert model.groups_[0].marks[0].sentence.replace("<b>", "&lt;b&gt;") in page


def test_a_report_needs_groups_of_its_rows(zoo):
    groups, chunks = RowGroups().fit(zoo[:50]), UFC().fit(zoo)
    with pytest.raises(InputError, match="fitted on the 101 rows"):
        Report(chunks, zoo, groups=groups)


def test_one_row_and_constant_columns():
    model = RowGroups().fit(np.array([[True, False]]))
    assert (model.groups_[0].name, model.stop_reason_[:17]) == ("all rows", "splitting a group")
    constant = np.zeros((50, 4), bool)
    constant[:, 0] = True
    model = RowGroups().fit(constant)
    assert (model.n_groups_, model.groups_[0].marks) == (1, ())
    assert model.log_prob(~constant[:1])[0] < model.log_prob(constant[:1])[0]
