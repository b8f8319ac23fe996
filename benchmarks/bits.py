"""Bits on the yardsticks of Krimp and SLIM: how short, in how many merges, in what time.

L% is the description of the data by the features, these included, as a share of that by the
columns as they are; lower is better. Then, what unseen rows take (``_unseen``). Times are of the
processor, on one thread. ``--slim`` also runs SLIM here; otherwise its published figures are told.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks import _slim, _unseen
from benchmarks._apart import Measurement, timed
from benchmarks._data import benchmark_set, mushroom
from benchmarks._measure import report
from benchmarks._results import save
from conjunct import UFC, Bits, datasets


class Known(NamedTuple):
    """L% as others found it, and what a first trial of the default in plain NumPy gave."""

    krimp: float | None = None
    slim: float | None = None
    slim_seconds: float | None = None
    trial: float | None = None


# Krimp: the logs of its authors' own program, in arcchitjain/Mistle. SLIM: scikit-mine 1.0.0.
KNOWN = {
    "ticTacToe": Known(62.7, 50.3, 44, 53.2),
    "pima": Known(34.3, 31.2, 9, 43.2),
    "led": Known(24.2, 23.0, 6, 22.8),
    "flare": Known(37.9, 29.9, 25, 31.3),
    "dermatology": Known(52.8, 45.5, 14, 45.3),
    "spect": Known(None, 62.9, 1.7, 62.9),
    "zoo": Known(None, 48.6, None, 49.2),
    "coco_street": Known(None, 85.6, None, 88.6),
    "coco_val2017": Known(None, 86.1, 190, None),
    "mushroom_uci": Known(),
}
LUCS = ("ticTacToe", "pima", "led", "flare", "dermatology")
BUNDLED = ("spect", "zoo", "coco_street", "coco_val2017")
UNSEEN = (*LUCS, *BUNDLED, "house_votes_84")
"""Missing votes are no votes there."""

WAYS: dict[str, Any] = {
    "alpha=None": lambda: UFC(Bits(alpha=None)),
    "default": lambda: UFC(),
    "risk": lambda: UFC("risk"),
}


def main(slim: bool = False) -> int:
    warnings.simplefilter("ignore")
    tables = _tables()
    python = _slim.environment() if slim else None
    lines = [_line(name, *tables[name], python) for name in KNOWN]
    missed = _checked(lines)
    unseen = []
    for name in UNSEEN:
        title, data = tables[name]
        unseen.append({"name": title, **_unseen.compared(data.astype(bool).toarray())})
        _print_unseen(unseen[-1])
    save("bits", {"sets": lines, "unseen": unseen})
    return missed


def _tables() -> dict[str, tuple[str, Any]]:
    """What each set is called, and its rows as a sparse matrix of ones."""
    found = {name: benchmark_set(f"lucs/{name}") for name in LUCS}
    found = {name: (title.replace("lucs/", ""), data) for name, (title, data) in found.items()}
    for name in (*BUNDLED, "house_votes_84"):
        values = datasets.load(name).values
        table = np.nan_to_num(values.astype(float)).astype(np.int32)
        found[name] = (name, sp.csr_array(table[table.any(axis=1)] if name == "spect" else table))
    return {**found, "mushroom_uci": mushroom()}


def _line(name: str, title: str, data: Any, python: Any) -> Measurement:
    line: Measurement = {"name": title, "shape": list(data.shape), "ways": {}}
    baseline = 0.0
    for way, made in WAYS.items():
        model = made()
        seconds = timed(lambda model=model: model.fit(data), repeat=3)["seconds"]
        baseline = model.baseline_length_
        percent = 100 * model.description_length_ / baseline
        n_merges = len(model.feature_set_.merges)
        line["ways"][way] = {"percent": percent, "merges": n_merges, "seconds": seconds}
    if title == name:  # figures of others are not about generated data
        line["known"] = KNOWN[name]._asdict()
    if python is not None:
        found = _slim.compressed(python, data)
        line["slim"] = found
        if "bits" in found:
            found["percent"] = 100 * found["bits"] / baseline
    _print(line)
    return line


def _print(line: Measurement) -> None:
    told = [
        f"{way} {found['percent']:.1f} ({found['merges']} merges, {found['seconds']:.2f} s)"
        for way, found in line["ways"].items()
    ]
    known = line.get("known", {})
    told += [f"{who} {known[who]}" for who in ("krimp", "slim") if known.get(who)]
    if "slim" in line:
        slim = line["slim"]
        here = f"{slim['percent']:.1f} ({slim['seconds']:.1f} s)" if "bits" in slim else "stopped"
        told.append(f"SLIM here {here}")
    print(f"{line['name']:<14} L%: {', '.join(told)}", flush=True)


def _checked(lines: list[Measurement]) -> int:
    """Compare with what is known; nothing is known of generated data."""
    missed, beside = 0, []
    for line in lines:
        known, name = line.get("known", {}), line["name"]
        free, default = (line["ways"][way]["percent"] for way in ("alpha=None", "default"))
        if known.get("krimp"):
            less = known["krimp"] - free
            what = f"{name}: below Krimp's L%, alpha=None"
            missed += report(what, less, 0, at_least=True, unit="points")
            beside.append(free - known["slim"])
        if known.get("trial"):
            what = f"{name}: above the first trial's L%, default"
            missed += report(what, default - known["trial"], 0.5, at_least=False, unit="points")
    if beside:
        what = "above SLIM's L%, alpha=None, mean over the LUCS sets"
        missed += report(what, float(np.mean(beside)), 1, at_least=False, unit="points")
    return missed


def _print_unseen(line: Measurement) -> None:
    shares = ", ".join(f"{way} {share:.3f}" for way, share in line["shares"].items())
    scores = ", ".join(f"{way} {score:.2f}" for way, score in line["scores"].items())
    print(f"{line['name']:<14} unseen rows, share of bits: {shares}; score: {scores}", flush=True)
