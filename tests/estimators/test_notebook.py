"""A fitted estimator in a notebook: what was found, as text."""

import pickle
import re
from html import unescape

import numpy as np
import polars as pl
import pytest
from sklearn import config_context

from conjunct import UFC, ConjunctWarning, UFCPath, datasets
from conjunct.explain import Summary, english, label, shorten

HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "a\ud800", "x" * 500)


@pytest.fixture(scope="module")
def street():
    data = datasets.load_coco_street()
    return pl.DataFrame(data.values, schema=list(data.feature_names))


def rows(page):
    found = re.findall(r"<tr>(.*?)</tr>", page.partition("</table>")[0])
    return [[unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in found]


@pytest.mark.parametrize("model", [UFC(), UFC("risk", max_iter=2), UFCPath(max_iter=2)], ids=str)
def test_the_chunks_come_first(model, street):
    shown = model.fit(street)._repr_html_()
    expected = [
        [finding.name, finding.sentence, f"{finding.rows:,}", f"{finding.lift:,.1f}"]
        for finding in model.findings_[:5]
    ]
    assert rows(shown)[1:] == expected
    summary = Summary(model)
    assert f"{summary.overview} {summary.length}" in unescape(shown)
    assert summary.ending in unescape(shown)
    # scikit-learn's diagram is underneath
    assert shown.index("sk-container") > shown.index("</table>")
    assert model._repr_mimebundle_()["text/html"].startswith(shown.partition("</table>")[0])


def test_before_fit_the_diagram_alone():
    assert "chunk" not in UFC()._repr_html_().partition("<div id=")[0]
    with config_context(display="text"):
        assert not hasattr(UFC(), "_repr_html_")
        assert "text/html" not in UFC()._repr_mimebundle_()


def test_nothing_constructed():
    with pytest.warns(ConjunctWarning):
        model = UFC().fit(np.array([[0, 1], [1, 0], [0, 0], [1, 1]] * 5))
    shown = model._repr_html_()
    assert Summary(model).ending in unescape(shown)
    assert "finding</th>" not in shown


def test_a_loaded_model_shows_the_same(street, tmp_path):
    model = UFC().fit(street)
    model.save(tmp_path / "model.json")
    ours, theirs = model._repr_html_(), UFC.load(tmp_path / "model.json")._repr_html_()
    assert ours.partition("</div>")[0] == theirs.partition("</div>")[0]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_text(name):
    baskets = [[name, "b"]] * 30 + [["b"]] * 5 + [["c"]] * 30
    shown = UFC().fit(baskets)._repr_html_().partition("</table>")[0]
    assert set(re.findall(r"<(\w+)", shown)) <= {"div", "p", "table", "tr", "th", "td"}
    assert len(shown) < 2000
    shown.encode()


def test_features_are_a_tuple_that_a_notebook_shows_as_a_table(street):
    model = UFC(0.05, max_iter=2).fit(street)
    features = model.features_
    assert features == model.feature_set_.expressions
    assert hash(features) == hash(model.feature_set_.expressions)
    assert repr(features) == repr(model.feature_set_.expressions)
    assert pickle.loads(pickle.dumps(features)) == features
    assert isinstance(features, tuple)
    shown = features._repr_html_()
    expected = [
        [str(k), shorten(english(x.simplify()), 120), label(x, longest=120)]
        for k, x in enumerate(features[:50])
    ]
    assert rows(shown)[1:] == expected
    assert len(features) > 50
    assert f"First 50 of {len(features)}." in shown
    few = UFC().fit([["a", "b"]] * 30 + [["c"]] * 30).features_._repr_html_()
    assert "more" not in few


@pytest.mark.parametrize("name", HOSTILE)
def test_names_in_features_are_text(name):
    shown = UFC().fit([[name, "b"]] * 30 + [["b"]] * 5 + [["c"]] * 30).features_._repr_html_()
    assert set(re.findall(r"<(\w+)", shown)) == {"table", "tr", "th", "td"}
    shown.encode()
