"""Measure ``UFC("bits")`` on the data of Krimp and SLIM: length, merges and time.

L% is the length of the description by the features, including the features, as a share of the
length by the columns alone; lower is better. The bits of unseen rows follow (``_unseen``). Times
are CPU times on one thread. ``--slim`` also runs SLIM; otherwise its published figures are printed.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks import _slim, _unseen
from benchmarks._apart import Measurement, timed
from benchmarks._data import named_set
from benchmarks._measure import report
from benchmarks._results import save
from conjunct import UFC, Bits


class Known(NamedTuple):
    """L% as others found it, and what a first trial of the rule in plain NumPy gave."""

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
UNSEEN = (*(name for name in KNOWN if name != "mushroom_uci"), "house_votes_84")
N_NAMINGS = 10

WAYS: dict[str, Any] = {
    "alpha=None": lambda: UFC(Bits(alpha=None)),
    "bits": lambda: UFC("bits"),
    "risk": lambda: UFC("risk"),
}
MOST_CELLS = 60_000
"""On larger tables SLIM takes minutes, and its published figures are told."""


def main(slim: bool = False) -> int:
    warnings.simplefilter("ignore")
    tables = {name: named_set(name) for name in dict.fromkeys((*KNOWN, *UNSEEN))}
    python = _slim.environment() if slim else None
    lines = [_line(name, *tables[name], python) for name in KNOWN]
    missed = _checked(lines)
    unseen = []
    for name in UNSEEN:
        title, table = tables[name]
        unseen.append({"name": title, **_unseen.compared(table.to_numpy())})
        _print_unseen(unseen[-1])
    save("bits", {"sets": lines, "unseen": unseen, "namings": N_NAMINGS})
    return missed


def _line(name: str, title: str, table: Any, python: Any) -> Measurement:
    line: Measurement = {"name": title, "shape": list(table.shape), "ways": {}}
    baseline = 0.0
    for way, made in WAYS.items():
        model = made()
        seconds = timed(lambda model=model: model.fit(table), repeat=3)["seconds"]
        baseline = model.krimp_baseline_
        line["ways"][way] = {
            "percent": percent(model),
            "merges": len(model.feature_set_.merges),
            "seconds": seconds,
            "renamed": _renamed(made, table),
        }
    if title == name:  # figures of others are not about generated data
        line["known"] = KNOWN[name]._asdict()
    if python is not None and table.size <= MOST_CELLS:
        found = _slim.compressed(python, sp.csr_array(table.to_numpy()))
        line["slim"] = found
        if "bits" in found:
            found["percent"] = 100 * found["bits"] / baseline
    _print(line)
    return line


def percent(model: UFC) -> float:
    return float(100 * model.krimp_length_ / model.krimp_baseline_)


def _renamed(made: Any, table: Any) -> list[float]:
    """Return L%, from best to worst, with permuted column names, because names break ties."""
    found = []
    for seed in range(N_NAMINGS):
        order = np.random.default_rng(seed).permutation(table.shape[1])
        found.append(percent(made().fit(table.set_axis(table.columns[order], axis=1))))
    return sorted(found)


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
    for way, found in line["ways"].items():
        best, *_, worst = found["renamed"]
        if worst - best > 0.1:
            print(f"  {way}, columns named otherwise: {best:.1f} to {worst:.1f}", flush=True)


def _checked(lines: list[Measurement]) -> int:
    """Compare with published figures, which do not exist for generated data."""
    missed, beside = 0, []
    for line in lines:
        known, name = line.get("known", {}), line["name"]
        free, tested = (line["ways"][way]["percent"] for way in ("alpha=None", "bits"))
        if known.get("krimp"):
            less = known["krimp"] - free
            what = f"{name}: below Krimp's L%, alpha=None"
            missed += report(what, less, 0, at_least=True, unit="points")
            beside.append(free - known["slim"])
        if known.get("trial"):
            what = f"{name}: above the first trial's L%, bits"
            missed += report(what, tested - known["trial"], 0.5, at_least=False, unit="points")
    if beside:
        what = "above SLIM's L%, alpha=None, mean over the LUCS sets"
        missed += report(what, float(np.mean(beside)), 1, at_least=False, unit="points")
    return missed


def _print_unseen(line: Measurement) -> None:
    shares = ", ".join(f"{way} {share:.3f}" for way, share in line["shares"].items())
    print(f"{line['name']:<14} unseen rows, share of bits: {shares}", flush=True)
