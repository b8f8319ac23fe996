"""A format is one file: whoever adds one changes nothing else, and no list of them is stale."""

import re
import sys
from pathlib import Path
from typing import get_args

import polars as pl
import pytest

from conjunct import UFC, InputError
from conjunct import files as io
from conjunct.cli import options
from conjunct.cli.app import run
from conjunct.files import FORMATS, formats
from conjunct.files.formats.base import COMPRESSIONS

MADE_UP = '''
"""Columns of stars and dots."""

import polars as pl

from conjunct.files.formats.base import FORMATS, Scan, TableFormat
from conjunct.files.raw import text_lines


class Stars(TableFormat):
    name = "stars"
    extensions = (".stars",)
    magic = (b"STARS",)
    is_text = False
    writes = "tables"

    def scans(self, file, options, as_text):
        head, *lines = (line.strip().split("|") for line in text_lines(file))
        rows = [[cell == "*" for cell in line] for line in lines]
        yield Scan(pl.LazyFrame(rows, head[1:], orient="row"), head[1:], len(rows))

    def write(self, file, data, compression):
        for line in [["STARS", *data.columns], *([".*"[v] for v in row] for row in data.rows())]:
            file.write(("|".join(line) + "\\n").encode())


FORMATS.enter(Stars())
'''
TABLE = pl.DataFrame({"a": [True, True, False] * 20, "b": [True, True, False] * 20})


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """A file of tables in a format that stands in a file of its own."""
    folder = tmp_path / "more_formats"
    folder.mkdir()
    (folder / "stars.py").write_text(MADE_UP)
    monkeypatch.setattr(FORMATS, "_members", dict(FORMATS))
    monkeypatch.setattr(FORMATS, "_is_complete", False)
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(folder)])
    monkeypatch.chdir(tmp_path)
    io.write_table("t.stars", TABLE)
    yield Path("t.stars")
    del sys.modules[f"{formats.__name__}.stars"], formats.stars


def test_a_made_up_format_is_read_and_written(made_up):
    assert made_up.read_text().startswith("STARS|a|b\n*|*\n*|*\n.|.\n")
    Path("nameless").write_bytes(made_up.read_bytes())
    for path, words in ((made_up, {}), ("nameless", {}), ("nameless", {"format": "stars"})):
        assert io.read_table(path, **words).equals(TABLE)
        assert io.read_boolean(path, **words).convert("polars").equals(TABLE)
        assert pl.concat([part.convert("polars") for part in io.stream(path, **words)]).equals(
            TABLE
        )
    with pytest.raises(InputError, match=r"must end in .*\.stars"):
        io.read_boolean(__file__)
    with pytest.raises(InputError, match=r"must end in .*\.stars"):
        io.write_table("t.docx", TABLE)


def test_the_command_line_takes_a_made_up_format(made_up, capsys):
    assert run(["fit", "t.stars", "--out", "m.json"]) == 0
    assert run(["fit", "t.stars", "t.stars", "--out", "two.json"]) == 0
    assert run(["transform", "m.json", "t.stars", "--out", "features.stars"]) == 0
    capsys.readouterr()
    expected = UFC().fit(TABLE).transform(TABLE)
    assert io.read_table("features.stars").rows() == expected.rows()


def extensions(text):
    return set(re.findall(r"(?<!\w)\.[a-z]\w+", text)) - set(COMPRESSIONS)


def of(kinds):
    return {extension for kind in kinds for extension in kind.extensions}


READ = [kind for kind in FORMATS.values() if kind.is_read]


def test_choices_of_the_command_line_are_the_formats():
    assert get_args(options.Format) == tuple(kind.name for kind in READ)


@pytest.mark.parametrize(
    ("told", "kinds"),
    [
        (options.READ, READ),
        (options.WRITTEN, [kind for kind in FORMATS.values() if kind.writes == "tables"]),
        (options.SPARSE, [kind for kind in FORMATS.values() if kind.writes == "matrices"]),
        (io.read_boolean.__doc__.partition("format :")[0], READ),
    ],
    ids=["DATA", "--out", "sparse --out", "read_boolean"],
)
def test_each_format_is_told_by_an_extension(told, kinds):
    """The usual one, perhaps others, and none that is not there."""
    assert extensions(told) <= of(kinds)
    for kind in kinds:
        assert not kind.extensions or kind.extensions[0] in extensions(told)


def test_the_documentation_tells_all_formats():
    named = set(re.findall(r'``"(\w+)"``', io.read_boolean.__doc__))
    assert named == {kind.name for kind in READ}
    page = Path(__file__).parents[2] / "docs" / "data-in.md"
    table = page.read_text().partition("| format | extensions |")[2].partition("\n\n")[0]
    cells = [line.split("|")[1:3] for line in table.splitlines()[2:]]
    assert {name for names, _ in cells for name in re.findall(r"`(\w+)`", names)} == named
    assert {name for _, told in cells for name in extensions(told)} == of(READ)


def test_what_is_not_written_says_so(tmp_path):
    for kind in FORMATS.values():
        for extension in kind.extensions:
            path = tmp_path / f"t{extension}"
            if kind.writes == "tables":
                io.write_table(path, TABLE)
                assert io.read_table(path).equals(TABLE)
                assert io.read_boolean(path).convert("polars").equals(TABLE)
            else:
                with pytest.raises(InputError, match="not a known kind of table"):
                    io.write_table(path, TABLE)
            assert io.is_sparse_file(path) == (kind.writes == "matrices")


@pytest.mark.parametrize(
    "kind", [kind for kind in READ if kind.magic and kind.writes], ids=lambda kind: kind.name
)
def test_files_are_known_by_their_first_bytes(kind, tmp_path):
    path = tmp_path / f"t{kind.extensions[0]}"
    io.write_table(path, TABLE)
    assert path.read_bytes().startswith(kind.magic)
    assert io.read_table(path.rename(tmp_path / "nameless")).equals(TABLE)
