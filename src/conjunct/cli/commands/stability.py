"""``conjunct stability``: which features come back when the data change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conjunct.cli.help import OUTPUT
from conjunct.cli.inputs import DataInput, prepares_data
from conjunct.cli.options import DataFile
from conjunct.cli.outputs import Output, speaks
from conjunct.cli.rule_options import chooses_rule

if TYPE_CHECKING:
    from rich.table import Table

    from conjunct.paper import Stability


@speaks
@prepares_data
@chooses_rule
def stability(
    data: DataFile,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the tables (CSV) and figures (SVG, PNG).",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    bootstrap: Annotated[
        bool, typer.Option("--bootstrap", help="Draw rows anew instead of inverting cells.")
    ] = False,
    max_noise: Annotated[float, typer.Option(help="The largest share of inverted cells.")] = 0.3,
    step: Annotated[float, typer.Option(help="The step from one share to the next.")] = 0.02,
    runs: Annotated[int, typer.Option(help="Runs for each share, or bootstrap samples.")] = 10,
    seed: Annotated[int, typer.Option(help="The same number gives the same result.")] = 0,
    *,
    rule: dict[str, Any],
    source: DataInput,
    output: Output,
) -> None:
    """See which features come back when the data change.

    Features are constructed again and again on data with inverted cells, or on samples of rows.

    \b
    Examples:
      $ conjunct stability zoo.csv
      $ conjunct stability zoo.csv --criterion risk --no-prune
      $ conjunct stability zoo.csv --bootstrap --runs 50 --out zoo-stability
    """
    from conjunct import UFC
    from conjunct import stability as measured
    from conjunct.cli import progress
    from conjunct.errors import InputError

    if step <= 0:
        raise InputError(f"--step must be above 0; got {step:g}")
    if not 0 <= max_noise <= 1:
        raise InputError(f"--max-noise must be a share from 0 to 1; got {max_noise:g}")
    noise = [round(step * k, 10) for k in range(int(max_noise / step + 1e-9) + 1)]
    table = source.read(data)
    n_all = runs if bootstrap else runs * len(noise)
    bar = progress.bar("Constructing", n_all)
    timed = progress.step(f"made {n_all} runs")
    with source.naming_cells_of(data), timed, bar as update:
        found = measured(
            table,
            UFC(**rule),
            kind="bootstrap" if bootstrap else "noise",
            noise=noise,
            n_runs=runs,
            random_state=seed,
            progress=lambda done, total: update(done, f"run {done} of {total}"),
        )
    if out is not None:
        with progress.step(f"wrote {out}"):
            _save(found, out)
    output.tell(
        lambda: {
            "kind": found.kind,
            "summary": _recurrence(found),
            "levels": found.levels,
            "features": found.features,
            "saved": {"folder": None if out is None else str(out)},
        },
        _levels(found),
        "Features that come back most often:",
        _features(found),
        _recurrence(found),
        None if out is None else f"Saved in {out}.",
    )


def _recurrence(found: Stability) -> str:
    """A paragraph about how stable features are."""
    from conjunct.explain import count

    n_original = sum(feature.original for feature in found.features)
    always = [feature for feature in found.features if feature.original and feature.share == 1]
    changed = [level for level in found.levels if level.noise or found.kind == "bootstrap"]
    sentences = [
        f"The data as it is has {count(n_original, 'feature')}; "
        f"{len(always)} came back in every run."
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
            f"On average {first.common_with_original:.1f} of them remain with {first.noise:.0%} "
            f"of the cells inverted{more}."
        )
    return " ".join(sentences)


def _levels(found: Stability) -> Table:
    from conjunct.cli.rendering import plain_table

    headings = (">OI", ">C0", ">features", ">as without", ">between runs")
    first = "bootstrap" if found.kind == "bootstrap" else "noise"
    table = plain_table(f">{first}", *headings)
    for level in found.levels:
        table.add_row(
            f"{level.n_runs} samples" if found.kind == "bootstrap" else f"{level.noise:.0%}",
            f"{level.oi:.3f}",
            "-" if level.c0 != level.c0 else f"{level.c0:.3f}",
            f"{level.n_features:.1f}",
            f"{level.common_with_original:.1f}",
            f"{level.common_between_runs:.1f}",
        )
    return table


def _features(found: Stability, limit: int = 15) -> Table:
    from conjunct.cli.rendering import LONGEST, cell, plain_table
    from conjunct.explain import shortened

    table = plain_table("feature", ">share of runs", "of the data as it is")
    for feature in found.features[:limit]:
        name = cell(shortened(feature.feature, LONGEST))
        table.add_row(name, f"{feature.share:.0%}", "yes" if feature.original else "no")
    return table


def _save(found: Stability, folder: Path) -> None:
    from conjunct.errors import InputError
    from conjunct.files import write_table
    from conjunct.plots import save_chart

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{folder} is a file: name a folder for the results") from None
    write_table(folder / "levels.csv", found.get_levels("polars"))
    write_table(folder / "features.csv", found.get_features("polars"))
    charts = {"recurrence": found.plot_recurrence()}
    if found.kind == "noise":
        charts["indicators"] = found.plot_indicators()
        charts["features"] = found.plot_features()
    for name, chart in charts.items():
        save_chart(chart, folder / f"{name}.svg", folder / f"{name}.png")
