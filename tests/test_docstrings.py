"""Every public class and function has an example, and every example prints what it shows."""

import doctest
import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
NAME = re.compile(r"^(\.\. currentmodule:: |   )(\w\S+)$", re.MULTILINE)


def public_objects():
    module = ""
    for marker, name in NAME.findall(PAGE.read_text(encoding="utf-8")):
        if marker.strip():
            module = name
        else:
            found = getattr(importlib.import_module(module), name)
            # constants have no docstring of their own
            if inspect.isclass(found) or inspect.isfunction(found):
                yield pytest.param(found, id=f"{module}.{name}")


@pytest.mark.parametrize("thing", [*public_objects()])
def test_the_example_prints_what_it_shows(thing, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = vars(sys.modules[thing.__module__])
    tests = doctest.DocTestFinder().find(thing, thing.__name__, globs=dict(names))
    assert any(test.examples for test in tests), "the docstring has no example"
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    printed = []
    for test in tests:
        runner.run(test, out=printed.append)
    assert not runner.summarize(verbose=False).failed, "".join(printed)
