"""Explanations, ancestry, neighbours and forms of a fitted model."""

import re
from html import unescape

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from conjunct import UFC, Risk, UFringe, datasets, parse
from conjunct.errors import InputError
from conjunct.explain import english
from conjunct.expressions import Style
from expressions.strategies import NASTY_NAMES

BASKETS = (
    [["sky", "panorama"]] * 30
    + [["sky", "panorama", "building"]] * 6
    + [["building", "road"]] * 25
    + [["building"]] * 5
    + [["road"]] * 3
    + [[]] * 31
)


@pytest.fixture(scope="module")
def model() -> UFC:
    return UFC(Risk(prune=False), max_iter=2, feature_names="formula").fit(BASKETS)


@pytest.fixture(scope="module")
def street() -> tuple[UFC, pl.DataFrame]:
    data = datasets.load_coco_street()
    frame = pl.DataFrame(data.values, schema=list(data.feature_names))
    return UFC("risk", search="pairwise").fit(frame), frame


def test_explain(street: tuple[UFC, pl.DataFrame]) -> None:
    fitted, frame = street
    feature = "person & bus & motorcycle & ~(person & ~bus)"
    explained = fitted.explain(feature, frame)
    pattern = fitted.feature_set_.pattern_texts[fitted.feature_set_.position(feature)]
    assert pattern.startswith("bus + motorcycle + person")
    assert str(explained) == (
        f"{pattern}\n"
        "  on these rows: bus ∧ motorcycle\n"
        "  in words, on these rows: bus with motorcycle\n"
        "  formula: person ∧ bus ∧ motorcycle ∧ ¬(person ∧ ¬bus)\n"
        "  shorter: person ∧ bus ∧ motorcycle\n"
        "  support: 20 rows (4.5%)\n"
        "  from: person ∧ bus  and  motorcycle ∧ ¬(person ∧ ¬bus)"
        " (iteration 5, r = 0.267, p = 8.8e-09)\n"
        "  present: person, motorcycle, bus\n"
        "  motorcycle: 100% of these rows, 15% of the other rows\n"
        "  bus: 100% of these rows, 26% of the other rows\n"
        "  person: 100% of these rows, 65% of the other rows\n"
        "  fire hydrant: 0% of these rows, 12% of the other rows\n"
        "  stop sign: 0% of these rows, 9.8% of the other rows\n"
    )
    inside = frame[fitted.find_rows(feature, frame)]
    assert len(inside) == explained.support == 20
    for contrast in explained.contrasts:
        outside = frame.filter(
            ~pl.Series(np.isin(np.arange(len(frame)), fitted.find_rows(feature, frame)))
        )
        assert contrast.inside == inside[contrast.tags].mean()
        assert contrast.outside == outside[contrast.tags].mean()


@pytest.mark.parametrize("style", ["unicode", "ascii"])
def test_a_formula_on_rows_is_true_in_the_same_of_them(
    street: tuple[UFC, pl.DataFrame], style: Style
) -> None:
    _, frame = street
    fitted = UFC("risk", search="pairwise", formula_style=style).fit(frame)
    for rows in (frame, frame.sample(60, seed=1), frame.head(3)):
        truths = fitted.transform(rows)
        n_shorter = 0
        for position, feature in enumerate(fitted.features_):
            told = fitted.explain(position, rows)
            # what always holds stays, whatever the rows
            assert told.feature == feature.text(style)
            assert (told.simplified, told.english) == (
                feature.simplify().text(style),
                english(feature.simplify()),
            )
            if told.on_rows is None:
                assert "on these rows" not in str(told)
                continue
            n_shorter += 1
            shorter = parse(told.on_rows)
            assert 0 < shorter.length < feature.simplify().length
            assert told.english_on_rows == english(shorter)
            wanted = truths[:, position].to_list()
            assert [shorter.evaluate(row) for row in rows.iter_rows(named=True)] == wanted
            assert str(told).splitlines()[1].startswith("  on these rows: ")
        assert n_shorter
    assert fitted.explain(0).on_rows is None


def test_nothing_is_left_out_where_a_feature_is_always_or_never_true() -> None:
    fitted = UFC("risk", max_iter=1).fit([["a", "b"]] * 30 + [["a"]] * 4 + [["c"]] * 30)
    both = next(k for k, x in enumerate(fitted.features_) if x == parse("a & b"))
    assert fitted.explain(both, [["a", "b"], ["c"]]).on_rows in ("a", "b")
    assert fitted.explain(both, [["a", "b"]] * 3).on_rows is None
    assert fitted.explain(both, [["c"]] * 3).on_rows is None


def test_what_a_feature_separates(model: UFC) -> None:
    by_text = dict(zip(model.get_feature_names_out(), range(len(model.features_)), strict=True))
    one = model.explain(by_text["building ∧ ¬road"])
    assert (one.present, one.absent, one.mixed) == (("building",), ("road",), ())
    assert one.parents == ("building", "road")
    primitive = UFC(max_iter=0).fit(BASKETS).explain("sky")
    assert (primitive.iteration, primitive.parents, primitive.r) == (0, (), None)


def test_what_is_present_or_absent_is_so_in_all_rows(street: tuple[UFC, pl.DataFrame]) -> None:
    _, frame = street
    for fitted in (UFC().fit(frame), UFC("risk", search="pairwise").fit(frame)):
        for position, feature in enumerate(fitted.features_):
            explained = fitted.explain(position)
            inside = frame[fitted.find_rows(position, frame)]
            for name in explained.present:
                assert inside[name].all()
            for name in explained.absent:
                assert not inside[name].any()
            told = {*explained.present, *explained.absent, *explained.mixed}
            assert told <= feature.primitives
            assert set(fitted.patterns_[position]) <= set(explained.present)


def test_the_pattern_comes_first(street: tuple[UFC, pl.DataFrame]) -> None:
    _, frame = street
    fitted = UFC().fit(frame)
    for text in fitted.feature_set_.pattern_texts:
        lines = str(fitted.explain(text)).splitlines()
        assert lines[0] == text
        assert max(map(len, lines)) < 400
    assert str(fitted.explain("airplane")).splitlines()[1] == "  support: 7 rows (1.6%)"
    added = UFringe(max_features=60).fit(frame)
    assert str(added.explain(59)).splitlines()[0] == str(added.features_[59])


def test_mixed_signs() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 400)) < 0.5
    c = np.where(a, b, ~b)  # exclusive or, reversed
    frame = pl.DataFrame({"a": a, "b": b, "c": c, "d": (a & b) | (rng.random(400) < 0.05)})
    fitted = UFC(0.0, max_iter=6).fit(frame)
    mixed = [x for x in map(fitted.explain, range(len(fitted.features_))) if x.mixed]
    for explained in mixed:
        assert not set(explained.mixed) & {*explained.present, *explained.absent}


def test_ancestry_as_text(model: UFC) -> None:
    feature = "building & ~road"
    assert model.ancestry(feature) == (
        "building ∧ ¬road  (iteration 1, r = 0.69)\n├─ building\n└─ not: road\n"
    )
    ascii_style = UFC(Risk(prune=False), max_iter=2, formula_style="ascii").fit(BASKETS)
    assert ascii_style.ancestry(feature).isascii()


def test_ancestry_says_everything_once(street: tuple[UFC, pl.DataFrame]) -> None:
    fitted, _ = street
    lineage = fitted.feature_set_.lineage
    for position, number in enumerate(fitted.feature_set_.features):
        text = fitted.ancestry(position)
        opened = [line for line in text.splitlines() if "iteration" in line]
        ancestors = made_from(number, lineage)
        conjunctions = [k for k in ancestors if lineage.operands(k)]
        assert len(opened) == len(conjunctions)
        edges = sum(2 for _ in conjunctions)
        assert fitted.ancestry(position, "mermaid").count("->") == edges
        assert fitted.ancestry(position, "dot").count(" -> ") == edges
        assert fitted.ancestry(position, "dot").count("[label=") == len(ancestors)


def made_from(number, lineage):  # type: ignore[no-untyped-def]
    below = [made_from(max(x, ~x), lineage) for x in lineage.operands(number) or ()]
    return {number}.union(*below)


NODE = {
    "mermaid": re.compile(r'  f(\d+)\["((?:[^"#]|#\d+;)*)"\]'),
    "dot": re.compile(r'  f(\d+) \[label="((?:[^"\\]|\\.)*)"\];'),
}
EDGE = {
    "mermaid": re.compile(r"  f\d+ (?:-->|-\. not \.->) f\d+"),
    "dot": re.compile(r'  f\d+ -> f\d+(?: \[style=dashed, label="not"\])?;'),
}
FRAME = {"mermaid": {"flowchart TD"}, "dot": {"digraph ancestry {", "  node [shape=box];", "}"}}


def unescaped(label: str, graph: str) -> str:
    if graph == "mermaid":
        return re.sub(r"#(\d+);", lambda code: chr(int(code[1])), label)
    return re.sub(r"\\(.)", r"\1", label).replace("&amp;", "&")


hostile = st.sampled_from(
    [*NASTY_NAMES, '"];', "x --> y", "end", "<b>", "&lt;", "#34;", "\\N", "`"]
)


@pytest.mark.parametrize("graph", ["mermaid", "dot"])
@given(st.lists(hostile, min_size=2, max_size=2, unique=True))
def test_no_name_escapes_from_its_label(graph: str, names: list[str]) -> None:
    rows = np.array([[1, 1]] * 30 + [[1, 0]] * 5 + [[0, 0]] * 30 + [[0, 1]] * 5)
    fitted = UFC("risk", max_iter=1, feature_names="formula")
    fitted.fit([{n for n, v in zip(names, row, strict=True) if v} for row in rows])
    for position, text in enumerate(fitted.get_feature_names_out()):
        lines = fitted.ancestry(position, graph).splitlines()
        others = [line for line in lines if line not in FRAME[graph]]
        found = [NODE[graph].fullmatch(line) for line in others]
        labels = [unescaped(node[2], graph) for node in found if node]
        assert labels[0] == text
        assert len(labels) == 3
        assert all(node or EDGE[graph].fullmatch(x) for node, x in zip(found, others, strict=True))


def test_nearest_by_columns(street: tuple[UFC, pl.DataFrame]) -> None:
    fitted, frame = street
    columns = fitted.transform(frame)
    for position in (0, 20, 40):
        found = fitted.similar_features(position, frame, n=4)
        r = [
            naive.pearson(columns[:, position].to_list(), columns[:, k].to_list())
            for k in range(columns.width)
        ]
        best = sorted((k for k in range(len(r)) if k != position), key=lambda k: (-r[k], k))[:4]
        assert [x.position for x in found] == best
        assert [x.similarity for x in found] == pytest.approx([r[k] for k in best])
        assert [x.feature for x in found] == [columns.columns[k] for k in best]


def test_nearest_without_data(street: tuple[UFC, pl.DataFrame]) -> None:
    fitted, _ = street
    found = fitted.similar_features("person & bus & motorcycle & ~(person & ~bus)", n=50)
    assert len(found) == len(fitted.features_) - 1
    own = {"person", "bus", "motorcycle"}
    for neighbour in found:
        other = fitted.features_[neighbour.position].primitives
        assert neighbour.similarity == len(own & other) / len(own | other)
    assert [x.similarity for x in found] == sorted((x.similarity for x in found), reverse=True)


def test_formulas_and_rules(street: tuple[UFC, pl.DataFrame]) -> None:
    fitted, frame = street
    always = fitted.formulas()
    assert (always.form, always.equivalent) == ("simplified", "always")
    assert always.length_before == fitted.history_[-1].length
    assert always.length_after == np.mean([e.length for e in always.expressions])
    on_data = fitted.formulas(X_train=frame)
    assert on_data.equivalent == "on the training data"
    assert on_data.length_after < always.length_after < always.length_before
    wanted = fitted.transform(frame)
    for formulas in (always, on_data):
        for formula, column in zip(formulas.expressions, wanted.iter_columns(), strict=True):
            truths = [formula.evaluate(row) for row in frame.iter_rows(named=True)]
            assert truths == column.to_list()
    rules = fitted.get_features(form="simplified", X_train=frame)
    assert rules["simplified"].to_list() == on_data.texts()
    assert rules["simplified_length"].to_list() == [e.length for e in on_data.expressions]
    assert set(rules["equivalent"]) == {"on the training data"}
    dnf = fitted.get_features(form="dnf")
    assert set(dnf["equivalent"]) == {"always"}
    assert dnf["dnf"].to_list() == fitted.formulas("dnf").texts()
    assert fitted.transform(frame).equals(wanted)


def test_given_must_be_the_training_data(street: tuple[UFC, pl.DataFrame]) -> None:
    fitted, frame = street
    changed = frame.with_columns(bus=~pl.col("bus"))
    for other in (frame.head(100), changed):
        with pytest.raises(InputError, match="the data differs from the training data"):
            fitted.formulas(X_train=other)
    with pytest.raises(InputError, match="with data, form must be 'simplified'; got 'dnf'"):
        fitted.formulas("dnf", X_train=frame)
    with pytest.raises(InputError, match="X_train needs form='simplified'"):
        fitted.get_features(X_train=frame)


def test_suppressed_features_are_explained_too(street: tuple[UFC, pl.DataFrame]) -> None:
    _, frame = street
    fitted = UFC("risk", search="pairwise", min_support=0.05).fit(frame)
    rare = fitted.suppressed_[-1]
    explained = fitted.explain(rare, frame)
    assert explained.support == len(fitted.find_rows(rare, frame)) < 0.05 * len(frame)
    assert fitted.ancestry(rare).startswith(rare.text()[:70])
    assert len(fitted.similar_features(rare, frame, n=99)) == len(fitted.features_)
    listed = fitted.get_features(form="simplified", suppressed=True)
    assert listed["simplified"].to_list() == [x.simplify().text() for x in fitted.suppressed_]


def test_features_that_no_correlation_made() -> None:
    zoo = datasets.load_zoo()
    fitted = UFringe(max_features=30).fit(zoo.values)
    last = len(fitted.features_) - 1
    explained = fitted.explain(last, zoo.values)
    assert explained.r is None
    assert len(explained.parents) == 2
    assert f"(iteration {explained.iteration})\n" in str(explained)
    assert f"  (iteration {explained.iteration})\n" in fitted.ancestry(last)
    assert fitted.similar_features(last, zoo.values)


def test_unknown_format(model: UFC) -> None:
    with pytest.raises(InputError, match="unknown format 'svg': choose one of 'text', 'mermaid'"):
        model.ancestry(0, "svg")  # type: ignore[arg-type]


def test_deep_features_are_read_in_bounded_time() -> None:
    spect = datasets.load_spect()
    fitted = UFC(0.02, max_iter=16).fit(spect.values)
    longest = max(range(len(fitted.features_)), key=lambda k: fitted.features_[k].length)
    assert fitted.features_[longest].length > 10_000
    assert "literals" in fitted.ancestry(longest)
    assert len(fitted.ancestry(longest, "dot")) < 1_000_000
    assert fitted.features_[longest].simplify().length < 10_000
    assert fitted.similar_features(longest, spect.values)


def test_an_explanation_in_a_notebook_is_its_lines():
    rows = [["<b>sea", "sand"]] * 20 + [["<b>sea"]] * 2 + [["hill"]] * 20
    told = UFC().fit(rows).explain(0, rows)
    shown = told._repr_html_()
    assert unescape(re.sub(r"</?pre[^>]*>", "", shown)) == str(told)
    assert "<b>" not in shown


def test_tags_that_were_never_joined_are_counted_in_data():
    rows = [["a", "b"]] * 30 + [["c"]] * 20 + [["a", "c"], ["c", "d"], ["a", "c", "d"]] + [[]] * 20
    fitted = UFC().fit(rows)
    assert [one.name for one in fitted.findings_] == ["a + b"]
    for tags, n in (("a + c", 2), ("a + c + d", 1)):
        with pytest.raises(InputError, match="never joined, so their rows were not counted"):
            fitted.explain(tags)
        explained = fitted.explain(tags, rows)
        assert explained.support == n
        assert explained.frequency == n / len(rows)
    assert fitted.explain("a + b").support == 30
    assert fitted.explain("c").support == 23


def test_parents_with_long_formulas_are_shown_by_their_patterns() -> None:
    made = UFC("bits").fit(datasets.load_zoo().values)
    fitted, lengths = made.feature_set_, set()
    for number in fitted.features:
        parents = [fitted.lineage.expression(parent) for parent in fitted.parents(number)]
        text = fitted.lineage.expression(number).text()
        for parent, shown in zip(parents, made.explain(text).parents, strict=True):
            lengths.add(parent.length)
            assert (shown == str(parent)) == (parent.length <= 6)
    assert {6, 7} <= lengths
