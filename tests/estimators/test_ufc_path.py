"""UFCPath: what it offers on top of the path itself (tests/ufc/test_path.py)."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import conjunct
from conjunct import UFC, ConjunctWarning, InputError, UFCPath, datasets, load


@pytest.fixture(scope="module")
def zoo():
    data = datasets.load_zoo()
    return pd.DataFrame(data.values, columns=list(data.feature_names))


@pytest.fixture(scope="module")
def path(zoo):
    return UFCPath(max_iter=4).fit(zoo)


def test_transforms_with_the_closest_point(zoo, path):
    best = path.closest_point_
    chosen = UFC(best.threshold, max_iter=best.iterations).fit(zoo)
    assert path.features_ == chosen.features_
    assert path.threshold_ == best.threshold
    assert path.n_iter_ == best.iterations
    assert path.history_[-1].rms == best.rms
    pd.testing.assert_frame_equal(path.transform(zoo), chosen.transform(zoo))
    pd.testing.assert_frame_equal(path.inverse_transform(path.transform(zoo)), zoo)


@pytest.mark.parametrize("kind", ["tags", "formula"])
def test_names_columns_as_ufc_does(zoo, kind, tmp_path):
    path = UFCPath(max_iter=4, feature_names=kind).fit(zoo)
    best = path.closest_point_
    chosen = UFC(best.threshold, max_iter=best.iterations, feature_names=kind).fit(zoo)
    names = chosen.get_feature_names_out().tolist()
    assert path.get_feature_names_out().tolist() == names
    assert path.solution(best).get_feature_names_out().tolist() == names
    path.save(tmp_path / "path.json")
    assert load(tmp_path / "path.json").get_feature_names_out().tolist() == names
    with pytest.raises(InputError, match="feature_names must be 'tags' or 'formula'; got 'f'"):
        UFCPath(feature_names="f").fit(zoo)


def test_the_closest_point_is_on_the_front_and_nearest(path):
    best = path.closest_point_
    assert best in path.front_
    assert best.distance == min(solution.distance for solution in path.solutions_)
    c0 = [solution.c0 for solution in path.front_]
    oi = [solution.oi for solution in path.front_]
    assert c0 == sorted(c0)
    assert oi == sorted(oi, reverse=True)


def test_ties_go_to_fewer_features_and_then_to_the_smaller_threshold(path):
    best = path.closest_point_
    tied = [s for s in path.solutions_ if s.distance == best.distance]
    key = [(s.n_features, s.min_threshold, s.iterations) for s in tied]
    assert (best.n_features, best.min_threshold, best.iterations) == min(key)


def test_any_solution_is_a_fitted_model(zoo, path):
    for k in range(0, len(path.solutions_), 7):
        solution, model = path.solutions_[k], path.solution(k)
        assert model.history_[-1].n_features == solution.n_features
        assert model.n_iter_ == solution.iterations
        assert list(model.feature_names_in_) == list(zoo.columns)
        assert model.transform(zoo).shape == (len(zoo), solution.n_features)
        assert path.solution(solution).features_ == model.features_
    with pytest.raises(InputError, match=f"the last is {len(path.solutions_) - 1}"):
        path.solution(len(path.solutions_))


@pytest.mark.parametrize("backend", [None, "pandas", "polars", "pyarrow", "dict"])
def test_the_table_of_solutions_follows_the_input(path, backend):
    table = path.get_solutions(backend)
    kind = {None: "pandas", "dict": "builtins"}.get(backend, backend)
    assert type(table).__module__.split(".")[0] == kind
    frame = pl.DataFrame(path.get_solutions("dict"))
    assert frame.height == len(path.solutions_)
    assert frame.filter("on_front").height == len(path.front_)
    (closest,) = frame.filter("is_closest").rows(named=True)
    assert closest["threshold"] == path.closest_point_.threshold
    assert frame["min_threshold"].is_sorted()


def test_a_spent_budget_is_said_and_marked(zoo):
    message = r"after 3 solutions and covered only λ from 0\.\d+ to 0.5"
    with pytest.warns(ConjunctWarning, match=message):
        part = UFCPath(max_solutions=3).fit(zoo)
    assert not part.complete_
    assert len(part.solutions_) == 3
    assert part.covered_from_ > part.min_threshold
    assert part.closest_point_ in part.solutions_
    whole = UFCPath().fit(zoo)
    assert whole.complete_
    assert whole.covered_from_ == 0.002


def test_a_path_is_bounded_by_default():
    defaults = UFCPath().get_params()
    assert (defaults["max_solutions"], defaults["max_seconds"]) == (10_000, 600)


def test_a_file_keeps_the_closest_point(zoo, path, tmp_path):
    path.save(tmp_path / "path.json")
    back = conjunct.load(tmp_path / "path.json")
    assert isinstance(back, UFCPath)
    assert back.features_ == path.features_
    assert back.threshold_ == path.threshold_
    pd.testing.assert_frame_equal(back.transform(zoo), path.transform(zoo))
    for name in ("solutions_", "front_", "closest_point_", "complete_"):
        with pytest.raises(AttributeError, match="fit again"):
            getattr(back, name)


def test_progress(zoo, capsys):
    seen = []
    path = UFCPath(max_iter=20, verbose=1).fit(zoo, callback=seen.append)
    assert sorted(seen, key=lambda s: (s.min_threshold, s.iterations)) == list(path.solutions_)
    # from the highest λ down
    assert [s.max_threshold for s in seen if s.iterations == 1] == sorted(
        (s.max_threshold for s in seen if s.iterations == 1), reverse=True
    )
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(seen) // 100 > 0
    assert lines[0].startswith("100 solutions, λ down to 0.")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_threshold": -0.1}, "min_threshold must be a number, at least 0 and less than 1"),
        ({"max_threshold": 1}, "max_threshold must be a number, at least 0 and less than 1"),
        ({"min_threshold": 0.6}, "max_threshold must be at least min_threshold, which is 0.6"),
        ({"max_iter": 0}, "max_iter must be a whole number"),
        ({"max_solutions": 0}, "max_solutions must be None or a whole number"),
        ({"max_seconds": 0}, "max_seconds must be None or a number above 0"),
        ({"formula_style": "html"}, "formula_style must be"),
    ],
)
def test_bad_parameters(zoo, parameters, message):
    with pytest.raises(InputError, match=message):
        UFCPath(**parameters).fit(zoo)


def test_one_threshold_is_a_range_too(zoo):
    path = UFCPath(0.3, 0.3, max_iter=2).fit(zoo)
    assert [s.iterations for s in path.solutions_] == [1, 2]


def test_nothing_to_construct_is_said():
    table = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], bool)
    with pytest.warns(ConjunctWarning, match="no feature was constructed"):
        path = UFCPath().fit(table)
    assert [str(feature) for feature in path.features_] == ["x0", "x1"]


def test_too_few_distinct_rows_have_no_path():
    table = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], bool)
    with pytest.raises(InputError, match="2 distinct rows and 3 columns"):
        UFCPath().fit(table)


def test_no_name_before_fit():
    path = clone(UFCPath())
    assert not hasattr(path, "solutions_")


def test_any_parameters_are_found_among_the_solutions(zoo, path):
    for threshold in (0.002, 0.1, 0.25, 0.4, 0.5):
        for max_iter in (1, 2, 4):
            model = UFC(threshold, max_iter=max_iter, feature_names="formula").fit(zoo)
            found = path.result_of(threshold, max_iter)
            assert (found.n_features, found.oi) == (len(model.features_), model.history_[-1].oi)
    message = r"is not covered: this path has λ from 0\.002 to 0\.5"
    for threshold, max_iter in ((0.001, 1), (0.9, 1), (0.2, 5)):
        with pytest.raises(InputError, match=message):
            path.result_of(threshold, max_iter)
