"""Rows as chunks: every tag once, seen or unseen, in every container; new columns."""

import warnings

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st

import naive_bits
from conjunct import UFC, Bits, BooleanData, ConjunctWarning, InputError, Risk, Threshold, datasets
from conjunct.expressions import parse_pattern, pattern_text
from tables import tables

NAMES = [f"x{k}" for k in range(8)]
ZOO = datasets.load_zoo()

models = st.builds(
    UFC,
    st.sampled_from([Bits(), Bits(None), Bits(0.4), Threshold(0.1), Risk(0.2, prune=False)]),
    max_iter=st.sampled_from([3, 8]),
    search=st.sampled_from(["pairwise", "batch"]),
)


@st.composite
def old_and_new(draw, max_columns=6):
    """A table, and rows with the same columns that may hold what it never does."""
    table = draw(tables(max_columns=max_columns))
    m = table.shape[1]
    row = st.lists(st.booleans(), min_size=m, max_size=m)
    rows = np.array(draw(st.lists(row, min_size=1, max_size=10)), bool)
    return table, rows


def fitted(model, data):
    """That nothing was constructed is not what is tested here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        return model.fit(data)


def tags_of(row, names=NAMES):
    return [name for name, cell in zip(names, row, strict=False) if cell]


def merged_patterns(model):
    pattern = model.feature_set_.lineage.pattern
    merges = model.feature_set_.merges
    return [(frozenset(pattern(m.left)), frozenset(pattern(m.right))) for m in merges]


def in_order(chunks):
    """Larger ones first."""
    return sorted((tuple(sorted(chunk)) for chunk in chunks), key=lambda c: (-len(c), c))


def naive_chunks(model, rows, names=NAMES):
    merges = merged_patterns(model)
    return [in_order(naive_bits.chunks(tags_of(row, names), merges)) for row in rows]


def named(table, make):
    return make(dict(zip(NAMES, table.T, strict=False)))


CONTAINERS = {
    "numpy": lambda table: table,
    "pandas": lambda table: named(table, pd.DataFrame),
    "polars": lambda table: named(table, pl.DataFrame),
    "pyarrow": lambda table: named(table, pa.table),
    "sparse": sp.csr_array,
    "baskets": lambda table: [tags_of(row) for row in table],
    "packed": lambda table: BooleanData.from_data(named(table, pl.DataFrame)),
}


@pytest.mark.parametrize("kind", CONTAINERS)
@given(model=models, data=old_and_new())
def test_chunks_are_the_oracles_in_every_container(kind, model, data):
    table, rows = data
    if kind == "baskets":
        # tags that are nowhere are no columns, and unknown ones are named and left out
        table = np.vstack([table, np.ones(table.shape[1], bool)])
    make = CONTAINERS[kind]
    fitted(model, make(table))
    for some in (table, rows):
        expected = naive_chunks(model, some)
        found = model.chunks(make(some))
        assert found == expected
        for row, chunks in zip(some, found, strict=True):
            assert sorted(tag for chunk in chunks for tag in chunk) == tags_of(row)


@given(data=old_and_new(), alpha=st.sampled_from([None, 0.05, 0.4]))
def test_chunks_of_the_oracles_own_run(data, alpha):
    table, rows = data
    stages = naive_bits.run(dict(zip(NAMES, table.T.tolist(), strict=False)), alpha)
    merges = naive_bits.merged_patterns(stages)
    model = fitted(UFC(Bits(alpha)), table)
    expected = [in_order(naive_bits.chunks(tags_of(row), merges)) for row in rows]
    assert model.chunks(rows) == expected


def texts_of(lists):
    return [" · ".join(map(pattern_text, chunks)) for chunks in lists]


TABLES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table, "dict": dict}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_forms(kind):
    make = CONTAINERS[kind]
    table = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 1], [1, 1, 0], [0, 1, 0], [0, 0, 0]] * 9, bool)
    rows = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1]], bool)
    model = UFC().fit(make(table))
    lists = model.chunks(make(rows))
    assert lists == [[("x0",), ("x2",)], [], [("x0", "x1"), ("x2",)]]
    texts = ["x0 · x2", "", "x0 + x1 · x2"]
    long = {"row": [0, 0, 2, 2], "chunk": ["x0", "x2", "x0 + x1", "x2"]}

    def plain(table):
        return table if isinstance(table, dict) else pa.table(table).to_pydict()

    text = model.chunks(make(rows), "text")
    if kind in TABLES:
        assert isinstance(text, TABLES[kind])
        assert plain(text) == {"chunks": texts}
    else:
        assert text == texts
    made = model.chunks(make(rows), "long")
    assert isinstance(made, TABLES.get(kind, pd.DataFrame))
    assert plain(made) == long
    for backend, type_ in TABLES.items():
        made = model.chunks(make(rows), "long", backend=backend)
        assert isinstance(made, type_)
        assert plain(made) == long
        assert plain(model.chunks(make(rows), "text", backend=backend)) == {"chunks": texts}
    with pytest.raises(InputError, match="output must be 'lists', 'text' or 'long'; got 'words'"):
        model.chunks(make(rows), "words")


def test_the_index_of_pandas_stays():
    frame = pd.DataFrame(ZOO.values, columns=ZOO.feature_names).set_index(np.arange(101) * 3)
    model = UFC().fit(frame)
    assert model.chunks(frame, "text").index.equals(frame.index)


@given(data=old_and_new(), model=models)
def test_texts_of_dask(data, model):
    table, rows = data
    frame = CONTAINERS["pandas"](rows)
    fitted(model, CONTAINERS["pandas"](table))
    parts = dd.from_pandas(frame, npartitions=2)
    with dask.config.set(scheduler="synchronous"):
        pd.testing.assert_frame_equal(
            model.chunks(parts, "text").compute(), model.chunks(frame, "text")
        )
    with pytest.raises(InputError, match="chunks of Dask data need a data frame"):
        model.chunks(parts)


HOSTILE = [
    "a", "b", "a + b", "b + a", " + ", "+", "·", " · ", "a · b", '"', '"a"', '"a" + b', "a\nb",
    "\n", "\\n", "a (rest)", "(rest)", " (rest)", "", " ", " a", "a ", "a ∧ b", "¬a", "0", "⊤",
]  # fmt: skip


@given(
    data=old_and_new(max_columns=8),
    names=st.permutations(HOSTILE),
    model=models,
    kind=st.sampled_from(["tags", "formula"]),
)
@example((np.eye(2, dtype=bool), np.eye(2, dtype=bool)), ["a (rest)", "a"], UFC(), "tags")
def test_hostile_names_keep_texts_apart(data, names, model, kind):
    table, rows = data
    names = names[: table.shape[1]]
    frame, new = (pd.DataFrame(some, columns=names) for some in (table, rows))
    model.set_params(handle_unknown="keep", feature_names=kind)
    fitted(model, frame)
    assert len(set(model.patterns_)) == len(model.patterns_)
    every = model.feature_set_.with_unseen
    assert len(set(every.pattern_texts)) == len(every.features)
    lists = model.chunks(new)
    assert lists == naive_chunks(model, rows, names)
    # different rows have different texts
    texts = model.chunks(new, "text")["chunks"].tolist()
    assert len(set(texts)) == len({*map(tuple, lists)})
    # and columns that can be told apart
    features = model.transform(new)
    assert features.columns.is_unique
    assert list(features.columns) == list(model.get_feature_names_out())
    pd.testing.assert_frame_equal(model.inverse_transform(features), new)


REST_AND_TAG = np.array([[1, 1, 0]] * 6 + [[1, 0, 1]] * 3 + [[0, 0, 0]] * 9, bool)


@given(data=old_and_new(max_columns=5), names=st.permutations(HOSTILE))
# the rest of "a", and a column of that name
@example((REST_AND_TAG, REST_AND_TAG), ["a", "b", "a (rest)"])
# the chunk of "a" and "b", and a column of that name
@example((REST_AND_TAG, REST_AND_TAG), ["a", "b", "a + b"])
@example((REST_AND_TAG, REST_AND_TAG), ["a", "b", "b + a"])
def test_a_shown_name_means_the_same_everywhere(data, names):
    table, _ = data
    names = names[: table.shape[1]]
    frame = pd.DataFrame(table, columns=names)
    model = fitted(UFC(Bits(None)), frame)
    fitted_set, columns = model.feature_set_, model.transform(frame)

    def check(text, rows):
        assert model.find_rows(text, frame).tolist() == np.flatnonzero(rows).tolist()
        assert model.explain(text, frame).support == rows.sum()

    shown = {}
    for k, text in enumerate(fitted_set.pattern_texts):
        assert fitted_set.position(text) == k
        # a position means the rows of the feature, from which other chunks may have taken some
        check(k, columns.iloc[:, k])
        # tags mean all rows that have them; only the rest of a pattern has no other name
        is_rest = fitted_set.lineage.denies(fitted_set.features[k])
        tags = list(fitted_set.patterns[k])
        shown[text] = columns.iloc[:, k] if is_rest else frame[tags].all(axis=1)
    sets = [*fitted_set.tag_sets, *(one.tags for one in model.findings_)]
    shown |= {pattern_text(tags): frame[list(tags)].all(axis=1) for tags in sets}
    # the name of a column means the column, unless tags are shown so
    for name in names:
        tags = parse_pattern(name)
        if name != pattern_text(tags) or not {*tags} <= {*names}:
            shown.setdefault(name, frame[name])
    for text, rows in shown.items():
        check(text, rows)


def as_array(data):
    if isinstance(data, pa.Table):
        return data.to_pandas().to_numpy()
    if isinstance(data, BooleanData):
        return data.convert("numpy")
    return data.toarray() if sp.issparse(data) else np.asarray(data)


@pytest.mark.parametrize("kind", CONTAINERS)
@given(model=models, data=old_and_new())
def test_kept_columns_make_every_row_whole(kind, model, data):
    table, rows = data
    if kind == "baskets":
        table = np.vstack([table, np.ones(table.shape[1], bool)])
    make = CONTAINERS[kind]
    fitted(model.set_params(handle_unknown="keep"), make(table))
    for some in (table, rows):
        given_rows = make(some)
        back = model.inverse_transform(model.transform(given_rows))
        if kind == "baskets":
            assert [sorted(basket) for basket in back] == given_rows
            continue
        assert isinstance(back, type(given_rows))
        assert np.array_equal(as_array(back), some)


def test_kept_columns_come_after_those_of_training():
    baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
    model = UFC(handle_unknown="keep").fit(baskets)
    assert model.get_feature_names_out().tolist() == [
        "sky", "cascade + water", "water (rest)", "cascade (rest)",
    ]  # fmt: skip
    assert model.transform([["cascade", "sky"]]) == [["sky", "cascade (rest)"]]
    assert len(model.features_) == len(model.patterns_) == 3


@given(data=old_and_new(), model=models)
def test_unseen_combinations_are_counted_once(data, model):
    table, rows = data
    fitted(model, table)
    seen = {*model.patterns_}
    n_unseen = sum(not seen.issuperset(chunks) for chunks in naive_chunks(model, rows))
    for some, expected in ((table, 0), (rows, n_unseen)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.transform(some)
        found = [str(warning.message) for warning in caught]
        assert len(found) == (expected > 0)
        if expected:
            verb = "row holds" if expected == 1 else "rows hold"
            assert found[0].startswith(f"{expected} {verb} new combinations of tags, so some")
            assert caught[0].category is ConjunctWarning
            assert caught[0].filename == __file__


def test_rows_are_read_once():
    """What reading warns of is said once, beside what training never saw."""
    model = UFC().fit([["a", "b"]] * 40 + [["a"]] * 20 + [[]] * 40)
    with pytest.warns(ConjunctWarning) as caught:
        model.transform([["b", "zebra"]])
    unseen, ignored = sorted(str(warning.message) for warning in caught)
    assert ignored == "ignoring 1 item not seen in fit, for instance 'zebra'"
    assert unseen.startswith("1 row holds new combinations of tags, so some tags are in no feature")


def test_suppressed_features_are_chunks_all_the_same():
    whole = UFC().fit(ZOO.values)
    model = UFC(min_support=0.1).fit(ZOO.values)
    assert len(model.suppressed_) > 0
    assert model.chunks(ZOO.values) == whole.chunks(ZOO.values)
    assert model.score(ZOO.values) == pytest.approx(whole.score(ZOO.values))


@given(data=old_and_new(), model=models, cells=st.data())
def test_missing_cells_are_no_tags(data, model, cells):
    table, rows = (some.astype(float) for some in data)
    for some in (table, rows):
        gaps = st.lists(st.integers(0, some.size - 1), max_size=some.size // 2, unique=True)
        some.flat[cells.draw(gaps)] = np.nan
    fitted(model.set_params(missing="pairwise"), table)
    # all rows of training are known to it
    model.transform(table)
    for some in (table, rows):
        known = np.nan_to_num(some).astype(bool)
        assert model.chunks(some) == model.chunks(known) == naive_chunks(model, known)
    model.set_params(handle_unknown="keep")
    back = np.asarray(model.inverse_transform(model.transform(rows)), float)
    # a cell that comes back true was true, and no cell that was true comes back false
    assert not ((back == 1) & (rows != 1)).any()
    assert not ((back == 0) & (rows == 1)).any()
