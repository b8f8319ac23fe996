"""The page as text: what it holds, for every kind of model and of data."""

import json
import os
import re
import subprocess
import sys
from html import escape, unescape
from urllib.parse import unquote

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
from conjunct.explain import Summary, find, format_share
from conjunct.expressions import pattern_text
from conjunct.report import page as limits
from conjunct.report.features import draw_merges
from conjunct.report.model_on_rows import ModelOnRows
from conjunct.report.page import embed
from jargon import JARGON

MAX_BYTES = 3_000_000
READ = ("findings", "relations", "vocabulary", "rows")
TECHNICAL = (
    *("method", "data", "features", "plane", "history", "correlation", "ancestry", "merges"),
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


def section_of(page, tag):
    return re.search(rf"<{tag}\b.*?</{tag}>", page, re.DOTALL)[0]


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
    everybody, _, technical = page.partition('<details id="technical"')
    for name in READ:
        is_there = bool(model.feature_set_.merges) or name in ("findings", "vocabulary")
        assert (f'<section id="{name}"' in everybody) is is_there
        assert (f'<a href="#{name}">' in section_of(page, "nav")) is is_there
    for name in TECHNICAL:
        assert (f'<section id="{name}"' in technical) is (name != "plane" or has_plane)
    assert len(re.findall(r"<a ", section_of(page, "nav"))) <= 6
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
    assert "No pair was replaced" in words(section(page, "merges"))
    # columns are the parents of what is drawn
    drawn = len(re.findall(r'class="node column"', page))
    left = len(zoo.columns) - drawn
    told = f"{left} unchanged column{'s' * (left != 1)}"
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
    again = Report(load(tmp_path / "model.json"), zoo, title="Findings in zoo.csv")
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
    assert "All λ from 0.002 to 0.5 and up to 3 iterations were tried." in closest
    _, by_evidence = model_and_page(UFC())
    assert "the one with the most evidence" in words(by_evidence)
    _, by_bits = model_and_page(UFC("bits"))
    assert "Benjamini and Hochberg's correction" in words(by_bits)
    _, untested = model_and_page(UFC(Bits(alpha=None), search="batch", max_length=3))
    assert "(r > 0) may be joined" in words(untested)


@pytest.mark.parametrize("model", kinds(models())[:-1], ids=str)
def test_why_it_stopped_is_what_the_model_says(model):
    model, page = model_and_page(model)
    assert words(page).count(" ".join(model.stop_reason_.split())) == 1


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
    assert model.stop_reason_ in words(Report(model, zoo.head(40)).html())
    del model.stop_reason_
    assert "did not store the reason" in words(Report(model, zoo).html())


@pytest.mark.parametrize("name", ["coco_street", "coco_val2017", "zoo"])
def test_what_everybody_reads_has_no_jargon(name):
    model, page = model_and_page(UFC(), name)
    everybody = words(page.partition('<details id="technical"')[0])
    assert JARGON.findall(everybody) == []
    for finding in model.findings_[: limits.FINDINGS_BY_ORDER]:
        assert finding.sentence in everybody
    summary = Summary(model)
    assert summary.overview.partition(" Strongest")[0] in everybody
    method = words(section(page, "method"))
    assert summary.length in method
    assert summary.stop_reason in method


def test_findings_have_their_place_in_each_order():
    model, page = model_and_page(UFC(), "coco_val2017")
    shown = re.findall(
        r'<li data-order="([-\d,]+)".*?<h3[^>]*><a[^>]*>(.*?)</a>', section(page, "findings"), re.S
    )
    for k, order in enumerate(("evidence", "lift", "rows")):
        places = {int(places.split(",")[k]): unescape(name) for places, name in shown}
        found = find(model.feature_set_, order).findings[: limits.FINDINGS_BY_ORDER]
        assert [places[k] for k in range(len(found))] == [one.name for one in found]


def test_a_chunk_of_many_tags_is_called_by_its_strongest_part():
    rng = np.random.default_rng(0)
    core = rng.random(400) < 0.3
    rows = np.column_stack([core ^ (rng.random(400) < 0.02) for _ in range(9)])
    frame = pl.DataFrame(rows, schema=[f"a rather long question {k}" for k in range(9)])
    model = UFC().fit(frame)
    longest = max(
        (one.part_of for one in model.findings_ if one.part_of), key=lambda x: len(x.tags)
    )
    assert len(longest.tags) > 4
    first = section(Report(model, frame).html(), "findings")
    titles = re.findall(r"<h3[^>]*><a[^>]*>(.*?)</a>", first)
    assert max(title.count(" + ") for title in titles) < 4
    assert f"Part of a chunk of {len(longest.tags)} tags" in words(first)
    for tag in longest.tags:
        assert tag in first


@pytest.mark.parametrize("model", [UFC(), UFC("bits"), UFC("risk"), UFringe(30)], ids=str)
def test_every_link_leads_somewhere(model):
    _, page = model_and_page(model)
    ids = set(re.findall(r' id="([^"]*)"', page))
    links = re.findall(r'href="#([^"]*)"', page)
    assert len(links) > 8
    assert set(links) <= ids


def test_every_chunk_has_an_address_and_one_count():
    data = datasets.load("coco_street")
    model, page = model_and_page(UFC(), "coco_street")
    columns = dict(zip(data.feature_names, data.values.T, strict=True))
    lines = re.findall(
        r'<tr id="chunk-([^"]*)".*?<span class="of">([\d,]+) ', section(page, "vocabulary"), re.S
    )
    shown = {unquote(name): int(rows.replace(",", "")) for name, rows in lines}
    joined = [model.feature_set_.lineage.pattern(m.both) for m in model.feature_set_.merges]
    for tags in [*joined, *([name] for name in data.feature_names)]:
        rows = np.logical_and.reduce([columns[tag] for tag in tags]).sum()
        assert shown[pattern_text(tags)] == rows


def test_example_rows_have_the_tags():
    data = datasets.load_coco_street()
    _, page = model_and_page(UFC(), "coco_street")
    examples = re.findall(r'<p class="tags"><span class="soft">row (\d+):</span>(.*?)</p>', page)
    assert len(examples) >= 5
    for row, text in examples:
        own = {n for n, x in zip(data.feature_names, data.values[int(row) - 1], strict=True) if x}
        marked = set(map(unescape, re.findall(r'<span class="tag it"[^>]*>(.*?)</span>', text)))
        tags = set(map(unescape, re.findall(r'<span class="tag[^>]*>(.*?)</span>', text)))
        assert len(marked) > 1
        assert tags <= own
        assert "more" in text or tags == own


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
def test_alerts_come_first():
    n = 60
    frame = pd.DataFrame(
        {
            "": [f"r{k}" for k in range(n)],  # as in a file that a table's index was written to
            "country": ["Norway"] * n,
            "height_cm": [150 + k % 40 for k in range(n)],
            "income": [float(k % 7) if k % 2 else None for k in range(n)],
            "male": [k % 3 == 0 for k in range(n)],
            "is_male": [k % 3 == 0 for k in range(n)],
        }
    )
    page = Report(UFC().fit(frame), frame).html()
    alerts = re.search(r'<details id="alerts".*?</details>', page, re.DOTALL)
    assert alerts.start() < page.index('<section id="findings"')
    said = words(alerts[0])
    assert "Copies male and is_male are nearly identical." in said or "is_male and male are" in said
    assert "Constant country (every cell is 'Norway')" in said
    assert "Many missing values income (50% of the cells)" in said
    assert "Left out a column without a name (it names the rows)" in said


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": list("abcabc")}),
        pd.DataFrame({"x": list("aabb"), "y": list("aabb")}),
        pd.DataFrame({"x": [True, False, None, None]}),
        pd.DataFrame(np.eye(6, dtype=bool)),
        pd.DataFrame(np.full((5, 3), np.nan), columns=list("abc")).astype("boolean"),
        pd.DataFrame(np.ones((4, 2), dtype=bool)),
        pd.DataFrame(np.random.default_rng(0).random((200, 115)) < 0.5),
    ],
    ids=["one column", "copies", "gaps", "six rows", "all missing", "all true", "115 columns"],
)
def test_any_table_that_fit_reads_has_a_page(frame):
    page = Report(UFC().fit(frame), frame).html()
    assert "nan" not in words(page).lower()
    assert '<section id="vocabulary"' in page


def test_features_by_pattern_with_the_formula_behind():
    model, page = model_and_page(UFC())
    table = section(page, "features")
    shown = re.findall(r'<button[^>]*><span dir="auto">(.*?)</span>', table)
    assert sorted(map(unescape, shown)) == sorted(model.feature_set_.pattern_texts)
    for line, name in zip(tables_of(page)["features"], map(unescape, shown), strict=True):
        formula = str(model.feature_set_.lineage.expression(line["n"]))
        assert formula in (name, *(text for _, text in line["facts"]))
    # the paper's are shown by their formulas, and have patterns too
    paper, page = model_and_page(UFC("risk"))
    for line in tables_of(page)["features"]:
        formula = str(paper.feature_set_.lineage.expression(line["n"]))
        assert escape(formula) in page or formula in str(line["facts"])
    _, page = model_and_page(UFringe(30))
    assert not any(head == "Tags" for x in tables_of(page)["features"] for head, _ in x["facts"])


def tables_of(page):
    return json.loads(re.search(r'id="report-data">(.*?)</script>', page)[1])["tables"]


@pytest.mark.slow
def test_long_formulas_are_not_written_out():
    spect = datasets.load_spect().values
    model = UFC(0.02, max_iter=14).fit(spect)
    lengths = [feature.length for feature in model.features_]
    assert max(lengths) > 5 * limits.FORMULA
    page = Report(model, spect).html()
    assert f"a formula of {max(lengths):,} literals" in page
    exact = [dict(line["facts"]).get("As built", "") for line in tables_of(page)["features"]]
    assert max(map(len, exact)) < 10 * limits.FORMULA
    assert sum(map(len, exact)) < 2 * limits.FORMULAS
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
    assert "nothing was found" in page
    assert "there are no iterations to show" in page
    assert "No pair was replaced" in page
    assert model.stop_reason_ in page


def test_nothing_found_is_said_in_plain_words():
    rows = np.random.default_rng(0).random((200, 6)) < 0.3
    with pytest.warns(ConjunctWarning):
        model = UFC().fit(rows)
    page = Report(model, rows).html()
    assert "bits of evidence and needs more than" in model.stop_reason_
    assert model.stop_reason_ in words(section(page, "method"))
    said = words(page.partition('<details id="technical"')[0])
    assert re.search(
        r"The strongest pair, x\d with x\d, is not clear enough\. About \d+ more", said
    )
    assert JARGON.findall(said) == []


def test_where_complexity_has_no_meaning():
    rows = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]] * 6)
    with pytest.warns(ConjunctWarning, match="C0 is undefined"):
        model = UFC("risk").fit(rows)
    told = words(Report(model, rows).html())
    assert "There is no plane of solutions" in told
    assert "C0 is undefined" in told


def test_other_rows_than_those_of_fit(zoo):
    model, page = model_and_page(UFC())
    told = words(Report(model, zoo.head(40)).html())
    assert "The model was fitted on other rows." in told
    assert "Example rows, the map, supports of features" in told
    assert "fitted on other rows" not in words(page)


def test_supports_are_of_the_rows_shown(zoo):
    model = UFC(max_iter=1).fit(zoo)
    some = zoo.head(40)
    page = Report(model, some).html()
    expected = model.transform(some).sum().row(0)
    told = re.findall(r'<span class="of">(\d+) ', section(page, "features"))
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
        assert left.support + both.support == picture.left.support
        assert right.support + both.support == picture.right.support
        assert left.width + both.width == pytest.approx(picture.left.width, abs=0.2)


def test_audit_columns_are_those_of_the_merges(zoo):
    model = UFC(Risk(test="exact", correction="bh")).fit(zoo)
    rules = model.get_rules("dict")
    columns = (rules[name] for name in ("r", "p_value", "p_adjusted", "threshold"))
    of_merge = dict(zip(model.feature_set_.merges, zip(*columns, strict=True), strict=True))
    origins = model.feature_set_.origins()
    made = [origins[k] for k in model.feature_set_.features if k in origins]
    table = tables_of(Report(model, zoo).html())["features"]
    lines = [tuple(line["sort"][3:7]) for line in table if line["sort"][2]]
    assert sorted(lines) == sorted(of_merge[merge] for merge in made)


@pytest.mark.filterwarnings("ignore:using only the 1,000 most frequent of 1,600 tags")
def test_wide_data_are_capped_and_said_so():
    rng = np.random.default_rng(0)
    rows = rng.random((120, 1600)) < 0.1
    rows[:, 1::2] |= rows[:, ::2] & (rng.random((120, 800)) < 0.7)
    model = UFC(0.3, max_iter=1).fit(rows)
    assert len(model.features_) > limits.TABLE_ROWS
    page = Report(model, rows).html()
    told = words(page)
    assert f"The table lists the 600 most common of {len(model.features_):,} features" in told
    assert "The plane of solutions is omitted for more than 1,500 columns (1,600 here)" in told
    assert "Only the 40 with the strongest correlations are shown" in told
    assert re.search(r"The 9 strongest merges, of [\d,]+", told)
    assert re.search(r"[\d,]+ features are not shown", told)
    assert "and the 300 most common tags" in told
    assert len(page.encode()) < MAX_BYTES


def test_raw_data_of_a_model_with_a_preparation():
    frame = pl.DataFrame(
        {"colour": ["red", "blue", "red", "green"] * 20, "weight": [1.5, 2.5, 9.0, 8.0] * 20}
    )
    model = UFC(max_iter=1).fit(BooleanData.from_data(frame))
    page = words(Report(model, frame).html())
    assert "How raw columns became tags (2)" in page
    assert "weight" in page
    assert "2 categories" in page


def test_raw_tags_of_a_model_with_a_cleaner():
    baskets = [["Cats", "dog"], ["cat", "dog"], ["tree"], ["Tree"]] * 15
    names = sorted({tag for basket in baskets for tag in basket})
    frame = pl.DataFrame(
        [[tag in basket for tag in names] for basket in baskets], schema=names, orient="row"
    )
    table = BooleanData.from_data(frame)
    cleaner = table.fit_cleaner(TagCleaner())
    model = UFC(max_iter=1).fit(table.clean(cleaner))
    expected = Report(model, table.clean(cleaner)).html()
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
    assert "fitted on other rows" not in told
    rules = model.get_features("dict")
    shares = [f"{100 * f:.0f}%" for f in rules["frequency"] if f >= 0.1]
    shown = re.findall(r'<span class="soft">(\d\d+%)</span></span>', section(page, "features"))
    assert sorted(shown) == sorted(shares)
    with pytest.raises(InputError, match="missing"):
        Report(UFC(max_iter=1, missing="raise").fit(votes.fill_null(False)), votes)


def test_rows_have_names(zoo):
    names = [f"animal {k}" for k in range(len(zoo))]
    frame = pd.DataFrame(zoo.to_dict(as_series=False), index=names)
    told = words(section(Report(UFC().fit(frame), frame).html(), "findings"))
    assert re.search(r"animal \d+: ", told)
    assert not re.search(r"row \d+:", told)


def test_stability_is_shown(zoo):
    model = UFC().fit(zoo)
    for found in (
        stability(zoo, model, noise=(0, 0.1), n_runs=2),
        stability(zoo, model, kind="bootstrap", n_runs=2),
    ):
        page = Report(model, zoo, stability=found).html()
        assert '<section id="stability"' in page
        shares = re.findall(r'data-label="Recurrence">(\d+)%', page)
        assert sorted(map(int, shares)) == sorted(
            round(100 * share) for share in found.shares_of(model)
        )
    _, without = model_and_page(UFC())
    assert "Recurrence" not in without


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


def test_relations_and_rows_worth_a_second_look():
    data = datasets.load_zoo()
    frame = pd.DataFrame(data.values, columns=list(data.feature_names))
    model = UFC().fit(frame)
    page = Report(model, frame).html()
    for one in [one for one in model.relations() if one.kind == "implies"][:10]:
        assert one.sentence in page
    _, _, section = page.partition('<section id="second"')
    section = section.partition("</section>")[0]
    best = max((some[0] for some in model.suggest(frame, 1) if some), key=lambda one: one.score)
    assert f'<td class="number">{format_share(best.score)}</td>' in section
    odd = min((some[0] for some in model.doubtful(frame, 1) if some), key=lambda one: one.score)
    assert f'<td class="number">{format_share(odd.score)}</td>' in section
