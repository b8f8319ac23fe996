"""Models where others keep and run them: ONNX, skops, MLflow, pickle."""

import http.client
import json
import pickle
import socket
import threading
import warnings

import duckdb
import numpy as np
import onnxruntime
import polars as pl
import pytest
import skops.io
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

import naive_formulas
from conjunct import (
    UFC,
    Binarizer,
    BooleanData,
    InputError,
    Risk,
    UFringe,
    datasets,
    register_onnx,
    save_mlflow,
)
from conjunct.export.programs import to_onnx
from conjunct.expressions import Or, Primitive
from expressions.strategies import build, formulas


def computed(model, rows, kind=np.float32):
    """What onnxruntime makes of rows."""
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (found,) = session.run(None, {"columns": np.asarray(rows, kind)})
    assert set(np.unique(found)) <= {0.0, 1.0}
    return found.astype(bool)


COLUMNS = ["sky", "<script>", "a & b", "\ud800", ""]


@given(
    st.lists(formulas(st.sampled_from(COLUMNS)), min_size=1, max_size=4),
    st.lists(st.tuples(*[st.booleans()] * len(COLUMNS)), min_size=1, max_size=6),
)
def test_onnx_computes_the_formulas(drawn, rows):
    features = {f"f{k}": build(formula) for k, formula in enumerate(drawn)}
    expected = [
        [naive_formulas.kleene(f, dict(zip(COLUMNS, row, strict=True))) for f in drawn]
        for row in rows
    ]
    model = to_onnx(features, COLUMNS)
    assert computed(model, rows).tolist() == expected
    told = {entry.key: json.loads(entry.value) for entry in model.metadata_props}
    assert told == {"columns": COLUMNS, "features": list(features)}


def fitted(name, **parameters):
    data = datasets.load(name)
    frame = pl.DataFrame(data.values, schema=list(data.feature_names))
    return UFC(**parameters).fit(frame), frame


def random_rows(n_columns, n_rows=500):
    return np.random.default_rng(0).random((n_rows, n_columns)) < 0.5


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("zoo", {}),
        ("zoo", {"handle_unknown": "keep", "feature_names": "formula"}),
        ("zoo", {"keep_columns": True}),
        ("house_votes_84", {"criterion": "risk", "max_iter": 3}),
        ("coco_street", {"criterion": Risk(prune=False), "max_iter": 3}),
    ],
)
def test_onnx_gives_what_transform_does_on_random_rows(name, parameters):
    model, frame = fitted(name, **parameters)
    rows = random_rows(frame.width)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # combinations that training never saw
        wanted = model.transform(pl.DataFrame(rows, schema=frame.columns))
    assert np.array_equal(computed(model.to_onnx(), rows), wanted.to_numpy())


def test_onnx_compares_numbers_and_fills_missing_cells():
    rows = random_rows(15) * 0.7
    cut = UFC(0.01, max_iter=1, threshold=0.7 - 1e-12).fit(rows)
    assert np.array_equal(computed(cut.to_onnx(), rows, np.float64), cut.transform(rows))
    holes = np.where(random_rows(15)[::-1], np.nan, random_rows(15))
    filled = UFC(0.01, max_iter=2, missing="false").fit(holes)
    assert np.array_equal(computed(filled.to_onnx(), holes), filled.transform(holes))


def test_what_onnx_cannot_hold_is_refused():
    raw = pl.DataFrame({"age": [1.0, 20, 30, 70] * 20, "c": ["a", "b"] * 40})
    with pytest.raises(InputError, match="ONNX needs Boolean columns, but this model reads"):
        UFC().fit(BooleanData.from_data(raw)).to_onnx()
    holes = np.where(random_rows(3), np.nan, random_rows(3)[::-1])
    with pytest.raises(InputError, match="ONNX has no missing cells"):
        UFC(0.01, max_iter=1, missing="pairwise").fit(holes).to_onnx()


def test_a_pipeline_becomes_onnx_and_sql_as_a_whole():
    import orbital
    from orbital.types import DoubleColumnType
    from skl2onnx import to_onnx as pipeline_to_onnx

    register_onnx()
    zoo = datasets.load_zoo()
    frame = pl.DataFrame(zoo.values, schema=list(zoo.feature_names)).cast(pl.Float64)
    target = np.arange(frame.height) % 7
    pipeline = make_pipeline(UFC(max_iter=4), LinearRegression()).fit(frame.to_numpy(), target)
    wanted = pipeline.predict(frame.to_numpy())
    model = pipeline_to_onnx(pipeline, frame.to_numpy().astype(np.float32))
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (found,) = session.run(None, {"X": frame.to_numpy().astype(np.float32)})
    assert np.allclose(found.ravel(), wanted, atol=1e-4)
    parsed = orbital.parse_pipeline(pipeline, {name: DoubleColumnType() for name in frame.columns})
    sql = orbital.export_sql("frame", parsed, dialect="duckdb")
    assert np.allclose(duckdb.sql(sql).pl().to_numpy().ravel(), wanted, atol=1e-4)


def models():
    zoo = datasets.load_zoo()
    frame = pl.DataFrame(zoo.values, schema=list(zoo.feature_names))
    raw = BooleanData.from_data(pl.DataFrame({"age": [1.0, 20, 30, 70] * 20, "c": ["a", "b"] * 40}))
    return {
        "UFC": (UFC(), frame),
        "Risk": (UFC(Risk(), stop="rms"), frame.to_numpy()),
        "UFringe": (UFringe(max_features=40), frame),
        "raw": (UFC(), raw),
    }


@pytest.mark.parametrize("which", ["UFC", "Risk", "UFringe", "raw"])
def test_skops_and_pickle_keep_a_model(which):
    estimator, data = models()[which]
    model = estimator.fit(data)
    saved = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=saved)
    assert all(name.startswith("conjunct.") for name in types)
    for loaded in (skops.io.loads(saved, trusted=types), pickle.loads(pickle.dumps(model))):
        assert loaded.to_json() == model.to_json()
        assert loaded.features_ == model.features_
        again = loaded.transform(data)
        if which == "raw":
            again, expected = again.convert("polars"), model.transform(data).convert("polars")
        else:
            expected = model.transform(data)
        assert np.array_equal(np.asarray(again), np.asarray(expected))


def test_a_lineage_that_counts_is_kept():
    model = UFC().fit([["a", "b"]] * 40 + [["a"]] * 9 + [[]] * 40)
    lineage = model.feature_set_.lineage
    number = lineage.make(_tally())
    kept = pickle.loads(pickle.dumps(lineage))
    assert kept.expression(number) == Or(Primitive("a"), Primitive("b"))  # at least 1 of {a, b}
    assert len(kept) == len(lineage)


def _tally():
    from conjunct.features.lineage import Tally

    return Tally((0, 1), 1, False)


def test_a_binarizer_is_kept_by_skops():
    raw = pl.DataFrame({"age": [1.0, 20, 30, 70] * 20, "c": ["a", "b"] * 40, "x": [1] * 80})
    binarizer = Binarizer().fit(raw)
    saved = skops.io.dumps(binarizer)
    assert skops.io.get_untrusted_types(data=saved) == ["conjunct.data.binarizer.Binarizer"]
    loaded = skops.io.loads(saved, trusted=["conjunct.data.binarizer.Binarizer"])
    assert loaded.record() == binarizer.record()
    assert loaded.transform(raw).equals(binarizer.transform(raw))


@pytest.fixture(scope="module")
def in_mlflow(tmp_path_factory):
    """Loads what was saved; MLflow takes seconds to import."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from mlflow import pyfunc

        def saved(model, **options):
            folder = tmp_path_factory.mktemp("mlflow") / "model"
            save_mlflow(model, folder, **options)
            return pyfunc.load_model(str(folder))

        yield saved


@pytest.mark.filterwarnings("ignore")
def test_mlflow_transforms_and_chunks(in_mlflow):
    model, frame = fitted("zoo")
    table = frame.to_pandas()
    assert in_mlflow(model).predict(table).equals(model.transform(table))
    chunks = in_mlflow(model, output="chunks").predict(table)
    assert chunks.equals(model.chunks(table, "text"))
    raw = pl.DataFrame({"age": [1.0, 20, 30, 70] * 20, "c": ["a", "b"] * 40})
    of_raw = UFC().fit(BooleanData.from_data(raw))
    wanted = of_raw.transform(BooleanData.from_data(raw)).convert("polars").rows()
    assert [*map(tuple, in_mlflow(of_raw).predict(raw.to_pandas()).to_numpy())] == wanted


def test_mlflow_refuses_what_has_no_chunks(tmp_path):
    model, frame = fitted("zoo")
    with pytest.raises(InputError, match="UFringe models have no chunks"):
        save_mlflow(UFringe(max_features=40).fit(frame), tmp_path / "model", output="chunks")
    with pytest.raises(InputError, match="output must be"):
        save_mlflow(model, tmp_path / "model", output="rows")
    assert not (tmp_path / "model").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_mlflow_serves_chunks(in_mlflow, tmp_path):
    import uvicorn
    from mlflow.pyfunc import scoring_server

    model, frame = fitted("zoo")
    app = scoring_server.init(in_mlflow(model, output="chunks"))
    place = str(tmp_path / "s")
    server = uvicorn.Server(uvicorn.Config(app, uds=place, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(place)
        table = frame.head(3).to_pandas()
        body = json.dumps({"dataframe_split": json.loads(table.to_json(orient="split"))})
        connection.request("POST", "/invocations", body, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
    finally:
        server.should_exit = True
        thread.join()
    assert [row["chunks"] for row in answer["predictions"]] == model.chunks(
        frame.head(3).to_numpy(), "text"
    )
