"""What is left out while a command starts is there again afterwards, and is not needed."""

import importlib

import pytest

from conjunct.cli import app

PLACE = "scipy._lib._array_api"


def test_docstrings_are_read_again_once_a_command_has_started():
    noted = importlib.import_module(PLACE)
    if not hasattr(noted, "FunctionDoc"):
        pytest.skip("this SciPy parses no docstrings as it is imported")
    before = noted.FunctionDoc
    with app._skip_docstrings():
        assert noted.FunctionDoc is not before
    assert noted.FunctionDoc is before


@pytest.mark.parametrize("error", [ImportError, AttributeError])
def test_a_scipy_of_another_make_starts_too(monkeypatch, error):
    def fails(name):
        assert name == PLACE
        raise error(name)

    monkeypatch.setattr(app.importlib, "import_module", fails)
    started = []
    with app._skip_docstrings():
        started.append(True)
    assert started
