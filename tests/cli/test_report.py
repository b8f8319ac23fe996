"""``conjunct report`` and ``--report``: pages on disk, and one line for what is wrong."""

import os

import pytest
from PIL import Image

from conjunct import load


def test_a_page(call, zoo_files, tmp_path):
    done = call("report", "model.json", "zoo.csv", "-o", "page.html")
    assert (done.code, done.err, done.out) == (0, "", "Saved as page.html.\n")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<h1>Findings in zoo.csv</h1>" in page


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_images_that_a_cell_names_elsewhere_are_not_opened(call, tmp_path):
    from PIL import Image

    folder = tmp_path / "table"
    folder.mkdir()
    os.mkfifo(folder / "pipe.png")
    Image.new("RGB", (8, 8)).save(tmp_path / "secret.png")
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    files = ["pipe.png", "../secret.png", str(tmp_path / "secret.png"), "link.png"]
    lines = [f"{k % 2},{k % 2},{files[k % 4]}" for k in range(40)]
    (folder / "data.csv").write_text("a,b,file\n" + "\n".join(lines) + "\n")
    fit = call("fit", "table/data.csv", "--id", "file", "--out", "model.json")
    assert fit.code == 0, fit.err
    done = call("report", "model.json", "table/data.csv", "--images", "file", "-o", "page.html")
    assert done.code == 0, done.err
    assert "images outside" in done.err
    assert "data:image/jpeg" not in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    "words",
    [
        ["fringe", "zoo.csv", "--max-features", "30", "--out", "other.json"],
        ["path", "zoo.csv", "--over", "thresholds", "--max-iter", "3"],
    ],
)
def test_a_page_at_once(words, call, zoo_files, tmp_path):
    done = call(*words, "--report", "page.html")
    assert done.code == 0
    assert "page.html." in done.out.splitlines()[-1]
    assert (tmp_path / "page.html").read_bytes().startswith(b"<!doctype html>")


def test_at_once_is_the_same_page(call, zoo_files, tmp_path):
    done = call("fit", "zoo.csv", "--out", "other.json", "--report", "a.html")
    assert done.code == 0
    assert "a.html." in done.out.splitlines()[-1]
    call("report", "other.json", "zoo.csv", "-o", "b.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_with_a_title_and_stability(call, zoo_files, tmp_path):
    words = ("--title", "Animals & more", "--stability")
    assert call("report", "model.json", "zoo.csv", "-o", "page.html", *words).code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<h1>Animals &amp; more</h1>" in page
    assert '<section id="stability"' in page
    assert "constructed on 20 samples of the rows" in page
    assert page.count('data-label="Recurrence"') == len(load(tmp_path / "model.json").features_)


def test_images_by_column_and_by_folder(call, tmp_path):
    (tmp_path / "photos").mkdir()
    Image.new("RGB", (9, 9), "red").save(tmp_path / "photos" / "a.png")
    rows = ["a.png,1,1,0", "gone.png,0,0,1"] * 30 + ["gone.png,1,0,0"] * 9
    (tmp_path / "data.csv").write_text("\n".join(["file,x,y,z", *rows]) + "\n")
    fit = ("fit", "data.csv", "--id", "file", "--out", "model.json", "--max-iter", "1")
    assert call(*fit).code == 0
    by_folder = ("report", "model.json", "data.csv", "--id", "file", "-o", "a.html")
    assert call(*by_folder, "--images", "photos").code == 0
    assert (tmp_path / "a.html").read_text(encoding="utf-8").count("data:image/jpeg") == 1
    for row in ("photos/a.png", "photos/gone.png"):
        rows = [line.replace(row.partition("/")[2], row) for line in rows]
    (tmp_path / "data.csv").write_text("\n".join(["file,x,y,z", *rows]) + "\n")
    assert call("report", "model.json", "data.csv", "--images", "file", "-o", "b.html").code == 0
    page = (tmp_path / "b.html").read_text(encoding="utf-8")
    assert page.count("data:image/jpeg") == 1


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["report", "zoo.csv", "zoo.csv", "-o", "p.html"], "not a conjunct model file"),
        (["report", "model.json", "gone.csv", "-o", "p.html"], "gone.csv"),
        (["report", "model.json", "zoo.csv", "-o", "zoo.csv"], "choose another file"),
        (["report", "model.json", "zoo.csv", "-o", "no/p.html"], "not a folder"),
        (
            ["report", "model.json", "zoo.csv", "-o", "p.html", "--images", "x"],
            "is neither a folder nor a column",
        ),
        (["fit", "zoo.csv", "--out", "m.json", "--report", "m.json"], "m.json is the model"),
        (["fit", "zoo.csv", "--report", "r.pdf"], "r.pdf: a report is a page for a browser: name"),
        (["path", "zoo.csv", "--report", "r.txt"], "r.txt: a report is a page for a browser: name"),
        (["path", "zoo.csv", "--report", "zoo.csv"], "zoo.csv is the data"),
        (["fringe", "zoo.csv", "--out", "m.json", "--report", "no/p.html"], "not a folder"),
    ],
)
def test_one_line_for_what_is_wrong(words, complaint, call, zoo_files, tmp_path):
    before = sorted(path.name for path in tmp_path.iterdir())
    done = call(*words)
    assert (done.code, done.out) == (2, "")
    assert complaint in done.err
    assert done.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == before
