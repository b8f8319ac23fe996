"""Commands that repeat experiments: ``stability`` and ``reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from conjunct import estimators, explain, files, paper
from conjunct.cli.options import (
    DATA_FILE,
    PREPARING_OPTIONS,
    RULE_OPTIONS,
    DataInput,
    option,
    output_option,
    takes,
)
from conjunct.cli.outputs import LONGEST, OUTPUT_OPTIONS, Output, Table, save
from conjunct.cli.terminal import detail, name_of, show_bar, time_step
from conjunct.errors import InputError

if TYPE_CHECKING:
    from conjunct.paper import Outcome, Stability

_FEATURES_SHOWN = 15


@takes(rule=RULE_OPTIONS, source=PREPARING_OPTIONS, output=OUTPUT_OPTIONS)
def stability(
    data: Path = DATA_FILE,
    out: Path | None = output_option(
        "Folder for tables (CSV) and figures (SVG, PNG).", "--out", "-o"
    ),
    bootstrap: bool = option(
        "Resample rows instead of inverting cells.", "--bootstrap", default=False
    ),
    max_noise: float = option("Maximum share of inverted cells.", default=0.3),
    step: float = option("Step between shares.", default=0.02),
    runs: int = option("Number of runs per share, or of bootstrap samples.", default=10),
    seed: int = option("Random seed.", default=0),
    *,
    rule: dict[str, Any],
    source: DataInput,
    output: Output,
) -> None:
    """Measure which features recur when the data changes.

    Features are constructed repeatedly, on data with inverted cells or on samples of the rows.

    \b
    Examples:
      $ conjunct stability zoo.csv
      $ conjunct stability zoo.csv --criterion risk --no-prune
      $ conjunct stability zoo.csv --bootstrap --runs 50 --out zoo-stability
    """
    if step <= 0:
        raise InputError(f"--step must be above 0; got {step:g}")
    if not 0 <= max_noise <= 1:
        raise InputError(f"--max-noise must be a share from 0 to 1; got {max_noise:g}")
    noise = [round(step * k, 10) for k in range(int(max_noise / step + 1e-9) + 1)]
    table = source.read(data)
    n_all = runs if bootstrap else runs * len(noise)
    bar = show_bar("Constructing", n_all)
    timer = time_step(f"made {n_all} runs")
    with source.naming_cells_of(data), timer, bar as update:
        found = paper.stability(
            table,
            estimators.UFC(**rule),
            kind="bootstrap" if bootstrap else "noise",
            noise=noise,
            n_runs=runs,
            random_state=seed,
            progress=lambda done, total: update(done, f"run {done} of {total}"),
        )
    save(out, lambda folder: _save(found, folder))
    # kept columns say nothing about stability
    made = [one for one in found.features if one.feature not in set(table.names)]
    rows = [
        (explain.shorten(one.feature, LONGEST), f"{one.share:.0%}", "yes" if one.original else "no")
        for one in made[:_FEATURES_SHOWN]
    ]
    headings = ("feature", ">share of runs", "in the unchanged data")
    features = ("Features that recur most often:", Table(headings, rows)) if made else ()
    output.show(
        lambda: {
            "kind": found.kind,
            "summary": _render_recurrence(found),
            "levels": found.levels,
            "features": found.features,
            "saved": {"folder": out},
        },
        _level_table(found),
        *features,
        _render_recurrence(found),
        None if out is None else f"Saved in {out}.",
    )


def _render_recurrence(found: Stability) -> str:
    """Return a paragraph about how stable features are."""
    n_original = sum(feature.original for feature in found.features)
    always = [feature for feature in found.features if feature.original and feature.share == 1]
    changed = [level for level in found.levels if level.noise or found.kind == "bootstrap"]
    sentences = [
        f"The unchanged data gives {explain.count(n_original, 'feature')}; "
        f"{len(always):,} recurred in every run."
    ]
    if found.kind == "bootstrap":
        sentences += [
            f"A sample of the rows keeps {level.common_with_original:.1f} of them on average."
            for level in changed
        ]
    elif changed:
        first, *last = dict.fromkeys((changed[0], changed[-1]))
        more = "".join(f", and {x.common_with_original:.1f} with {x.noise:.0%}" for x in last)
        sentences.append(
            f"On average, {first.common_with_original:.1f} of them remain with {first.noise:.0%} "
            f"of the cells inverted{more}."
        )
    return " ".join(sentences)


def _level_table(found: Stability) -> Table:
    is_bootstrap = found.kind == "bootstrap"
    rows = [
        (
            f"{level.n_runs} samples" if is_bootstrap else f"{level.noise:.0%}",
            f"{level.oi:.3f}",
            "-" if level.c0 != level.c0 else f"{level.c0:.3f}",
            f"{level.n_features:.1f}",
            f"{level.common_with_original:.1f}",
            f"{level.common_between_runs:.1f}",
        )
        for level in found.levels
    ]
    first = ">bootstrap" if is_bootstrap else ">noise"
    return Table((first, ">OI", ">C0", ">features", ">unchanged", ">between runs"), rows)


def _save(found: Stability, folder: Path) -> None:
    from conjunct.plots import save_chart

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{folder} is a file: choose a folder for the results") from None
    files.write_table(folder / "levels.csv", found.get_levels("polars"))
    files.write_table(folder / "features.csv", found.get_features("polars"))
    charts = {"recurrence": found.plot_recurrence()}
    if found.kind == "noise":
        charts["indicators"] = found.plot_indicators()
        charts["features"] = found.plot_features()
    for name, chart in charts.items():
        save_chart(chart, folder / f"{name}.svg", folder / f"{name}.png")


@takes(source=PREPARING_OPTIONS, output=OUTPUT_OPTIONS)
def reproduce(
    out: Path = output_option("Folder to write to.", "--out", "-o", default=Path("conjunct-paper")),
    data: Path | None = option("Table to use instead of spect, as in conjunct fit."),
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Reproduce every table and figure of the paper.

    They are written as CSV, SVG and PNG, with a page that shows them. The default data is spect,
    the only data set of the paper that is still available.

    \b
    Examples:
      $ conjunct reproduce
      $ conjunct reproduce --data zoo.csv --out zoo-figures
    """
    total = len(paper.EXPERIMENTS) + 1
    with show_bar("Reproducing", total) as update:
        n_done = 0

        def advance(outcome: Outcome) -> None:
            nonlocal n_done
            n_done += 1
            update(n_done, outcome.title)
            detail(f"wrote {outcome.name}: {outcome.title}")

        if data is None:
            outcomes = paper.reproduce(out, watch=advance)
        else:
            with source.naming_cells_of(data):
                outcomes = paper.reproduce(
                    out, source.read(data), name=Path(name_of(data)).stem, watch=advance
                )
    files = [f"{outcome.name}: {outcome.title}\n  {outcome.text}".rstrip() for outcome in outcomes]
    output.show(
        lambda: {
            "outcomes": [{"name": o.name, "title": o.title, "text": o.text} for o in outcomes],
            "saved": {"folder": out, "index": out / "index.html"},
        },
        "\n".join(files),
        f"Saved in {out}: open {out / 'index.html'}.",
    )
