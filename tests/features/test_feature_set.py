"""Feature sets: what is shown, left out, taken back, found by its name, against the rows."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conjunct.columns import MaskedColumns, PackedColumns
from conjunct.errors import InputError
from conjunct.expressions import parse
from conjunct.features import overlapping_index
from conjunct.features.feature_set import FeatureSet
from conjunct.features.lineage import Lineage, Tally
from conjunct.ufc import Threshold
from runs import planned, ran
from tables import tables

NAMES = "abcdef"


@st.composite
def runs(draw):
    """A run of a few merges on a table, the names of columns, and the table."""
    table = draw(tables(max_rows=25, max_columns=6, min_rows=4))
    names = tuple(draw(st.permutations(NAMES[: table.shape[1]])))
    plan = planned(Threshold(draw(st.sampled_from([0.1, 0.3]))))
    columns = PackedColumns.from_table(table)
    fitted = ran(columns, names, plan, max_iter=draw(st.integers(1, 4))).feature_set
    return fitted, names, table


def dense(fitted, table, numbers=None):
    return fitted.evaluate(PackedColumns.from_table(table), numbers).to_dense().astype(bool)


@given(runs())
def test_what_a_merge_made_is_in_its_rows(drawn):
    fitted, names, table = drawn
    every = dense(fitted, table, range(len(fitted.lineage)))
    assert every[:, : len(names)].tolist() == table.tolist()
    made = dict.fromkeys(range(len(names)), 0)
    for merge in fitted.merges:
        left, right = every[:, merge.left], every[:, merge.right]
        for number, rows in zip(
            merge.parts, (left & right, right & ~left, left & ~right), strict=True
        ):
            assert (number is None) == (not rows.any())
            if number is not None:
                assert every[:, number].tolist() == rows.tolist()
                made[number] = merge.iteration
                assert fitted.origins()[number] is merge
                assert {*fitted.parents(number)} == {merge.left, merge.right}
        assert merge.made == tuple(number for number in merge.parts if number is not None)
        assert merge.joint == (left & right).sum()
    assert {k: fitted.iteration(k) for k in range(len(fitted.lineage))} == made
    assert all(fitted.parents(k) == () for k in range(len(names)))
    assert fitted.supports == tuple(every[:, [*fitted.features]].sum(axis=0))
    assert fitted.frequencies == pytest.approx(every[:, [*fitted.features]].mean(axis=0))


@given(runs(), st.data())
def test_the_features_after_some_merges(drawn, data):
    fitted, names, table = drawn
    n = data.draw(st.integers(0, len(fitted.merges)))
    some = fitted.after_first(n)
    present = [*range(len(names))]
    for merge in fitted.merges[:n]:
        present = [k for k in present if k not in (merge.left, merge.right)] + [*merge.made]
    assert some.features == tuple(present)
    every = dense(fitted, table, range(len(fitted.lineage)))
    assert some.supports == tuple(every[:, present].sum(axis=0))
    assert some.merges == fitted.merges[:n]
    assert len(some.lineage) == len(names) + len(some.iterations)
    assert dense(some, table).tolist() == every[:, present].tolist()


@given(runs(), st.floats(0, 1))
def test_rare_features_are_suppressed_and_come_back(drawn, least):
    fitted, _, table = drawn
    shares = dict(zip(fitted.features, fitted.frequencies, strict=True))
    if max(shares.values()) < least:
        with pytest.raises(InputError, match="no feature reaches"):
            fitted.without_rare(least)
        return
    some = fitted.without_rare(least)
    kept = [k for k, share in shares.items() if share >= least]
    rare = [k for k, share in shares.items() if share < least]
    assert (some.features, some.suppressed) == (tuple(kept), tuple(rare))
    every = dense(fitted, table, range(len(fitted.lineage)))
    assert some.suppressed_supports == tuple(every[:, rare].sum(axis=0))
    assert some.with_rare().features == (*kept, *rare)
    assert some.with_rare().supports == tuple(every[:, kept + rare].sum(axis=0))
    assert (some.rare().features, some.rare().suppressed) == (tuple(rare), ())
    assert some.rare().supports == some.suppressed_supports
    # positions count the suppressed ones last
    numbers = [*kept, *rare]
    for k, number in enumerate(numbers):
        assert some.position(k) == some.position(np.int64(k)) == k
        expression = fitted.lineage.expression(number)
        assert some.position(expression) == k
        assert some.position(str(expression)) == k
    for text in some.pattern_texts:
        assert some.pattern_texts[some.position(text)] == text
    for k in (-1, len(numbers)):
        with pytest.raises(InputError, match=f"no feature {k}: there are {len(numbers)}"):
            some.position(k)
    # what cannot be recovered is what only suppressed features held
    shown = some.evaluate(PackedColumns.from_table(table))
    found = some.recover(shown).to_dense().astype(bool)
    assert not (found & ~table).any()
    assert some.lost_cells() == tuple((table & ~found).sum(axis=0))
    if not rare:
        assert found.tolist() == table.tolist()


@given(runs())
def test_primitives_beside_the_features_of_two_tags(drawn):
    fitted, names, table = drawn
    both = fitted.beside_primitives()
    chunks = [k for k in fitted.features if len(fitted.lineage.pattern(k)) > 1]
    assert both.features == (*range(len(names)), *chunks)
    assert both.supports == tuple(dense(both, table).sum(axis=0))


@given(runs())
def test_conjunctions_that_never_occurred_are_kept_for_new_rows(drawn):
    fitted, names, table = drawn
    whole = fitted.with_unseen
    new = np.array([[k >> j & 1 for j in range(len(names))] for k in range(2 ** len(names))], bool)
    seen = len(fitted.features)
    assert whole.features[:seen] == fitted.features
    assert whole.supports[seen:] == (0,) * (len(whole.features) - seen)
    assert not dense(whole, table)[:, seen:].any()
    for number in whole.features[seen:]:
        assert whole.origins()[number].iteration == whole.iteration(number) > 0
    missing = sum(part is None for merge in fitted.merges for part in merge.parts)
    assert len(whole.features) == seen + missing
    assert all(None not in merge.parts for merge in whole.merges)
    # every row there could be comes back
    found = whole.recover(whole.evaluate(PackedColumns.from_table(new))).to_dense()
    assert found.astype(bool).tolist() == new.tolist()


@given(runs())
def test_counts_of_the_code_are_those_of_the_training_rows(drawn):
    fitted, _, table = drawn
    assert not fitted.has_code
    with pytest.raises(InputError, match="no counts for its code"):
        fitted.known_counts()
    assert fitted.pattern_tables is None
    counted = fitted.with_code_counts(PackedColumns.from_table(table))
    assert counted.has_code
    assert counted.is_code_of(len(table))
    assert not counted.is_code_of(len(table) + 1)
    assert len(counted.pattern_tables) == len(fitted.merges)
    other = table.copy()
    other[0] = ~other[0]
    assert not fitted.with_code_counts(PackedColumns.from_table(other)).is_code_of(len(table))
    # a truncated set keeps only the tables of its patterns
    some = counted.after_first(1)
    assert not some.has_code
    with pytest.raises(InputError, match="no counts for its code"):
        some.description_length()
    assert some.pattern_tables == counted.pattern_tables[:1]


@given(runs())
def test_rows_with_all_of_some_tags(drawn):
    fitted, names, table = drawn
    columns = PackedColumns.from_table(table)
    for tags in (names[:1], names[-2:], names):
        expected = table[:, [names.index(tag) for tag in tags]].all(axis=1)
        found = fitted.evaluate_tags(columns, tags).to_dense().astype(bool)
        assert found.tolist() == expected[:, None].tolist()


def tagged(names):
    """A feature set of tags, the first two of which are merged."""
    lineage = Lineage(names)
    both, right, left = (lineage.conjoin(*pair) for pair in ((0, 1), (~0, 1), (0, ~1)))
    features = (*range(2, len(names)), both, right, left)
    return FeatureSet(lineage, features, (1,) * len(features), 9, (1, 1, 1))


def test_texts_name_tags():
    fitted = tagged(["knife", "fork", "spoon"])
    assert fitted.tags_in("spoon") == ("spoon",)
    assert fitted.tags_in("fork + knife") == ("knife", "fork")
    assert fitted.tags_in("spoon + fork") == ("fork", "spoon")
    assert fitted.tags_in("spoon + fork + knife") == ("knife", "fork", "spoon")
    for text in ("fork (rest)", "plate", "fork + plate", "", 3, None, "~fork", "a (rest)"):
        assert fitted.tags_in(text) is None
    # the text of the rest of a pattern, and a column that has it as its name
    fitted = tagged(["knife", "fork", "fork (rest)", "fork + knife"])
    assert fitted.pattern_texts[-2:] == ("fork (rest)", "knife (rest)")
    assert fitted.tags_in("fork (rest)") is None
    assert fitted.tags_in('"fork (rest)"') == ("fork (rest)",)
    assert fitted.tags_in("knife (rest)") is None
    assert fitted.tags_in('"fork + knife"') == ("fork + knife",)
    assert fitted.tags_in("fork + knife") == ("knife", "fork")
    # another order is no text of the program, so that the column of that name comes first
    fitted = tagged(["knife", "fork", "knife + fork"])
    assert fitted.tags_in("knife + fork") == ("knife + fork",)
    # the program writes all tags of these columns in quotes
    fitted = tagged(["a + b", "b"])
    assert fitted.tags_in('"a + b" + b') == ("a + b", "b")
    fitted = tagged(["a", "b", "a + b + c"])
    assert fitted.tags_in("a + b") == ("a", "b")
    assert fitted.tags_in("a + b + c") == ("a + b + c",)


def test_what_is_no_feature_is_refused():
    fitted = tagged(["a", "b", "c"])
    assert fitted.position("c") == 0
    assert fitted.position(parse("a & b")) == fitted.position("a + b") == 1
    assert fitted.position("~a & b") == fitted.position("b (rest)") == 2
    for wrong in ("a", "a & c", "a | b"):
        with pytest.raises(InputError, match=r"there is no feature .* in this model"):
            fitted.position(wrong)
    with pytest.raises(InputError, match="a position, a formula or its text, not float"):
        fitted.position(1.0)


def test_indicators_where_cells_are_missing():
    assert overlapping_index([2, 3], [4, 6]) == 0
    assert overlapping_index([3, 3, 0], [4, 4, 0]) == 0.25
    assert overlapping_index([4, 0, 6], [4, 0, 6]) == 0.5
    assert overlapping_index([1, 1, 1, 1], [2, 4, 4, 4]) == pytest.approx(0.25 / 3)
    assert overlapping_index([0, 0, 0], [0, 0, 0]) == -0.5
    with pytest.raises(ValueError, match="one number of rows for all features"):
        overlapping_index([1, 1], [2, 3], null_support=1)
    # known in no row, in as many rows as others, in any at all
    lineage = Lineage("abc")
    fitted = FeatureSet(lineage, (0, 1, 2), (1, 0, 3), 4, (), known=(2, 0, 4))
    assert fitted.frequencies == (0.5, 0.0, 0.75)
    rare = fitted.without_rare(0.6)
    assert (rare.features, rare.known) == ((2,), (4, 2, 0))
    assert rare.rare().known == (2, 0)
    assert rare.frequencies == (0.75,)


@given(runs(), st.randoms(use_true_random=False))
def test_missing_cells_stay_missing_and_the_rest_is_recovered(drawn, random):
    fitted, _, table = drawn
    known = np.array([[random.random() < 0.8 for _ in row] for row in table], bool)
    whole = fitted.with_unseen
    kept = PackedColumns.from_table(known)
    columns = MaskedColumns(PackedColumns.from_table(table & known), kept)
    found = whole.recover(whole.evaluate(columns)).to_dense()
    assert not np.isnan(found[known.all(axis=1)]).any()
    there = ~np.isnan(found)
    assert found[there].astype(bool).tolist() == table[there].tolist()


@given(st.data())
def test_lineages_forget_copy_and_begin_as_if_the_rest_had_never_been(data):
    lineage = Lineage("abcd")

    def made(of, n):
        for _ in range(n):
            literal = st.integers(-len(of), len(of) - 1)
            one, other = data.draw(literal), data.draw(literal)
            if data.draw(st.booleans()):
                of.make(Tally((one, other), data.draw(st.sampled_from([1, 2])), False))
            else:
                of.conjoin(one, other)

    def state(of):
        numbers = range(len(of))
        patterns = [of.pattern(k) for k in numbers]
        order, denies = of.by_text(numbers), [of.denies(k) for k in numbers]
        return of.texts(numbers), of.lengths(numbers), patterns, order, denies

    made(lineage, 4)
    n, before = len(lineage), state(lineage)
    later = lineage.copy()
    made(later, 4)
    state(later)
    assert state(lineage) == before
    first = later.first(n - 4)
    assert state(first) == before
    later.forget_after(n)
    assert state(later) == before
    again = Lineage("abcd")
    again.__setstate__(lineage.__getstate__())
    assert state(again) == before
    for other in (later, first, again):
        # what is there already gets no second number
        assert [other.make(part) for part in lineage.made] == [*range(4, n)]
        new = other.conjoin(~0, n - 1) if (~0, n - 1) not in lineage.made else n
        assert new == n
        assert len(other) in (n, n + 1)
    assume(n > 4)
    assert set(lineage.ancestors(range(n))) == {*range(4, n)}
    assert lineage.ancestors(range(4)) == []
