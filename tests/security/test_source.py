"""What the source must not do, read off its syntax: no pickle, no eval, no shell."""

import ast
import importlib
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
# what loads code or runs programs
FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
FORBIDDEN_MODULES |= {"subprocess", "pty", "popen2", "commands", "runpy", "code", "codeop"}
FORBIDDEN_MODULES |= {"socket", "urllib", "http", "requests", "ftplib", "smtplib"}
# joblib can load code; counting processors does not. Nothing is fetched by writing an address.
ALLOWED_NAMES = {("joblib", "effective_n_jobs"), ("urllib.parse", "quote")}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
FORBIDDEN_ATTRIBUTES = {"system", "popen", "spawnl", "spawnv", "execv", "execl", "execve", "fork"}
FORBIDDEN_ATTRIBUTES |= {"unsafe_load", "literal_eval", "from_pickle", "to_pickle", "read_pickle"}
# clocks that somebody may set
FORBIDDEN_CLOCKS = {("time", "time"), ("time", "time_ns"), ("datetime", "now"), ("date", "today")}


def findings(source):
    """What is forbidden in a source, each with its line."""
    for node in ast.walk(ast.parse(source)):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names = [module for alias in node.names if (module, alias.name) not in ALLOWED_NAMES]
        else:
            names = []
        for name in names:
            if name.partition(".")[0] in FORBIDDEN_MODULES:
                yield line, f"import of {name}"
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name) and function.id in FORBIDDEN_CALLS:
                yield line, function.id
            if isinstance(function, ast.Attribute):
                holder = function.value.id if isinstance(function.value, ast.Name) else ""
                if function.attr in FORBIDDEN_ATTRIBUTES:
                    yield line, function.attr
                if (holder, function.attr) in FORBIDDEN_CLOCKS:
                    yield line, f"{holder}.{function.attr}"
                if holder == "np" and function.attr == "load":
                    yield line, "np.load"
            if any(word.arg in ("shell", "allow_pickle") for word in node.keywords):
                yield line, "shell or allow_pickle"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_pickle_no_eval_no_shell_no_network(path):
    assert list(findings(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "import joblib",
        "from joblib import effective_n_jobs, load",
        "from subprocess import run",
        "import urllib.request",
        "eval('1')",
        "import os; os.system('ls')",
        "f(shell=True)",
        "np.load('x')",
        "import time; time.time()",
    ],
)
def test_the_check_finds_what_it_looks_for(source):
    assert list(findings(source))


def private_names(source):
    """Names beginning with ``_`` that are taken from scikit-learn."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sklearn":
            parts = [*node.module.split("."), *(alias.name for alias in node.names)]
            yield from (part for part in parts if part.startswith("_"))
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            parts = [p for n in names if n.startswith("sklearn") for p in n.split(".")]
            yield from (part for part in parts if part.startswith("_"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_only_public_names_of_scikit_learn(path):
    assert list(private_names(path.read_text(encoding="utf-8"))) == []


def test_private_names_are_found():
    assert list(private_names("from sklearn.utils._tags import x")) == ["_tags"]
    assert list(private_names("from sklearn.base import _OneToOne")) == ["_OneToOne"]


def test_what_is_taken_from_scikit_learn_is_documented_there():
    """Each name imported is in the ``__all__`` of its module, where that has one."""
    taken = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
                taken |= {(node.module, alias.name) for alias in node.names}
    assert taken
    for module, name in taken:
        public = getattr(importlib.import_module(module), "__all__", None)
        assert public is None or name in public, (module, name)


def test_the_linter_keeps_its_security_rules():
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]
    assert "S" in linter["select"]
    assert not [rule for rule in linter["ignore"] if rule.startswith("S")]
