"""What the commands that construct features have in common: read, fit, save, show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conjunct.estimators.base import FeatureConstructor

_SHOWN = 20
# Mean literals of a feature from which on few people read it.
_LONG = 10


def construct(
    model: FeatureConstructor, data: Path, out: Path, n_iterations: int | None = None
) -> None:
    """Fit a model to the table in a file, save it, and show what was constructed."""
    from conjunct.cli import terminal
    from conjunct.errors import InputError
    from conjunct.io.atomic import check_target
    from conjunct.io.tables import naming_cells_of, read_table

    if check_target(out) == data.resolve():
        raise InputError(f"{out} is the data: name another file for the model")
    table = read_table(data)
    with naming_cells_of(data), terminal.progress("Constructing", n_iterations) as callback:
        model.set_params(callback=callback).fit(table)
    model.save(out)
    if model.get_params().get("max_length", 0) is None and model.history_[-1].length > _LONG:
        terminal.note("the formulas are long: --max-length 4 keeps them readable")
    if terminal.ascii_only():
        model.set_params(style="ascii")
    _show(model, out)


def _show(model: FeatureConstructor, out: Path) -> None:
    from conjunct.cli.rendering import before_and_after, constructed, feature_table
    from conjunct.cli.terminal import write
    from conjunct.cli.words import summary

    more = len(constructed(model)) - _SHOWN
    write(
        feature_table(model, _SHOWN) if model.n_iter_ else None,
        f"The {_SHOWN} most common; conjunct show lists {more} more." if more > 0 else None,
        before_and_after(model),
        summary(model),
        f"Saved as {out}.",
    )
