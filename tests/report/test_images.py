"""Thumbnails: embedded, capped, and tolerant of what is missing."""

import base64
import io
import re
from dataclasses import replace

import polars as pl
import pytest
from PIL import Image

from conjunct import UFC, BooleanData, InputError, Report, datasets
from conjunct.data.boolean_data import Ids
from conjunct.report import page as limits
from conjunct.report.findings import Thumbnails, image_paths, thumbnail


@pytest.fixture
def zoo():
    data = datasets.load_zoo()
    return pl.DataFrame(data.values, schema=list(data.feature_names))


@pytest.fixture
def folder(tmp_path):
    """An image for each row of zoo, but some."""
    made = tmp_path / "images"
    made.mkdir()
    for k in range(101):
        if k % 10:
            Image.new("RGB", (300, 200), (2 * k, 100, 50)).save(made / f"{k:06}.png")
    (made / "000020.png").write_bytes(b"no image")
    return made


def uris(page):
    return re.findall(r"data:image/jpeg;base64,([\w+/=]+)", page)


def test_a_thumbnail_is_small(tmp_path):
    Image.new("RGBA", (800, 400), (255, 0, 0, 128)).save(tmp_path / "a.png")
    uri = thumbnail(tmp_path / "a.png")
    assert uri.startswith("data:image/jpeg;base64,")
    image = Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))
    assert image.size == (128, 64)
    assert image.format == "JPEG"


def test_what_is_no_image_is_left_out(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "b.jpg").write_text("text")
    assert thumbnail(tmp_path / "a.png") is None
    assert thumbnail(tmp_path / "b.jpg") is None
    assert thumbnail(tmp_path / "absent.png") is None
    assert thumbnail(tmp_path) is None


def test_a_bomb_does_not_go_off(tmp_path, monkeypatch):
    Image.new("L", (100, 100)).save(tmp_path / "a.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 5000)
    assert thumbnail(tmp_path / "a.png") is None
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    assert thumbnail(tmp_path / "a.png") is None


def test_by_the_names_of_rows(zoo, folder):
    table = BooleanData.from_data(zoo)
    named = replace(table, ids=Ids("id", tuple(map(str, range(101)))))
    model = UFC().fit(named)
    page = Report(model, named, images=folder).html()
    assert 0 < len(uris(page)) <= limits.THUMBNAILS
    shown = set(re.findall(r"<img data-image=\"\d+\" alt=\"(\d+)\"", page))
    assert len(uris(page)) == len(shown)
    assert not {name for name in shown if int(name) % 10 == 0}
    assert page == Report(model, named, images=folder).html()
    with pytest.raises(InputError, match="rows have no names"):
        Report(model, table, images=folder)
    with pytest.raises(InputError, match="not a folder"):
        Report(model, named, images=folder / "nowhere")


def test_one_by_one_with_missing_files(zoo, folder):
    model = UFC().fit(zoo)
    files = [None if k % 2 else folder / f"{k:06}.png" for k in range(101)]
    page = Report(model, zoo, images=files).html()
    assert uris(page)
    assert "could not be found or read" in page
    with pytest.raises(InputError, match="one entry per row"):
        Report(model, zoo, images=files[:-1])


def test_thumbnails_are_capped(folder, monkeypatch):
    monkeypatch.setattr(limits, "THUMBNAILS", 3)
    found = Thumbnails(sorted(folder.iterdir()))
    numbers = [found.number_of(k) for k in range(6)]
    assert numbers[:3] == [0, 1, 2]
    assert numbers[3:] == [None] * 3
    assert found.number_of(0) == 0
    assert found.notes() == ("3 images are shown, 3 more are omitted.",)


def test_names_with_and_without_zeros(folder):
    assert image_paths(folder, ["7", "000007", "000007.png", "x"], 4) == [
        folder / "000007.png",
        folder / "000007.png",
        folder / "000007.png",
        None,
    ]
