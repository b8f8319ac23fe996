"""The page of promises names tests that exist, and commands that make knows."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "tests" / "PROMISES.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py(?:::\w+)?)`", PAGE)))


@pytest.mark.parametrize("named", NAMED)
def test_the_test_exists(named):
    path, _, test = named.partition("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    tests = [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    assert test in tests if test else tests


def test_every_row_names_what_holds_it():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "held by" not in line]
    assert len(rows) > 30
    assert [row for row in rows if not re.search(r"`(tests/|make |python -m )", row)] == []


def test_the_targets_of_make_exist():
    known = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"`make ([a-z-]+)`", PAGE)) <= set(known)


def test_every_fault_test_is_a_promise():
    source = (ROOT / "tests/faults/test_faults.py").read_text(encoding="utf-8")
    promised = set(re.findall(r"test_faults\.py::(\w+)", PAGE))
    assert set(re.findall(r"^def (test_\w+)", source, re.MULTILINE)) - promised == {
        "test_ignored_signals_stay_ignored"
    }
