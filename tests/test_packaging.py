"""What is built and installed, and that the versions named in several places agree."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pinned(name):
    lines = (ROOT / name).read_text().splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def test_oldest_versions_are_those_of_pyproject():
    bounds = dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", x).groups() for x in PROJECT["dependencies"])
    oldest = pinned("constraints-min.txt")
    assert set(oldest) == set(bounds)
    for name, bound in bounds.items():
        assert re.sub(r"(\.0)+$", "", oldest[name]) == re.sub(r"(\.0)+$", "", bound)


def test_every_dependency_is_pinned():
    known = {re.sub(r"[-_.]+", "-", name).lower() for name in pinned("constraints.txt")}
    for wanted in [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]:
        for requirement in wanted:
            name = re.match(r"[\w.-]+", requirement)[0]
            if name != "conjunct":
                assert re.sub(r"[-_.]+", "-", name).lower() in known, name


SMOKE = """
import sys, warnings
warnings.simplefilter("error")
import conjunct
assert "site-packages" in conjunct.__file__, conjunct.__file__
from conjunct import UFC, Risk, load, parse
from conjunct.datasets import load_spect
table = load_spect().values
model = UFC(Risk(alpha=0.0001, prune=False)).fit(table)
assert len(model.features_) == 39
model.save("m.json")
assert load("m.json").features_ == model.features_
assert (model.inverse_transform(model.transform(table)) == table).all()
assert str(parse("a & ~b")) == "a \\u2227 \\u00acb"
for name in ("polars", "typer", "rich", "pandas", "sqlglot", "altair", "dask"):
    assert name not in sys.modules
from conjunct.columns.kernel import kernel_name
print(kernel_name())
"""


HAS_COMPILER = shutil.which("cc") is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "compiler", "kernel"),
    [
        pytest.param("wheel", "cc", "native" if HAS_COMPILER else "numpy", id="wheel"),
        pytest.param("sdist", "cc", "native" if HAS_COMPILER else "numpy", id="sdist"),
        pytest.param("wheel", "no-such-compiler", "numpy", id="without a compiler"),
    ],
)
def test_built_and_installed_without_extras(kind, compiler, kernel, tmp_path, monkeypatch):
    """In an environment of its own, with the main dependencies and nothing else."""
    monkeypatch.setenv("CC", compiler)
    run = [sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "-o", str(tmp_path)]
    built = subprocess.run([*run, str(ROOT)], capture_output=True, text=True, timeout=280)
    assert built.returncode == 0, built.stdout + built.stderr
    (package,) = (path for path in tmp_path.iterdir() if path.suffix in (".whl", ".gz"))
    if kind == "wheel":
        # a library is for one kind of machine; without one, a wheel is for all
        assert package.name.endswith("-py3-none-any.whl") == (kernel != "native")
    venv.create(tmp_path / "env", with_pip=False, symlinks=os.name != "nt")
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    options = ["--disable-pip-version-check", "-c", str(ROOT / "constraints.txt"), str(package)]
    installed = subprocess.run([*pip, *options], capture_output=True, text=True, timeout=280)
    assert installed.returncode == 0, installed.stderr
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    options = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run([python, "-c", SMOKE], timeout=200, **options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [kernel]
    command = subprocess.run([python, "-m", "conjunct"], timeout=200, **options)
    assert command.returncode == 1
    assert "the commands need typer, rich, polars: pip install" in command.stderr


def test_importing_leaves_arithmetic_alone():
    """A library built for speed at any price takes numbers below 1e-308 for zero, for everybody."""
    code = "import sys, conjunct; from conjunct import UFC; sys.exit(sys.float_info.min / 2 == 0)"
    assert subprocess.run([sys.executable, "-c", code], timeout=200).returncode == 0
