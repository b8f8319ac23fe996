"""``python -m benchmarks.quality.page``: write the measurements into docs/learning.md.

Takes the last run into ``docs/quality.json``, a line for each cell, and from there the tables
between ``<!-- NAME -->`` and ``<!-- end -->``, ``docs/quality.csv`` and the pictures.
"""

from __future__ import annotations

import csv
import io
import json
import sys
import textwrap
from typing import Any

from benchmarks import _results
from benchmarks._page import DOCS, filled, table_of
from benchmarks.quality import pictures
from benchmarks.quality.measures import CLASSIFIERS
from benchmarks.quality.recovery import NOISE
from benchmarks.quality.sets import MOST_ROWS, SETS
from benchmarks.quality.summary import (
    average,
    mean_and_error,
    more_than_columns,
    worse,
    worse_by_chance,
)
from conjunct.plots import save_chart

PAGE, DATA, CELLS = DOCS / "learning.md", DOCS / "quality.json", DOCS / "quality.csv"
HEADS = {
    "bits": "bits of unseen rows",
    "Naive Bayes, accuracy": "Naive Bayes",
    "logistic, accuracy": "logistic",
    "tree, accuracy": "tree",
    "5-NN, accuracy": "5-NN",
    "ChunkClassifier, accuracy": "`ChunkClassifier`",
    "ChunkClassifier, log-loss": "`ChunkClassifier`",
    "k-means, NMI": "k-means",
    "hierarchical, NMI": "hierarchical",
    "Naive Bayes, log-loss": "Naive Bayes",
    "logistic, log-loss": "logistic",
    "tree, log-loss": "tree",
    "5-NN, log-loss": "5-NN",
    "stability": "recurrence",
    "features": "features",
    "chunks": "chunks",
    "tags": "tags per chunk",
    "negations": "negations",
    "seconds": "CPU seconds",
}
TABLES = {
    "quality_accuracy": ("bits", *(f"{x}, accuracy" for x in CLASSIFIERS)),
    "quality_losses": tuple(f"{x}, log-loss" for x in CLASSIFIERS),
    "quality_rest": ("k-means, NMI", "hierarchical, NMI", "stability"),
    "quality_reading": ("features", "chunks", "tags", "negations", "seconds"),
}
"""Averages over the sets, by table."""


def main() -> int:
    file = _results.FOLDER / "quality" / "found.json"
    run = json.loads(file.read_text(encoding="utf-8"))
    DATA.write_text(by_line(run), encoding="utf-8")
    CELLS.write_text(every_cell(run), encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(filled(page, tables_of(run)), encoding="utf-8")
    save_chart(pictures.gains(run), DOCS / "images" / "quality.svg")
    save_chart(pictures.recovery(run), DOCS / "images" / "planted.svg")
    return 0


def by_line(run: dict[str, Any]) -> str:
    """Return JSON with a line for each cell."""
    parts = []
    for part, found in run.items():
        if part not in ("sets", "rows", "first", "planted"):
            parts.append(f"{json.dumps(part)}: {json.dumps(found, ensure_ascii=False)}")
            continue
        sets = []
        for on, cells in found.items():
            lines = (
                f"  {json.dumps(by, ensure_ascii=False)}: {json.dumps(what, ensure_ascii=False)}"
                for by, what in cells.items()
            )
            sets.append(f" {json.dumps(on)}: {{\n" + ",\n".join(lines) + "}")
        parts.append(f"{json.dumps(part)}: {{\n" + ",\n".join(sets) + "}")
    return "{" + ",\n".join(parts) + "}\n"


def every_cell(run: dict[str, Any]) -> str:
    """Return a CSV table: a line for each set, representation and measure."""
    found = io.StringIO()
    table = csv.writer(found, lineterminator="\n")
    names = ["mean", "standard error", "difference from columns", "its standard error"]
    table.writerow(["set", "representation", "measure", *names])
    for name, cells in run["sets"].items():
        for by, measures in cells.items():
            for measure, values in measures.items():
                table.writerow([name, by, measure, *values, *[""] * (4 - len(values))])
    return found.getvalue()


def tables_of(run: dict[str, Any]) -> dict[str, str]:
    return {
        "quality_machine": _machine(run),
        "quality_sets": _sets(run),
        "quality_found": _found(run),
        "quality_against": _against(run),
        "quality_rows": _rows(run),
        "quality_planted": _planted(run),
        "quality_first": _first(run),
        **{name: _averages(run, measures) for name, measures in TABLES.items()},
    }


def representations(run: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(by for cells in run["sets"].values() for by in cells))


def _machine(run: dict[str, Any]) -> str:
    machine = run["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    slim = {name: cells["SLIM"] for name, cells in run["sets"].items() if "SLIM" in cells}
    to_the_end = [name for name, found in slim.items() if not found["cut off"][0]]
    clock = f" and {run['clock'] / 60:.0f} minutes of wall time" if "clock" in run else ""
    told = (
        f"The run of {len(run['sets'])} sets took {run['seconds'] / 60:.0f} CPU minutes (without "
        f"SLIM){clock}. SLIM finished every fit on {len(to_the_end)} of {len(slim)} sets "
        f"({'; '.join(to_the_end)}). The machine has {machine['cores']} cores "
        f"({machine['processor']}), with {versions}."
    )
    return textwrap.fill(told, 112, break_on_hyphens=False)


def _sets(run: dict[str, Any]) -> str:
    lines = [
        [name, f"{rows:,} × {columns:,}", str(classes), SETS[name][0]]
        for name, (rows, columns, classes) in run["shapes"].items()
    ]
    return table_of(["", "rows × columns", "classes", "class"], lines)


def _found(run: dict[str, Any]) -> str:
    """Return the results in sentences."""
    shares = {by: average(run, by, "bits") for by in representations(run)}
    others = ", ".join(
        f"{100 * share:.0f}% ({by})"
        for by, share in shares.items()
        if share is not None and not by.startswith(("evidence", "columns"))
    )
    known = average(run, "columns", "bits, variables known")
    least = [
        min(level["recall"] for level in methods["evidence"].values())
        for methods in run["planted"].values()
    ]
    means = [
        average(run, by, "k-means, NMI") or 0
        for by in ("columns", "evidence", "evidence + columns")
    ]
    told = (
        f"Unseen rows take {100 * (shares['evidence'] or 0):.0f}% of the bits that the bare "
        f"columns need, on average over the sets. If variables are known, the columns alone take "
        f"{100 * (known or 0):.0f}%. The other methods take {others}.",
        _beside(run, "Naive Bayes on the chunks", "evidence", "Naive Bayes"),
        _beside(
            run, "Naive Bayes on chunks and columns together", "evidence + columns", "Naive Bayes"
        ),
        _beside(
            run,
            "`ChunkClassifier`, which skips chunks that another excludes,",
            "columns",
            "ChunkClassifier",
            "Naive Bayes on the columns",
        ),
        _beside(
            run,
            "logistic regression on chunks and columns together",
            "evidence + columns",
            "logistic",
        ),
        _with_other_rows(run),
        f"K-means on the chunks agrees less with the classes: the normalised mutual information is "
        f"{means[1]:.2f}, compared with {means[0]:.2f} on the columns and {means[2]:.2f} on both.",
        f"At least {100 * min(least):.0f}% of planted patterns are found exactly in 1,000 rows, "
        f"with up to 10% of all cells inverted.",
    )
    return "\n".join(textwrap.fill(f"- {line}", 112, subsequent_indent="  ") for line in told)


def _with_other_rows(run: dict[str, Any]) -> str:
    """Return the differences on the smallest and the largest samples, for sets with enough rows."""
    sizes = [int(name.partition(", ")[2]) for name in run["rows"]]
    told = []
    for size in (min(sizes), max(sizes)):
        cells = [cells for name, cells in run["rows"].items() if name.endswith(f", {size}")]
        gains = []
        for what, by, measure in (
            ("Naive Bayes on the chunks", "evidence", "Naive Bayes, accuracy"),
            (
                "Logistic regression on chunks and columns",
                "evidence + columns",
                "logistic, accuracy",
            ),
        ):
            mean = 100 * sum(cell[by][measure][2] for cell in cells) / len(cells)
            gains.append(f"{what} is {abs(mean):.1f} points {'more' if mean >= 0 else 'less'}")
        told.append(
            f"With {size:,} rows from each of four sets, {gains[0]} accurate than on the columns. "
            f"{gains[1]} accurate."
        )
    return f"These figures use up to {MOST_ROWS:,} rows, 80% of them for training. {' '.join(told)}"


def _beside(run: dict[str, Any], what: str, by: str, classifier: str, than: str = "") -> str:
    more = more_than_columns(run, by, f"{classifier}, accuracy")
    mean = 100 * sum(gain for gain, _ in more.values()) / len(more)
    above = [name for name, (gain, error) in more.items() if gain > error]
    below = worse(more)
    error = 100 * mean_and_error([gain for gain, _ in more.values()])[1]
    gain = f"{abs(mean):.1f} ± {error:.1f} points {'more' if mean >= 0 else 'less'} accurate"
    return (
        f"On average, {what} is {gain} than {than or 'on the columns alone'}. It is better "
        f"by more than a standard error on {len(above)} of {len(more)} sets, and worse on "
        f"{len(below)}{' (' + '; '.join(below) + ')' if below else ''}. By chance alone we would "
        f"expect {worse_by_chance(more):.1f} losses."
    )


def _averages(run: dict[str, Any], measures: tuple[str, ...]) -> str:
    lines = []
    for by in representations(run):
        found = [(measure, average(run, by, measure)) for measure in measures]
        lines.append([_bold(by), *(_figure(measure, value) for measure, value in found)])
    return table_of(["mean over the sets", *(HEADS[measure] for measure in measures)], lines)


_PAIRS = {
    "Naive Bayes of evidence": ("evidence", "Naive Bayes, accuracy"),
    "Naive Bayes of evidence + columns": ("evidence + columns", "Naive Bayes, accuracy"),
    "`ChunkClassifier`": ("columns", "ChunkClassifier, accuracy"),
    "logistic of evidence": ("evidence", "logistic, accuracy"),
    "logistic of evidence + columns": ("evidence + columns", "logistic, accuracy"),
}


def _against(run: dict[str, Any]) -> str:
    """Return accuracy compared with the columns, with the standard error of the difference."""
    found = [more_than_columns(run, by, measure) for by, measure in _PAIRS.values()]
    lines = [[name, *(_points(more[name]) for more in found)] for name in run["sets"]]
    means = [sum(more for more, _ in one.values()) / len(one) for one in found]
    lines.append(["**mean**", *(f"**{_signed(100 * mean)}**" for mean in means)])
    return table_of(["points", *_PAIRS], lines)


def _rows(run: dict[str, Any]) -> str:
    """Return the same with more and more rows."""
    lines = []
    for name, cells in run["rows"].items():
        found = [cells[by][measure][2:] for by, measure in _PAIRS.values()]
        bits = _figure("bits", cells["evidence"]["bits"][0])
        lines.append([name, bits, *(_points((gain, error)) for gain, error in found)])
    return table_of(["set, rows", "bits of unseen rows", *_PAIRS], lines)


def _points(more: tuple[float, float]) -> str:
    gain, error = (100 * value for value in more)
    return f"{_signed(gain)} ± {error:.1f}"


def _planted(run: dict[str, Any]) -> str:
    head = ["", *(f"{noise:.0%} noise" for noise in NOISE)]
    parts = []
    for kind, methods in run["planted"].items():
        lines = []
        for method, levels in methods.items():
            cells = [
                f"{_share(level['recall'])} of them, {_share(level['precision'])} of "
                f"{level['found']:.0f}" + (" (cut off)" if level["cut off"] else "")
                for level in levels.values()
            ]
            lines.append([_bold(method), *cells])
        parts.append(f"**{kind}**\n\n{table_of(head, lines)}")
    return "\n\n".join(parts)


def _first(run: dict[str, Any]) -> str:
    measures = {
        "mushroom": ("Naive Bayes, accuracy", "tree, accuracy", "k-means, NMI"),
        "house_votes_84": ("Naive Bayes, accuracy", "k-means, NMI"),
        "digits": ("Naive Bayes, accuracy", "logistic, accuracy"),
    }
    names = [name for name in measures if name in run["first"]]
    every = list(dict.fromkeys(by for name in names for by in run["first"][name]))
    head = ["", *(f"{name}, {HEADS[x]}" for name in names for x in measures[name])]
    lines = [
        [
            _bold(by),
            *(
                _with_error(measure, run["first"][name].get(by, {}).get(measure))
                for name in names
                for measure in measures[name]
            ),
        ]
        for by in every
    ]
    return table_of(head, lines)


def _bold(by: str) -> str:
    return f"**{by}**" if by.startswith("evidence") else by


def _share(value: float) -> str:
    return f"{value:.0%}"


def _signed(points: float) -> str:
    return f"{points:+.1f}".replace("-", "−")


def _figure(measure: str, value: float | None) -> str:
    if value is None:
        return "–"
    if measure in ("features", "chunks"):
        return f"{value:.0f}"
    if measure in ("tags", "negations"):
        return f"{value:.1f}"
    return f"{float(f'{value:.2g}'):g}" if measure == "seconds" else f"{value:.3f}"


def _with_error(measure: str, found: list[float] | None) -> str:
    if found is None:
        return "–"
    told = _figure(measure, found[0])
    if measure in ("features", "chunks", "tags", "negations", "seconds"):
        return told
    return f"{told} ± {found[1]:.3f}".replace(" 0.", " .").replace("0.", ".", 1)


if __name__ == "__main__":
    sys.exit(main())
