"""Why a run ended: the numbers that it names are those of the rows, and its advice helps."""

import math
import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

import naive_evidence
from conjunct import UFC, Bits, ConjunctWarning, Evidence, Risk, RmsStop, Threshold, datasets
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
    more = {"compared": "score", "family_size": 1, "saved": math.nan, "n_significant": 0}
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


RARE = " and has expected frequencies of at least 5"


@pytest.mark.parametrize(
    ("criterion", "condition"),
    [
        (Threshold(0.95), "exceeds a correlation of 0.950. Try a smaller threshold"),
        (Threshold(0.95, prune=True), f"exceeds a correlation of 0.950{RARE}. Try"),
        (Threshold(0.97, "yule_q"), "exceeds a yule q of 0.970. Try a smaller threshold"),
        (Threshold(40, "lift"), "exceeds a lift of 40.000. Try a smaller threshold"),
        (Risk(1e-9), f"reaches a correlation of {-ndtri(1e-9) / math.sqrt(40):.3f}{RARE}. Try"),
        (Risk(1e-9, prune=False), f"of {-ndtri(1e-9) / math.sqrt(40):.3f}. Try a larger alpha"),
        (Risk(1e-9, "exact", prune=False), "is significant at alpha=1e-09. Try a larger alpha"),
        (Risk(1e-9, "exact", "by"), f"at alpha=1e-09 after the by correction{RARE}. Try a larger"),
    ],
)
def test_what_no_pair_has_is_named(criterion, condition):
    model = UFC(criterion).fit(table_of(3))
    assert model.n_iter_ == 0
    assert model.stop_reason_.startswith("No feature was constructed: no pair of columns ")
    assert condition in model.stop_reason_


@pytest.mark.parametrize(
    ("criterion", "options", "condition"),
    [
        (Threshold(0.3), {}, "is left with a correlation above 0.300."),
        (
            Threshold(0.5, "jaccard"),
            {"max_length": 3},
            "is left with a jaccard above 0.500 and that makes a feature of at most 3 literals.",
        ),
        (Risk(), {}, "is left whose correlation is significant at alpha=0.001."),
        (Bits(), {"max_length": 2}, "than chance explains and that makes a feature of at most 2"),
        (Bits(), {"search": "batch"}, "than chance explains and makes the description shorter."),
        (
            Evidence(),
            {"max_length": 2},
            "more often than by chance and that makes a feature of at most 2 tags.",
        ),
    ],
)
def test_what_no_other_pair_has_is_named(criterion, options, condition):
    zoo = datasets.load_zoo().values
    model = UFC(criterion, stop="never", **options).fit(zoo)
    step = "iteration" if model.get_params()["search"] == "batch" else "merge"
    if isinstance(criterion, Threshold | Risk):
        step = "iteration"
    steps = f"{model.n_iter_} {step}{'s' * (model.n_iter_ != 1)}"
    assert model.stop_reason_.startswith(f"It stopped after {steps}: no pair is left ")
    assert model.stop_reason_.replace("that goes together more often", "").endswith(
        (condition, f"{condition} tags.")
    )


def digits_in(text):
    return [float(each) for each in re.findall(r"\d+(?:\.\d+)?(?:e-\d+)?", text)]


@pytest.mark.parametrize("null", [False, True])
def test_the_rise_that_ends_a_run_is_that_of_its_history(null):
    spect = datasets.load_spect().values
    model = UFC(Threshold(0.3), stop=RmsStop(null_feature=null)).fit(spect)
    stop = {"rule": "never", "null_feature": null}
    after = UFC(Threshold(0.3), stop=stop, max_iter=model.n_iter_ + 1).fit(spect).history_
    assert model.n_iter_ > 0
    assert [line.rms for line in model.history_] == [line.rms for line in after[:-1]]
    assert after[-1].rms > after[-2].rms
    n, *rise = digits_in(model.stop_reason_)
    assert n == model.n_iter_
    assert rise == pytest.approx([line.rms for line in after[-2:]], rel=0.005)


@pytest.mark.parametrize(("seed", "n_rows", "share"), [(5, 60, 0.04), (0, 11, 0.3), (1, 11, 0.5)])
def test_a_first_iteration_that_raises_rms_is_written_in_numbers(seed, n_rows, share):
    # C0 grows fast with few distinct rows
    table = np.random.default_rng(seed).random((n_rows, 9)) < share
    table = table.repeat(-(-60 // n_rows), axis=0)
    model = UFC(Threshold(0.15)).fit(table)
    assert model.n_iter_ == 0
    first, tried = UFC(Threshold(0.15), stop="never", max_iter=1).fit(table).history_
    numbers = [first.rms, tried.rms, first.oi, tried.oi, first.c0, tried.c0]
    text = model.stop_reason_.replace("C0 ", "C ").replace("-", "")
    assert digits_in(text) == pytest.approx([abs(x) for x in numbers], rel=0.006)
    assert ("many rare columns always have a low OI" in text) == (first.oi < 0.1)


def test_without_complexity_one_iteration_is_made():
    table = np.repeat(np.eye(4, dtype=bool), 10, axis=0)
    table = np.c_[table, table]
    with pytest.warns(ConjunctWarning, match="C0 is undefined for 4 distinct rows and 8 columns"):
        model = UFC(Threshold(0.3)).fit(table)
    assert model.n_iter_ == 1
    assert "one iteration was made" in model.stop_reason_


def test_runs_end_before_formulas_are_too_long_to_read():
    rng = np.random.default_rng(2)
    table = rng.random((20_000, 16)) < 0.3 + 0.4 * rng.random((20_000, 1))
    with pytest.warns(ConjunctWarning, match="more than 100 literals on average"):
        model = UFC(Threshold(0.0)).fit(table)
    lengths = [line.length for line in model.history_]
    assert max(lengths) <= 100
    more = UFC(Threshold(0.0), stop="never", max_iter=model.n_iter_ + 1).fit(table).history_
    assert more[-1].length > 100
    assert f"after iteration {model.n_iter_}, " in model.stop_reason_
    assert f"with {len(np.unique(table, axis=0))} distinct rows" in model.stop_reason_


@pytest.mark.parametrize(("n_rows", "is_low"), [(20, False), (21, True)])
def test_an_overlap_below_a_tenth_is_low(n_rows, is_low):
    table = np.zeros((n_rows, 3), bool)
    table[:8, 0] = table[3:11, 1] = table[11:19, 2] = True
    model = UFC(Threshold(0.3)).fit(table)
    assert (model.n_iter_, model.history_[0].oi < 0.1) == (0, is_low)
    assert ("low OI" in model.stop_reason_) == is_low
    if not is_low:
        assert model.history_[0].oi == 0.1
