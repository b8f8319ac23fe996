"""What ``expected_cost`` says before a fit, beside what the fit then took, on six shapes.

Time is of the processor on one thread; memory is what the process held beyond its data. The paper's
rule is asked for one iteration, the default for all of its merges.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

from benchmarks._apart import Measurement, answer, measured_apart, peak_resident, resident, timed
from benchmarks._data import correlated, zipf
from benchmarks._measure import report
from benchmarks._results import save
from conjunct import UFC

SHAPES: dict[str, Any] = {
    "200,000 × 300, 10% true": lambda: correlated(200_000, 300, 0.1).toarray(),
    "20,000 × 2,000, 10% true": lambda: correlated(20_000, 2_000, 0.1).toarray(),
    "2,000,000 × 50, 20% true": lambda: correlated(2_000_000, 50, 0.2).toarray(),
    "500,000 × 2,000, 10 tags": lambda: zipf(500_000, 2_000, 10),
    "200,000 × 20,000, 10 tags": lambda: zipf(200_000, 20_000, 10),
    "1,000,000 × 40,000, 8 tags": lambda: zipf(1_000_000, 40_000, 8),
}
RULES: dict[str, dict[str, Any]] = {"risk": {"criterion": "risk", "max_iter": 1}, "bits": {}}
FACTOR = 2


def main() -> int:
    missed, lines = 0, []
    for shape in SHAPES:
        for rule in RULES:
            line = {
                "shape": shape,
                "rule": rule,
                **measured_apart("benchmarks.expected", shape, rule),
            }
            lines.append(line)
            print(
                f"{shape}, {rule}: expected {line['said_seconds']:.2f} s and "
                f"{line['said_bytes'] / 1e6:,.0f} MB, took {line['seconds']:.2f} s and "
                f"{line['bytes'] / 1e6:,.0f} MB, {line['merges']} merges",
                flush=True,
            )
            for what in ("seconds", "bytes"):
                ratio = line[f"said_{what}"] / line[what]
                name = f"{shape}, {rule}: {what}, expected / taken or its inverse"
                missed += report(name, max(ratio, 1 / ratio), FACTOR, at_least=False)
    save("expected", {"factor": FACTOR, "lines": lines})
    return missed


def alone(shape: str, rule: str) -> Measurement:
    warnings.simplefilter("ignore")
    UFC(**RULES[rule]).fit(zipf(500, 50, 8))  # imports are not what is measured
    data = SHAPES[shape]()
    model = UFC(**RULES[rule])
    before = resident()
    taken = timed(lambda: model.fit(data))
    held = peak_resident() - before
    said = model.expected_cost(data)
    merges = len(model.feature_set_.merges)
    return {
        "said_seconds": said.seconds + (said.merge_seconds or 0) * merges,
        "said_bytes": said.n_bytes,
        "seconds": taken["seconds"],
        "bytes": max(held, 10**6),
        "merges": merges,
    }


if __name__ == "__main__":
    answer(lambda: alone(*sys.argv[1:]))
