"""Log-likelihood of test rows, in nats per row, on the density sets.

``UFC()`` and ``RowGroups()``, with chunks and with columns inside the groups, compared with
independent columns and with a Chow–Liu tree. Each is fitted on the training rows alone. The price
of a merge inside a group (0.7) was chosen on the validation rows of these sets; the test rows
were also seen while the method was developed.
"""

from __future__ import annotations

import time
import warnings

from benchmarks._apart import Measurement
from benchmarks._chow_liu import ChowLiuTree
from benchmarks._data import FOLDER
from benchmarks._measure import report
from benchmarks._results import save
from benchmarks.evidence import read_density
from conjunct import UFC, RowGroups

TARGETS = {"nltcs": -6.07, "plants": -12.9, "baudio": -40.1, "dna": -80.8}
DNA_BY_CHUNKS = -82.5


def main() -> int:
    warnings.simplefilter("ignore")
    lines: list[Measurement] = []
    missed = 0
    for name, target in TARGETS.items():
        if not (FOLDER / "density" / f"{name}.train.data.gz").exists():
            print(f"{name} is not here")
            continue
        line = measure(name)
        lines.append(line)
        default = line["logs"]["groups, chunks"]["test"]
        missed += report(f"{name}: RowGroups()", default, target, at_least=True, unit="nats")
        if name == "dna":
            chunks = line["logs"]["chunks"]["test"]
            missed += report("dna: UFC()", chunks, DNA_BY_CHUNKS, at_least=True, unit="nats")
    save("density", {"sets": lines})
    return missed


def measure(name: str) -> Measurement:
    """Fit every model on one set."""
    train, valid, test = (read_density(name, part) for part in ("train", "valid", "test"))
    tree = ChowLiuTree.of(train)
    logs: dict[str, Measurement] = {
        "tree": {
            "valid": float(tree.log_probs(valid).mean()),
            "test": float(tree.log_probs(test).mean()),
        }
    }
    models = {
        "columns": UFC(max_iter=0, variables=False),
        "chunks": UFC(),
        "groups, columns": RowGroups(within="columns"),
        "groups, chunks": RowGroups(),
    }
    for way, model in models.items():
        start = time.process_time()
        model.fit(train)
        seconds = time.process_time() - start
        logs[way] = {
            "valid": float(model.log_prob(valid).mean()),
            "test": float(model.log_prob(test).mean()),
            "seconds": seconds,
            "groups": getattr(model, "n_groups_", 1),
        }
    print(f"{name}, {len(train):,} × {train.shape[1]}, test rows {len(test):,}")
    for way, found in logs.items():
        cost = f"{found['seconds']:6.1f} s, {found['groups']} groups" if "seconds" in found else ""
        print(f"  {way:<16} valid {found['valid']:8.3f}  test {found['test']:8.3f}  {cost}")
    return {"name": name, "shape": list(train.shape), "logs": logs}
