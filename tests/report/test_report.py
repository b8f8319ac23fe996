"""The page as text: what it holds, for every kind of model and of data."""

import json
import os
import re
import subprocess
import sys
from html import escape, unescape

import numpy as np
import pandas as pd
import polars as pl
import pytest

import naive_pictures as naive
from conjunct import (
    UFC,
    Bits,
    BooleanData,
    ClusteringTree,
    ConjunctWarning,
    Fringe,
    InputError,
    Report,
    Risk,
    TagCleaner,
    UFCPath,
    UFringe,
    datasets,
    load,
    stability,
)
from conjunct.explain import Summary, findings
from conjunct.report import limits
from conjunct.report.features import draw_merges
from conjunct.report.model_on_rows import ModelOnRows
from conjunct.report.page import embed

MAX_BYTES = 3_000_000
SECTIONS = (
    "findings",
    "network",
    "steps",
    "data",
    "story",
    "features",
    "plane",
    "history",
    "correlation",
    "ancestry",
    "merges",
    "examples",
)


@pytest.fixture
def zoo():
    data = datasets.load_zoo()
    return pl.DataFrame(data.values, schema=list(data.feature_names))


MADE = {}


def model_and_page(model, name="zoo"):
    """The model fitted on bundled data and its page, made once for all tests."""
    key = str(model), name
    if key not in MADE:
        data = datasets.load(name)
        table = pl.DataFrame(data.values, schema=list(data.feature_names))
        MADE[key] = model.fit(table), Report(model, table).html()
    return MADE[key]


def words(page):
    """What a reader reads, without the drawings and the data of the scripts."""
    text = re.sub(r"<(style|script|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())


def section(page, name):
    return re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL)[0]


def models():
    """Models of every kind, each a new one."""
    yield UFC()
    yield UFC("bits")
    yield UFC(Bits(alpha=None), search="batch", max_length=3)
    yield UFC("risk")
    yield UFC("risk", search="pairwise", max_length=3)
    yield UFC(0.4, max_iter=2)
    yield UFC(Risk(test="exact", correction="holm"), min_support=0.05)
    yield UFCPath(max_iter=3)
    yield UFringe(30)


# each makes a page; the others are made for other tests too
PAGE_OF_ITS_OWN = {"pairwise", "min_support"}


def kinds(models):
    """`make test` leaves out those whose page no other test looks at."""
    return [
        pytest.param(
            model,
            marks=pytest.mark.slow if any(word in str(model) for word in PAGE_OF_ITS_OWN) else (),
        )
        for model in models
    ]


@pytest.mark.parametrize("model", kinds(models()), ids=str)
def test_every_kind_of_model(model):
    model, page = model_and_page(model)
    assert page.startswith("<!doctype html>")
    # the plane is that of the paper's rules
    rule = str(getattr(model, "criterion", ""))
    has_plane = not rule.startswith(("evidence", "bits", "Bits"))
    for name in SECTIONS:
        assert (f'<section id="{name}"' in page) is (name != "plane" or has_plane)
        assert (f'<a href="#{name}"' in page) is (name != "plane" or has_plane)
    assert 'id="stability"' not in page
    assert not re.search(r'https?:|www\.|(src|href)="(?!#|data:)', page)
    assert "nan" not in words(page).lower().replace("fnan", "")
    assert len(page.encode()) < MAX_BYTES
    for feature in model.features_[:3]:
        assert str(feature) in unescape(page)


def test_a_supervised_model(zoo):
    model = Fringe(20).fit(zoo, np.arange(len(zoo)) % 3)
    page = Report(model, zoo).html()
    assert "decision tree" in words(page)
    assert "replaces none" in words(section(page, "merges"))
    # columns are the parents of what is drawn
    drawn = len(re.findall(r'class="node column"', page))
    left = len(zoo.columns) - drawn
    told = f"{left} column{'s' * (left != 1)} kept as they were"
    assert (told in words(section(page, "ancestry"))) is (left > 0)


def test_the_same_bytes(zoo, tmp_path):
    model = UFC().fit(zoo)
    model.save(tmp_path / "model.json")
    zoo.cast(pl.Int8).write_csv(tmp_path / "zoo.csv")
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    subprocess.run(
        [sys.executable, "-m", "conjunct", "report", "model.json", "zoo.csv", "-o", "page.html"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONHASHSEED": seed},
        check=True,
        capture_output=True,
        timeout=120,
    )
    again = Report(load(tmp_path / "model.json"), zoo, title="Features of zoo.csv")
    assert again.html().encode() == (tmp_path / "page.html").read_bytes()


@pytest.mark.parametrize("path", [UFCPath(), UFCPath(max_iter=3)], ids=repr)
def test_a_loaded_path_is_followed_again(path, zoo, tmp_path):
    model, page = model_and_page(path)
    model.save(tmp_path / "model.json")
    loaded = Report(load(tmp_path / "model.json"), zoo).html()
    assert section(loaded, "plane") == section(page, "plane")


def test_why_this_threshold_and_this_end():
    _, by_risk = model_and_page(UFC(Risk(0.0001, prune=False)))
    told = words(by_risk)
    assert "λ = 0.370 follows from the risk α = 0.0001" in told
    assert "3.72/√101" in told
    _, given = model_and_page(UFC(0.4, max_iter=2))
    assert "exceeds 0.4" in words(given)
    _, page = model_and_page(UFCPath(max_iter=3))
    closest = words(page)
    assert "All λ from 0.002 to 0.5 and up to 3 iterations were looked at." in closest
    _, by_evidence = model_and_page(UFC())
    assert "the one with the most evidence" in words(by_evidence)
    _, by_bits = model_and_page(UFC("bits"))
    assert "Benjamini and Hochberg's correction" in words(by_bits)
    _, untested = model_and_page(UFC(Bits(alpha=None), search="batch", max_length=3))
    assert "(r > 0) may be joined" in words(untested)


@pytest.mark.parametrize("model", kinds(models())[:-1], ids=str)
def test_why_it_stopped_is_what_the_model_says(model):
    model, page = model_and_page(model)
    assert words(page).count(" ".join(model.outcome_.split())) == 1


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(model, marks=() if number == 0 else pytest.mark.slow)
        for number, model in enumerate(models())
    ][:-1],
    ids=str,
)
def test_no_reason_is_made_up(model, zoo):
    """Not for other rows, and not where the file has none."""
    model.fit(zoo)
    assert model.outcome_ in words(Report(model, zoo.head(40)).html())
    del model.outcome_
    assert "did not keep why" in words(Report(model, zoo).html())


def test_the_first_thing_is_what_was_found():
    model, page = model_and_page(UFC(), "coco_street")
    ids = re.findall(r'<section (?:id="(\w+)"|class="figures")', page)
    assert ids[:5] == ["findings", "network", "features", "steps", "examples"]
    first = words(section(page, "findings"))
    for finding in findings(model.feature_set_)[: limits.FINDINGS]:
        assert f"{finding.text} {finding.contrast}" in first
        assert f"in {finding.rows} rows {finding.lift:.1f} times chance" in first
    summary = Summary(model)
    assert f"{summary.found} {summary.length}" in first
    # OI and C0 come last
    after = words(page.split('class="figures"')[0])
    assert "OI" not in after
    assert "C0" not in after


def test_example_rows_are_their_chunks():
    data = datasets.load_coco_street()
    table = pl.DataFrame(data.values, schema=list(data.feature_names))
    model, page = model_and_page(UFC(), "coco_street")
    expected = model.chunks(table, "text")["chunks"].to_list()
    shown = r'class="rowname"[^>]*>row (\d+)</span>\s*<span class="tags">(.*?)</li>'
    rows = re.findall(shown, section(page, "examples"), re.DOTALL)
    assert len(rows) > 20
    for row, tags in rows:
        found = re.findall(r'<span class="tag[^>]*>(.*?)</span>', tags)
        assert " · ".join(map(unescape, found)) == expected[int(row) - 1]
        assert 'class="tag it"' in tags


def test_features_by_pattern_with_the_formula_behind():
    model, page = model_and_page(UFC())
    table = section(page, "features")
    shown = map(unescape, re.findall(r'<span class="pattern"[^>]*>(.*?)</span>', table))
    assert sorted(shown) == sorted(model.feature_set_.pattern_texts)
    assert 'data-form="pattern"' in table
    data = json.loads(re.search(r'id="report-data">(.*?)</script>', page)[1])
    cells = re.findall(r'<td class="formula">.*?</td>', table, re.DOTALL)
    for line, cell in zip(data["lines"], cells, strict=True):
        formula = str(model.feature_set_.lineage.expression(line["n"]))
        assert formula == line["exact"] or formula in unescape(cell)
    # the paper's are shown by their formulas, and have patterns too
    paper, page = model_and_page(UFC("risk"))
    table = section(page, "features")
    assert 'data-form="simplified"' in table
    for text in paper.feature_set_.pattern_texts:
        assert f">{escape(text)}</span>" in table
    _, page = model_and_page(UFringe(30))
    assert 'class="pattern"' not in section(page, "features")


@pytest.mark.slow
def test_long_formulas_are_not_written_out():
    spect = datasets.load_spect().values
    model = UFC(0.02, max_iter=14).fit(spect)
    lengths = [feature.length for feature in model.features_]
    assert max(lengths) > 5 * limits.FORMULA
    page = Report(model, spect).html()
    assert f"a formula of {max(lengths):,} literals" in page
    data = json.loads(re.search(r'id="report-data">(.*?)</script>', page)[1])
    exact = [line["exact"] for line in data["lines"]]
    assert max(map(len, exact)) < 10 * limits.FORMULA
    assert sum(map(len, exact)) < 10 * limits.FORMULAS
    assert len(page.encode()) < MAX_BYTES


@pytest.mark.parametrize("criterion", ["evidence", "bits"])
def test_gain_of_every_iteration(criterion):
    model, page = model_and_page(UFC() if criterion == "evidence" else UFC(criterion))
    told = words(section(page, "history"))
    first = model.history_[0]
    for line, merge in zip(model.history_[1:], model.feature_set_.merges, strict=True):
        total = line.evidence if criterion == "evidence" else first.bits - line.bits
        assert f"{line.n_features} {merge.saved:.1f} {total:,.0f}" in told
    assert "RMS" not in told


def test_the_papers_indicators_are_in_its_history():
    _, page = model_and_page(UFC("risk"))
    assert "RMS" in words(section(page, "history"))


def test_nothing_constructed():
    rows = np.array([[0, 1], [1, 0], [0, 0], [1, 1]] * 5)
    with pytest.warns(ConjunctWarning):
        model = UFC().fit(rows)
    page = words(Report(model, rows).html())
    assert "nothing was constructed" in page
    assert "there is no course to show" in page
    assert "No pair was replaced" in page


def test_where_complexity_has_no_meaning():
    rows = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]] * 6)
    with pytest.warns(ConjunctWarning, match="C0 has no meaning"):
        model = UFC("risk").fit(rows)
    told = words(Report(model, rows).html())
    assert "There is no plane of solutions" in told
    assert "C0 has no meaning" in told


def test_other_rows_than_those_of_fit(zoo):
    model, page = model_and_page(UFC())
    told = words(Report(model, zoo.head(40)).html())
    assert "are not those that the model was fitted on" in told
    assert "findings, history, ancestry and merges are of the training data" in told
    assert "are not those" not in words(page)


def test_supports_are_of_the_rows_shown(zoo):
    model = UFC(max_iter=1).fit(zoo)
    some = zoo.head(40)
    page = Report(model, some).html()
    expected = model.transform(some).sum().row(0)
    told = re.findall(r'<span class="of">(\d+) ', page)
    assert sorted(map(int, told)) == sorted(expected)


def test_merges_add_up(zoo):
    """The widths of rectangles are counts of rows, by the definition."""
    model = UFC(Risk(prune=False), max_iter=3).fit(zoo)
    fitted = model.feature_set_
    rows = zoo.to_numpy().astype(int).tolist()
    supports = ModelOnRows.of(model, zoo).lineage_supports
    n = len(fitted.lineage.primitives)
    for number in range(len(fitted.lineage)):
        assert supports[number] == naive.support(number, fitted.lineage.conjunctions, n, rows)
    for picture in draw_merges(ModelOnRows.of(model, zoo)):
        left, both, right = picture.parts
        assert left.support + both.support == picture.left_support
        assert right.support + both.support == picture.right_support
        assert left.width + both.width == pytest.approx(picture.left_width, abs=0.2)


def test_audit_columns_are_those_of_the_rules(zoo):
    model = UFC(Risk(test="exact", correction="bh")).fit(zoo)
    rules = model.get_rules("dict")
    data = re.search(r'id="report-data">(.*?)</script>', Report(model, zoo).html())[1]
    told = sorted(tuple(line["sort"][3:7]) for line in json.loads(data)["lines"] if line["sort"][2])
    expected = sorted(
        line
        for line, iteration in zip(
            zip(
                rules["r"],
                rules["p_value"],
                rules["p_adjusted"],
                rules["threshold"],
                strict=True,
            ),
            rules["iteration"],
            strict=True,
        )
        if iteration
    )
    assert told == expected


def test_wide_data_are_capped_and_said_so():
    rng = np.random.default_rng(0)
    rows = rng.random((120, 1600)) < 0.1
    rows[:, 1::2] |= rows[:, ::2] & (rng.random((120, 800)) < 0.7)
    model = UFC(0.3, max_iter=1).fit(rows)
    assert len(model.features_) > limits.TABLE_ROWS
    page = Report(model, rows).html()
    told = words(page)
    assert f"The table holds the 1,000 most common of {len(model.features_):,} features" in told
    assert "The plane of solutions is left out for more than 1,500 columns (1,600 here)" in told
    assert "Of more than 40, those with the strongest correlations are shown" in told
    assert re.search(r"The 9 strongest of [\d,]+ merges", told)
    assert re.search(r"[\d,]+ features are left out", told)
    assert "The 16 most common of 1,600 columns" in told
    assert len(page.encode()) < MAX_BYTES


def test_raw_data_of_a_model_with_a_preparation():
    frame = pl.DataFrame(
        {"colour": ["red", "blue", "red", "green"] * 20, "weight": [1.5, 2.5, 9.0, 8.0] * 20}
    )
    model = UFC(max_iter=1).fit(BooleanData.of(frame))
    page = words(Report(model, frame).html())
    assert "How raw columns were made Boolean (2)" in page
    assert "weight" in page
    assert "2 categories" in page


def test_raw_tags_of_a_model_with_a_cleaner():
    baskets = [["Cats", "dog"], ["cat", "dog"], ["tree"], ["Tree"]] * 15
    names = sorted({tag for basket in baskets for tag in basket})
    frame = pl.DataFrame(
        [[tag in basket for tag in names] for basket in baskets], schema=names, orient="row"
    )
    table = BooleanData.of(frame)
    cleaner = table.fit_cleaner(TagCleaner())
    model = UFC(max_iter=1).fit(table.cleaned(cleaner))
    expected = Report(model, table.cleaned(cleaner)).html()
    assert "How tags were cleaned" in words(expected)
    assert section(Report(model, baskets).html(), "features") == section(expected, "features")
    assert section(Report(model, frame).html(), "features") == section(expected, "features")


def test_missing_cells():
    votes = pl.read_csv(datasets.load_house_votes_84().path).cast(pl.Boolean)
    model = UFC(max_iter=2, missing="pairwise").fit(votes)
    page = Report(model, votes).html()
    told = words(page)
    assert "missing 392 cells" in told
    by_risk = Report(UFC("risk", missing="pairwise").fit(votes), votes).html()
    assert "Each point is a set of features" in words(section(by_risk, "plane"))
    assert "in which both columns are known" in words(by_risk)
    assert "are not those that the model" not in told
    rules = model.get_rules("dict")
    shares = [f"{100 * f:.0f}%" for f in rules["frequency"] if f >= 0.1]
    shown = re.findall(r'<span class="soft">(\d\d+%)</span></span></div>', page)
    assert sorted(shown) == sorted(shares)
    with pytest.raises(InputError, match="missing"):
        Report(UFC(max_iter=1).fit(votes.fill_null(False)), votes)


def test_rows_have_names(zoo):
    names = [f"animal {k}" for k in range(len(zoo))]
    frame = pd.DataFrame(zoo.to_dict(as_series=False), index=names)
    told = words(section(Report(UFC().fit(frame), frame).html(), "examples"))
    assert "animal 3" in told
    assert "row " not in re.sub(r"of \d+ rows?", "", told)


def test_stability_is_shown(zoo):
    model = UFC().fit(zoo)
    for found in (
        stability(zoo, model, noise=(0, 0.1), n_runs=2),
        stability(zoo, model, kind="bootstrap", n_runs=2),
    ):
        page = Report(model, zoo, stability=found).html()
        assert '<section id="stability"' in page
        shares = re.findall(r'data-label="Comes back">(\d+)%', page)
        assert sorted(map(int, shares)) == sorted(
            round(100 * share) for share in found.shares_of(model)
        )
    _, without = model_and_page(UFC())
    assert "Comes back" not in without


def test_other_models_are_refused(zoo):
    with pytest.raises(InputError, match="not ClusteringTree"):
        Report(ClusteringTree().fit(zoo), zoo)


def test_other_columns_are_refused(zoo):
    model = UFC().fit(zoo)
    with pytest.raises(ValueError, match="feature"):
        Report(model, zoo.drop("hair"))


def test_saved_whole_or_not_at_all(zoo, tmp_path):
    report = Report(UFC().fit(zoo), zoo)
    report.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == report.html()
    with pytest.raises(InputError, match="is a folder"):
        report.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_embedded_json_cannot_be_left():
    text = embed({"a": "</script><!--<script>&\u2028\u2029"})
    assert not set("<>&\u2028\u2029") & set(text)
    assert "\\u003c/script" in text


def test_lone_surrogates_do_not_break_a_page():
    baskets = [["a\ud800", "b"], ["a\ud800", "b"], ["c"], ["b"]] * 10
    model = UFC(0.1, max_iter=1).fit(baskets)
    report = Report(model, baskets, title="\udfff")
    assert b"<!doctype" in report.html().encode()
