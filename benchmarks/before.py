"""Whole default fits of an earlier version, each beside one of this version.

``CONJUNCT_BEFORE`` names the folder ``src`` of the earlier version, its C part built in place:
``git worktree add ../before COMMIT`` and ``pip install -e ../before`` in another environment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import scipy.sparse as sp

from benchmarks._apart import ONE_THREAD
from benchmarks._data import benchmark_set
from benchmarks._measure import report
from benchmarks._results import save

SETS = ("retail", "t10i4d100k", "delicious", "nuswide81", "accidents_15k")
N_ROUNDS = 7
FIT = """
import json, resource, sys, time
import scipy.sparse as sp
from conjunct import UFC
data = sp.load_npz(sys.argv[1])
UFC(n_jobs=1).fit(data[:1000])
start = time.process_time()
model = UFC(n_jobs=1).fit(data)
seconds = time.process_time() - start
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([seconds, len(model.feature_set_.merges), memory]))
"""


def main() -> int:
    before = os.environ.get("CONJUNCT_BEFORE")
    if not before:
        print("set CONJUNCT_BEFORE to the folder src of an earlier version")
        return 0
    missed, lines = 0, []
    for name in SETS:
        with TemporaryDirectory() as folder:
            path = Path(folder, "data.npz")
            sp.save_npz(path, sp.csr_matrix(benchmark_set(name)[1], dtype=bool))
            # one after the other in turn, as the load of the machine changes
            both = [(_fit(before, path), _fit("src", path)) for _ in range(N_ROUNDS)]
        old, new = ([*zip(*runs, strict=True)] for runs in zip(*both, strict=True))
        ratio = median(now[0] / then[0] for then, now in both)
        line = {"name": name, "ratio": ratio}
        for which, (seconds, merges, memory) in (("before", old), ("now", new)):
            line[which] = [median(seconds), merges[0], max(memory)]
            print(
                f"{name}, {which}: {median(seconds):.2f} s, {merges[0]:,} merges, "
                f"{max(memory) / 1e6:,.0f} MB"
            )
        lines.append(line)
        missed += report(f"{name}: now / before", ratio, 1, at_least=False)
    save("before", {"sets": lines})
    return missed


def _fit(source: str, path: Path) -> list[float]:
    run = subprocess.run(
        [sys.executable, "-c", FIT, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | ONE_THREAD | {"PYTHONPATH": source},
    )
    return list(json.loads(run.stdout.splitlines()[-1]))


if __name__ == "__main__":
    sys.exit(main())
