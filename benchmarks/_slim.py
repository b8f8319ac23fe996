"""Run SLIM of scikit-mine 1.0.0 in a separate environment, because it needs old libraries."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._apart import ONE_THREAD, Measurement

FOLDER = Path(__file__).resolve().parents[1] / "build" / "slim"
NEEDS = ("scikit-mine==1.0.0", "numpy<2", "pandas<2", "scikit-learn<1.6")
SECONDS = 900
"""How long SLIM may take on a set."""

_RUN = """
import json, sys, time
from skmine.itemsets import SLIM, slim
slim.time = type("clock", (), {"time": time.process_time})  # its limit is one of the processor
for line in sys.stdin:
    asked = json.loads(line)
    model, start = SLIM(max_time=asked["seconds"]), time.process_time()
    model.fit([row for row in asked["rows"] if row])
    seconds = time.process_time() - start
    print(json.dumps({
        "seconds": seconds,
        "bits": float(model.data_size_ + model.model_size_),
        "itemsets": [list(itemset) for itemset in model.codetable_ if len(itemset) > 1],
        "cut off": 0 < asked["seconds"] < seconds,
    }), flush=True)
"""


def environment() -> Path | None:
    """Return the interpreter with SLIM, installed once, or ``None`` if that is not possible."""
    python = FOLDER / "bin" / "python"
    ready = FOLDER / ".ready"
    if ready.exists():
        return python
    print(f"making {FOLDER.name} with {', '.join(NEEDS)}", flush=True)
    try:
        subprocess.run([sys.executable, "-m", "venv", str(FOLDER)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", *NEEDS]
        subprocess.run(install, check=True, stderr=subprocess.PIPE, text=True)
    except subprocess.CalledProcessError as error:
        print(f"SLIM cannot be had here: {(error.stderr or str(error)).strip().splitlines()[-1]}")
        return None
    ready.touch()
    return python


def compressed(python: Path, data: Any) -> Measurement:
    """Return the CPU seconds and bits of SLIM on a sparse matrix, or the time limit."""
    rows = [row.tolist() for row in np.split(data.indices, data.indptr[1:-1])]
    with _started(python) as process:
        try:
            answer, _ = process.communicate(_question(rows, -1), timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return {"stopped": SECONDS}
    found = json.loads(answer)
    return {"seconds": found["seconds"], "bits": found["bits"]}


def mined(python: Path, table: NDArray[np.bool_], seconds: float) -> Measurement:
    """Return the sets of SLIM on a table, after a limited number of CPU seconds."""
    process = _miner(python)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(_question([np.flatnonzero(row).tolist() for row in table], seconds))
    process.stdin.flush()
    return dict(json.loads(process.stdout.readline()))


@cache
def _miner(python: Path) -> subprocess.Popen[str]:
    """Start one process for all tables, because starting takes longer than most tables."""
    process = _started(python)
    atexit.register(process.kill)
    return process


def _started(python: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(python), "-W", "ignore", "-c", _RUN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | ONE_THREAD,
    )


def _question(rows: list[list[int]], seconds: float) -> str:
    return json.dumps({"rows": rows, "seconds": seconds}) + "\n"
