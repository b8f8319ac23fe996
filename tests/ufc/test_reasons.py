"""Why a run ended: the numbers that it names are those of the rows, and its advice helps."""

import math
import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_evidence
from conjunct import UFC, Bits, ConjunctWarning, Evidence, Risk, datasets
from conjunct.features import Merge
from conjunct.ufc.stops import _rise_text

pytestmark = pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
LACKS = re.compile(r"has ([\d,.]+) bits of evidence and needs more than ([\d,.]+\d)")
SEEDS = range(12)


def table_of(seed, n_rows=40, n_columns=5):
    """Rows of independent columns, for which one more pair may be there by chance."""
    rng = np.random.default_rng(seed)
    table = rng.random((n_rows, n_columns)) < rng.uniform(0.2, 0.6, n_columns)
    return pd.DataFrame(table, columns=list("hgfedcba")[:n_columns])


def tables_of_pairs(table):
    """For each pair of columns, the counts of its table."""
    n = len(table)
    return {
        (a, b): (n, int(table[a].sum()), int(table[b].sum()), int((table[a] & table[b]).sum()))
        for a, b in combinations(sorted(table), 2)
    }


def strongest(table):
    """The pair with the most evidence, and the evidence."""
    tables = tables_of_pairs(table)
    bits = {pair: naive_evidence.evidence(*x) for pair, x in tables.items()}
    # of equal ones that with the larger joint count, then by name
    pair = min(bits, key=lambda each: (-round(bits[each], 9), -tables[each][3], each))
    return pair, bits[pair]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_the_strongest_pair_has_and_needs(seed):
    table = table_of(seed)
    pair, bits = strongest(table)
    reason = UFC().fit(table).stop_reason_
    cost = naive_evidence.cost(len(table), table.shape[1], 1)
    assert bits < cost
    if bits <= 0:
        assert not LACKS.search(reason)
        return
    has, needs = LACKS.search(reason).groups()
    assert (has, needs) == (f"{bits:.1f}", f"{cost:.1f}")
    assert {*pair} <= {*re.findall(r"\b[a-h]\b", reason)}
    # a factor of two digits that is enough, and no larger one
    factor = float(re.search(r"factor=([\d.]+)", reason)[1]) if "factor=" in reason else 0.0
    assert factor <= bits / cost < factor + 0.01
    if factor:
        assert UFC(Evidence(factor * (1 - 1e-9))).fit(table).n_iter_ > 0
    assert UFC(Evidence(factor + 0.01)).fit(table).n_iter_ == 0


@pytest.mark.parametrize("factor", [1, 2, 0.5])
@pytest.mark.parametrize("seed", SEEDS)
def test_as_many_rows_more_as_it_says_are_enough(seed, factor):
    table = table_of(seed)
    _, bits = strongest(table)
    cost = naive_evidence.cost(len(table), table.shape[1], 1)
    reason = UFC(Evidence(factor)).fit(table).stop_reason_
    found = re.search(r"About ([\d,]+) more row(s?)", reason)
    if bits <= 0 or bits > factor * cost or found is None:
        return
    more = int(found[1].replace(",", ""))
    assert bool(found[2]) == (more != 1)

    def is_enough(n_more):
        times = 1 + n_more / len(table)
        return times * bits > factor * (cost + 0.5 * math.log2(times))

    assert is_enough(more)
    # two digits
    step = 10 ** max(0, len(str(more)) - 2)
    assert more % step == 0
    assert not is_enough(more - step - 2)


def merge_with(score, threshold):
    parts = {"iteration": 1, "left": 0, "right": 1, "both": 2, "right_only": 3, "left_only": 4}
    counts = {"n_rows": 9, "joint": 3, "r": 0.1, "p_value": 0.1, "p_adjusted": 0.1}
    more = {"compared": "score", "family_size": 1}
    return Merge(**parts, **counts, **more, score=score, threshold=threshold)


@pytest.mark.parametrize(
    ("score", "threshold", "factor", "expected"),
    [
        (3.04, 12.06, 1, ("3.0", "12.1")),
        (10.01, 10.04, 1, ("10.010", "10.040")),
        (10.04, 5.0204, 2, ("10.040", "10.041")),
        (1234.5, 99999, 0.5, ("1,234.5", "49,999.5")),
    ],
)
def test_numbers_that_differ_are_written_differently(score, threshold, factor, expected):
    text = Evidence(factor)._lack(merge_with(score, threshold))
    assert LACKS.search(f"has {text}").groups() == expected


def test_rises_are_written_with_enough_digits():
    assert _rise_text(0.1, 0.2) == "0.1 to 0.2"
    assert _rise_text(0.12341, 0.12349) == "0.1234 to 0.1235"
    assert _rise_text(0.1234, 0.1236) == "0.123 to 0.124"
    assert _rise_text(0.25, 0.25) == "0.25 to 0.25"
    assert _rise_text(1.0, 1.0 + 2**-52) == "1 to 1.0000000000000002"


@given(st.integers(0, 99), st.sampled_from(["evidence", "bits", "risk", Bits(alpha=None), 0.2]))
def test_no_order_of_columns_changes_the_reason(seed, criterion):
    # few rows and many ties
    table = table_of(seed, n_rows=8)
    reason = UFC(criterion).fit(table).stop_reason_
    order = np.random.default_rng(seed).permutation(table.columns)
    assert UFC(criterion).fit(table[order]).stop_reason_ == reason


def lift_of(n, s, t, c):
    return c * n / (s * t)


@given(st.integers(0, 400))
def test_the_likeliest_pair_is_named_where_none_is_above_chance(seed):
    rng = np.random.default_rng(seed)
    # tags that avoid each other, with a few exceptions
    which = rng.integers(0, 4, 24)
    table = pd.DataFrame(which[:, None] == np.arange(4), columns=list("dbca"))
    for row in rng.integers(0, 24, 3):
        table.loc[row, "abcd"[rng.integers(0, 4)]] = True
    pairs = {
        pair: x for pair, x in tables_of_pairs(table).items() if 0 < x[1] < 24 and 0 < x[2] < 24
    }
    if any(naive_evidence.evidence(*x) > 0 for x in pairs.values()) or not pairs:
        return
    reason = UFC().fit(table).stop_reason_
    together = {pair: lift_of(*x) for pair, x in pairs.items() if x[3]}
    if not together:
        assert "no row has two" in reason
        return
    best = max(together.values())
    pair = min(pair for pair, lift in together.items() if lift > best * (1 - 1e-12))
    assert re.findall(r"\b[b-d]\b|\ba\b(?= and| \()", reason.split(": ", 1)[1])
    assert all(re.search(rf"\b{tag}\b", reason) for tag in pair)
    joint = pairs[pair][3]
    assert re.search(rf"\b{joint}\b", reason)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_nearest_pair_and_its_p_value(seed):
    table = table_of(seed, n_rows=30)
    reason = UFC("bits").fit(table).stop_reason_
    if "nearest" not in reason:
        return
    from scipy.stats import fisher_exact

    p = {}
    for pair, (n, s, t, c) in tables_of_pairs(table).items():
        if c * n > s * t:
            cells = [[c, s - c], [t - c, n - s - t + c]]
            p[pair] = fisher_exact(cells, alternative="greater").pvalue
    pair = min(p, key=lambda each: (round(p[each], 12), each))
    assert all(re.search(rf"\b{tag}\b", reason) for tag in pair)
    n_pairs, needed = 10, 0.05 / 10
    assert re.search(rf"\b{n_pairs} pairs\b", reason)
    shown = re.search(r"p = ([\d.]+\d)", reason)[1]
    assert float(shown) == pytest.approx(p[pair], rel=0.06)
    assert f"p ≤ {needed:g}" in reason


def test_limits_are_named():
    table = np.repeat(np.eye(6, dtype=bool), 20, axis=0)
    table = np.c_[table, table]
    model = UFC(max_iter=1).fit(table)
    assert "after 1 " in model.stop_reason_
    assert "max_iter" in model.stop_reason_
    model = UFC(max_iter=2).fit(table)
    assert re.search(r"after 2 \w+s, which is max_iter", model.stop_reason_)
    whole = UFC().fit(table)
    assert whole.n_iter_ == 6
    assert re.search(r"after 6 \w+s\b", whole.stop_reason_)


def test_the_part_of_a_run_that_is_kept_is_named():
    zoo = datasets.load_zoo().values
    sizes = [each.n_features for each in UFC().fit(zoo).history_]
    assert sizes == sorted(sizes)
    for n_kept in range(len(sizes) - 1):
        limit = sizes[n_kept + 1] - 1
        if limit < sizes[n_kept]:
            continue
        some = UFC(max_features=limit).fit(zoo)
        assert some.n_iter_ == n_kept
        assert len(some.features_) == sizes[n_kept]
        numbers = [int(each) for each in re.findall(r"\d+", some.stop_reason_)]
        assert numbers == [len(sizes) - 1, *[n_kept] * (n_kept > 0), limit]


@pytest.mark.parametrize(("n_rows", "is_enough"), [(9, False), (10, True)])
def test_few_rows_leave_no_correlation_that_is_significant(n_rows, is_enough):
    # u of 0.001 is 3.09, and its square 9.55 rows
    table = np.zeros((n_rows, 2), bool)
    table[: n_rows // 2] = True
    with pytest.warns(ConjunctWarning) if not is_enough else pytest.MonkeyPatch.context():
        model = UFC(Risk(prune=False), stop="never").fit(table)
    assert (model.n_iter_ > 0) == is_enough
    if not is_enough:
        assert f"with {n_rows} rows, no correlation is significant" in model.stop_reason_
