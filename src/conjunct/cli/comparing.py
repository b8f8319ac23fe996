"""What the commands share that test where chunks are more common."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conjunct.cli.extending import Command, extended
from conjunct.cli.help import OUTPUT
from conjunct.cli.options import WRITTEN, Correction
from conjunct.cli.rule_options import level

if TYPE_CHECKING:
    from conjunct.estimators import LosslessConstructor

FoundOut = Annotated[
    Path | None,
    typer.Option(help=f"{WRITTEN}.", show_default=False, rich_help_panel=OUTPUT),
]


def tests_chunks(command: Command) -> Command:
    """Give a command ``--alpha`` and ``--correction``; it gets them as ``test``."""
    return extended(command, "test", _tested)


def _tested(
    alpha: Annotated[
        str,
        typer.Option(metavar="NUMBER|none", help="Largest adjusted p-value; none: whatever it is."),
    ] = "0.05",
    correction: Annotated[
        Correction, typer.Option(help="Correct p-values for the number of tests.")
    ] = "holm",
) -> dict[str, Any]:
    return {"alpha": level(alpha), "correction": None if correction == "none" else correction}


def load_with_chunks(model: Path, out: Path | None) -> LosslessConstructor:
    """A model that has chunks, after a look at where the result shall go."""
    from conjunct import load
    from conjunct.cli.commands.chunks import lossless
    from conjunct.cli.progress import step
    from conjunct.errors import InputError
    from conjunct.files import check_table_target, check_target

    if out is not None:
        check_table_target(out)
        if check_target(out) == model.resolve():
            raise InputError(f"{out} is the model: name another file for the result")
    with step(f"read {model}"):
        return lossless(load(model), model)


def save(found: dict[str, list[Any]], out: Path | None) -> str | None:
    """Write what was found, if that is wanted, and say so."""
    import polars as pl

    from conjunct.cli.progress import step
    from conjunct.files import write_table

    if out is None:
        return None
    with step(f"wrote {out}"):
        write_table(out, pl.DataFrame(found))
    return f"Saved as {out}."


def how_tested(sides: str, test: dict[str, Any]) -> str:
    """The test in words."""
    from conjunct.ufc import CORRECTIONS

    name = test["correction"]
    corrected = "no" if name is None else CORRECTIONS[name].summary
    at_most = "" if test["alpha"] is None else f", p at most {test['alpha']:g}"
    return f"Fisher's exact test, {sides}; {corrected} correction{at_most}."


def p_text(p: float) -> str:
    """A p-value in signs that every terminal has."""
    return f"{p:.2g}" if p else "< 1e-300"
