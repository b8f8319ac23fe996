"""Compare default fits of an earlier version and of this version: whole fits, and the search.

``CONJUNCT_BEFORE`` names the folder ``src`` of the earlier version, its C part built in place, and
``CONJUNCT_BEFORE_PYTHON`` the Python of an environment that has what it needs, if not this one:
``git worktree add ../before COMMIT`` and ``pip install -e ../before`` there.

The search begins when all pairs of columns are counted, and ends with the last merge that is tried.
It therefore includes the preparation of columns and counts, the record of each merge, and the
stopping rule. It leaves out reading, counting, the tests that are written into merges, and the
code.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

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
import conjunct.ufc.run as run
from conjunct import UFC

seconds, n_tried = 0.0, 0

def timed_search(begin):
    def begin_timed(*arguments):
        start = time.process_time()
        search = begin(*arguments)
        steps = search.steps

        def timed_steps():
            global seconds, n_tried
            try:
                for step in steps():
                    n_tried += 1
                    yield step
            finally:
                # the stopping rule has ended the run
                seconds = time.process_time() - start

        search.steps = timed_steps
        return search
    return begin_timed

if hasattr(run, "begin_search"):
    run.begin_search = timed_search(run.begin_search)
else:  # version 0.2
    run._Work._search = timed_search(run._Work._search)

data = sp.load_npz(sys.argv[1])
UFC(n_jobs=1).fit(data[:1000])
seconds, n_tried = 0.0, 0
start = time.process_time()
model = UFC(n_jobs=1).fit(data)
whole = time.process_time() - start
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
n_merges = len(model.feature_set_.merges)
found = {"whole": whole, "search": seconds, "tried": n_tried, "merges": n_merges, "memory": memory}
print(json.dumps(found))
"""


def main() -> int:
    before = os.environ.get("CONJUNCT_BEFORE")
    if not before:
        print("set CONJUNCT_BEFORE to the folder src of an earlier version")
        return 0
    python = os.environ.get("CONJUNCT_BEFORE_PYTHON", sys.executable)
    load = [os.getloadavg()[0]]
    missed, lines = 0, []
    for name in SETS:
        with TemporaryDirectory() as folder:
            path = Path(folder, "data.npz")
            sp.save_npz(path, sp.csr_matrix(benchmark_set(name)[1], dtype=bool))
            # one after the other in turn, as the load of the machine changes
            both = [
                (_fit(python, before, path), _fit(sys.executable, "src", path))
                for _ in range(N_ROUNDS)
            ]
        line: dict[str, Any] = {"name": name}
        for which, runs in zip(("before", "now"), zip(*both, strict=True), strict=True):
            found = {key: median(run[key] for run in runs) for key in runs[0]}
            found["search_per_merge"] = found["search"] / found["tried"]
            line[which] = found
            print(
                f"{name}, {which}: {found['whole']:.2f} s, of them {found['search']:.2f} s of "
                f"search, {1e6 * found['search_per_merge']:.0f} µs for each of "
                f"{found['tried']:,.0f} merges; {found['memory'] / 1e6:,.0f} MB"
            )
        line["ratio"] = median(now["whole"] / then["whole"] for then, now in both)
        line["search_ratio"] = median(
            now["search"] / now["tried"] / (then["search"] / then["tried"]) for then, now in both
        )
        lines.append(line)
        missed += report(f"{name}: now / before", line["ratio"], 1, at_least=False)
        what = f"{name}: search for a merge, now / before"
        missed += report(what, line["search_ratio"], 0.5, at_least=False)
    load.append(os.getloadavg()[0])
    print(f"load of the machine: {load[0]:.1f} before, {load[1]:.1f} after")
    save("before", {"sets": lines, "load": load})
    return missed


def _fit(python: str, source: str, path: Path) -> dict[str, float]:
    run = subprocess.run(
        [python, "-c", FIT, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | ONE_THREAD | {"PYTHONPATH": source},
    )
    return dict(json.loads(run.stdout.splitlines()[-1]))


if __name__ == "__main__":
    sys.exit(main())
