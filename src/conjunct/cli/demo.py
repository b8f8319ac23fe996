"""``conjunct demo``: what conjunct does, on the bundled data."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from conjunct.construction.stopping import Indicators
    from conjunct.estimators.base import FeatureConstructor


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the models.")] = Path("conjunct-demo"),
) -> None:
    """Construct features on the bundled data and say what was found.

    \b
    Examples:
      $ conjunct demo
      $ conjunct demo --out models
    """
    from conjunct import UFC
    from conjunct.cli import terminal

    _make_folder(out)
    _street(UFC(search="pairwise", max_length=4), out)
    _spect(UFC(alpha=0.0001, prune=False), out)
    terminal.write(
        f"The models are in {out}. Next:\n"
        f"  conjunct show {out / 'coco_street.json'}\n"
        "  conjunct fit YOUR.csv --search pairwise --max-length 4 --out model.json\n"
        "  conjunct transform model.json YOUR.csv --out features.csv"
    )


def _street(model: FeatureConstructor, folder: Path) -> None:
    """A stranger's first look: few features, short enough to read."""
    from conjunct.cli.rendering import before_and_after, feature_table, kept, listed
    from conjunct.cli.terminal import write
    from conjunct.cli.words import summary

    how = "One pair at a time, at most 4 literals in a feature:"
    write(
        _fit("coco_street", how, model, folder),
        feature_table(model),
        f"Kept as they were: {listed(kept(model))}.",
        before_and_after(model),
        summary(model),
        "",
    )


def _spect(model: FeatureConstructor, folder: Path) -> None:
    """A researcher's: the figures of the paper (its table of uFCα, for alpha = 0.0001)."""
    from conjunct.cli.rendering import constructed, feature_table, score_table
    from conjunct.cli.terminal import write
    from conjunct.cli.words import summary
    from conjunct.construction.stopping import Indicators

    published = Indicators(2, 39, 2.97, 0.078, 0.086, rms=nan)
    introduction = _fit("spect", "The paper's uFCα, with its numbers:", model, folder)
    found = model.history_[-1]
    more = len(constructed(model)) - 5
    write(
        introduction,
        feature_table(model, limit=5),
        f"These are the 5 most common; there are {more} more.",
        score_table([("before", model.history_[0]), ("after", found), ("published", published)]),
        f"{_agreement(found, published)} {summary(model)}",
        "",
    )


def _fit(name: str, how: str, model: FeatureConstructor, folder: Path) -> str:
    """Fit and save; what to say of it first."""
    from conjunct.cli.terminal import ascii_only
    from conjunct.datasets import find
    from conjunct.io.tables import read_table

    dataset = find(name)
    model.fit(read_table(dataset.path))
    model.save(folder / f"{name}.json")
    what = f"{name}: {dataset.description}, {dataset.rows} rows and {dataset.columns} columns"
    introduction = f"{what}\n{how} {model!r}"
    if ascii_only():
        model.set_params(style="ascii")
    return introduction


def _agreement(found: Indicators, published: Indicators) -> str:
    def printed(line: Indicators) -> tuple[str, ...]:
        return (str(line.n_features), f"{line.length:.2f}", f"{line.oi:.3f}", f"{line.c0:.3f}")

    if printed(found) == printed(published):
        return "The published figures came out to every printed digit."
    return "The published figures did not come out: please report this."


def _make_folder(folder: Path) -> None:
    from conjunct.errors import InputError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(f"{folder} is a file: name a folder for the models") from None
