"""What a newcomer sees first: the notebook runs as shown, the pictures are those drawn."""

import contextlib
import io
import json
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.slow
def test_every_cell_prints_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((DOCS / "tags-to-insight.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    namespace = {}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for k, cell in enumerate(cells, start=1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("".join(cell["source"]), f"cell {k}", "exec"), namespace)
        assert cell["execution_count"] == k
        (shown,) = cell["outputs"]
        assert printed.getvalue() == "".join(shown["text"]), f"cell {k}"


@pytest.mark.slow
def test_pictures_are_what_the_script_draws(tmp_path):
    drawn = runpy.run_path(str(DOCS / "draw.py"))
    drawn["main"].__globals__["FOLDER"] = tmp_path
    assert drawn["main"]() == 0
    made = sorted(tmp_path.glob("*.svg"))
    assert len(made) == 5
    for picture in made:
        kept = (DOCS / "images" / picture.name).read_text(encoding="utf-8")
        assert picture.read_text(encoding="utf-8") == kept, f"run docs/draw.py: {picture.name}"
