"""One summary of a model: its sentences are true, and every place that tells of it says them."""

import math
import re
from html import unescape

import hypothesis.extra.numpy as hnp
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from conjunct import (
    UFC,
    Bits,
    ConjunctWarning,
    Evidence,
    Report,
    Risk,
    Threshold,
    UFCPath,
    UFringe,
    datasets,
)
from conjunct.cli.terminal import as_options
from conjunct.data import BooleanData, DataSummary, TagCleaner
from conjunct.explain import Summary, column_preparations, data_facts, new_features
from conjunct.explain.summary import takes_one_pair

tables = hnp.arrays(np.bool_, st.tuples(st.integers(4, 30), st.integers(2, 6)))


@pytest.fixture(scope="module")
def zoo():
    data = datasets.load_zoo()
    return pl.DataFrame(data.values, schema=list(data.feature_names))


def words(page):
    text = re.sub(r"<(style|script|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())


def number_before(noun, text):
    return int(re.search(rf"([\d,]+) {noun}", text)[1].replace(",", ""))


@pytest.mark.parametrize(
    "model",
    [
        UFC(),
        UFCPath(max_iter=2),
        pytest.param(UFC("risk"), marks=pytest.mark.slow),
        pytest.param(UFringe(30), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_every_place_says_the_same(model, zoo):
    summary = Summary(model.fit(zoo))
    page = words(Report(model, zoo).html())
    # on the page, the strongest finding is listed right below
    overview = summary.overview.partition(" Strongest: ")[0]
    for said in (overview, summary.scores, summary.stop_reason or summary.ending):
        assert said in page
    assert all(passage.text in page for passage in summary.method)
    if not isinstance(model, UFringe):
        shown = words(model._repr_html_().partition("<style>")[0])
        assert f"{summary.overview} {summary.length}" in shown
        assert summary.ending in shown
        assert model.stop_reason_ == summary.stop_reason


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@given(tables)
def test_numbers_in_sentences_are_those_of_the_model(table):
    names = [f"tag{k}" for k in range(table.shape[1])]
    model = UFC(0.1, max_iter=2).fit(pl.DataFrame(table, schema=names))
    summary, fitted = Summary(model), model.feature_set_
    assert number_before("row", summary.overview) == len(table)
    assert number_before("column", summary.overview) == table.shape[1]
    if not model.n_iter_:
        assert "nothing was constructed" in summary.overview
        assert (summary.length, summary.scores, len(summary.new_features)) == ("", "", 0)
        return
    assert number_before("correlated pair", summary.overview) == len(fitted.merges)
    assert number_before("features? (?:was|were) constructed", summary.overview) == sum(
        feature.length > 1 for feature in model.features_
    )
    assert number_before("columns? (?:was|were) kept", summary.overview) == len(
        summary.remaining_columns
    )
    share = model.description_length_ / model.baseline_length_
    assert f"{share:.1%} of its size without them" in summary.length
    most = max(f.rows for f in summary.new_features) if summary.new_features else None
    assert most is None or f"true in {most} row" in summary.scores


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@given(tables, st.booleans())
def test_constructed_features_are_ranked(table, by_evidence):
    names = [f"tag{k}" for k in range(table.shape[1])]
    model = UFC(Bits(alpha=None), max_iter=5, stop="never").fit(pl.DataFrame(table, schema=names))
    found = new_features(model.feature_set_, by_evidence=by_evidence)
    rules = model.get_features("dict")
    made = [k for k, iteration in enumerate(rules["iteration"]) if iteration]
    assert sorted(one.text for one in found) == sorted(rules["pattern"][k] for k in made)
    rows = dict(zip(rules["pattern"], rules["support"], strict=True))
    assert [rows[one.text] for one in found] == [one.rows for one in found]
    if not by_evidence:
        assert [one.rows for one in found] == sorted((one.rows for one in found), reverse=True)
        return
    bits = [one.evidence for one in found if one.evidence is not None]
    assert bits == sorted(bits, reverse=True)
    assert all(one.evidence is None for one in found[len(bits) :])


def passages(model):
    return " ".join(passage.text for passage in Summary(model).method)


def test_the_method_is_that_of_the_search(zoo):
    exact = Risk(test="exact", correction="holm")
    assert "each iteration has its own cutoff" in passages(UFC(exact).fit(zoo))
    one_by_one = passages(UFC(exact, search="pairwise").fit(zoo))
    assert "the cutoff is set once" in one_by_one
    assert "One pair was replaced at a time" in one_by_one
    assert "the one that shortened" in passages(UFC("bits", max_iter=2).fit(zoo))
    for correction, name in (("holm", "Holm"), ("bonferroni", "Bonferroni"), (None, "")):
        said = passages(UFC(Bits(alpha=0.02, correction=correction), max_iter=2).fit(zoo))
        assert (f"at α = 0.02, with {name}'s correction, p ≤ " in said) == bool(name)
        assert ("at α = 0.02, p ≤ " in said) == (not name)
    assert "those that shortened" in passages(UFC("bits", search="batch", max_iter=2).fit(zoo))
    assert "the one with the most evidence" in passages(UFC(max_iter=2).fit(zoo))
    assert "at least 50% of the evidence of" in passages(UFC(search="batch", max_iter=2).fit(zoo))
    assert "exceeded 2 times the cost of the merge" in passages(UFC(Evidence(2)).fit(zoo))
    assert "No feature has more than 3 tags" in passages(UFC(max_length=3).fit(zoo))
    assert "No feature has more than 3 literals" in passages(UFC("risk", max_length=3).fit(zoo))


def test_the_cutoff_of_a_risk_follows_from_the_number_of_rows(zoo):
    model = UFC(Risk(0.001, prune=False), max_iter=1).fit(zoo)
    u = ndtri(1 - 0.001)
    assert model.threshold_ == pytest.approx(u / math.sqrt(len(zoo)))
    [said] = [one.text for one in Summary(model).method if one.heading == "Why this λ"]
    assert f"λ = {u / math.sqrt(len(zoo)):.3f} follows from the risk α = 0.001" in said
    assert f"λ = u₁₋α/√n = {u:.2f}/√{len(zoo)}. " in said
    # each pair has its own number of rows
    gaps = zoo.cast(pl.Boolean).with_columns(
        pl.when(pl.int_range(pl.len()) % 9 > 0).then(pl.col(zoo.columns[0]).cast(pl.Boolean))
    )
    model = UFC(Risk(0.001, prune=False), max_iter=1, missing="pairwise").fit(gaps)
    [said] = [one.text for one in Summary(model).method if one.heading == "Why this λ"]
    assert "for each pair, the n rows in which both columns are known" in said
    for criterion, least in (
        (Threshold(0.3), "correlation r exceeds 0.3 were replaced. A lower threshold (down to 0)"),
        (Threshold(3, "lift"), "lift exceeds 3 were replaced. A lower threshold (down to 1)"),
        (Threshold(0.4, "yule_q"), "yule q exceeds 0.4 were"),
    ):
        [said] = [one.text for one in Summary(UFC(criterion, max_iter=1).fit(zoo)).method[1:2]]
        assert least in said
    exact = UFC(Risk(0.001, test="exact"), max_iter=1).fit(zoo)
    [said] = [one.text for one in Summary(exact).method if one.heading == "Why this λ"]
    assert said.endswith("a pair passes if p ≤ α.")


def test_only_parameters_are_put_into_the_words_of_the_prompt():
    baskets = [["max_iter", "stop=never"]] * 30 + [["other"]] * 30
    summary = Summary(UFC(max_iter=1).fit(baskets), as_options)
    assert summary.same_columns == "max_iter and stop=never are nearly identical."
    assert "which is --max-iter" in summary.text


def test_words_are_explained_where_they_are_used(zoo):
    explained = Summary(UFC().fit(zoo)).marks
    assert explained.startswith("(rest): ")
    assert "Evidence: " in explained
    # a single chunk of equal columns has no rest
    table = np.arange(40)[:, None] % 2 == [0, 0]
    assert Summary(UFC().fit(table)).marks == ""
    assert Summary(UFC(max_iter=0).fit(zoo)).marks == ""


def test_nothing_constructed():
    with pytest.warns(ConjunctWarning):
        model = UFC().fit(np.array([[0, 1], [1, 0], [0, 0], [1, 1]] * 5))
    summary = Summary(model)
    assert summary.text == f"{summary.overview} {model.stop_reason_}"
    assert len(summary.findings) == len(summary.new_features) == 0


def test_why_it_ended_is_never_made_up(zoo):
    model = UFC().fit(zoo)
    del model.stop_reason_
    assert Summary(model).stop_reason == ""
    assert "did not store the reason" in Summary(model).ending
    assert "the limit of 30 was reached" in Summary(UFringe(30).fit(zoo)).ending
    assert "gave a new conjunction" in Summary(UFringe(10_000, max_depth=2).fit(zoo)).ending


def numbers_in(text):
    return re.findall(r"-?\d[\d,]*(?:\.\d+)?%?", text)


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@given(tables, st.sampled_from([0.05, 0.3, "risk"]), st.sampled_from([1, 3]))
def test_every_number_of_the_measures_is_that_of_the_model(table, criterion, max_iter):
    frame = pl.DataFrame(table, schema=list("abcdef")[: table.shape[1]])
    model = UFC(criterion, max_iter=max_iter, stop="never").fit(frame)
    text, fitted = Summary(model).scores, model.feature_set_
    if not fitted.merges:
        assert text == ""
        return
    first, last = model.history_[0], model.history_[-1]
    expected = [f"{first.oi:.3f}", f"{last.oi:.3f}"]
    assert ("fell" in text) == (last.oi < first.oi)
    if 0 < last.oi < first.oi:
        expected.append(f"{100 - 100 * last.oi / first.oi:.0f}%")
    more = last.n_features - first.n_features
    expected.append(f"{abs(more)}")
    assert ("fewer" in text) == (more < 0)
    # the strongest link, and the most common of the new features
    strongest = max(fitted.merges, key=lambda merge: merge.r)
    expected += [f"{strongest.r:.2f}", f"{strongest.joint}"]
    made = [
        (support, -k)
        for k, (number, support) in enumerate(zip(fitted.features, fitted.supports, strict=True))
        if number >= table.shape[1]
    ]
    if made:
        rows = max(made)[0]
        expected += [f"{rows}", f"{100 * rows / len(table):.0f}%"]
    assert numbers_in(text) == expected


def test_the_fall_of_the_overlap_is_written_as_a_share(zoo):
    model = UFC("risk").fit(zoo)
    first, last = model.history_[0].oi, model.history_[-1].oi
    assert 0 < last < first
    assert f"from {first:.3f} to {last:.3f}, by {1 - last / first:.0%}, with" in (
        Summary(model).scores
    )


def test_rare_features_and_kept_columns_are_counted(zoo):
    model = UFC("risk", max_iter=2, stop="never", min_support=0.1).fit(zoo)
    fitted, summary = model.feature_set_, Summary(model)
    assert numbers_in(summary.overview) == [
        str(len(each))
        for each in (
            zoo,
            zoo.columns,
            fitted.merges,
            [k for k in fitted.features if k >= zoo.width],
            [k for k in fitted.features if k < zoo.width],
            fitted.suppressed,
        )
    ]
    assert len(fitted.suppressed) > 1


def test_sets_of_columns_that_say_the_same_are_named_up_to_three():
    rng = np.random.default_rng(0)
    columns = {}
    for k in range(5):
        columns[f"a{k}"] = columns[f"b{k}"] = rng.random(200) < 0.2 + 0.1 * k
    table = pl.DataFrame(columns)
    for n in range(1, 6):
        summary = Summary(UFC().fit(table[:, : 2 * n]))
        copies = summary.copies
        assert len(copies) == n
        sentences = [one.sentence for one in copies[:3]]
        if n > 3:
            sentences.append("There is 1 more set" if n == 4 else "There are 2 more sets")
        assert summary.same_columns.startswith(" ".join(sentences))
        assert summary.same_columns.count("and b") == min(n, 3)
        assert "nothing else was found" in summary.overview


def test_the_size_with_chunks_is_compared_with_that_without(zoo):
    model = UFC().fit(zoo)
    part = model.description_length_ / model.baseline_length_
    assert part < 0.95
    assert numbers_in(Summary(model).length) == [f"{100 * part:.1f}%"]
    assert "do not" not in Summary(model).length
    # few rows, and every pair that may be joined
    few = UFC(0.01, max_iter=3, stop="never").fit(zoo[:8])
    part = few.description_length_ / few.baseline_length_
    assert part > 1
    assert numbers_in(Summary(few).length) == [f"{100 * part:.1f}%"]
    assert "do not" in Summary(few).length


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
def test_raw_columns_and_their_tags_are_counted():
    frame = pl.DataFrame(
        {"size": [1.5, 2.5, 3.5, 9.0] * 5, "kind": ["a", "b", "c", "c"] * 5, "is": [0, 1, 1, 0] * 5}
    )
    data = BooleanData.from_data(frame)
    model = UFC(max_iter=1).fit(data)
    overview = Summary(model).overview
    n_tags = len(model.feature_set_.lineage.primitives)
    assert n_tags > 3
    assert numbers_in(overview)[:3] == ["20", "3", str(n_tags)]
    described = column_preparations(model.preparation_)
    assert {*described} == {"size", "kind"}
    assert all(described.values())
    tags = BooleanData.from_data([["Forks", "knife"], ["fork"], ["knife"], ["fork", "knife"]] * 5)
    cleaner = tags.fit_cleaner(TagCleaner(synonyms={"Forks": "fork"}))
    model = UFC(max_iter=1).fit(tags.clean(cleaner))
    described = column_preparations(model.preparation_)
    merges = {merge.tag: merge.into for merge in model.preparation_.cleaner.merges()}
    assert merges
    assert {tag: text.split(" ", 1)[1] for tag, text in described.items()} == merges


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
def test_only_searches_of_single_pairs_take_one_pair():
    table = np.repeat(np.eye(3, dtype=bool), 5, axis=0)
    table = np.c_[table, table]
    for model, expected in (
        (UFC(), True),
        (UFC(search="batch"), False),
        (UFC("bits"), True),
        (UFC("risk"), False),
        (UFC("risk", search="pairwise"), True),
        (UFC("bits", search="batch"), False),
        (UFringe(3), False),
    ):
        assert takes_one_pair(model.fit(table)) == expected


def test_facts_about_data():
    frame = pl.DataFrame(
        {"kind": [*"abcdefgg"], "size": [*"ssllssll"], "is": [0, 1] * 4, "has": [1] * 7 + [0]}
    )
    frame = pl.concat([frame] * 5)
    data = BooleanData.from_data(frame)
    facts = dict(data_facts(DataSummary.of(data), UFC("risk", max_iter=1).fit(data).feature_set_))
    assert facts["rows"] == "40 (8 distinct)"
    assert facts["columns"] == "2 categories, 2 Boolean"
    assert facts["tags"] == str(7 + 2 + 2)
    # some values of a variable, and the number of the others
    assert facts["variables"] == "kind (a, b, c, d, e and 2 more), size (l, s)"
    assert facts["density"] == f"{data.columns.to_dense().mean():.3f}"
    facts = dict(data_facts(DataSummary.of(BooleanData.from_data(frame[["is", "has"]]))))
    # each column is a tag
    assert facts["columns"] == "2 Boolean"
    assert facts["missing"] == "0 cells"
    assert not {"tags", "variables", "constant"} & facts.keys()
