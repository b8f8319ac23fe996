"""What a change of a raw table does to the features, and one of baskets to their tags."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conjunct import Binarizer, TagCleaner
from conjunct.datasets import load_zoo

# intervals of equal width: quantiles lie elsewhere among twice as many rows
BINARIZER = Binarizer(binning="width", n_bins=3)


@st.composite
def raw_tables(draw):
    """Words, numbers, answers and dates, some of them missing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(12, 60))
    days = np.datetime64("2024-01-01") + rng.integers(0, 700, n_rows)
    columns = {
        "colour": rng.choice(["red", "green", "blue"], n_rows).tolist(),
        "age": rng.normal(40, 20, n_rows).round(1).tolist(),
        "wet": rng.choice(["yes", "no"], n_rows).tolist(),
        "born": days.tolist(),
    }
    for cells in columns.values():
        # never the first rows, from which a constant column would come
        for k in rng.integers(6, n_rows, 2):
            cells[k] = None
    return pl.DataFrame(columns)


REAL = pl.DataFrame({"hair": load_zoo().values[:, 0], "legs": load_zoo().values.sum(axis=1)})
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def on_tables(test):
    tried = given(table=raw_tables(), rng=seeds)(test)
    return example(table=REAL, rng=np.random.default_rng(0))(tried)


def features(table):
    return BINARIZER.fit(table).transform(table)


@on_tables
def test_permuting_rows_permutes_them(table, rng):
    order = rng.permutation(len(table))
    assert features(table[order]).equals(features(table)[order])


@on_tables
def test_duplicating_rows_duplicates_them(table, rng):
    copies = np.repeat(np.arange(len(table)), 2)
    assert features(table[copies]).equals(features(table)[copies])


@on_tables
def test_permuting_columns_permutes_features(table, rng):
    order = rng.permutation(table.columns).tolist()
    one, other = features(table), features(table.select(order))
    assert one.equals(other.select(one.columns))
    # those of one column stay together, in the order of the columns
    assert [name for column in order for name in one.columns if of(name, column)] == other.columns


@on_tables
def test_renaming_and_duplicating_columns(table, rng):
    """Features are named after their column, and know nothing of the others."""
    copies = table.rename({name: f"my {name}" for name in table.columns})
    one, other = features(table), features(copies)
    assert other.columns == [f"my {name}" for name in one.columns]
    assert features(pl.concat([table, copies], how="horizontal")).equals(
        pl.concat([one, other], how="horizontal")
    )


@on_tables
def test_negating_a_column_negates_its_feature(table, rng):
    flag = "wet" if "wet" in table.columns else "hair"
    swapped = {"yes": "no", "no": "yes"}
    if flag == "wet":
        other = table.with_columns(pl.col(flag).replace_strict(swapped))
    else:
        other = table.with_columns(~pl.col(flag))
    one, other = features(table), features(other)
    assert one.with_columns(~pl.col(flag)).equals(other)


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@on_tables
def test_constant_columns_are_left_out(table, rng):
    """Of words and numbers. Booleans stay as they are, whatever their values."""
    added = table.with_columns(always=pl.lit(True), same=pl.lit("word"), seven=pl.lit(7.5))
    assert features(added).equals(features(table).with_columns(always=pl.lit(True)))
    BINARIZER.fit(added)
    assert {dropped.column for dropped in BINARIZER.dropped_} == {"same", "seven"}


@on_tables
def test_rows_split_and_recombined(table, rng):
    at = int(rng.integers(1, len(table)))
    whole = features(table)
    parts = [BINARIZER.transform(part) for part in (table[:at], table[at:])]
    assert pl.concat(parts).equals(whole)


def of(feature, column):
    """Whether a feature is one of a column."""
    return feature == column or feature.startswith(f"{column} ")


TAGS = ["Sky", "sky", "skies", "car", "cars", "Car ", "#car", "auto", "paris", "old-house"]
baskets = st.lists(st.lists(st.sampled_from(TAGS), max_size=5), min_size=1, max_size=20)


@given(baskets=baskets, rng=seeds, k=st.integers(2, 3))
def test_baskets_in_any_order_and_number(baskets, rng, k):
    """The order of baskets and tags changes nothing; copies of baskets only the counts."""
    order = rng.permutation(len(baskets))
    shuffled = [rng.permutation(np.array(baskets[i], object)).tolist() for i in order]
    one, other = TagCleaner().fit(baskets), TagCleaner().fit(shuffled * k)
    assert one.mapping_ == other.mapping_
    assert {tag: k * n for tag, n in one.counts_.items()} == other.counts_
    for i, basket in zip(order, other.transform(shuffled), strict=True):
        assert sorted(one.transform([baskets[i]])[0]) == sorted(basket)


@given(baskets=baskets, share=st.floats(0, 1))
def test_baskets_split_and_recombined(baskets, share):
    at = round(share * len(baskets))
    whole = TagCleaner().fit(baskets)
    parts = [TagCleaner().fit(part).counts_ for part in (baskets[:at], baskets[at:])]
    assert Counter(parts[0]) + Counter(parts[1]) == whole.counts_
    assert TagCleaner().fit_counts(Counter(parts[0]) + Counter(parts[1])).mapping_ == whole.mapping_
    assert whole.transform(baskets[:at]) + whole.transform(baskets[at:]) == whole.transform(baskets)
