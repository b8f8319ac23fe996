"""``conjunct demo``: what conjunct does, on the bundled data."""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from conjunct.cli.outputs import Output, speaks

if TYPE_CHECKING:
    from rich.console import RenderableType

    from conjunct.construction.indicators import Indicators
    from conjunct.estimators.base import FeatureConstructor


@speaks
def demo(
    out: Annotated[Path, typer.Option(help="Folder for models and report.")] = Path(
        "conjunct-demo"
    ),
    *,
    output: Output,
) -> None:
    """Construct features on the bundled data and say what was found.

    \b
    Examples:
      $ conjunct demo
      $ conjunct demo --out models
    """
    from conjunct import UFC
    from conjunct.cli.documents import model_document
    from conjunct.cli.progress import step

    _make_folder(out)
    models = {
        "coco_street": UFC(search="pairwise", max_length=4),
        "spect": UFC(alpha=0.0001, prune=False),
    }
    for name, model in models.items():
        with step(f"wrote {out / name}.json"):
            _fit(name, model, out)
    page = _page(models["coco_street"], out)
    output.tell(
        lambda: {
            "models": {name: model_document(model) for name, model in models.items()},
            "saved": {name: str(out / f"{name}.json") for name in models}
            | ({} if page is None else {"report": str(page)}),
        },
        *_street(models["coco_street"]),
        *_spect(models["spect"]),
        None if page is None else f"A report: open {page} in a browser.",
        f"The models are in {out}. Next:\n"
        f"  conjunct show {out / 'coco_street.json'}\n"
        "  conjunct fit YOUR.csv --search pairwise --max-length 4 --out model.json\n"
        "  conjunct transform model.json YOUR.csv --out features.csv",
    )


def _street(model: FeatureConstructor) -> Iterator[RenderableType]:
    """A stranger's first look: few features, short enough to read."""
    from conjunct.cli.rendering import before_and_after, feature_table, kept, listed
    from conjunct.cli.words import summary

    yield _introduction(
        "coco_street", "One pair at a time, at most 4 literals in a feature:", model
    )
    yield feature_table(model)
    yield f"Kept as they were: {listed(kept(model))}."
    yield before_and_after(model)
    yield summary(model)
    yield ""


def _spect(model: FeatureConstructor) -> Iterator[RenderableType]:
    """A researcher's: the figures of the paper (its table of uFCα, for alpha = 0.0001)."""
    from conjunct.cli.rendering import constructed, feature_table, score_table
    from conjunct.cli.words import summary
    from conjunct.construction.indicators import Indicators

    published = Indicators(2, 39, 2.97, 0.078, 0.086, rms=nan)
    found = model.history_[-1]
    more = len(constructed(model)) - 5
    yield _introduction("spect", "The paper's uFCα, with its numbers:", model)
    yield feature_table(model, limit=5)
    yield f"These are the 5 most common; there are {more} more."
    yield score_table([("before", model.history_[0]), ("after", found), ("published", published)])
    yield f"{_agreement(found, published)} {summary(model)}"
    yield ""


def _fit(name: str, model: FeatureConstructor, folder: Path) -> None:
    from conjunct.datasets import find
    from conjunct.io.tables import read_table

    model.fit(read_table(find(name).path))
    model.save(folder / f"{name}.json")


def _page(model: FeatureConstructor, folder: Path) -> Path | None:
    """The report on photographs, where the libraries for it are installed."""
    from conjunct.cli.report import save_report
    from conjunct.cli.terminal import note
    from conjunct.datasets import find
    from conjunct.errors import InputError
    from conjunct.io.tables import read_table

    page = folder / "coco_street.html"
    try:
        table = read_table(find("coco_street").path)
        save_report(model, table, page, title="Objects in street photographs")
    except InputError as error:
        note(str(error))
        return None
    return page


def _introduction(name: str, how: str, model: FeatureConstructor) -> str:
    from conjunct.cli.terminal import ascii_only
    from conjunct.datasets import find

    dataset = find(name)
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
