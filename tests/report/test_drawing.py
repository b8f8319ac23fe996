"""What the page draws itself: axes, texts that fit, curves, heat maps, without a renderer."""

import os
import re
import subprocess
import sys

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_pictures as naive
from conjunct import UFC, datasets
from conjunct.plots import cut_to, draw_correlation, draw_history, draw_network, width_of
from conjunct.plots.drawing import Axis
from conjunct.report.findings import describe_tags
from conjunct.report.model_on_rows import ModelOnRows

values = st.lists(st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-3), min_size=1)


@given(values, st.booleans())
def test_an_axis_covers_its_values_with_a_few_round_marks(some, whole):
    axis = Axis.over(some, 300, 6, whole=whole)
    places = [axis.at(value) for value in some]
    assert -1e-6 <= min(places) <= max(places) <= 300 + 1e-6
    marks, labels = zip(*axis.marks, strict=True)
    assert (marks[0], marks[-1]) == (0, 300)
    assert 2 <= len(marks) <= 13
    assert len({*labels}) == len(labels)
    if whole:
        assert not any("." in label for label in labels)


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0, 0.0248, ["0.000", "0.005", "0.010", "0.015", "0.020", "0.025"]),
        (3_570_000, 4_520_000, [f"{k / 5 + 3.4:.1f}00,000".replace(".", ",") for k in range(7)]),
        (5, 5, ["5", "6"]),
    ],
)
def test_marks(low, high, labels):
    assert [label for _, label in Axis.over([low, high], 300, 6, whole=False).marks] == labels


@given(st.text(max_size=60), st.integers(20, 300))
def test_a_text_is_cut_only_where_it_is_too_wide(text, width):
    cut = cut_to(text, width, 12)
    if width_of(text, 12) <= width:
        assert cut == text
    else:
        assert cut.endswith("…")
        assert text.startswith(cut[:-1])
        assert width_of(cut[:-1], 12) <= width


def model_on_zoo(criterion):
    zoo = datasets.load_zoo()
    table = pl.DataFrame(zoo.values, schema=list(zoo.feature_names))
    return ModelOnRows.of(UFC(criterion).fit(table), table)


@pytest.fixture(scope="module")
def shown():
    return model_on_zoo("evidence")


@pytest.mark.parametrize("criterion", ["evidence", "bits"])
def test_the_curve_ends_with_the_history(criterion):
    history = model_on_zoo(criterion).model.history_
    drawing = draw_history(history, bits=True, title="")
    _, axes, curve = drawing.shapes
    places = re.findall(r"[ML]([\d.]+) ([\d.]+)", curve.path)
    assert len(places) == len(history)
    last = [float(place) for place in places[-1]]
    across = Axis.over([line.iteration for line in history], 380, 8, whole=True)
    up = Axis.over([getattr(line, criterion) for line in history], 300, 6, whole=False)
    corner = float(re.match(r"M([\d.]+) 0v300", axes.path)[1])
    height = up.at(getattr(history[-1], criterion))
    expected = corner + across.at(history[-1].iteration), 300 - height
    assert last == pytest.approx(expected, abs=0.06)


def test_the_squares_of_a_heat_map_are_correlations(shown):
    drawing = draw_correlation(shown.model, shown.primitives, shown.features, 15)
    columns = datasets.load_zoo().values.astype(int).T.tolist()
    names = list(datasets.load_zoo().feature_names)
    labels = [text for text in drawing.texts if text.anchor == "end"][:15]
    assert [label.text for label in labels] == names
    left, step = labels[0].x + 5, 380 / 15
    squares = {}
    for shape in drawing.shapes:
        for x, y in re.findall(r"M([\d.]+) ([\d.]+)h", shape.path):
            i, j = float(y) / step, (float(x) - left) / step
            if shape.name and j < 15:
                squares[round(i), round(j)] = float(shape.name.removeprefix("r = "))
                assert shape.opacity == abs(squares[round(i), round(j)])
    for i in range(len(names)):
        for j in range(i):
            r = naive.correlation(columns[i], columns[j])
            assert squares.get((i, j), 0.0) == pytest.approx(r, abs=0.0051)


def test_tags_of_the_network_name_their_neighbours(shown):
    network = draw_network(shown.model.feature_set_, 40)
    assert len({(tag.x, tag.y) for tag in network.tags.values()}) == len(network.tags)
    texts = describe_tags(network)
    for link in network.links:
        assert 1 <= link.width <= 10
        for tag, other in (link.tags, link.tags[::-1]):
            near = f"{network.tags[other].name} ({link.rows} row"
            assert near in texts[tag] or texts[tag].endswith(" more")


def test_a_report_of_many_columns_starts_no_renderer(tmp_path):
    code = (
        "import sys\n"
        "from conjunct import UFC, Report\n"
        "rows = [[f'a{k}', f'b{k}'] for k in range(800)] * 6\n"
        "Report(UFC(max_iter=20).fit(rows), rows).save('page.html')\n"
        "print({'altair', 'vl_convert', 'polars'} & {*sys.modules})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True,
        env=os.environ, timeout=120,
    )  # fmt: skip
    assert done.stdout == "set()\n"
