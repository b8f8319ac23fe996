"""``conjunct demo``: what conjunct does, on the bundled data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from conjunct.cli.help import OUTPUT
from conjunct.cli.outputs import Output, speaks

if TYPE_CHECKING:
    from rich.console import RenderableType

    from conjunct.data import BooleanData
    from conjunct.estimators import FeatureConstructor

_SHOWN = ("coco_val2017", "coco_street")
_REPORTED = "coco_street"


@speaks
def demo(
    out: Annotated[
        Path, typer.Option(help="Folder for models and report.", rich_help_panel=OUTPUT)
    ] = Path("conjunct-demo"),
    *,
    output: Output,
) -> None:
    """Find what belongs together in bundled photographs.

    \b
    Examples:
      $ conjunct demo
      $ conjunct demo --out models
    """
    from conjunct.cli.documents import model_document
    from conjunct.cli.progress import step

    _make_folder(out)
    models, tables = {}, {}
    for name in _SHOWN:
        with step(f"wrote {out / name}.json"):
            models[name], tables[name] = _fitted(name, out)
    page = _page(models[_REPORTED], tables[_REPORTED], out)
    output.tell(
        lambda: {
            "models": {name: model_document(model) for name, model in models.items()},
            "saved": {name: str(out / f"{name}.json") for name in models}
            | ({} if page is None else {"report": str(page)}),
        },
        *(part for name in _SHOWN for part in _told(name, models[name], tables[name])),
        None if page is None else f"A report: open {page} in a browser.",
        f"The models are in {out}. Next:\n"
        f"  conjunct show {out / _REPORTED}.json\n"
        "  conjunct fit YOUR.csv --out model.json\n"
        "  conjunct chunks model.json YOUR.csv",
    )


def _told(
    name: str, model: FeatureConstructor, table: BooleanData
) -> Iterator[RenderableType | None]:
    from conjunct.cli.constructing import told
    from conjunct.cli.terminal import ascii_only
    from conjunct.datasets import find

    if ascii_only():
        model.set_params(style="ascii")
    yield f"{name}: {find(name).description}"
    yield from told(model, table)


def _fitted(name: str, folder: Path) -> tuple[FeatureConstructor, BooleanData]:
    from conjunct import UFC
    from conjunct.datasets import find
    from conjunct.files import read_boolean

    table = read_boolean(find(name).path)
    model = UFC().fit(table)
    model.save(folder / f"{name}.json")
    return model, table


def _page(model: FeatureConstructor, table: BooleanData, folder: Path) -> Path | None:
    """The report on photographs, where the libraries for it are installed."""
    from conjunct.cli.commands.report import save_report
    from conjunct.cli.terminal import note
    from conjunct.errors import InputError

    page = folder / f"{_REPORTED}.html"
    try:
        save_report(model, table, page, title="Objects in street photographs")
    except InputError as error:
        note(str(error))
        return None
    return page


def _make_folder(folder: Path) -> None:
    from conjunct.errors import InputError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(f"{folder} is a file: name a folder for the models") from None
