"""The house: where things are, who may use what, and how a family grows by one file."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conjunct import UFC, datasets
from conjunct.cli.app import run as run_app
from conjunct.files import read_boolean
from conjunct.parameters import Registry

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import house  # noqa: E402
import map as drawing  # noqa: E402

sys.path.pop(0)
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PARTS = drawing.parts()


def test_the_map_lists_every_folder():
    _, _, rest = PAGE.partition("| in `src/conjunct/`")
    rows = rest.partition("\n\n")[0].splitlines()[2:]
    listed = [name.strip("`/") for row in rows for name in row.split("|")[1].split()]
    assert sorted(name.removesuffix(".py").rstrip("`,/") for name in listed) == PARTS


def test_the_picture_is_that_of_the_code():
    code = [sys.executable, str(ROOT / "tools" / "map.py"), "--check"]
    done = subprocess.run(code, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_circle_is_found():
    with pytest.raises(drawing.CycleError):
        drawing.levels({"data": {"files"}, "files": {"data"}})


ODD = '''"""Whether a thing is told apart."""

def shown_once(model):
    """Return one thing."""
    return model._thing

def show():
    """Return another."""
'''


def test_the_measures_of_a_text(tmp_path):
    (tmp_path / "odd.py").write_text(ODD)
    assert house.measure_text(tmp_path) == {
        "files": 1,
        "lines": 8,
        "odd words": 2,
        "functions named by a participle, %": 50,
        "docstrings that begin with a clause": 1,
        "uses of model._x": 1,
    }


def test_a_measure_above_its_limit_fails(monkeypatch, capsys):
    measures = dict.fromkeys(house.LIMITS, 0)
    monkeypatch.setattr(house, "measure_text", lambda folder: measures)
    monkeypatch.setattr(house, "measure_fit", lambda folder: {})
    assert house.main() == 0
    measures["files"] = house.LIMITS["files"].now + 1
    assert house.main() == 1
    assert capsys.readouterr().out.count("ABOVE") == 1


@pytest.mark.parametrize("part", PARTS)
def test_folders_are_entered_by_their_doors(part):
    place = ROOT / "src" / "conjunct" / part
    files = place.rglob("*.py") if place.is_dir() else [place.with_suffix(".py")]
    past = []
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            for module in modules:
                names = module.split(".")
                if names[0] == "conjunct" and len(names) > 2 and names[1] != part:
                    past.append(f"{file.name}:{node.lineno} {module}")
    assert past == []


# What a newcomer writes for a new member of each family, and a command that uses it.
MEASURE = """
def kulczynski(n_rows, left, right, joint):
    return (joint / left + joint / right) / 2

MEASURES.enter(Measure(name="yours", summary="Kulczynski's", compute=kulczynski, least=0, below=1))
"""
CRITERION = """
@CRITERIA.enter
class Yours(Threshold):
    name = "yours"
    summary = "join what is correlated above 0.4"

    def __init__(self, measure="phi", prune=False):
        super().__init__(0.4, measure, prune)
"""
STOP = """
@STOPS.enter
class Yours(Stop):
    name = "yours"
    summary = "after one iteration"

    def keep_steps(self, steps):
        for step in steps:
            yield step
            if step.indicators.iteration == 1:
                return

    def why(self, run):
        return "It stopped after one iteration, as always"
"""
FORMAT = """
import polars as pl

from conjunct.files.formats.base import FORMATS, Scan, TableFormat
from conjunct.files.raw import text_lines

class Yours(TableFormat):
    name = "stars"
    summary = "a star where a cell is true"
    extensions = (".stars",)

    def scans(self, file, options, as_text):
        names, *rows = (line.strip().split("|") for line in text_lines(file))
        cells = [[cell == "*" for cell in row] for row in rows]
        yield Scan(pl.LazyFrame(cells, names, orient="row"), names, len(rows))

FORMATS.enter(Yours())
"""
DIALECT = """
DIALECTS.enter(Dialect(name="materialize", summary="Materialize", longest_name=255))
"""
ENGINE = '''
from conjunct.columns import PackedColumns
from conjunct.counting.partitioned import ENGINES, Engine, Partitions, sum_counts

class Blocks(list):
    """Rows as a list of arrays."""

class InMemory(Partitions):
    layout = PackedColumns

    def __init__(self, parts):
        self.parts = parts
        self.n_rows = sum(part.n_rows for part in parts)
        self.n_columns = parts[0].n_columns

    def total(self, rewrites, count, n_columns):
        return sum_counts([count(part.after(rewrites)) for part in self.parts])

    def total_of_source(self, count):
        return self.total((), count, self.n_columns)

    def count_distinct_rows(self):
        return PackedColumns.concat_rows(self.parts).count_distinct_rows()

class Yours(Engine):
    name = "yours"
    summary = "lists of arrays"
    advice = "put the arrays together first"

    def recognizes(self, data):
        return isinstance(data, Blocks)

    def head(self, data):
        return data[0][:0]

    def partitions(self, data, read, n_columns, store, n_jobs):
        return InMemory([PackedColumns.of(read(part)) for part in data])

    def map_partitions(self, data, make, n_columns, dtype):
        return Blocks(map(make, data))

ENGINES.enter(Yours())
'''
COMMAND = '''
def yours(data: str) -> None:
    """Say what was given."""
    print(f"yours: {data}")
'''
FAMILIES = {
    "measure": (
        "ufc/association.py",
        MEASURE,
        "fit zoo.csv --criterion 0.6 --measure yours",
        "Measure = Literal[",
    ),
    "criterion": ("ufc/criteria.py", CRITERION, "fit zoo.csv --criterion yours", "\nCRITERIA = {"),
    "stopping rule": (
        "ufc/stops.py",
        STOP,
        "fit zoo.csv --criterion risk --stop yours",
        "Stop = Literal[",
    ),
    "format": ("files/formats", FORMAT, "fit zoo.stars --format stars", "Format = Literal["),
    "dialect": (
        "export/dialects.py",
        DIALECT,
        "export model.json --dialect materialize",
        "Dialect = Literal[",
    ),
    "command": ("cli/commands", COMMAND, "yours zoo.csv", ""),
}
RUN = """
import importlib, sys
importlib.import_module(sys.argv[1]).__path__.insert(0, sys.argv[2])
importlib.import_module("conjunct.cli").__path__.insert(0, f"{sys.argv[2]}/cli")
from conjunct.cli import main
del sys.argv[1:3]
sys.exit(main())
"""


ENGINE_RUN = """
import importlib, sys
importlib.import_module("conjunct.counting").__path__.append(sys.argv[1])
import numpy as np
from conjunct import UFC, datasets
from conjunct.counting import ENGINES
ENGINES["yours"]
from conjunct.counting.yours import Blocks
table = datasets.load_zoo().values
blocks = Blocks([table[:40], table[40:41], table[41:]])
model, expected = UFC().fit(blocks), UFC().fit(table)
assert model.features_ == expected.features_
assert model.feature_set_.supports == expected.feature_set_.supports
assert np.array_equal(np.concatenate(model.transform(blocks)), expected.transform(table))
print("same")
"""


def test_a_new_engine_is_one_file(tmp_path):
    (tmp_path / "yours.py").write_text(ENGINE)
    run_ = [sys.executable, "-c", ENGINE_RUN, str(tmp_path)]
    done = subprocess.run(run_, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "same\n", "")
    assert "| an engine | `counting/yours.py` |" in PAGE


def test_the_table_tells_where_each_family_lives():
    for family, (home, *_) in FAMILIES.items():
        file = home if home.endswith(".py") else f"{home}/yours.py"
        assert f"| a {family} | `{file}` |" in PAGE


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("house")
    table = datasets.find("zoo").path
    (folder / "zoo.csv").write_bytes(table.read_bytes())
    UFC().fit(read_boolean(table)).save(folder / "model.json")
    names, *rows = table.read_text().replace(",", "|").splitlines()
    stars = "\n".join(rows).replace("1", "*").replace("0", ".")
    (folder / "zoo.stars").write_text(f"{names}\n{stars}\n")
    return folder


@pytest.mark.parametrize("family", FAMILIES)
def test_a_new_member_is_one_piece_of_code(family, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    home, text, words, choice = FAMILIES[family]
    # the name is a choice of an option too
    options = (ROOT / "src" / "conjunct" / "cli" / "options.py").read_text(encoding="utf-8")
    assert choice in options
    name = text.partition('name = "')[2] or text.partition('name="')[2]
    name = name.partition('"')[0]
    shown = f'{choice}\n    "{name}": "yours",' if choice.endswith("{") else f'{choice}"{name}", '
    place = tmp_path / "cli"
    place.mkdir()
    (place / "options.py").write_text(
        options.replace(choice, shown) if choice else options, "utf-8"
    )
    if home.endswith(".py"):
        # a family in one module: a copy of it with the member at its end takes its place
        module = ROOT / "src" / "conjunct" / home
        (tmp_path / module.name).write_text(module.read_text(encoding="utf-8") + text, "utf-8")
        home = str(Path(home).parent)
    else:
        (tmp_path / "yours.py").write_text(text)
    home = f"conjunct.{home.replace('/', '.')}"
    command = [sys.executable, "-c", RUN, home, str(tmp_path), *words.split()]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
    # without the file there is no such member
    assert run_app(words.split()) == 2


def registries():
    for part in PARTS:
        door = importlib.import_module(f"conjunct.{part}")
        for name in getattr(door, "__all__", ()):
            found = getattr(door, name)
            if isinstance(found, Registry):
                yield pytest.param(found, id=name)


@pytest.mark.parametrize("registry", [*registries()])
def test_members_are_entered_by_their_names(registry):
    assert registry
    assert all(member.name == name and member.summary for name, member in registry.items())


@pytest.mark.parametrize("registry", [*registries()])
def test_the_documentation_names_every_member(registry):
    pages = " ".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    words = set(re.findall(r"\w+", pages.lower()))
    assert [name for name in registry if name not in words] == []


def test_two_members_of_one_name():
    class One:
        name = "same"

    class Other:
        name = "same"

    family = Registry("thing", __name__)
    family.enter(One)
    family.enter(One)
    with pytest.raises(ValueError, match="two members of thing are called 'same'"):
        family.enter(Other)


LOADED = """
import sys
from conjunct import UFC
print(*sorted(sys.modules))
"""


def test_an_estimator_loads_what_a_fit_needs():
    run_ = [sys.executable, "-c", LOADED]
    loaded = subprocess.run(run_, capture_output=True, text=True, check=True).stdout.split()
    ours = [name for name in loaded if name.startswith("conjunct.")]
    assert len(ours) <= 90
    for folder in ("files", "explain", "export", "trees", "datasets", "plots", "paper"):
        assert [name for name in ours if name.startswith(f"conjunct.{folder}.")] == []
    # msgspec is: runs are described by the records that files hold
    assert not {"sklearn.tree", "polars", "altair"} & set(loaded)


def test_doors_are_read_in_any_locale():
    for door in (ROOT / "src" / "conjunct").rglob("*.pyi"):
        assert door.read_text(encoding="utf-8").isascii(), door
