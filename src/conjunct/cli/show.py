"""``conjunct show``: what a model file holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from conjunct.cli.options import Ascii, ModelFile

if TYPE_CHECKING:
    from conjunct.estimators.base import FeatureConstructor


def show(
    model: ModelFile,
    ascii_: Ascii = False,
    latex: Annotated[bool, typer.Option("--latex", help="Write formulas for LaTeX.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, for other programs.")] = False,
) -> None:
    """Show the features of a model and how they came about.

    \b
    Examples:
      $ conjunct show model.json
      $ conjunct show model.json --ascii
      $ conjunct show model.json --json
    """
    import sys

    from conjunct import load
    from conjunct.cli import terminal
    from conjunct.errors import InputError

    if ascii_ and latex:
        raise InputError("--ascii and --latex exclude each other: give one of them")
    fitted = load(model)
    title = repr(fitted)
    if ascii_ or latex:
        fitted.set_params(style="latex" if latex else "ascii")
    elif terminal.ascii_only() and not json:
        fitted.set_params(style="ascii")
    if json:
        sys.stdout.write(_json(fitted) + "\n")
    else:
        _tables(title, fitted)


def _tables(title: str, model: FeatureConstructor) -> None:
    from conjunct.cli.rendering import feature_table, kept, listed, score_table
    from conjunct.cli.terminal import write
    from conjunct.cli.words import summary

    unchanged = kept(model)
    write(
        title,
        summary(model),
        feature_table(model) if model.n_iter_ else None,
        f"Kept as they were: {listed(unchanged, len(unchanged))}." if unchanged else None,
        score_table((f"iteration {line.iteration}", line) for line in model.history_),
    )


def _json(model: FeatureConstructor) -> str:
    import msgspec

    rules = model.get_rules("dict")
    content = {
        "kind": type(model).__name__,
        "parameters": {k: v for k, v in model.get_params().items() if k != "callback"},
        "n_rows": model.feature_set_.n_rows,
        "columns": list(model.feature_set_.lineage.primitives),
        "threshold": model.threshold_,
        "features": [
            dict(zip(rules, row, strict=True)) for row in zip(*rules.values(), strict=True)
        ],
        "history": model.history_,
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=1).decode()
