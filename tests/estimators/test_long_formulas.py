"""Formulas of more literals than memory could hold cost nothing until one is written out."""

import subprocess
import sys
import time

import numpy as np
import pytest

from conjunct import UFC, Evidence, InputError
from conjunct.expressions import And, Expression, Not, Primitive


@pytest.fixture(scope="module")
def model():
    random = np.random.default_rng(0)
    often = 0.15 + 0.5 * random.random((20_000, 1)) ** 2
    table = random.random((20_000, 60)) < often
    # leftovers are merged with leftovers again and again
    return UFC(Evidence(0.01), max_iter=1500).fit(table)


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: len(model.features_),
        lambda model: repr(model),
        lambda model: model.findings_,
        lambda model: model.get_features(),
        lambda model: model.get_rules(),
        lambda model: model._repr_html_(),
        lambda model: [*map(str, model.features_)],
        lambda model: [*map(repr, model.features_)],
    ],
    ids=["features_", "repr", "findings_", "get_features", "get_rules", "html", "str", "reprs"],
)
def test_what_people_ask_for_is_quick(model, ask):
    assert max(feature.length for feature in model.features_) > 10**13
    start = time.process_time()
    ask(model)
    assert time.process_time() - start < 2


def test_a_long_formula_is_shown_by_its_tags(model):
    names = model.get_feature_names_out()
    long = [k for k, feature in enumerate(model.features_) if feature.length > 1000]
    assert long
    for k in long:
        assert str(model.features_[k]) == names[k]
    longest = max(model.features_, key=lambda feature: feature.length)
    with pytest.raises(InputError, match="too long to write out"):
        longest.text()


def test_only_what_is_too_long_to_read_is_shown_by_tags():
    names = [Primitive(f"t{k}") for k in range(1000)]
    assert str(And(*names)) == " ∧ ".join(name.name for name in names)
    assert str(And(*names, Primitive("t0"))) == " + ".join(name.name for name in names)
    rest = And(And(names[0], And(*names)), Not(Primitive("no")))
    assert str(rest) == " + ".join(name.name for name in names) + " (rest)"
    assert str(Not(rest)).startswith("¬(t0 ∧ t0 ∧ t1")


def test_a_run_makes_no_expression(monkeypatch):
    random = np.random.default_rng(1)
    table = random.random((500, 12)) < 0.2 + 0.4 * random.random((500, 1))
    monkeypatch.setattr(Expression, "_store", lambda *_: pytest.fail("a formula was made"))
    assert UFC(Evidence(0.01)).fit(table).n_iter_ > 5


def test_show_is_quick(model, tmp_path):
    path = tmp_path / "model.json"
    model.save(path)
    command = [sys.executable, "-m", "conjunct", "show", str(path)]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    assert "findings" in shown.stdout
