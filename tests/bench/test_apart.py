"""What a measurement in a process of its own tells, and where it ends."""

import json
import os
import sys
from pathlib import Path

import pytest
import scipy.sparse as sp
from benchmarks import rivals
from benchmarks._apart import measured_apart
from benchmarks._data import correlated

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def found_by_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    paths = [str(tmp_path), str(ROOT), *filter(None, sys.path)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


def in_process(tmp_path: Path, code: str) -> dict[str, object]:
    lines = ["import numpy as np", "from benchmarks._apart import *", f"answer(lambda: {code})"]
    (tmp_path / "measured_here.py").write_text("\n".join(lines))
    return measured_apart("measured_here", seconds=1)


def test_time_memory_and_what_came_out(tmp_path: Path) -> None:
    held = in_process(tmp_path, "timed(lambda: np.ones(10**7), tell=len, repeat=2)")
    assert held["gives"] == 10**7
    assert 0 < held["seconds"] < 1
    assert held["resident"] > 80e6


def test_stopped_by_processor_time(tmp_path: Path) -> None:
    assert in_process(tmp_path, "timed(lambda: sum(range(10**12)), seconds=1)") == {"stopped": 1}


def test_refused_memory(tmp_path: Path) -> None:
    code = "limit_memory(4 * 10**9) or timed(lambda: np.ones((10**5, 10**5)))"
    found = in_process(tmp_path, code)
    assert set(found) == {"needs"}
    assert 80e9 < found["needs"] < 81e9


def test_a_failure_is_not_a_measurement(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        in_process(tmp_path, "1 / 0")


def test_rivals_construct_as_many_features(tmp_path: Path) -> None:
    file = tmp_path / "data.npz"
    sp.save_npz(file, correlated(3000, 60, 0.1))
    names = (rivals.YARDSTICK, "uFC in plain NumPy", "uFC in plain SciPy")
    given = {measured_apart("benchmarks.rivals", name, file)["gives"] for name in names}
    assert len(given) == 1, json.dumps(sorted(given))
    assert given != {"60 features, 0 iterations"}
