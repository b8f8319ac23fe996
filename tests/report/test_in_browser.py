"""The page in a real browser, opened as a file: what a person sees, clicks and types."""

import numpy as np
import polars as pl
import pytest
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.support.wait import WebDriverWait

from conjunct import UFC, Primitive, Report, stability
from conjunct.explain import findings

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


def shown_rows(page):
    """The formulas as built of the features that the table shows."""
    return page.js(
        "return Array.from(document.querySelectorAll('#table tbody tr[data-i]'))"
        ".filter(r => !r.hidden)"
        ".map(r => (r.querySelector('.built') || r.querySelector('.simplified')).textContent)"
    )


def numbers(page, column):
    return page.js(
        "return Array.from(document.querySelectorAll('#table tbody tr[data-i]'))"
        ".map(r => report.lines[Number(r.dataset.i)].sort[arguments[0]])",
        column,
    )


def test_no_error_and_no_request(page, street_page):
    page.open(street_page)
    assert page.console() == []
    assert [url for url in page.requests() if not url.startswith("data:")] == [
        street_page.resolve().as_uri()
    ]
    assert page.one("h1").text == "Street"


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 844)])
def test_the_first_screen_holds_findings(page, chunks_page, chunks, width, height):
    model, _ = chunks
    page.open(chunks_page, width=width, height=height, mobile=width < 700)
    assert page.console() == []
    assert page.js("return document.documentElement.scrollWidth") <= width
    seen = page.js(
        "return Array.from(document.querySelectorAll('.chunks h3'))"
        ".filter(h => h.getBoundingClientRect().bottom < arguments[0]).map(h => h.textContent)",
        height,
    )
    best = findings(model.feature_set_)[: len(seen)]
    assert seen == [finding.text for finding in best]
    assert len(seen) >= (5 if width > 700 else 2)
    # a page on a phone has an end: long tables scroll by themselves
    assert page.js("return document.documentElement.scrollHeight") < 30_000


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
    row = page.one("#table tbody tr")
    shown = row.find_element("css selector", ".pattern")
    assert shown.is_displayed()
    assert not row.find_element("css selector", ".simplified").is_displayed()
    formula = model.features_[model.feature_set_.pattern_texts.index(shown.text)]
    row.find_element("css selector", "button.open").click()
    assert str(formula) in page.texts("tr.detail code")
    page.one('input[value="simplified"]').send_keys(Keys.SPACE)
    assert not shown.is_displayed()
    assert row.find_element("css selector", ".formula .simplified").is_displayed()
    longest = max(model.features_, key=lambda feature: feature.length)
    assert longest.length > 200
    page.js("document.querySelectorAll('button.open').forEach(b => b.click())")
    assert str(longest) in page.texts("tr.detail code")


def test_search_by_tag_is_not_about_what_is_denied(page, chunks_page, chunks):
    model, _ = chunks
    page.open(chunks_page)
    page.one("#search").send_keys("surfboard")
    found = page.js(
        "return Array.from(document.querySelectorAll('#table tbody tr[data-i]'))"
        ".filter(r => !r.hidden).map(r => r.querySelector('.pattern').textContent)"
    )
    expected = [text for text in model.feature_set_.pattern_texts if "surfboard" in text]
    assert sorted(found) == sorted(expected)
    assert len(expected) > 1


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
    everything = shown_rows(page)
    page.one("#search").send_keys("HANDBAG bus")
    found = shown_rows(page)
    assert 0 < len(found) < len(everything)
    assert all("handbag" in name and "bus" in name for name in found)
    assert page.one("#shown").text == f"{len(found)} of {len(everything)} features"
    page.one("#search").clear()
    page.one("#search").send_keys("no such word")
    assert shown_rows(page) == []
    assert page.one("#nothing").is_displayed()


def test_filter_by_column_and_kind(page, street_page, street):
    model, _ = street
    page.open(street_page)
    page.js(
        "const s = document.getElementById('with');"
        "s.value = Array.from(s.options).find(o => o.textContent === 'bicycle').value;"
        "s.dispatchEvent(new Event('change'))"
    )
    expected = {str(f) for f in model.features_ if "bicycle" in f.primitives}
    assert set(shown_rows(page)) == expected
    page.open(street_page)
    page.js(
        "const s = document.getElementById('kind'); s.value = 'kept';"
        "s.dispatchEvent(new Event('change'))"
    )
    assert set(shown_rows(page)) == {str(f) for f in model.features_ if f.length == 1}


@pytest.mark.parametrize("column", [0, 1, 2, 3, 4, 6])
def test_sort(page, street_page, column):
    page.open(street_page)
    button = page.one(f'button[data-sort="{column}"]')
    for order, expected in (("descending", True), ("ascending", False)):
        button.click()
        assert page.one(f'th:has(button[data-sort="{column}"])').get_attribute("aria-sort") == order
        values = numbers(page, column)
        known = [value for value in values if value is not None]
        assert known == sorted(known, reverse=expected)
        # what has no value comes last in either order
        assert values[: len(known)] == known


def test_sort_by_name(page, street_page):
    page.open(street_page)
    page.one('button[data-sort="name"]').click()
    names = page.texts("#table tbody .open .simplified")
    assert names == page.js("return arguments[0].slice().sort((a, b) => a.localeCompare(b))", names)


def test_forms_switch(page, street_page):
    page.open(street_page)
    page.one("#search").send_keys("motorcycle person bus")
    cell = next(c for c in page.all("td.formula") if c.find_elements("css selector", ".built"))
    built = cell.find_element("css selector", ".built")
    assert not built.is_displayed()
    page.one('input[value="built"]').send_keys(Keys.SPACE)
    assert built.is_displayed()
    assert not cell.find_element("css selector", ".simplified").is_displayed()


def test_a_feature_opens(page, street_page, street):
    model, data = street
    page.open(street_page)
    button = page.one("button.open")
    name = shown_rows(page)[0]
    button.send_keys(Keys.ENTER)
    assert button.get_attribute("aria-expanded") == "true"
    detail = page.one("tr.detail").text
    rows = [k + 1 for k in model.rows(name, data)]
    told = [
        int(word)
        for word in page.js(
            "return Array.from(document.querySelectorAll('tr.detail .tag'), t => t.textContent)"
            ".map(t => t.replace('row ', ''))"
        )
    ]
    assert set(told) <= set(rows)
    assert len(told) == 12
    assert f"and {len(rows) - 12} more" in detail
    button.send_keys(Keys.ENTER)
    assert page.all("tr.detail") == []


def test_clicking_a_front_point_changes_the_features(page, zoo_path, tmp_path):
    model, data = zoo_path
    Report(model, data).save(tmp_path / "path.html")
    page.open(tmp_path / "path.html")
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
        gain = round(then.history_[-1].evidence)
        size = f"{len(then.features_)} features in all, {gain:,} bits of evidence after costs"
        WebDriverWait(page.driver, 20).until(lambda _: size in page.one("#step-said").text)  # noqa: B023
        shown = dict(
            page.js(
                "return Array.from(document.querySelectorAll('#vocabulary li'),"
                "li => [li.firstChild.textContent,"
                " Number(li.lastChild.textContent.replace(',', ''))])"
            )
        )
        fitted = then.feature_set_
        expected = dict(zip(fitted.pattern_texts, fitted.supports, strict=True))
        assert shown.items() <= expected.items()
        assert len(shown) == 60
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


def test_a_tag_of_the_network_leads_to_its_features(page, chunks_page, chunks):
    model, _ = chunks
    page.open(chunks_page)
    tag = page.one(".tagged[aria-label^='surfboard ']")
    ActionChains(page.driver).move_to_element(tag).perform()
    rows = sum(
        rows
        for pattern, rows in zip(model.patterns_, model.feature_set_.supports, strict=True)
        if {"surfboard", "person"} <= {*pattern}
    )
    assert f"surfboard is in one chunk with person ({rows} rows)" in page.one("#tag-said").text
    tag.send_keys(Keys.ENTER)
    found = page.js(
        "return Array.from(document.querySelectorAll('#table tbody tr[data-i]'))"
        ".filter(r => !r.hidden).map(r => r.querySelector('.pattern').textContent)"
    )
    patterns = zip(model.patterns_, model.feature_set_.pattern_texts, strict=True)
    assert sorted(found) == sorted(text for pattern, text in patterns if "surfboard" in pattern)


def test_the_plane_is_magnified(page, street_page):
    page.open(street_page)
    views = page.all(".view")
    assert [view.is_displayed() for view in views] == [True, False]
    page.one('input[name="view"][value="1"]').send_keys(Keys.SPACE)
    assert [view.is_displayed() for view in views] == [False, True]


def test_ancestry_is_followed(page, street_page, street):
    model, _ = street
    page.open(street_page)
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
    page.one("button.open").click()
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
        "return ['.card', '.soft', '.note', '.lead', 'summary', '.words', '.node-name'].map(s => {"
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
    assert page.one("#search").is_displayed()


def test_printing(page, street_page):
    page.open(street_page)
    page.one("#theme").click()  # dark on the screen, dark ink on paper
    page.run_devtools("Emulation.setEmulatedMedia", media="print")
    assert luminance(colours(page)[0]) > 0.9
    assert not page.one("#search").is_displayed()
    assert not page.one("nav").is_displayed()
    assert len(page.run_devtools("Page.printToPDF", printBackground=True)["data"]) > 50_000


def test_everything_is_reached_by_keyboard(page, street_page):
    page.open(street_page)
    seen = set()
    for _ in range(40):
        ActionChains(page.driver).send_keys(Keys.TAB).perform()
        seen.add(
            page.js(
                "const e = document.activeElement;"
                "return e.id || e.name || e.dataset.sort || e.classList[0]"
                " || e.getAttribute('href')"
            )
        )
    assert {
        "theme",
        "search",
        "with",
        "kind",
        "form",
        "name",
        "open",
        "#features",
        "tagged",
    } <= seen


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
        "return Array.from(document.querySelectorAll('#with option'), o => o.textContent)"
    )
    for name in HOSTILE[:8]:
        assert Primitive(name).text() in options
    everything = page.js("return document.body.textContent")
    assert "שלום עולם" in everything
    assert "🦊🏽 emoji" in everything
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
    # what does not fit on a screen is laid out once the page is open
    everything = len(model.features_)
    WebDriverWait(page.driver, 10).until(lambda _: len(shown_rows(page)) == everything)
    # the shortest of a few times: the least disturbed by what else the machine does
    times = page.js(
        "const box = document.getElementById('search');"
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
        "const button = document.querySelector('button[data-sort=\"0\"]');"
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
        page.one("#search").send_keys("handbag")
        assert all("handbag" in name for name in shown_rows(page))
        page.one("nav a[href='#examples']").click()
        assert page.one("#examples").is_displayed()
    finally:
        page.driver.switch_to.default_content()
    assert page.console() == []


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
    note = f"The table holds the 1,000 strongest of {n_features:,} features"
    assert any(text.startswith(note) for text in page.texts("#features p"))
    # the best of three
    assert min(took) < OPEN_MS, took
