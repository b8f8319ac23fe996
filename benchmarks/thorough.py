"""What undoing merges brings: the thorough search beside the pairwise one, and SLIM's L%.

Small sets only: it runs the search anew for every merge that it tries to do without.
"""

from __future__ import annotations

import warnings
from typing import Any

from benchmarks._apart import timed
from benchmarks._data import named_set
from benchmarks._measure import report
from benchmarks._results import save
from benchmarks.bits import KNOWN, percent
from conjunct import UFC, Bits

MOST_CELLS = 20_000


def main() -> int:
    warnings.simplefilter("ignore")
    missed, lines = 0, []
    tables = {name: named_set(name) for name in KNOWN}
    small = [name for name in KNOWN if tables[name][1].size <= MOST_CELLS]
    for name in sorted(small, key=lambda name: tables[name][1].size):
        title, table = tables[name]
        slim = KNOWN[name].slim if title == name else None
        line: dict[str, Any] = {"name": title, "slim": slim}
        for search in ("pairwise", "thorough"):
            model = UFC(Bits(alpha=None), search=search)
            seconds = timed(lambda model=model, table=table: model.fit(table))["seconds"]
            line[search] = {"percent": percent(model), "seconds": seconds}
            print(f"{title}, {search}: L% {percent(model):.1f} in {seconds:.1f} s", flush=True)
        if slim:
            above = line["thorough"]["percent"] - slim
            what = f"{title}: above SLIM's L%, thorough"
            missed += report(what, above, 0, at_least=False, unit="points")
        lines.append(line)
    save("thorough", {"sets": lines})
    return missed
