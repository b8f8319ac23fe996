"""What the commands that construct features have in common: read, fit, save, show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conjunct.binarize.table import BooleanTable
    from conjunct.cli.apart import StreamInput
    from conjunct.cli.inputs import DataInput
    from conjunct.estimators.base import FeatureConstructor
    from conjunct.io.streaming import Stream

_SHOWN = 20
# Mean literals of a feature from which on few people read it.
_LONG = 10


def construct(
    model: FeatureConstructor,
    data: Path,
    source: DataInput | StreamInput,
    out: Path,
    n_iterations: int | None = None,
) -> None:
    """Fit a model to the table in a file, save it, and show what was constructed."""
    from conjunct.cli import terminal
    from conjunct.errors import InputError
    from conjunct.io.atomic import check_target

    if check_target(out) == data.resolve():
        raise InputError(f"{out} is the data: name another file for the model")
    table = source.read(data)
    progress = terminal.progress("Constructing", n_iterations)
    with source.naming_cells_of(data), progress as callback:
        model.set_params(callback=callback).fit(table)
    model.save(out)
    if model.get_params().get("max_length", 0) is None and model.history_[-1].length > _LONG:
        terminal.note("the formulas are long: --max-length 4 keeps them readable")
    if terminal.ascii_only():
        model.set_params(style="ascii")
    _show(model, table, out)


def _show(model: FeatureConstructor, table: BooleanTable | Stream, out: Path) -> None:
    from conjunct.cli.rendering import before_and_after, constructed, data_tables, feature_table
    from conjunct.cli.terminal import write
    from conjunct.cli.words import summary

    more = len(constructed(model)) - _SHOWN
    write(
        *data_tables(table),
        feature_table(model, _SHOWN) if model.n_iter_ else None,
        f"The {_SHOWN} most common; conjunct show lists {more} more." if more > 0 else None,
        before_and_after(model),
        summary(model),
        f"Saved as {out}.",
    )
