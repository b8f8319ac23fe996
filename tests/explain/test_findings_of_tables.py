"""Every finding of many tables, checked against the raw rows by an independent oracle."""

import re

import numpy as np
import pandas as pd
import pytest

import naive_findings
from conjunct import UFC, Bits, datasets
from conjunct.explain import ORDERS, find, finding_columns

pytestmark = pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")


def bundled(name):
    frame = pd.read_csv(getattr(datasets, f"load_{name}")().path, index_col=None)
    known = [column for column in frame if frame[column].dropna().isin([0, 1]).all()]
    return frame[known].fillna(0).astype(bool)


def one_hot(words):
    """Make columns ``name = word`` of columns of words."""
    frame = pd.DataFrame(words)
    return pd.get_dummies(frame, prefix_sep=" = ")


def survey(seed):
    """Draw variables of which some depend on others, with rare words."""
    rng = np.random.default_rng(seed)
    n = 300
    words = {"sex": rng.choice(["male", "female"], n)}
    for k in range(4):
        depends = list(words)[rng.integers(0, len(words))]
        codes = pd.factorize(np.array(words[depends]))[0]
        noise = rng.integers(0, 4, n)
        words[f"q{k}"] = np.char.add("w", np.where(rng.random(n) < 0.5, codes, noise).astype(str))
    return one_hot(words)


def copies(seed):
    """Draw a survey with a column twice, one in other words, and one with a few other cells."""
    table = survey(seed)
    rng = np.random.default_rng(seed)
    first = [column for column in table if column.startswith("q1")]
    for column in first:
        table["again" + column[2:]] = table[column]
    table["sex is m"] = table["sex = male"]
    table["nearly"] = table[first[0]] ^ (rng.random(len(table)) < 0.004)
    return table


def nested(seed):
    """Draw baskets of planted sets, some of which hold others."""
    rng = np.random.default_rng(seed)
    table = rng.random((400, 14)) < 0.08
    for size, part in ((2, 0.3), (3, 0.2), (5, 0.12)):
        table[np.ix_(rng.random(400) < part, np.arange(size))] = True
    table[np.ix_(rng.random(400) < 0.1, [8, 9, 10])] = True
    return pd.DataFrame(table, columns=[f"tag {k}" for k in range(14)])


def many_levels(seed):
    rng = np.random.default_rng(seed)
    town = rng.integers(0, 30, 900)
    return one_hot(
        {
            "town": np.char.add("t", town.astype(str)),
            "region": np.char.add("r", (town // 5).astype(str)),
            "size": np.where(rng.random(900) < 0.7, np.char.add("s", (town % 3).astype(str)), "s9"),
        }
    )


def independent(seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.random((200, 12)) < 0.3, columns=list("abcdefghijkl"))


TABLES = {
    **{name: (bundled, name) for name in ("zoo", "spect", "house_votes_84", "coco_street")},
    **{
        f"{make.__name__}-{seed}": (make, seed)
        for make in (survey, copies, nested, many_levels, independent)
        for seed in range(12)
    },
}


@pytest.mark.parametrize("name", TABLES)
def test_findings_are_those_of_the_oracle(name):
    make, which = TABLES[name]
    table = make(which)
    check(table, UFC())


@pytest.mark.parametrize("criterion", [Bits(alpha=None), "risk"])
@pytest.mark.parametrize("name", ["copies-0", "nested-0", "survey-0"])
def test_findings_of_other_rules(name, criterion):
    make, which = TABLES[name]
    check(make(which), UFC(criterion, max_iter=8))


def check(table, model):
    fitted = model.fit(table).feature_set_
    lineage = fitted.lineage
    variables = fitted.variables or (None,) * len(lineage.primitives)
    variable = {
        name: (name if kind is None else (kind,))
        for name, kind in zip(lineage.primitives, variables, strict=True)
    }
    joined = [
        (lineage.pattern(m.left), lineage.pattern(m.right))
        for m in fitted.merges
        if m.both is not None
    ]
    rows = [set(table.columns[row]) for row in table.to_numpy()]
    expected = naive_findings.find(rows, joined, variable)
    found, same = find(fitted)
    assert {tags for one in same for tags in map(frozenset, one.tags)} == set(expected["same"])
    exact = naive_findings.exact_copies(rows, expected["same"])

    def shown(tags):
        """Name one of the columns that are equal."""
        chosen = set(tags)
        for some in exact:
            if chosen & some:
                chosen = chosen - some | {min(some, key=list(table.columns).index)}
        return frozenset(chosen)

    facts = {}
    for tags in expected["listed"]:
        one = expected["every"][tags]
        # columns that are equal are named once, unless they are joined one by one
        name = tags if shown(one["parts"][0]) & shown(one["parts"][1]) else shown(tags)
        if name not in facts or facts[name]["evidence"] < one["evidence"]:
            facts[name] = one
    alone = naive_findings.chunks_that_stand_alone(facts)
    about = expected["about"]

    # each is said once
    assert sorted(map(sorted, facts)) == sorted(
        sorted(tags) for finding in found for tags in family_of(finding)
    )
    assert len({about(finding.tags) for finding in found}) == len(found)
    assert [one.evidence for one in found] == sorted((x.evidence for x in found), reverse=True)
    columns = finding_columns(found)
    for k, finding in enumerate(found):
        tags = frozenset(finding.tags)
        chunk = frozenset(finding.part_of.tags) if finding.part_of else tags
        assert columns["part_of"][k] == (" + ".join(finding.part_of.tags) if chunk > tags else "")
        assert {*columns["folded"][k]} == {one.name for one in finding.folded}
        assert chunk in alone
        assert is_folded_into(chunk, tags, facts)
        assert finding.evidence == max(one.evidence for one in (finding, *finding.folded))
        assert not any(extends(tags, frozenset(one.tags), facts) for one in found[:k])
        family = family_of(finding)
        chunks = [one for one in family if one in alone]
        for one in family:
            assert any(is_folded_into(chunk, one, facts) for chunk in chunks)
        for chunk in chunks:
            inside = [one for one in family if is_folded_into(chunk, one, facts)]
            assert any(
                about(one) == about(tags) or any(extends(one, other, facts) for other in family)
                for one in inside
            )
        assert all(set(one.variables) == set(finding.variables) for one in finding.also)
        whole = set(lineage.pattern((finding.part_of or finding).number))
        rows_of_chunk = (finding.part_of or finding).rows
        assert set(finding.copies) == {
            one
            for one in same
            if len(one.tags) == 1
            and whole.issuperset(one.tags[0])
            and 2 * rows_of_chunk >= one.rows
        }
        for one in (finding, *finding.folded):
            count = facts[frozenset(one.tags)]
            with_all = table[list(one.tags)].all(axis=1)
            assert one.rows == with_all.sum() == count["rows"]
            assert (table[list(lineage.pattern(one.number))].all(axis=1) == with_all).all()
            assert one.lift == pytest.approx(count["lift"])
            assert one.lift > 1
            assert one.evidence == pytest.approx(count["evidence"], abs=1e-5)
            given, other = (table[list(part)].all(axis=1) for part in one.parts)
            assert one.contrast.inside == pytest.approx(other[given].mean())
            assert one.contrast.outside == pytest.approx(other[~given].mean())
            values = [tag for tag in table if variable[tag] == variable[one.parts[0][0]]]
            check_sentence(one.sentence, table, given, other, values)
            assert all(
                variable[tag] in (kind, (kind,))
                for tag, kind in zip(one.tags, one.variables, strict=True)
            )
    for order in ORDERS:
        again = find(fitted, order).findings
        assert set(again) == set(found)
    numbers = [one.lift for one in find(fitted, "lift").findings]
    assert numbers == sorted(numbers, reverse=True)


def check_sentence(sentence, table, given, other, values):
    """Check the two shares against the rows, and that the other of two values is named."""
    said = re.fullmatch(r"(.+?)% of the rows with .+ also have .+; (.+), (.+?)%\.", sentence)
    for number, part in ((said[1], other[given]), (said[3], other[~given])):
        percent = 100 * part.mean()
        if number.startswith("over "):
            assert float(number[5:]) < percent < 100
            continue
        digits = len(number.partition(".")[2])
        assert float(number) == pytest.approx(percent, rel=0, abs=0.501 * 10.0**-digits)
        assert (float(number) in (0, 100)) == (percent in (0, 100))
    named = [tag for tag in values if said[2] in (f"with {tag}", f'with "{tag}"')]
    opposite = [tag for tag in values if len(values) == 2 and (table[tag] == ~given).all()]
    assert named == opposite
    assert named or said[2] == "of the other rows" or said[2].startswith("without ")


def is_folded_into(larger, tags, facts):
    return tags == larger or (
        tags < larger and naive_findings.keeps_half(facts[larger], facts[tags])
    )


def extends(tags, stronger, facts):
    """Check that tags hold all of a stronger finding, and have at least half of its rows."""
    return (
        stronger < tags
        and facts[stronger]["evidence"] >= facts[tags]["evidence"] - 1e-9
        and naive_findings.keeps_half(facts[tags], facts[stronger])
    )


def family_of(finding):
    return {frozenset(one.tags) for one in (finding, *finding.folded)}
