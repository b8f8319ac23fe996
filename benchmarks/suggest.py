"""Suggestions by what they are for: hidden tags, probabilities, planted errors, time and memory.

1. A tag of each unseen row is hidden: is it among the first 1, 5, 10 suggestions? Compared with the
   most frequent tags, the tags of the nearest training rows, the best association rule, and EASE
   with its λ chosen by these very rows.
2. Scores of all cells of unseen rows, and the share of cells that are true.
3. 2% of the tags deleted and 1% added: precision and recall, compared with cleanlab. The score of
   doubtful tags was chosen on four of the sets; on the other four nothing was.
4. A second fit with confident suggestions as missing cells: is it better on unseen rows?
5. Time and memory of wide sets, each alone in a process.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._apart import Measurement, answer, measured_apart, timed
from benchmarks._data import FOLDER, transactions, zipf
from benchmarks._measure import report
from benchmarks._results import save
from benchmarks.evidence import read_density
from conjunct import UFC, datasets

Table = NDArray[np.bool_]
Scores = NDArray[np.float64]

SETS = ("coco", "delicious", "nuswide81", "plants")
UNSEEN = ("audio", "nltcs", "house_votes_84", "zoo")
"""Sets on which nothing was chosen: the score of doubtful tags was, on the others."""
MOST_TEST_ROWS, MOST_ROWS = 2000, 20_000
RIDGES = (1, 3, 10, 30, 100, 300, 1000, 3000)
NEIGHBOURS = (20, 50, 200)
TOPS = (1, 5, 10)
BOUND = 0.97
"""Of EASE's hits among the first 5."""
DELETED, ADDED = 0.02, 0.01
WIDTHS = (1000, 5000, 20_000)


def main() -> int:
    warnings.simplefilter("ignore")
    run: dict[str, Any] = {}
    missed = 0
    for part, measure in PARTS.items():
        run[part], more = measure()
        missed += more
    save("suggest", run)
    return missed


def load(name: str) -> Table | None:
    """Return a set in random order; ``None`` where it is not here."""
    density = {"plants": "plants", "audio": "baudio", "nltcs": "nltcs"}.get(name)
    if name in ("coco", "house_votes_84", "zoo"):
        table = np.asarray(datasets.load("coco_val2017" if name == "coco" else name).values, bool)
    elif density is not None:
        if not (FOLDER / "density" / f"{density}.train.data.gz").exists():
            return None
        table = np.vstack([read_density(density, part) for part in ("train", "valid", "test")])
    else:
        found = transactions(name)
        if found is None:
            return None
        table = found.toarray().astype(bool)
    table = table[np.random.default_rng(0).permutation(len(table))[:MOST_ROWS]]
    return np.asarray(table[:, table.any(axis=0)])


def loaded_sets(names: tuple[str, ...] = SETS) -> dict[str, Table]:
    tables = {name: load(name) for name in names}
    return {name: table for name, table in tables.items() if table is not None}


def split(table: Table) -> tuple[Table, Table]:
    n_train = int(0.8 * len(table))
    return table[:n_train], table[n_train:]


# --- hidden tags ---


def measure_hidden() -> tuple[list[Measurement], int]:
    lines, missed = [], 0
    for name, table in loaded_sets().items():
        train, test = split(table)
        rows, hidden = hide(test[test.sum(axis=1) > 1][:MOST_TEST_ROWS])
        found: dict[str, Any] = {}
        start = time.process_time()
        lists = UFC().fit(train).suggest(rows, k=max(TOPS))
        seconds = time.process_time() - start
        ranked = [[int(one.tag[1:]) for one in some] for some in lists]
        found["conjunct"] = [
            float(np.mean([h in some[:k] for h, some in zip(hidden, ranked, strict=True)]))
            for k in TOPS
        ]
        found["popularity"] = hits(np.tile(train.mean(axis=0), (len(rows), 1)), rows, hidden)
        found["neighbours"] = in_hindsight(
            hits(by_neighbours(train, rows, k), rows, hidden) for k in NEIGHBOURS
        )
        found["best rule"] = hits(by_rules(train, rows), rows, hidden)
        found["EASE"] = in_hindsight(
            hits(rows @ ease(train, ridge), rows, hidden) for ridge in RIDGES
        )
        lines.append({"name": name, "shape": table.shape, "hits": found, "seconds": seconds})
        print(f"{name}, {len(train):,} × {table.shape[1]}, {len(rows):,} hidden tags")
        for method, shares in found.items():
            print(f"  {method:<11} " + "  ".join(f"{share:.3f}" for share in shares))
        ratio = found["conjunct"][1] / found["EASE"][1]
        what = f"{name}: hits among 5, as a share of EASE's in hindsight"
        missed += report(what, ratio, BOUND, at_least=True, unit="")
    return lines, missed


def hide(rows: Table) -> tuple[Table, list[int]]:
    """Return the rows without one tag of each, and these."""
    random = np.random.default_rng(1)
    hidden = [int(random.choice(np.flatnonzero(row))) for row in rows]
    rows = rows.copy()
    rows[np.arange(len(rows)), hidden] = False
    return rows, hidden


def hits(scores: Scores, rows: Table, hidden: list[int]) -> list[float]:
    scores = np.where(rows, -np.inf, scores)
    own = scores[np.arange(len(rows)), hidden]
    # of equal scores, in the middle
    before = (scores > own[:, None]).sum(axis=1)
    ties = (scores == own[:, None]).sum(axis=1) - 1
    return [float(np.mean(before + ties / 2 < k)) for k in TOPS]


def in_hindsight(found: Any) -> list[float]:
    """Return the best by what it is judged by."""
    return max(found, key=lambda shares: shares[1])


def ease(train: Table, ridge: float) -> Scores:
    gram = train.T.astype(np.float32) @ train.astype(np.float32)
    inverse = np.linalg.inv(gram.astype(float) + ridge * np.eye(len(gram)))
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0)
    return np.asarray(weights)


def by_neighbours(train: Table, rows: Table, k: int) -> Scores:
    """Return the cosine-weighted votes of the k nearest training rows."""
    unit = train / np.sqrt(np.maximum(train.sum(axis=1, keepdims=True), 1))
    unit = unit.astype(np.float32)
    scores = np.zeros(rows.shape)
    for start in range(0, len(rows), 200):
        some = slice(start, start + 200)
        near = rows[some].astype(np.float32) @ unit.T
        first = np.argpartition(-near, k, axis=1)[:, :k]
        for i, which in enumerate(first):
            scores[start + i] = near[i, which] @ train[which]
    return scores


def by_rules(train: Table, rows: Table) -> Scores:
    """Return the confidence of the best rule whose tags a row has (itemsets of mlxtend)."""
    import pandas as pd
    from mlxtend.frequent_patterns import fpgrowth

    frame = pd.DataFrame(train, columns=range(train.shape[1]))
    # as rare as can be counted in a minute
    least = 0.001 if train.sum(axis=1).mean() < 5 else 0.05 if len(frame.columns) < 200 else 0.002
    sets = fpgrowth(frame, min_support=least, max_len=3)
    supports = dict(zip(map(frozenset, sets["itemsets"]), sets["support"], strict=True))
    rules: dict[frozenset[int], list[tuple[int, float]]] = {}
    for items, support in supports.items():
        for tag in items if len(items) > 1 else ():
            left = items - {tag}
            rules.setdefault(left, []).append((tag, support / supports[left]))
    scores = np.tile(1e-3 * train.mean(axis=0), (len(rows), 1))
    for i, row in enumerate(rows):
        tags = np.flatnonzero(row).tolist()
        pairs = [frozenset((a, b)) for k, a in enumerate(tags) for b in tags[k + 1 :]]
        for left in [*(frozenset((tag,)) for tag in tags), *pairs]:
            for tag, confidence in rules.get(left, ()):
                scores[i, tag] = max(scores[i, tag], confidence)
    return scores


# --- probabilities ---


def measure_calibration() -> tuple[list[Measurement], int]:
    lines, missed = [], 0
    edges = np.linspace(0, 1, 11)
    for name, table in loaded_sets().items():
        train, test = split(table)
        test = test[:MOST_TEST_ROWS]
        scores, is_true = cell_scores(UFC().fit(train), test)
        place = np.clip(np.digitize(scores, edges) - 1, 0, 9)
        curve = [
            [float(scores[place == k].mean()), float(is_true[place == k].mean()), int(n)]
            for k, n in enumerate(np.bincount(place, minlength=10))
            if n >= 50
        ]
        above = [point for point in curve if point[0] > 0.1]
        error = sum(n * abs(p - share) for p, share, n in above) / sum(n for *_, n in above)
        lines.append({"name": name, "curve": curve, "error": error})
        print(f"{name}: " + "  ".join(f"{p:.2f}: {share:.2f}" for p, share, _ in curve))
        what = f"{name}: mean error of scores above 0.1"
        missed += report(what, 100 * error, 3, at_least=False, unit="%")
    return lines, missed


def cell_scores(model: UFC, rows: Table) -> tuple[Scores, Table]:
    """Return the score of each cell given the other cells of its row, and which are true."""
    suggester = model.learn_suggestions()
    columns = model.read_columns(rows).select(suggester.counts.places)
    blocks = [(suggester.predict(raw), true) for _, true, raw in suggester.scores(columns)]
    return np.concatenate([s.ravel() for s, _ in blocks]), np.concatenate(
        [true.ravel() for _, true in blocks]
    )


# --- planted errors ---


def measure_planted() -> tuple[list[Measurement], int]:
    lines = []
    for name, table in loaded_sets(SETS + UNSEEN).items():
        clean = table[:8000]
        clean = np.asarray(clean[:, clean.sum(axis=0) >= 10])
        dirty = plant_errors(clean)
        model = UFC().fit(dirty)
        m = clean.shape[1]
        line: Measurement = {"name": name, "shape": clean.shape}
        ranked = {
            "deleted": ranked_cells(model.suggest(dirty, k=m), lambda one: -one.score),
            "added": ranked_cells(model.doubtful(dirty, k=m), lambda one: one.score),
        }
        wrong = {"deleted": clean & ~dirty, "added": dirty & ~clean}
        theirs = by_cleanlab(dirty) if m <= 100 and find_spec("cleanlab") else None
        for kind, cells in ranked.items():
            n_wrong = int(wrong[kind].sum())
            line[kind] = {"n": n_wrong, "conjunct at n": precision(cells[:n_wrong], wrong[kind])}
            text = f"precision = recall of the first {n_wrong:,}: {line[kind]['conjunct at n']:.3f}"
            if theirs is not None:
                listed = theirs[kind]
                found = precision(listed, wrong[kind])
                ours = precision(cells[: len(listed)], wrong[kind])
                line[kind] |= {"listed": len(listed), "cleanlab": found, "conjunct": ours}
                text += (
                    f"; of as many as cleanlab lists ({len(listed):,}): conjunct {ours:.3f}, "
                    f"recall {ours * len(listed) / n_wrong:.3f}; cleanlab {found:.3f}, "
                    f"recall {found * len(listed) / n_wrong:.3f}"
                )
            print(f"{name}, {n_wrong:,} {kind}: {text}", flush=True)
        lines.append(line)
    return lines, 0


def plant_errors(clean: Table) -> Table:
    random = np.random.default_rng(2)
    dirty = clean & (random.random(clean.shape) >= DELETED)
    n_added = int(ADDED * clean.sum())
    free = np.flatnonzero(~clean)
    dirty.ravel()[random.choice(free, n_added, replace=False)] = True
    return np.asarray(dirty)


def ranked_cells(lists: Any, best_first: Callable[[Any], float]) -> list[tuple[int, int]]:
    cells = [(best_first(one), i, int(one.tag[1:])) for i, some in enumerate(lists) for one in some]
    return [(i, j) for _, i, j in sorted(cells)]


def precision(cells: list[tuple[int, int]], wrong: Table) -> float:
    return float(np.mean([wrong[i, j] for i, j in cells])) if cells else 0.0


def by_cleanlab(dirty: Table) -> dict[str, list[tuple[int, int]]]:
    """Return what cleanlab lists, given out-of-fold probabilities of logistic regressions."""
    from cleanlab.multilabel_classification.filter import find_multilabel_issues_per_class
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    probabilities = np.empty(dirty.shape)
    for j in range(dirty.shape[1]):
        others = np.delete(dirty, j, axis=1).astype(np.float32)
        learner = LogisticRegression(solver="liblinear")
        probabilities[:, j] = cross_val_predict(
            learner, others, dirty[:, j], cv=3, method="predict_proba"
        )[:, 1]
    labels = [np.flatnonzero(row).tolist() for row in dirty]
    flagged = find_multilabel_issues_per_class(labels, probabilities, n_jobs=1)
    wrong = np.asarray(flagged)
    if wrong.shape != dirty.shape:
        wrong = wrong.T
    return {
        "deleted": [tuple(cell) for cell in np.argwhere(wrong & ~dirty).tolist()],
        "added": [tuple(cell) for cell in np.argwhere(wrong & dirty).tolist()],
    }


# --- missing="suspect"? ---


def measure_suspect() -> tuple[list[Measurement], int]:
    """Fit, take confident suggestions as missing cells, and fit again: nats per clean row."""
    lines = []
    for name, table in loaded_sets().items():
        if name == "delicious":
            continue
        train, test = split(table[:20_000])
        for share in (0.0, 0.1):
            random = np.random.default_rng(3)
            thinned = train & (random.random(train.shape) >= share)
            model = UFC().fit(thinned)
            cells = thinned.astype(np.float64)
            found = model.suggest(thinned, k=table.shape[1], min_score=0.8)
            for i, some in enumerate(found):
                for one in some:
                    cells[i, int(one.tag[1:])] = np.nan
            again = UFC(missing="pairwise").fit(cells)
            line = {
                "name": name,
                "deleted": share,
                "suspected": int(np.isnan(cells).sum()),
                "once": float(model.log_prob(test).mean()),
                "twice": float(again.log_prob(test).mean()),
            }
            lines.append(line)
            print(
                f"{name}, {share:.0%} deleted: {line['suspected']:,} cells suspected; nats per "
                f"unseen row {line['once']:.3f} once, {line['twice']:.3f} twice",
                flush=True,
            )
    return lines, 0


# --- time and memory ---


def measure_widths() -> tuple[list[Measurement], int]:
    lines = []
    for width in WIDTHS:
        line = {"tags": width, **measured_apart("benchmarks.suggest", width)}
        lines.append(line)
        print(
            f"{width:,} tags, 100,000 rows: {line['seconds']:.1f} s to learn and to suggest for "
            f"1,000 rows, {line['resident'] / 1e6:,.0f} MB; {line['used']:,} tags are used",
            flush=True,
        )
    return lines, 0


def alone(width: int) -> Measurement:
    warnings.simplefilter("ignore")
    data = zipf(100_000, width, 10)
    model = UFC(max_iter=0).fit(data)
    found = timed(lambda: model.suggest(data[:1000], X_train=data))
    return {"used": len(model.learn_suggestions(data).counts.tags), **found}


PARTS = {
    "hidden": measure_hidden,
    "calibration": measure_calibration,
    "planted": measure_planted,
    "suspect": measure_suspect,
    "widths": measure_widths,
}


if __name__ == "__main__":
    answer(lambda: alone(int(sys.argv[1])))
