"""What the page of quality rests on: fair codes, fair splits, and a small part of the run."""

import itertools
import json

import numpy as np
import pytest
from benchmarks import quality
from benchmarks.quality import itemsets, measures, page, planted, representations, sets, summary

EVERY_ROW = np.array(list(itertools.product((False, True), repeat=5)))


def table(seed, n_rows=200):
    """Two columns that go together, one that is part of another, and two by chance."""
    random = np.random.default_rng(seed)
    made = random.random((n_rows, 5)) < [0.4, 0.5, 0.3, 0.2, 0.6]
    copied = random.random(n_rows) < 0.7
    made[copied, 1] = made[copied, 0]
    made[:, 2] &= made[:, 1]
    return made


# vocabularies of sets of tags


def drawn_sets(seed):
    random = np.random.default_rng(seed)
    sizes = random.integers(2, 5, 6)
    return [frozenset(random.choice(5, size, replace=False).tolist()) for size in sizes]


@pytest.mark.parametrize("seed", range(6))
def test_a_cover_is_a_partition_of_the_tags_of_a_row(seed):
    ordered = itemsets.in_cover_order(drawn_sets(seed), table(seed))
    assert {frozenset([k]) for k in range(5)} <= set(ordered)
    assert [len(itemset) for itemset in ordered] == sorted(map(len, ordered), reverse=True)
    for row, used in zip(EVERY_ROW, itemsets.cover(ordered, EVERY_ROW), strict=True):
        tags = [tag for k in np.flatnonzero(used) for tag in ordered[k]]
        assert sorted(tags) == np.flatnonzero(row).tolist()


@pytest.mark.parametrize("seed", range(6))
def test_codes_of_all_rows_have_room_beside_each_other(seed):
    train = table(seed)
    ordered = itemsets.in_cover_order(drawn_sets(seed), train)
    bits = [itemsets.bits_of(ordered, train, row[None]) for row in EVERY_ROW]
    assert sum(2.0**-b for b in bits) == pytest.approx(1)  # what is known costs nothing


def test_single_tags_are_coded_as_the_columns_are():
    train, test = table(0), table(1)
    bare = representations.columns(train)
    singles = itemsets.in_cover_order([], train)
    assert itemsets.bits_of(singles, train, test) == pytest.approx(bare.bits_of(train, test))


@pytest.mark.parametrize("seed", range(4))
def test_factors_are_concepts_that_cover_all_and_the_first_covers_most(seed):
    made = np.random.default_rng(seed).random((12, 5)) < 0.5
    found = itemsets.factors(made, 99)
    covered = np.zeros_like(made)
    for tags in found:
        rows = made[:, sorted(tags)].all(axis=1)
        assert frozenset(np.flatnonzero(made[rows].all(axis=0)).tolist()) == tags
        covered[np.ix_(rows, sorted(tags))] = True
    assert (covered == made).all()
    assert itemsets.factors(made, 2) == found[:2]


def test_frequent_sets_are_those_in_most_rows():
    pytest.importorskip("mlxtend", reason="mlxtend is part of the extra bench")
    made = table(3)
    every = [
        frozenset(tags)
        for size in range(2, itemsets.LONGEST + 1)
        for tags in itertools.combinations(range(5), size)
    ]
    supports = [made[:, sorted(tags)].all(axis=1).sum() for tags in every]
    found = itemsets.frequent(made, 6)
    told = [made[:, sorted(tags)].all(axis=1).sum() for tags in found]
    assert told == sorted(supports, reverse=True)[:6]


# what is planted, and what of it comes back


@pytest.mark.parametrize("kind", ["disjoint", "overlapping"])
def test_without_noise_every_row_is_made_of_patterns(kind):
    made = planted.planted(kind, noise=0, seed=1)
    n_tags = made.table.shape[1] - planted.N_FREE
    for row in made.table[:50, :n_tags]:
        tags = set(np.flatnonzero(row).tolist())
        whole = [pattern for pattern in made.patterns if pattern <= tags]
        assert set().union(*whole) == tags
    shared = sum(map(len, made.patterns)) - len(set().union(*made.patterns))
    assert (shared == 0) is (kind == "disjoint")
    noisy = planted.planted(kind, noise=0.1, seed=1)
    assert 0.09 < (noisy.table != made.table).mean() < 0.11


def test_only_the_exact_pattern_counts_as_recovered():
    sought = (frozenset([0, 1]), frozenset([2, 3, 4]))
    found = [frozenset([0, 1]), frozenset([2, 3]), frozenset([5]), frozenset([0, 1])]
    assert planted.recovered(found, sought) == {
        "recall": 0.5,
        "precision": 0.5,
        "first": 0.5,
        "found": 2,
    }


def test_the_default_rule_recovers_what_is_planted():
    made = planted.planted("overlapping", noise=0.05, seed=3)
    fit = representations.fitted("evidence", made.table)
    found = [feature.tags for feature in fit.chunks]
    assert planted.recovered(found, made.patterns)["recall"] >= 0.9


# splits, choices and a small part of the run


def test_no_row_is_in_both_parts_of_a_split():
    zoo = sets.sampled("zoo")
    for train, test in zoo.splits():
        assert sorted([*train, *test]) == list(range(101))
    assert len(list(zoo.splits())) == 2 * sets.N_FOLDS
    assert len(sets.whole("digits").sampled(50).classes) == 50


def test_intervals_are_chosen_on_the_training_rows():
    iris = sets.sampled("iris")
    (train, test), (other, _) = list(iris.splits())[:2]
    made, new = iris.tables(train, test)
    assert made.dtype == new.dtype == bool
    assert made.shape[1] == new.shape[1]
    assert not np.array_equal(made[:50], iris.tables(other, test)[0][:50])


NAMES = ("columns", "uFCα", "bits", "evidence", "evidence + columns", "PCA", "factors")


@pytest.fixture(scope="module")
def small_run():
    zoo = sets.sampled("zoo")
    return {name: measures.measured(zoo, name, n_splits=2, n_samples=1) for name in NAMES}


@pytest.mark.slow
def test_a_small_part_of_the_run(small_run):
    for name, found in small_run.items():
        numbers = found["numbers"]
        for measure, values in numbers.items():
            assert np.isfinite(values).all(), (name, measure)
            if measure.endswith(("accuracy", "NMI", "stability")):
                assert all(0 <= value <= 1 for value in values), (name, measure)
        assert ("bits" in numbers) is (name != "PCA")
        assert ("ChunkClassifier, accuracy" in numbers) is (name == "columns")
    bare = small_run["columns"]["numbers"]
    for rule in ("bits", "evidence"):
        assert (np.array(small_run[rule]["numbers"]["bits"]) < bare["bits"]).all()
    assert (np.array(bare["bits, variables known"]) <= bare["bits"]).all()
    both, alone = small_run["evidence + columns"]["numbers"], small_run["evidence"]["numbers"]
    assert both["bits"] == alone["bits"]
    columns = small_run["columns"]["numbers"]["features"]
    assert both["features"] == [m + k for m, k in zip(columns, alone["chunks"], strict=True)]


def test_chunks_that_only_make_a_classifier_less_sure_are_not_chosen():
    """The columns tell these groups better, but Naive Bayes is too sure of what they say."""
    accuracy, losses = [], []
    for seed in (101, 102, 103):
        groups = np.random.default_rng(seed).integers(3, size=500)
        made = planted.planted("disjoint", noise=0.05, seed=seed, groups=groups)
        found = measures.measured(
            sets.LabelledSet(made.table, groups),
            "columns",
            parts=("Naive Bayes", "ChunkClassifier"),
            n_samples=0,
        )
        figures = summary.figures_of(found, found["numbers"])
        accuracy.append(figures["ChunkClassifier, accuracy"][2:])
        losses.append(figures["ChunkClassifier, log-loss"][2:])
    gain, error = np.mean(accuracy, axis=0)
    assert gain >= -3 * error
    more, error = np.mean(losses, axis=0)
    assert more < -3 * error


@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers(small_run):
    again = measures.measured(sets.sampled("zoo"), "bits", n_splits=2, n_samples=1)
    first = dict(small_run["bits"]["numbers"], seconds=None)
    assert dict(again["numbers"], seconds=None) == first


@pytest.mark.slow
def test_differences_are_paired(small_run):
    bare = small_run["columns"]["numbers"]
    found = summary.figures_of(small_run["bits"], bare)
    ours = np.array(small_run["bits"]["numbers"]["tree, accuracy"])
    more = ours - bare["tree, accuracy"]
    mean, error, gain, its_error = found["tree, accuracy"]
    assert mean == pytest.approx(ours.mean(), abs=1e-5)
    assert gain == pytest.approx(more.mean(), abs=1e-5)
    assert error == pytest.approx(ours.std(ddof=1) / 2**0.5, abs=1e-5)
    assert its_error == pytest.approx(more.std(ddof=1) / 2**0.5, abs=1e-5)
    assert found["bits"][0] < 1
    columns = summary.figures_of(small_run["columns"], bare)
    assert columns["bits"] == [1.0, 0.0]
    # zoo has no variables, so that to know them changes nothing
    assert columns["bits, variables known"] == [1.0, 0.0]


def test_as_many_sets_are_worse_by_chance():
    """Two methods that are equally good, told apart by the noise of their splits."""
    n_splits = sets.N_FOLDS * sets.N_ROUNDS
    noise = np.random.default_rng(0).normal(size=(4000, n_splits))
    found = dict(enumerate(map(summary.mean_and_error, noise.tolist())))
    assert len(summary.worse(found)) == pytest.approx(summary.worse_by_chance(found), rel=0.1)
    assert summary.worse_by_chance(dict.fromkeys(found, (0.0, 0.0))) == 0


def test_cells_of_another_library_are_not_taken(monkeypatch, tmp_path):
    (tmp_path / "file.py").write_text("one")
    monkeypatch.setattr(quality.conjunct, "__file__", str(tmp_path / "__init__.py"))
    before = quality._folder()
    assert quality._folder() == before
    (tmp_path / "file.py").write_text("other")
    assert quality._folder() != before


def test_a_run_goes_on_where_it_was_interrupted(tmp_path, capsys):
    there, missing = (quality.Cell("sets", "zoo", by) for by in ("bits", "columns"))
    kept = {"found": "measured before", "seconds": 1}
    (tmp_path / "sets--zoo--bits.json").write_text(json.dumps(kept))
    assert quality.measured([there], tmp_path) == {there: kept}
    assert "0 of 1 cells" in capsys.readouterr().out
    assert not (tmp_path / f"{'--'.join(missing)}.json").exists()


# the page


def test_the_page_shows_what_was_measured_and_nothing_else():
    run = json.loads(page.DATA.read_text(encoding="utf-8"))
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.filled(text, page.tables_of(run)) == text
    assert json.loads(page.by_line(run)) == run
    assert page.CELLS.read_text(encoding="utf-8") == page.every_cell(run)
    for name in ("quality_accuracy", "quality_against", "quality_planted", "quality_first"):
        assert f"<!-- {name} -->" in text


def test_the_readme_tells_a_number_of_the_page():
    run = json.loads(page.DATA.read_text(encoding="utf-8"))
    readme = (page.DOCS.parent / "README.md").read_text(encoding="utf-8")
    told = f"compares {len(run['sets'])} data sets and shows where features help"
    assert told in " ".join(readme.split())


def test_no_cell_is_left_out():
    run = json.loads(page.DATA.read_text(encoding="utf-8"))
    assert len(run["sets"]) >= 12
    for cells in run["sets"].values():
        assert set(cells) == set(representations.REPRESENTATIONS)
