"""What a change of the data does to the outcome, for every estimator, on real and random tables.

None of these needs to know what the right features are, only how two outcomes must relate.
"""

import warnings
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given, reject
from hypothesis import strategies as st
from sklearn.base import clone

from conjunct import (
    UFC,
    Bits,
    ClusteringTree,
    ConjunctWarning,
    Fringe,
    Risk,
    UFCPath,
    UFringe,
    correlated_pairs,
)
from conjunct.datasets import load_spect, load_zoo
from conjunct.expressions import Primitive
from tables import tables

ESTIMATORS = {
    "UFC classic": UFC(0.2, feature_names="formula"),
    "UFC risk": UFC(Risk(alpha=0.05, prune=False), max_iter=2, feature_names="formula"),
    "UFC exact": UFC(
        Risk(alpha=0.05, test="exact", correction="holm"), max_iter=2, feature_names="formula"
    ),
    "UFC pairwise": UFC(0.1, search="pairwise", max_length=4, feature_names="formula"),
    "UFC bits": UFC(Bits(alpha=0.2)),
    "UFCPath": UFCPath(max_iter=3),
    "UFringe": UFringe(max_features=30, min_samples_leaf=2),
    "Fringe": Fringe(max_features=30, min_samples_leaf=2),
    "ClusteringTree": ClusteringTree(max_depth=3, min_samples_leaf=2),
}
# what they take for real depends on the number of rows
BY_RISK = {"UFC risk", "UFC exact", "UFC bits"}
CONSTRUCTORS = [name for name in ESTIMATORS if name != "ClusteringTree"]
TREES = ["UFringe", "Fringe"]

every = pytest.mark.parametrize("name", ESTIMATORS)
REAL = {"spect": load_spect().values, "zoo": load_zoo().values}
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@st.composite
def parts_of_real_tables(draw):
    """Some columns of a real table: the whole one is an example of every test."""
    table, rng = REAL[draw(st.sampled_from(sorted(REAL)))], draw(seeds)
    return table[:, rng.choice(table.shape[1], 8, replace=False)]


def on_tables(**others):
    """On random tables, parts of real ones, and real ones; with ``others`` as examples of these."""

    def given_tables(test):
        strategies = {key: strategy for key, (strategy, _) in others.items()}
        test = given(table=tables(min_rows=4) | parts_of_real_tables(), **strategies)(test)
        for table in REAL.values():
            test = example(table=table, **{key: one for key, (_, one) in others.items()})(test)
        return test

    return given_tables


SHUFFLED = (seeds, np.random.default_rng(0))


def names_of(table):
    # of one length, so that another letter for all of them keeps their order
    return [f"c{k:02}" for k in range(table.shape[1])]


def as_frame(table, names):
    # polars takes the columns of some square arrays for rows
    return pl.DataFrame(table, schema=list(names), orient="row")


def fitted(name, table, names=None, labels=None, **changed):
    if name == "UFCPath" and len(np.unique(table, axis=0)) <= table.shape[1]:
        reject()  # C0, by which it chooses, has no meaning, and it says so
    frame = as_frame(table, names or names_of(table))
    model = clone(ESTIMATORS[name]).set_params(**changed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        return model.fit(frame, labels_of(table) if labels is None else labels)


def labels_of(table):
    """Classes for Fringe, which other orders of rows and columns do not change."""
    return table.sum(axis=1) % 2


def outcome(model):
    """What was found: formulas, or descriptions of clusters, each with its number of rows."""
    if isinstance(model, ClusteringTree):
        sizes = np.bincount(model.labels_, minlength=model.n_leaves_).tolist()
        return Counter(dict(zip(model.descriptions_, sizes, strict=True)))
    return Counter(dict(zip(model.features_, model.feature_set_.supports, strict=True)))


def rows_of(model, table):
    frame = as_frame(table, model.feature_names_in_)
    made = model.predict(frame) if isinstance(model, ClusteringTree) else model.transform(frame)
    return np.asarray(made)


def constructed_columns(model, table):
    """The rows of each constructed feature, in no order."""
    is_new = [feature.length > 1 for feature in model.features_]
    return Counter(column.tobytes() for column in rows_of(model, table).T[is_new])


def distinct_names(rows):
    """For each row, the first that is equal to it."""
    return [rows.tolist().index(row) for row in rows.tolist()]


@every
@on_tables(rng=SHUFFLED)
def test_permuting_rows_changes_nothing(name, table, rng):
    order = rng.permutation(len(table))
    one, other = fitted(name, table), fitted(name, table[order])
    assert outcome(one) == outcome(other)
    assert (rows_of(one, table)[order] == rows_of(other, table[order])).all()


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name not in BY_RISK])
@on_tables(k=(st.sampled_from([2, 4]), 2), rng=SHUFFLED)
def test_duplicating_rows_multiplies_supports(name, table, k, rng):
    """r, OI and the distinct rows stay: the same features, each k times as often."""
    copies = rng.permutation(np.repeat(table, k, axis=0))
    # a least number of rows has to grow with them
    leaves = {} if name.startswith("UFC") else {"min_samples_leaf": 2 * k}
    one, other = fitted(name, table), fitted(name, copies, **leaves)
    assert {found: k * n for found, n in outcome(one).items()} == outcome(other)


@on_tables(k=(st.integers(2, 5), 2))
def test_duplicating_rows_lowers_the_threshold_of_risk(table, k):
    """λ(α) = u/√n: copies of rows are taken for more evidence, and no pair is lost."""
    copies = np.repeat(table, k, axis=0)
    one, other = fitted("UFC risk", table), fitted("UFC risk", copies)
    assert other.threshold_ == pytest.approx(one.threshold_ / np.sqrt(k))
    for tested in ({}, {"test": "exact", "correction": "holm"}):
        few, many = (
            {*zip(found["left"], found["right"], strict=True)}
            for found in (
                correlated_pairs(data, Risk(alpha=0.05, prune=False, **tested), backend="dict")
                for data in (table, copies)
            )
        )
        assert few <= many


@every
@on_tables(rng=SHUFFLED)
def test_permuting_columns_changes_nothing(name, table, rng):
    order = rng.permutation(table.shape[1])
    names = names_of(table)
    one = fitted(name, table)
    other = fitted(name, table[:, order], [names[k] for k in order])
    assert outcome(one) == outcome(other)


def test_equally_near_pairs_are_named_the_same_in_any_order():
    """Two pairs have the same lift, but not if it is rounded in another order."""
    rows = [{"a", "b"}] * 2 + [{"b", "d"}] * 2 + [{"a"}, {"d"}] + [{"b"}] * 9 + [set()] * 4
    found = set()
    for names in ("abcd", "dcba"):
        table = np.array([[name in row for name in names] for row in rows])
        with pytest.warns(ConjunctWarning, match="a with b comes nearest"):
            model = UFC().fit(pl.DataFrame(dict(zip(names, table.T, strict=True))))
        found.add(model.stop_reason_)
    assert len(found) == 1


@every
@on_tables()
def test_renaming_columns_renames_formulas(name, table):
    """By names in the same order, which alone decides ties."""
    others = [f"k{old[1:]}" for old in names_of(table)]
    one, other = fitted(name, table), fitted(name, table, others)
    renamed = {str(found).replace("c", "k"): n for found, n in outcome(one).items()}
    assert renamed == {str(found): n for found, n in outcome(other).items()}
    assert (rows_of(one, table) == rows_of(other, table)).all()


@on_tables(rng=SHUFFLED)
def test_negating_columns_turns_correlations_round(table, rng):
    """r(¬f, g) = −r(f, g): of both columns it stays, of one of them it changes sign."""
    negated = rng.random(table.shape[1]) < 0.5

    def correlations(data):
        found = correlated_pairs(data, 0.0, backend="dict")
        pairs = zip(found["left"], found["right"], strict=True)
        return {(int(x[1:]), int(y[1:])): r for (x, y), r in zip(pairs, found["r"], strict=True)}

    before, after = correlations(table), correlations(table ^ negated)
    kept = {pair: r for pair, r in before.items() if negated[pair[0]] == negated[pair[1]]}
    same = {pair: r for pair, r in after.items() if negated[pair[0]] == negated[pair[1]]}
    assert kept == pytest.approx(same)
    turned = set(before) - set(kept)
    assert not turned & set(after)


@given(rng=seeds)
def test_negating_all_columns_keeps_the_pairs_of_ufc(rng):
    """All r stay, so the same pairs are joined: ``¬f ∧ ¬g`` in place of ``f ∧ g``."""
    hidden = rng.random((120, 2)) < 0.5
    table = (hidden[:, rng.integers(0, 2, 6)]) ^ (rng.random((120, 6)) < 0.2)
    found = correlated_pairs(table, 0.2, backend="dict")["r"]
    assume(len({round(r, 9) for r in found}) == len(found))  # joint counts, which change, decide
    one, other = (
        UFC(0.2, max_iter=1, feature_names="formula").fit(data).feature_set_.merges
        for data in (table, ~table)
    )
    assert {(m.left, m.right) for m in one} == {(m.left, m.right) for m in other}
    assert sorted(m.r for m in one) == pytest.approx(sorted(m.r for m in other))


@on_tables(rng=SHUFFLED)
def test_negating_columns_keeps_clusters(table, rng):
    """A split on ¬f is the split on f, its parts the other way round."""
    negated = rng.random(table.shape[1]) < 0.5
    one = fitted("ClusteringTree", table).labels_
    other = fitted("ClusteringTree", table ^ negated).labels_
    assert len({*zip(one, other, strict=True)}) == len({*one}) == len({*other})


@on_tables(rng=SHUFFLED)
def test_negating_columns_keeps_what_ufringe_makes_of_a_tree(table, rng):
    """The paths are the same but for what a condition is called."""
    negated = rng.random(table.shape[1]) < 0.5
    once = {"max_features": table.shape[1] + 1}
    one = fitted("UFringe", table, **once)
    other = fitted("UFringe", table ^ negated, **once)
    made = constructed_columns(one, table)
    assert made == constructed_columns(other, table ^ negated)


@pytest.mark.parametrize("name", CONSTRUCTORS)
@on_tables(rng=SHUFFLED)
def test_negating_columns_keeps_which_rows_are_told_apart(name, table, rng):
    """No feature set loses anything: rows that differ still do, rows that are equal still are."""
    negated = rng.random(table.shape[1]) < 0.5
    other = fitted(name, table ^ negated, labels=labels_of(table))
    apart = distinct_names(table)
    assert distinct_names(rows_of(fitted(name, table), table)) == apart
    assert distinct_names(rows_of(other, table ^ negated)) == apart


# bits begin with the pair that saves most, which may be another
MERGES_COPIES = [name for name in ESTIMATORS if name.startswith("UFC") and name != "UFC bits"]


@pytest.mark.parametrize("name", MERGES_COPIES)
@on_tables(rng=SHUFFLED)
def test_a_copy_of_a_column_is_merged_with_it(name, table, rng):
    """r = 1: ``f ∧ f'`` is f itself, and the two conjunctions with a negation are empty."""
    support = table.sum(axis=0)
    varied = np.flatnonzero((support > 0) & (support < len(table)))
    assume(len(varied))
    if name == "UFC pairwise":
        # it begins with the two that are together most often
        varied = varied[support[varied] == support[varied].max()]
    if name == "UFC exact":
        # by default, pairs with an expected frequency below 5 are left out
        rarer = np.minimum(support, len(table) - support)[varied]
        varied = varied[rarer**2 >= 5 * len(table)]
    assume(len(varied))
    position = int(rng.choice(varied))
    column = table[:, position]
    # of several equal columns, texts say which two are merged
    assume(len(np.unique(table[:, varied], axis=1).T) == len(varied))
    once = {} if name == "UFCPath" else {"max_iter": 1}
    model = fitted(name, np.column_stack([table, column]), [*names_of(table), "copy"], **once)
    models = [model]
    if name == "UFCPath":
        models += [model.solution(k) for k in (0, len(model.solutions_) - 1)]
    for each in models:
        pair = {position, table.shape[1]}
        [merge] = [m for m in each.feature_set_.merges if {m.left, m.right} == pair]
        assert merge.joint == column.sum()
        assert (merge.left_only, merge.right_only) == (None, None)
        assert merge.r == pytest.approx(1)


@pytest.mark.parametrize("name", TREES)
@on_tables(rng=SHUFFLED)
def test_copies_of_columns_are_dropped_where_redundant(name, table, rng):
    """With ``drop_redundant=True`` they are as if they were not there."""
    copied = np.flatnonzero(rng.random(table.shape[1]) < 0.5)
    assume(table.any())
    whole = np.column_stack([table, table[:, copied]])
    names = [*names_of(table), *(f"copy{k:02}" for k in copied)]
    one = fitted(name, table, drop_redundant=True)
    other = fitted(name, whole, names, labels_of(table), drop_redundant=True)
    assert outcome(one) == outcome(other)


@on_tables(rng=SHUFFLED)
def test_copies_of_columns_change_no_decision_tree(table, rng):
    """Fringe's tree looks at one of equal columns: the copies are there, and all else too."""
    copied = np.flatnonzero(rng.random(table.shape[1]) < 0.5)
    names = [*names_of(table), *(f"copy{k:02}" for k in copied)]
    whole = np.column_stack([table, table[:, copied]])
    one = fitted("Fringe", table)
    other = fitted("Fringe", whole, names, labels_of(table), max_features=30 + len(copied))
    added = Counter({found: n for found, n in outcome(other).items() if "copy" in str(found)})
    assert outcome(other) == outcome(one) | added
    assert len(added) == len(copied)


@on_tables(k=(st.integers(2, 3), 2))
def test_copies_of_all_columns_keep_the_clusters(table, k):
    """Every reduction is k times as large. Copies of some columns would give them more weight."""
    names = [name + "'" * j for j in range(k) for name in names_of(table)]
    whole = np.tile(table, k)
    assert outcome(fitted("ClusteringTree", table)) == outcome(
        fitted("ClusteringTree", whole, names)
    )
    n_columns = table.shape[1]
    one = fitted("UFringe", table, max_features=n_columns + 1)
    other = fitted("UFringe", whole, names, max_features=k * n_columns + 1)
    assert constructed_columns(one, table) == constructed_columns(other, whole)


@every
@on_tables(rng=SHUFFLED)
def test_constant_columns_are_left_alone(name, table, rng):
    """They are never paired, tested or split on: all else is as it was without them.

    C0 counts them, though, and so they may change where a run stops by RMS and which solution of
    a path is the closest: the iterations are given here, and all solutions compared.
    """
    # cells that are always true take bits, so that S is another: there, both columns are empty
    always = name != "UFC bits"
    whole = np.column_stack([table, np.zeros((len(table), 2), bool) | [always, False]])
    names = [*names_of(table), "always", "never"]
    order = rng.permutation(len(names))
    changed = {"max_iter": 2} if name.startswith("UFC") else {}
    more = {"max_features": 32} if name in TREES else changed
    other = fitted(name, whole[:, order], [names[k] for k in order], labels_of(table), **more)
    one = fitted(name, table, **changed)
    if name == "UFCPath":
        assert [numbers(solution) for solution in one.solutions_] == [
            numbers(solution, constant=2) for solution in other.solutions_
        ]
        return
    found = outcome(other)
    if name != "ClusteringTree":
        assert found.pop(Primitive("always")) == len(table) * always
        assert found.pop(Primitive("never")) == 0
    assert found == outcome(one)


def numbers(solution, constant=0):
    """Where a solution holds, and what it is."""
    bounds = (solution.min_threshold, solution.max_threshold, solution.settled_from)
    return *bounds, solution.iterations, solution.n_features - constant


@every
@on_tables(share=(st.floats(0, 1), 0.3))
def test_rows_split_and_recombined(name, table, share):
    """Each row is transformed by itself, and the whole is its parts in any order."""
    at = min(max(1, round(share * len(table))), len(table) - 1)
    model = fitted(name, table)
    parts = [rows_of(model, part) for part in (table[:at], table[at:])]
    assert (np.concatenate(parts) == rows_of(model, table)).all()
    swapped = np.concatenate([table[at:], table[:at]])
    assert outcome(fitted(name, swapped)) == outcome(model)


@pytest.mark.parametrize("name", CONSTRUCTORS)
@pytest.mark.parametrize("table", REAL.values(), ids=REAL)
def test_the_real_tables_construct_something(name, table):
    """Without this, nothing above would be about construction."""
    model = fitted(name, table)
    assert any(feature.length > 1 for feature in model.features_)
