"""What the benchmark of evidence rests on: its tree, its variables, what it plants and draws."""

import itertools
import math

import numpy as np
import pytest
from benchmarks import _page, chance, evidence
from benchmarks._chow_liu import ChowLiuTree, mutual_information

from conjunct import UFC


def chain(seed, n_rows=400):
    """Columns of which each mostly copies the one before."""
    random = np.random.default_rng(seed)
    made = random.random((n_rows, 6)) < [0.5, 0.4, 0.5, 0.3, 0.6, 0.5]
    for k in range(1, 6):
        copied = random.random(n_rows) < 0.6
        made[copied, k] = made[copied, k - 1]
    return made


def naive_information(one, other):
    """Return the mutual information in nats, from its definition."""
    total = 0.0
    for x, y in itertools.product((False, True), repeat=2):
        both = np.mean((one == x) & (other == y))
        if both:
            total += both * math.log(both / (np.mean(one == x) * np.mean(other == y)))
    return total


def naive_best(weights):
    """Return the most that a spanning tree weighs, of all there are."""
    n = len(weights)
    best = -math.inf
    for edges in itertools.combinations(itertools.combinations(range(n), 2), n - 1):
        part = list(range(n))
        for i, j in edges:
            part = [part[i] if p == part[j] else p for p in part]
        if len(set(part)) == 1:
            best = max(best, sum(weights[i][j] for i, j in edges))
    return best


@pytest.mark.parametrize("seed", range(4))
def test_no_tree_has_more_information(seed):
    made = chain(seed)
    made[:, 5] = False  # a column that says nothing has its place in the tree too
    weights = [[naive_information(a, b) for b in made.T] for a in made.T]
    cells = made.astype(float)
    found = mutual_information(len(made), cells.sum(axis=0), cells.T @ cells) / len(made)
    off_diagonal = ~np.eye(6, dtype=bool)
    assert found[off_diagonal] == pytest.approx(np.array(weights)[off_diagonal], abs=1e-12)
    tree = ChowLiuTree.of(made)
    held = sum(weights[k][parent] for k, parent in enumerate(tree.parents) if k != parent)
    assert held == pytest.approx(naive_best(weights))


def test_the_tree_is_a_distribution_with_smoothed_shares():
    made = chain(7)
    tree = ChowLiuTree.of(made)
    rows = np.array(list(itertools.product((False, True), repeat=6)))
    assert np.exp(tree.log_probs(rows)).sum() == pytest.approx(1)
    (root,) = (k for k, parent in enumerate(tree.parents) if k == parent)
    assert tree.chances[:, root] == pytest.approx((made[:, root].sum() + 0.5) / (len(made) + 1))
    child = next(k for k, parent in enumerate(tree.parents) if k != parent)
    among = made[made[:, tree.parents[child]]]
    expected = (among[:, child].sum() + 0.5) / (len(among) + 1)
    assert tree.chances[1, child] == pytest.approx(expected)


def test_variables_are_neighbours_that_exclude_each_other_in_most_rows():
    values = np.random.default_rng(0).integers(3, size=200)
    one_hot = values[:, None] == np.arange(3)
    tags = np.random.default_rng(1).random((200, 2)) < 0.5
    rare = np.zeros((200, 2), bool)
    rare[0, 0] = rare[1, 1] = True
    table = np.hstack([tags, one_hot, rare])
    assert evidence.variables_of(table) == {"v0": ["x2", "x3", "x4"]}


@pytest.mark.parametrize("rule", ["bits", "evidence"])
def test_which_pairs_are_joined_does_not_depend_on_variables(rule):
    values = np.random.default_rng(0).integers(3, size=400)
    table = np.hstack([chain(0), values[:, None] == np.arange(3), values[:, None] < 1])
    merges = [
        UFC(rule, variables=variables).fit(table).feature_set_.merges
        for variables in (None, False, {"v": ["x6", "x7", "x8"]})
    ]
    assert merges[0]
    assert merges[0] == merges[1] == merges[2]


@pytest.mark.parametrize("kind", ["disjoint", "overlapping"])
def test_planted_patterns_are_in_the_rows(kind):
    made = evidence.plant(kind, noise=0, n_rows=2000)
    sizes = sorted(map(len, made.patterns))
    assert sizes == sorted(s for s, n in evidence.SIZES.items() for _ in range(n))
    assert len(sizes) == 100
    shared = sum(sizes) - len(set().union(*made.patterns))
    assert (shared == 0) is (kind == "disjoint")
    assert not any(a < b for a, b in itertools.permutations(made.patterns, 2))
    for row in made.table[:50]:
        tags = set(np.flatnonzero(row).tolist())
        whole = [pattern for pattern in made.patterns if pattern <= tags]
        assert set().union(*whole) == tags
    noisy = evidence.plant(kind, noise=0.05, n_rows=2000)
    assert (noisy.table != made.table).mean() == pytest.approx(0.05, abs=0.002)


def test_one_hot_tables_have_one_value_for_each_variable():
    made = chance.one_hot(100, 7, [0])
    assert (made.sum(axis=1) == 7).all()
    assert chance.MOST_VALUES * 7 >= made.shape[1] >= 14


def test_sets_that_are_not_here_are_left_out(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("benchmarks.evidence.FOLDER", tmp_path / "bench")
    parts = ("density", "fits")
    monkeypatch.setattr(evidence, "PARTS", {part: evidence.PARTS[part] for part in parts})
    found = {}
    monkeypatch.setattr(evidence, "save", lambda name, run: found.update(run))
    assert evidence.main() == 0
    assert found == {"density": [], "fits": []}
    assert capsys.readouterr().out.startswith("bench is not here: bundled sets")
    assert evidence.load("led") is None
    assert evidence.load("zoo").shape == (101, 15)


def test_a_share_that_is_the_same_either_way_is_shown_once():
    line = {"known": 0.56249, "known, source": 0.5624, "bits": 0.6, "bits, source": 0.5}
    assert _page._both(line, "known") == "0.562"
    assert _page._both(line, "bits") == "0.500 (0.600)"
