"""Every accepted container gives the same features, and gets its own kind back."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from conjunct import UFC, ConjunctWarning, InputError, datasets

COCO = datasets.load_coco_street()
NAMES = sorted(COCO.feature_names)
TABLE = COCO.values[:, [COCO.feature_names.index(name) for name in NAMES]]

CONTAINERS = {
    "array": lambda x, names: x,
    "integers": lambda x, names: x.astype(np.int8),
    "floats": lambda x, names: x.astype(float),
    "objects": lambda x, names: x.astype(object),
    "fortran": lambda x, names: np.asfortranarray(x),
    "lists": lambda x, names: x.tolist(),
    "pandas": lambda x, names: pd.DataFrame(x, columns=names, index=range(7, 7 + len(x))),
    "pandas nullable": lambda x, names: pd.DataFrame(x, columns=names).astype("boolean"),
    "polars": lambda x, names: pl.DataFrame(dict(zip(names, x.T, strict=True))),
    "pyarrow": lambda x, names: pa.table(dict(zip(names, x.T, strict=True))),
    "csr matrix": lambda x, names: sp.csr_matrix(x),
    "csc array": lambda x, names: sp.csc_array(x.astype(int)),
    "baskets": lambda x, names: [[names[k] for k in np.flatnonzero(row)] for row in x],
    "sets": lambda x, names: [{names[k] for k in np.flatnonzero(row)} for row in x],
}
RETURNED = {
    "lists": np.ndarray,
    "csc array": sp.csr_array,
    "csr matrix": sp.csr_matrix,
    "sets": list,
}


def as_table(container, names):
    if isinstance(container, list):
        return np.array([[name in basket for name in names] for basket in container])
    if sp.issparse(container):
        return container.toarray()
    if isinstance(container, pa.Table):
        container = container.to_pandas()
    return np.asarray(container)


@pytest.mark.parametrize("kind", CONTAINERS)
def test_same_features_and_container_follows(kind):
    data = CONTAINERS[kind](TABLE, NAMES)
    model = UFC(max_iter=2).fit(data)
    expected = UFC(max_iter=2).fit(TABLE)
    assert model.feature_set_.features == expected.feature_set_.features
    assert model.feature_set_.merges == expected.feature_set_.merges

    names = model.get_feature_names_out().tolist()
    transformed = model.transform(data)
    assert isinstance(transformed, RETURNED.get(kind, type(data)))
    assert np.array_equal(as_table(transformed, names), expected.transform(TABLE))

    restored = model.inverse_transform(transformed)
    assert type(restored) is type(transformed)
    originals = list(getattr(model, "feature_names_in_", range(TABLE.shape[1])))
    assert np.array_equal(as_table(restored, originals), TABLE)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_tables_keep_their_names(kind):
    data = CONTAINERS[kind](TABLE, NAMES)
    model = UFC(max_iter=1).fit(data)
    transformed = model.transform(data)
    columns = transformed.column_names if kind == "pyarrow" else list(transformed.columns)
    assert columns == list(model.get_feature_names_out())
    assert list(model.feature_names_in_) == NAMES
    assert type(model.get_features()) is type(data)


def test_pandas_keeps_its_index():
    data = CONTAINERS["pandas"](TABLE, NAMES)
    assert UFC(max_iter=1).fit_transform(data).index.equals(data.index)


@pytest.mark.parametrize("kind", ["array", "pandas", "polars"])
@pytest.mark.parametrize(("wanted", "cls"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output(kind, wanted, cls):
    data = CONTAINERS[kind](TABLE, NAMES)
    model = UFC(max_iter=1).set_output(transform=wanted).fit(data)
    transformed = model.transform(data)
    assert isinstance(transformed, cls)
    assert list(transformed.columns) == list(model.get_feature_names_out())
    assert np.array_equal(np.asarray(transformed), UFC(max_iter=1).fit(TABLE).transform(TABLE))


def test_items_never_seen_are_named_and_ignored():
    model = UFC(0.2, max_iter=1, feature_names="formula").fit([["a", "b"], ["a", "b"], ["c"], []])
    with pytest.warns(ConjunctWarning, match="1 item not seen in fit, .* 'zebra'"):
        assert model.transform([["a", "b", "zebra"]]) == [["a ∧ b"]]


def test_empty_baskets_are_baskets():
    model = UFC(handle_unknown="keep").fit([["a", "b"]] * 40 + [[]] * 40)
    for empty in ([[]], [[], []], [set()], [()]):
        nothing = [[] for _ in empty]
        assert model.transform(empty) == nothing
        assert model.inverse_transform(model.transform(empty)) == nothing
        assert model.chunks(empty) == nothing


def test_baskets_of_numbers_must_be_sets():
    model = UFC(0.2, max_iter=1, feature_names="formula").fit([{1, 2}, {1, 2}, {3}, set()])
    assert list(model.feature_names_in_) == ["1", "2", "3"]
    with pytest.raises(InputError, match="pass baskets of numbers as sets"):
        UFC().fit([[1, 2], [1, 2, 3], [3]])


def test_baskets_for_a_model_without_names():
    model = UFC(max_iter=1).fit(TABLE)
    with pytest.raises(InputError, match="this model has none"):
        model.transform([["car"]])
