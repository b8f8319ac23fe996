"""What is built and installed, and that the versions named in several places agree."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
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


def names_in(requirements):
    found = {re.match(r"[\w.-]+", requirement)[0] for requirement in requirements}
    return found - {"conjunct"}


def test_the_table_of_dependencies_has_each():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = page.partition("| library | extra |")[2].partition("\n\n")[0].splitlines()[2:]
    listed = {
        name: set(row.split("|")[2].strip().split(", "))
        for row in rows
        for name in row.split("|")[1].strip().split(", ")
    }
    extras = {"main": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}
    assert set(listed) == set().union(*map(names_in, extras.values()))
    for name, where in listed.items():
        assert where <= {extra for extra, wanted in extras.items() if name in names_in(wanted)}


def test_the_recipe_of_conda_has_the_requirements_of_pyproject():
    """Those of the library, the command and the report, and the version."""
    recipe = (ROOT / "packaging" / "conda" / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    of_run = recipe.partition("  run:\n")[2].partition("\ntests:")[0]
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *extras["cli"], *extras["report"]]
    expected = {requirement.partition(";")[0] for requirement in wanted}
    held = {line.replace(" ", "")[1:] for line in of_run.splitlines() if "- " in line}
    assert held == expected | {f"python{PROJECT['requires-python']}"}
    version = re.search(r'__version__ = "(.*)"', (ROOT / "src/conjunct/__init__.py").read_text())[1]
    assert f'version: "{version}"' in recipe


LIGHT = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("altair", "vl_convert", "PIL"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Hidden())
from conjunct import UFC, datasets
from conjunct.errors import InputError
from conjunct.plots import plot_history
from conjunct.report import Report
table = datasets.load_spect().values
model = UFC().fit(table)
Report(model, table).save("light.html")
Report(UFC(0.5).fit(table), table).save("plane.html")

def message(function):
    try:
        function()
    except InputError as error:
        print(error)

message(lambda: plot_history(model.history_))
message(lambda: Report(model, table, images=["light.html"] * len(table)).save("images.html"))
"""


def test_a_report_needs_neither_charts_nor_images(tmp_path):
    done = run(sys.executable, "-c", LIGHT, cwd=tmp_path, env={"PYTHONPATH": str(ROOT / "src")})
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "charts need Altair: pip install altair vl-convert-python",
        "images in a report need Pillow: pip install pillow",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["light.html", "plane.html"]


PYTHON = Path("Scripts" if os.name == "nt" else "bin", "python")


def run(*command, timeout=280, env=(), **options):
    """Run a command without the sources on its path; return what it did."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | dict(env)
    return subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, env=environment, **options
    )


def build(kind, folder, **env):
    command = [sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "-o", str(folder)]
    built = run(*command, str(ROOT), env=env)
    assert built.returncode == 0, built.stdout + built.stderr
    (package,) = (path for path in folder.iterdir() if path.suffix in (".whl", ".gz"))
    return package


def install(package, folder, **env):
    """Install a package with what it needs, and nothing else; return its Python."""
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    pip = [sys.executable, "-m", "pip", "--python", str(folder / PYTHON), "install", "--quiet"]
    options = ["--disable-pip-version-check", "-c", str(ROOT / "constraints.txt"), str(package)]
    installed = run(*pip, *options, env=env)
    assert installed.returncode == 0, installed.stderr
    return folder / PYTHON


KERNEL = "native" if shutil.which("cc") else "numpy"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "env", "kernel"),
    [
        pytest.param("wheel", {}, KERNEL, id="wheel"),
        pytest.param("sdist", {}, KERNEL, id="sdist"),
        pytest.param("wheel", {"CC": "no-such-compiler"}, "numpy", id="without a compiler"),
        pytest.param("wheel", {"CONJUNCT_NATIVE": "none"}, "numpy", id="for all machines"),
    ],
)
def test_built_and_installed_without_extras(kind, env, kernel, tmp_path):
    """In an environment of its own, with the main dependencies and nothing else."""
    package = build(kind, tmp_path, **env)
    if kind == "wheel":
        # a library is for one kind of machine; without one, a wheel is for all
        assert package.name.endswith("-py3-none-any.whl") == (kernel != "native")
    python = install(package, tmp_path / "env", **env)
    tried = run(python, ROOT / "tests" / "installed.py", kernel, cwd=tmp_path)
    assert tried.returncode == 0, tried.stderr
    command = run(python, "-m", "conjunct", cwd=tmp_path)
    assert command.returncode == 1
    assert "the commands need typer, rich, polars: pip install" in command.stderr


@pytest.mark.slow
@pytest.mark.skipif(KERNEL != "native", reason="there is no compiler")
@pytest.mark.skipif(sys.platform != "linux", reason="manylinux is Linux")
def test_a_manylinux_wheel_needs_no_compiler(tmp_path):
    """The wheel that PyPI takes, installed where no compiler can be found, uses C."""
    pytest.importorskip("auditwheel")
    (tmp_path / "built").mkdir()
    package = build("wheel", tmp_path / "built", CONJUNCT_NATIVE="required")
    path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    repair = ["auditwheel", "repair", str(package), "-w", str(tmp_path / "wheels")]
    repaired = run(sys.executable, "-m", *repair, env=path)
    assert repaired.returncode == 0, repaired.stderr
    (wheel,) = (tmp_path / "wheels").iterdir()
    assert re.search(r"-py3-none-(manylinux_\d+_\d+_\w+\.?)+\.whl$", wheel.name), wheel.name
    python = install(wheel, tmp_path / "env", CC="no-such-compiler", PATH="")
    tried = run(python, ROOT / "tests" / "installed.py", "native", cwd=tmp_path, env={"PATH": ""})
    assert tried.returncode == 0, tried.stderr


@pytest.mark.slow
def test_a_build_that_requires_c_fails_without_a_compiler(tmp_path):
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "-o", str(tmp_path)]
    env = {"CC": "no-such-compiler", "CONJUNCT_NATIVE": "required"}
    built = run(*command, str(ROOT), env=env)
    assert built.returncode != 0
    assert "C part could not be built: " in built.stdout + built.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_sdist_holds_every_file_of_the_repository(tmp_path):
    tracked = run("git", "ls-files", cwd=ROOT)
    if tracked.returncode != 0:
        pytest.skip("this is no clone")
    with tarfile.open(build("sdist", tmp_path)) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {x for x in tracked.stdout.splitlines() if not x.startswith(".ci/")} - held == set()


def test_importing_leaves_arithmetic_alone():
    """A library built for speed at any price takes numbers below 1e-308 for zero, for everybody."""
    code = "import sys, conjunct; from conjunct import UFC; sys.exit(sys.float_info.min / 2 == 0)"
    assert subprocess.run([sys.executable, "-c", code], timeout=200).returncode == 0
