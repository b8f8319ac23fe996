"""What the benchmarks of bits are given is what they say."""

import numpy as np
import pytest
from benchmarks import __main__ as command
from benchmarks import _unseen, chance
from benchmarks._data import named_set

from conjunct import UFC


def table(seed, n_rows=300):
    """Two columns that go together, one that is part of another, and two by chance."""
    random = np.random.default_rng(seed)
    made = random.random((n_rows, 5)) < [0.4, 0.5, 0.3, 0.2, 0.6]
    copied = random.random(n_rows) < 0.7
    made[copied, 1] = made[copied, 0]
    made[:, 2] &= made[:, 1]
    return made


@pytest.mark.parametrize("criterion", ["bits", "risk"])
def test_bits_are_those_of_the_probabilities(criterion):
    train, test = table(0), table(1)
    model = UFC(criterion).fit(train)
    assert model.n_iter_ > 0
    bits = -model.log_prob(test).mean() / np.log(2)
    assert _unseen.bits_per_row(UFC(criterion), train, test) == pytest.approx(bits)


def test_held_out_rows_are_the_others():
    made = np.arange(20)[:, None]
    train, test = _unseen.split(made, 0)
    assert len(test) == 6
    assert sorted([*train[:, 0], *test[:, 0]]) == list(range(20))
    assert not np.array_equal(test, _unseen.split(made, 1)[1])


@pytest.mark.filterwarnings("ignore:No chunk was found")
def test_little_is_made_of_independent_columns():
    found = [chance.makes_something(chance.independent(50, 10, 0.5, [seed])) for seed in range(60)]
    assert sum(found) <= 9  # 5% of them give more with a chance of 1 in 1,000


def test_data_that_are_not_there_are_generated(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("benchmarks._data.FOLDER", tmp_path / "bench")
    title, made = named_set("led")
    assert (title, made.shape) == ("as led, generated", (3200, 16))
    assert "led is not in bench" in capsys.readouterr().out


def test_an_option_that_no_benchmark_has(capsys):
    assert command.main(["chance", "--slim"]) == 2
    assert "no benchmark here has the option --slim" in capsys.readouterr().out
