"""The page in a real browser, opened as a file: what a person sees, clicks and types."""

from urllib.parse import quote

import numpy as np
import polars as pl
import pytest
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.support.wait import WebDriverWait

from conjunct import UFC, ConjunctWarning, Report, RowGroups, datasets, stability
from conjunct.explain import find
from conjunct.expressions import Primitive
from jargon import JARGON

HOSTILE = (
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 2">',
    "${7*7}{{7*7}}{% raw %}",
    "</script><script>window.hacked = 3</script>",
    "<!--<script>",
    "' onmouseover='window.hacked = 4",
    "שלום עולם",
    "🦊🏽 emoji 🏳️‍🌈",
    "x" * 300,
    "line\u2028separator",
    "a ∧ ¬b & c",
    " ",
)
OPEN_MS = 3000  # a second is meant, but other tests may run at the same time
BUDGET_MS = 100  # a keystroke that takes longer feels slow


def colours(page):
    return page.js("const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]")


def shown_rows(page, table="features"):
    """The names of the lines that a table shows."""
    return page.js(
        "return Array.from(document.querySelectorAll(arguments[0] + ' tbody tr[data-i]'))"
        ".filter(r => !r.hidden).map(r => r.querySelector('.open').textContent)",
        f"#{table}",
    )


def open_details(page):
    page.js("document.getElementById('technical').open = true")


def search(page, text, table="vocabulary"):
    box = page.one(f"#{table} input[type=search]")
    box.clear()
    box.send_keys(text)


def numbers(page, column, table="features"):
    return page.js(
        "return Array.from(document.querySelectorAll(`#${arguments[1]} tbody tr[data-i]`))"
        ".map(r => report.tables[arguments[1]][Number(r.dataset.i)].sort[arguments[0]])",
        column,
        table,
    )


def test_no_error_and_no_request(page, street_page):
    page.open(street_page)
    assert page.console() == []
    assert [url for url in page.requests() if not url.startswith("data:")] == [
        street_page.resolve().as_uri()
    ]
    assert page.one("h1").text == "Street"


@pytest.fixture(scope="session")
def survey_page(tmp_path_factory):
    """A survey with categories, numbers, gaps, an id and a constant."""
    rng = np.random.default_rng(3)
    n = 600
    age = rng.integers(18, 80, n)
    sport = np.where(rng.random(n) < 0.6, np.where(age < 40, "football", "walking"), "none")
    car = np.where(rng.random(n) < np.where(age < 30, 0.2, 0.8), "yes", "no")
    income = np.where(age < 30, 20, 45) + rng.normal(0, 8, n)
    frame = pl.DataFrame(
        {
            "respondent": [f"R{k:04}" for k in range(n)],
            "country": ["Norway"] * n,
            "age": age,
            "favourite sport": sport,
            "has a car": car,
            "income": [None if rng.random() < 0.3 else round(x, 1) for x in income],
            "works remotely": rng.random(n) < np.where(income > 40, 0.6, 0.1),
        }
    )
    path = tmp_path_factory.mktemp("survey") / "survey.html"
    with pytest.warns(ConjunctWarning):
        Report(UFC().fit(frame), frame, title="Survey").save(path)
    return path


@pytest.fixture(scope="session")
def long_page(tmp_path_factory):
    """Five chunks of 14 tags with long names."""
    rng = np.random.default_rng(0)
    columns = {}
    for chunk in range(5):
        has_chunk = rng.random(400) < 0.2 + 0.05 * chunk
        for k in range(14):
            name = f"owns an expensive household appliance of kind {chunk}, model number {k}"
            columns[name] = np.where(rng.random(400) < 0.03, ~has_chunk, has_chunk)
    frame = pl.DataFrame(columns)
    path = tmp_path_factory.mktemp("long") / "long.html"
    Report(UFC().fit(frame), frame, title="Long").save(path)
    return path


CUT = (
    "return Array.from(document.querySelectorAll('#found li:not([hidden])'), item =>"
    " Array.from(item.querySelectorAll('.chunk > h3, .chunk > p')).filter(text =>"
    " !text.offsetParent || text.scrollHeight > text.clientHeight + 1).length)"
)


def test_a_long_finding_is_folded_and_unfolds_by_keyboard(page, long_page, chunks_page):
    page.open(long_page, width=390, height=900, mobile=True)
    assert min(page.js(CUT)) > 0
    before = page.texts("#found li .chunk > p")
    button = page.one("#found li .unfold")
    assert button.get_attribute("aria-expanded") == "false"
    assert button.get_attribute("aria-label").startswith("Show all of owns an expensive")
    page.js("document.querySelector('#found li summary').focus()")
    ActionChains(page.driver).send_keys(Keys.TAB).perform()
    assert page.driver.switch_to.active_element == button
    for key in (Keys.ENTER, Keys.SPACE):
        button.send_keys(key)
        is_whole = key == Keys.ENTER
        assert button.get_attribute("aria-expanded") == str(is_whole).lower()
        assert button.text == ("Show less" if is_whole else "Show all")
        first, *others = page.js(CUT)
        assert (first == 0) == is_whole
        assert min(others) > 0
    # the texts are the same, folded or not
    assert page.texts("#found li .chunk > p") == before
    # a finding that the keyboard has unfolded stays so in another order
    button.send_keys(Keys.ENTER)
    page.js(
        "const s = document.getElementById('order'); s.value = '2';"
        "s.dispatchEvent(new Event('change'))"
    )
    assert page.js(CUT).count(0) == 1
    page.run_devtools("Emulation.setEmulatedMedia", media="print")
    assert set(page.js(CUT)) == {0}
    assert not any(button.is_displayed() for button in page.all(".unfold"))
    page.open(chunks_page, width=390, height=900, mobile=True)
    assert set(page.js(CUT)) == {0}
    assert not any(button.is_displayed() for button in page.all(".unfold"))
    assert page.console() == []


@pytest.mark.parametrize("which", ["chunks_page", "survey_page", "long_page"])
@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 900)])
def test_the_first_screen_says_three_findings_in_plain_words(page, which, width, height, request):
    page.open(request.getfixturevalue(which), width=width, height=height, mobile=width < 700)
    assert page.console() == []
    assert page.js("return document.documentElement.scrollWidth") <= width
    said = page.js(
        "return Array.from(document.querySelectorAll('#found li .chunk > p:not([class])'))"
        ".filter(p => p.offsetParent && p.getBoundingClientRect().bottom < arguments[0])"
        ".map(p => p.textContent)",
        height,
    )
    assert len(said) >= 3
    assert all("%" in sentence for sentence in said)
    # every text whose beginning is on the first screen
    seen = page.js(
        "const found = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);"
        "while (texts.nextNode()) { const range = document.createRange();"
        " range.selectNodeContents(texts.currentNode); const box = range.getBoundingClientRect();"
        " if (box.height && box.top < arguments[0]) found.push(texts.currentNode.textContent); }"
        "return found.join(' ')",
        height,
    )
    assert JARGON.findall(seen) == []
    # a page on a phone has an end: long tables scroll by themselves
    assert page.js("return document.documentElement.scrollHeight") < 20_000


@pytest.mark.parametrize(
    ("width", "media"),
    [(390, "light"), (390, "dark"), (1400, "light"), (1400, "dark"), (794, "print")],
)
def test_nothing_sticks_out_when_everything_is_open(
    page, survey_page, chunks_page, long_page, width, media
):
    for path in (survey_page, chunks_page, long_page):
        theme = [("prefers-color-scheme", media)] if media != "print" else []
        page.open(path, width=width, height=900, mobile=width < 700, media=theme)
        page.js("for (const d of document.querySelectorAll('details')) d.open = true")
        if media == "print":
            page.run_devtools("Emulation.setEmulatedMedia", media="print")
        assert page.js("return document.documentElement.scrollWidth") <= width
        # no number is wider than its cell
        wide = page.js(
            "return Array.from(document.querySelectorAll('td.number, .of, .figure'))"
            ".filter(c => c.offsetParent && c.scrollWidth > c.clientWidth + 1 && c.clientWidth)"
            ".map(c => c.outerHTML)"
        )
        assert wide == []
        assert page.console() == []


def test_the_order_of_findings(page, chunks_page, chunks):
    model, _ = chunks
    page.open(chunks_page)
    shown = "#found li:not([hidden]) h3"
    for k, order in enumerate(("evidence", "lift", "rows")):
        page.js(
            "const s = document.getElementById('order'); s.value = arguments[0];"
            "s.dispatchEvent(new Event('change'))",
            str(k),
        )
        found = [one.name for one in find(model.feature_set_, order).findings]
        assert page.texts(shown) == found[:5]
        page.one("#more").send_keys(Keys.ENTER)
        assert page.texts(shown) == found[:30]
        page.one("#more").send_keys(Keys.ENTER)


def test_the_address_of_each_chunk(page, chunks_page, chunks):
    page.open(chunks_page)
    for link in page.all("#found li:not([hidden]) h3 a"):
        page.js("scrollTo(0, 0)")
        name = link.text
        link.click()
        target = page.one("tr.target")
        assert target.find_element("css selector", ".open").text == name
        assert 0 < page.js("return arguments[0].getBoundingClientRect().top", target) < 900
    model, _ = chunks
    name = max((one.name for one in model.findings_), key=len)
    page.driver.get(page.driver.current_url.partition("#")[0] + "#chunk-" + quote(name, safe=""))
    page.driver.refresh()
    WebDriverWait(page.driver, 10).until(lambda _: page.all("tr.target"))
    assert page.one("tr.target .open").text == name


def test_a_network_of_few_tags_fits_a_phone(page, tmp_path):
    rows = [["chair", "table"]] * 40 + [["bus", "car"]] * 30 + [["chair"], ["car"]] * 20
    Report(UFC().fit(rows), rows).save(tmp_path / "few.html")
    page.open(tmp_path / "few.html", width=390, height=844, mobile=True)
    right = "return document.querySelector('#tags svg').getBoundingClientRect().right"
    assert 300 < page.js(right) <= 390
    names = page.js(
        "return Array.from(document.querySelectorAll('#tags .tag-name'))"
        ".map(name => name.getBoundingClientRect().height)"
    )
    assert min(names) > 9  # pixels: still to be read


def test_a_formula_is_one_click_behind_its_pattern(page, chunks_page, chunks):
    model, _ = chunks
    page.open(chunks_page)
    assert not page.one("#features").is_displayed()
    page.one("#technical > summary").click()
    row = page.one("#features tbody tr")
    button = row.find_element("css selector", "button.open")
    formula = model.features_[model.feature_set_.pattern_texts.index(button.text)]
    button.click()
    assert str(formula) in page.texts("#features tr.detail dd")
    longest = max(model.features_, key=lambda feature: feature.length)
    assert longest.length > 200
    page.js("document.querySelectorAll('#features button.open').forEach(b => b.click())")
    assert str(longest) in page.texts("#features tr.detail dd")


def test_search_by_tag_is_not_about_what_is_denied(page, chunks_page, chunks):
    model, _ = chunks
    page.open(chunks_page)
    open_details(page)
    search(page, "surfboard", "features")
    expected = [text for text in model.feature_set_.pattern_texts if "surfboard" in text]
    assert sorted(shown_rows(page)) == sorted(expected)
    assert len(expected) > 1


def test_the_vocabulary_is_searched_sorted_and_filtered(page, chunks_page, chunks):
    _, data = chunks
    page.open(chunks_page)
    search(page, "FORK kni")
    found = shown_rows(page, "vocabulary")
    assert "fork + knife" in found
    assert all("fork" in name and "kni" in name for name in found)
    n = page.js("return report.tables.vocabulary.length")
    assert page.one("#vocabulary .shown").text == f"{len(found)} of {n} entries"
    search(page, "no such word")
    assert shown_rows(page, "vocabulary") == []
    assert page.one("#vocabulary .empty").is_displayed()
    search(page, " ")
    page.js(
        "const s = document.querySelector('#vocabulary .kind'); s.value = 'tag';"
        "s.dispatchEvent(new Event('change'))"
    )
    WebDriverWait(page.driver, 10).until(lambda _: len(shown_rows(page, "vocabulary")) == 80)
    assert sorted(shown_rows(page, "vocabulary")) == sorted(data.columns)
    for column in (0, 1, 2):
        button = page.one(f'#vocabulary button[data-sort="{column}"]')
        for backwards in (True, False):
            button.click()
            values = numbers(page, column, "vocabulary")
            known = [value for value in values if value is not None]
            assert known == sorted(known, reverse=backwards)
            assert values[: len(known)] == known


def test_a_chunk_lists_the_rows_with_all_its_tags(page, chunks_page, chunks):
    _, data = chunks
    page.open(chunks_page)
    search(page, "fork + knife")
    names = shown_rows(page, "vocabulary")
    page.all("#vocabulary tr:not([hidden]) button.open")[names.index("fork + knife")].click()
    rows = [int(text.removeprefix("row ")) - 1 for text in page.texts("#vocabulary .detail .tag")]
    both = (data["fork"] & data["knife"]).arg_true().to_list()
    assert set(rows) <= set(both)
    assert f"and {len(both) - len(rows)} more" in page.one("#vocabulary .detail").text


def test_other_scripts_are_refused(page, street_page):
    page.open(street_page)
    page.js(
        "const s = document.createElement('script'); s.textContent = 'window.hacked = 5';"
        "document.body.append(s);"
        "const i = document.createElement('img'); i.src = 'https://example.org/x.png';"
        "document.body.append(i)"
    )
    assert page.js("return window.hacked") is None
    assert any("Content Security Policy" in said for said in page.console())


def test_search(page, street_page):
    page.open(street_page)
    open_details(page)
    everything = page.js("return report.tables.features.length")
    search(page, "HANDBAG bus", "features")
    found = shown_rows(page)
    assert 0 < len(found) < everything
    assert all("handbag" in name and "bus" in name for name in found)
    assert page.one("#features .shown").text == f"{len(found)} of {everything} features"


def test_filter_by_column_and_kind(page, street_page, street):
    model, _ = street
    page.open(street_page)
    page.js(
        "const s = document.querySelector('#features .with');"
        "s.value = Array.from(s.options).find(o => o.textContent === 'bicycle').value;"
        "s.dispatchEvent(new Event('change'))"
    )
    expected = {n for n, f in enumerate(model.features_) if "bicycle" in f.primitives}
    assert len(shown_rows(page)) == len(expected)
    page.open(street_page)
    page.js(
        "const s = document.querySelector('#features .kind'); s.value = 'tag';"
        "s.dispatchEvent(new Event('change'))"
    )
    assert set(shown_rows(page)) == {str(f) for f in model.features_ if f.length == 1}


@pytest.mark.parametrize("column", [0, 1, 2, 3, 4, 6])
def test_sort(page, street_page, column):
    page.open(street_page)
    open_details(page)
    button = page.one(f'#features button[data-sort="{column}"]')
    for order, expected in (("descending", True), ("ascending", False)):
        button.click()
        heading = page.one(f'#features th:has(button[data-sort="{column}"])')
        assert heading.get_attribute("aria-sort") == order
        values = numbers(page, column)
        known = [value for value in values if value is not None]
        assert known == sorted(known, reverse=expected)
        # what has no value comes last in either order
        assert values[: len(known)] == known


def test_sort_by_name(page, street_page):
    page.open(street_page)
    page.one('#vocabulary button[data-sort="name"]').click()
    names = page.texts("#vocabulary tbody .open")
    assert names == page.js("return arguments[0].slice().sort((a, b) => a.localeCompare(b))", names)


def test_a_feature_opens(page, street_page, street):
    model, data = street
    page.open(street_page)
    open_details(page)
    button = page.one("#features button.open")
    number = page.js("return report.tables.features[0].n")
    button.send_keys(Keys.ENTER)
    assert button.get_attribute("aria-expanded") == "true"
    formula = model.feature_set_.lineage.expression(number)
    rows = [k + 1 for k in model.find_rows(str(formula), data)]
    told = [int(name.removeprefix("row ")) for name in page.texts("tr.detail .tag")]
    assert set(told) <= set(rows)
    assert len(told) == 12
    assert f"and {len(rows) - 12} more" in page.one("tr.detail").text
    button.send_keys(Keys.ENTER)
    assert page.all("tr.detail") == []


def test_clicking_a_front_point_changes_the_features(page, zoo_path, tmp_path):
    model, data = zoo_path
    Report(model, data).save(tmp_path / "path.html")
    page.open(tmp_path / "path.html")
    open_details(page)
    best = page.texts("#chosen-features li span:first-child")
    assert set(best) == {str(f) for f in model.features_}
    marks = page.all(".view:not([hidden]) .mark.front")
    assert len(marks) + 1 == len(model.front_)
    far = max(range(len(marks)), key=lambda k: abs(k - len(marks) // 2))
    ActionChains(page.driver).move_to_element(marks[far]).perform()
    assert page.one("#tip").is_displayed()
    name = page.one("#tip").text.partition(":")[0]
    marks[far].click()
    assert page.one("#chosen-name").text == name
    features = page.texts("#chosen-features li span:first-child")
    assert features != best
    solution = next(s for s in model.front_ if f"uFC({s.threshold:g}, {s.iterations})" == name)
    assert set(features) == {str(f) for f in model.solution(solution).features_}
    assert page.console() == []


def test_the_front_by_keyboard(page, street_page):
    page.open(street_page)
    open_details(page)
    page.one("button.pick").send_keys(Keys.ENTER)
    closest = page.one("#chosen-name").text
    assert closest.startswith("Closest point")
    page.one(".view:not([hidden]) .mark.selected").send_keys(Keys.ARROW_RIGHT)
    after = page.one("#chosen-name").text
    assert after != closest
    page.one(".view:not([hidden]) .mark.selected").send_keys(Keys.ARROW_LEFT)
    assert page.one("#chosen-name").text == closest


def test_every_threshold_by_the_slider(page, zoo_path, tmp_path):
    model, data = zoo_path
    Report(model, data).save(tmp_path / "path.html")
    page.open(tmp_path / "path.html")
    open_details(page)
    slide = page.js("return report.plane.slide")
    assert len(slide) > 3
    # no λ is left out between the ends
    assert [high for _, high, _ in slide[:-1]] == [low for low, _, _ in slide[1:]]
    assert float(slide[0][0]) <= model.min_threshold
    assert float(slide[-1][1]) >= model.max_threshold
    for k in (0, len(slide) // 2, len(slide) - 1):
        page.js(
            "const s = document.getElementById('lambda'); s.value = arguments[0];"
            "s.dispatchEvent(new Event('input'))",
            k,
        )
        threshold = (float(slide[k][0]) + float(slide[k][1])) / 2
        assert page.one("#lambda-said").text == f"{slide[k][0]} ≤ λ < {slide[k][1]}"
        best = min(
            (model.result_of(threshold, n) for n in range(1, model.max_iter + 1)),
            key=lambda solution: solution.distance,
        )
        features = page.texts("#chosen-features li span:first-child")
        assert set(features) == {str(f) for f in model.solution(best).features_}


def test_the_slider_takes_merges_back(page, chunks_page, chunks):
    model, data = chunks
    page.open(chunks_page)
    cells = page.js("return document.querySelectorAll('#map rect').length")
    assert cells == 1500
    for n in (model.n_iter_, 9, 0):
        page.js(
            "const s = document.getElementById('step'); s.value = arguments[0];"
            "s.dispatchEvent(new Event('input'))",
            n,
        )
        then = UFC(max_iter=n).fit(data) if n < model.n_iter_ else model
        patterns = {p for p in then.patterns_ if len(p) > 1}
        size = f"Step {n} of {model.n_iter_}: {len(patterns)} chunk"
        WebDriverWait(page.driver, 20).until(lambda _: size in page.one("#step-said").text)  # noqa: B023
        shown = dict(
            page.js(
                "return Array.from(document.querySelectorAll('#chunks-now li:has(.number)'),"
                "li => [li.firstChild.textContent,"
                " Number(li.lastChild.textContent.replace(',', ''))])"
            )
        )
        columns = {name: data[name].to_numpy() for name in data.columns}
        expected = {
            " + ".join(tags): int(np.logical_and.reduce([columns[t] for t in tags]).sum())
            for tags in patterns
        }
        assert shown.items() <= expected.items()
        assert len(shown) == min(60, len(patterns))
        chunks_of = then.chunks(data, "text")["chunks"].to_list()
        for cell in (0, 200, 700, 1499):
            page.js(
                "document.querySelectorAll('#map rect')[arguments[0]]"
                ".dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))",
                cell,
            )
            name, *told = page.texts("#map-tip span")
            expected_row = chunks_of[int(name.removeprefix("row ")) - 1]
            assert sorted(told) == sorted(expected_row.split(" · ") if expected_row else ["no tag"])
    assert page.console() == []


def test_the_map_is_coloured_by_group(page, tmp_path):
    zoo = datasets.load_zoo()
    rows = pl.DataFrame(zoo.values, schema=["<b>milk</b>", *zoo.feature_names[1:]])
    groups = RowGroups(10).fit(rows)
    assert groups.n_groups_ > 8
    Report(UFC().fit(rows), rows, groups=groups).save(tmp_path / "groups.html")
    page.open(tmp_path / "groups.html")
    by_chunk = page.texts("#map-legend li")
    page.one("#by-group").click()
    sizes = [group.rows for group in groups.groups_]
    names = [*(group.name for group in groups.groups_[:8]), "other groups"]
    counts = [*sizes[:8], sum(sizes[8:])]
    expected = [f"{name} {n}" for name, n in zip(names, counts, strict=True)]
    assert page.texts("#map-legend li") == expected
    for k in range(8):
        assert (
            len(page.js(f"return Array.from(document.querySelectorAll('#map .c{k}'))")) == sizes[k]
        )
    page.one("#by-group").click()
    assert page.texts("#map-legend li") == by_chunk
    assert page.console() == []


def test_a_tag_of_the_network_lights_its_neighbours(page, chunks_page, chunks):
    model, _ = chunks
    page.open(chunks_page)
    tag = page.one(".tagged[aria-label^='surfboard ']")
    ActionChains(page.driver).move_to_element(tag).perform()
    rows = sum(
        rows
        for pattern, rows in zip(model.patterns_, model.feature_set_.supports, strict=True)
        if {"surfboard", "person"} <= {*pattern}
    )
    assert f"surfboard shares chunks with person ({rows} rows)" in page.one("#tag-said").text
    at = page.js("return scrollY")
    tag.click()
    ActionChains(page.driver).move_to_element(page.one("#relations h2")).perform()
    lit = set(page.texts(".tag-name.lit"))
    together = {t for p in model.patterns_ if "surfboard" in p and len(p) > 1 for t in p}
    assert {"surfboard", "person"} <= lit <= together
    assert abs(page.js("return scrollY") - at) < 400  # it does not jump away
    tag.click()
    ActionChains(page.driver).move_to_element(page.one("#relations h2")).perform()
    assert page.all(".tag-name.lit") == []


def test_the_slider_shows_more_links_of_each_tag(page, chunks_page):
    page.open(chunks_page)

    def links():
        return page.js(
            "return Array.from(document.querySelectorAll('.link:not(.weak)'))"
            ".map(l => [l.dataset.a, l.dataset.b])"
        )

    few = links()
    most = int(page.one("#links").get_attribute("max"))
    for value, expected in ((1, "fewer"), (most, "all")):
        page.js(
            "const s = document.getElementById('links'); s.value = arguments[0];"
            "s.dispatchEvent(new Event('input'))",
            value,
        )
        now = links()
        assert (len(now) < len(few)) if expected == "fewer" else not page.all(".link.weak")
        # each tag keeps its strongest link
        assert {t for link in now for t in link} == set(
            page.js("return Array.from(document.querySelectorAll('.tagged'), t => t.dataset.t)")
        )


@pytest.mark.parametrize("which", ["chunks_page", "survey_page", "street_page"])
def test_names_in_the_network_do_not_overlap(page, which, request):
    page.open(request.getfixturevalue(which), width=1400)
    boxes = page.js(
        "return Array.from(document.querySelectorAll('.tag-name'), t => {"
        " const b = t.getBoundingClientRect(); return [b.left, b.right, b.top, b.bottom]})"
    )
    assert len(boxes) > 4
    for k, (left, right, top, bottom) in enumerate(boxes):
        for other in boxes[:k]:
            apart = left >= other[1] or other[0] >= right or top >= other[3] or other[2] >= bottom
            assert apart, (boxes[k], other)


def test_the_plane_is_magnified(page, street_page):
    page.open(street_page)
    open_details(page)
    views = page.all(".view")
    assert [view.is_displayed() for view in views] == [True, False]
    page.one('input[name="view"][value="1"]').send_keys(Keys.SPACE)
    assert [view.is_displayed() for view in views] == [False, True]


def test_ancestry_is_followed(page, street_page, street):
    model, _ = street
    page.open(street_page)
    open_details(page)
    fitted = model.feature_set_
    number = max(fitted.features, key=fitted.iteration)
    node = page.one(f'.node[data-n="{number}"]')
    page.js("arguments[0].scrollIntoView({inline: 'center'})", node)
    node.send_keys(Keys.ENTER)
    lit = {
        int(n)
        for n in page.js(
            "return Array.from(document.querySelectorAll('.node.lit'), n => n.dataset.n)"
        )
    }
    ancestors, pending = {number}, [number]
    while pending:
        for parent in fitted.parents(pending.pop()):
            if parent not in ancestors:
                ancestors.add(parent)
                pending.append(parent)
    assert lit == ancestors
    assert str(fitted.lineage.expression(number)) in page.one("#follow").text
    node.send_keys(Keys.ENTER)
    assert page.all(".node.lit") == []


def test_from_a_feature_to_its_ancestry(page, street_page):
    page.open(street_page)
    open_details(page)
    page.one("#features button.open").click()
    page.one("tr.detail button").click()
    assert len(page.all(".node.selected")) == 1


def test_both_themes(page, street_page):
    page.open(street_page)
    light = colours(page)
    page.one("#theme").click()
    dark = colours(page)
    assert luminance(light[0]) > 0.8 > 0.2 > luminance(dark[0])
    page.one("#theme").click()
    assert colours(page) == light
    page.open(street_page, media=[("prefers-color-scheme", "dark")])
    assert colours(page) == dark
    page.one("#theme").click()
    assert colours(page) == light


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out(page, street_page, theme):
    page.open(street_page, media=[("prefers-color-scheme", theme)])
    found = page.js(
        "const on = getComputedStyle(document.querySelector('.card')).backgroundColor;"
        "return ['.card', '.soft', '.note', '.lead', 'summary', '.node-name'].map(s => {"
        "const e = document.querySelector(s); const c = getComputedStyle(e);"
        "return [s, s.includes('-name') ? c.fill : c.color, on]})"
    )
    for selector, ink, paper in found:
        assert contrast(ink, paper) >= 4.5, selector


def luminance(colour):
    channels = [int(x) / 255 for x in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_sticks_out(page, street_page, width):
    page.open(street_page, width=width, height=800, mobile=width < 700)
    assert page.js("return document.documentElement.scrollWidth") <= width
    assert page.one("#vocabulary input").is_displayed()


def test_printing(page, street_page):
    page.open(street_page)
    page.one("#theme").click()  # dark on the screen, dark ink on paper
    page.run_devtools("Emulation.setEmulatedMedia", media="print")
    assert luminance(colours(page)[0]) > 0.9
    assert not page.one("#vocabulary input").is_displayed()
    assert not page.one("nav").is_displayed()
    assert len(page.run_devtools("Page.printToPDF", printBackground=True)["data"]) > 50_000


def test_everything_is_reached_by_keyboard(page, chunks_page):
    page.open(chunks_page)
    seen = set()
    for _ in range(60):
        ActionChains(page.driver).send_keys(Keys.TAB).perform()
        seen.add(
            page.js(
                "const e = document.activeElement;"
                "return e.id || e.dataset.sort || e.classList[0] || e.type"
                " || e.getAttribute('href')"
            )
        )
    assert {"theme", "order", "more", "links", "tagged", "search", "with", "kind", "name"} <= seen


@pytest.mark.parametrize(
    ("model", "controls"),
    [
        (UFC(max_iter=2), ("button.open", ".node")),
        (UFC("risk", max_iter=2), ("button.open", "button.pick", ".node")),
    ],
    ids=["chunks", "risk"],
)
def test_hostile_names_are_text(model, controls, page, tmp_path):
    rng = np.random.default_rng(0)
    base = rng.random((200, len(HOSTILE))) < 0.4
    base[:, 1::2] |= base[:, ::2] & (rng.random((200, len(HOSTILE) // 2)) < 0.8)
    data = pl.DataFrame(base, schema=list(HOSTILE))
    model.fit(data)
    found = stability(data, model, noise=(0, 0.1), n_runs=2)
    Report(model, data, title=HOSTILE[1], stability=found).save(tmp_path / "page.html")
    page.open(tmp_path / "page.html")
    assert page.one("h1").text == HOSTILE[1]
    assert page.js("return window.hacked") is None
    assert page.all("img") == []
    assert len(page.all("script")) == 2
    options = page.js(
        "return Array.from(document.querySelectorAll('#features .with option'), o => o.textContent)"
    )
    for name in HOSTILE[:8]:
        assert Primitive(name).text() in options
    everything = page.js("return document.body.textContent")
    assert "שלום עולם" in everything
    assert "🦊🏽 emoji" in everything
    open_details(page)
    for selector in controls:
        page.one(selector).send_keys(Keys.ENTER)
    assert page.js("return document.documentElement.scrollWidth") <= 1280
    assert page.js("return window.hacked") is None
    assert page.console() == []


def test_five_hundred_features_stay_smooth(page, tmp_path):
    rng = np.random.default_rng(1)
    base = rng.random((300, 400)) < 0.1
    base[:, 1::2] |= base[:, ::2] & (rng.random((300, 200)) < 0.6)
    data = pl.DataFrame(base, schema=[f"tag {k}" for k in range(400)])
    model = UFC(0.2, max_iter=1).fit(data)
    assert len(model.features_) >= 500
    Report(model, data).save(tmp_path / "wide.html")
    page.open(tmp_path / "wide.html")
    open_details(page)
    # what does not fit on a screen is laid out once the page is open
    everything = len(model.features_)
    WebDriverWait(page.driver, 10).until(lambda _: len(shown_rows(page)) == everything)
    # the shortest of a few times: the least disturbed by what else the machine does
    times = page.js(
        "const box = document.querySelector('#features input');"
        "const once = (text) => { const start = performance.now(); box.value = text;"
        "  box.dispatchEvent(new Event('input')); document.body.getBoundingClientRect();"
        "  return performance.now() - start; };"
        "const best = ['t', 'ta', 'tag', 'tag 1', 'tag 12', 'x', ''].map(() => Infinity);"
        "for (let k = 0; k < 5; k++)"
        "  ['t', 'ta', 'tag', 'tag 1', 'tag 12', 'x', ''].forEach((text, i) =>"
        "    (best[i] = Math.min(best[i], once(text))));"
        "return best"
    )
    assert max(times) < BUDGET_MS, times
    WebDriverWait(page.driver, 60).until(lambda _: len(shown_rows(page)) == len(model.features_))
    sorting = page.js(
        "const button = document.querySelector('#features button[data-sort=\"0\"]');"
        "return Math.min(...[0, 1, 2, 3, 4].map(() => { const start = performance.now();"
        "  button.click(); document.body.getBoundingClientRect();"
        "  return performance.now() - start; }))"
    )
    assert sorting < 10 * BUDGET_MS  # once, not at every letter
    assert page.console() == []


def test_in_a_notebook(page, street_report, tmp_path):
    (tmp_path / "notebook.html").write_text(
        f"<!doctype html><meta charset=utf-8><title>n</title>{street_report._repr_html_()}",
        encoding="utf-8",
    )
    page.open(tmp_path / "notebook.html")
    frame = page.one("iframe")
    assert frame.get_attribute("sandbox") == "allow-scripts"
    page.driver.switch_to.frame(frame)
    try:
        search(page, "handbag")
        assert all("handbag" in name for name in shown_rows(page, "vocabulary"))
        page.one("nav a[href='#technical']").click()
    finally:
        page.driver.switch_to.default_content()
    assert page.console() == []


@pytest.mark.filterwarnings("ignore:using only the 1,000 most frequent")
@pytest.mark.slow
def test_ten_thousand_features_open_at_once(page, tmp_path):
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 4700, (3000, 18))
    rows = [
        [f"tag {tag}" for pair in of_row for tag in (2 * pair, 2 * pair + 1) if rng.random() < 0.9]
        for of_row in pairs.tolist()
    ]
    model = UFC().fit(rows)
    n_features = len(model.features_)
    assert n_features > 10_000
    Report(model, rows).save(tmp_path / "wide.html")
    took = []
    for _ in range(3):
        page.open(tmp_path / "wide.html")
        took.append(page.js("return performance.getEntriesByType('navigation')[0].loadEventEnd"))
    assert page.console() == []
    note = f"The table lists the 600 strongest of {n_features:,} features"
    assert any(text.startswith(note) for text in page.texts("#features p"))
    # the best of three
    assert min(took) < OPEN_MS, took
