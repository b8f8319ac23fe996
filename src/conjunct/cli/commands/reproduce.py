"""``conjunct reproduce``: the paper's tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from conjunct.cli.help import OUTPUT
from conjunct.cli.inputs import DataInput, prepares_data
from conjunct.cli.outputs import Output, speaks

if TYPE_CHECKING:
    from conjunct.paper import Outcome


@speaks
@prepares_data
def reproduce(
    out: Annotated[Path, typer.Option(help="Folder to write to.", rich_help_panel=OUTPUT)] = Path(
        "conjunct-paper"
    ),
    data: Annotated[
        Path | None,
        typer.Option(help="Table to use instead of spect, as in conjunct fit.", show_default=False),
    ] = None,
    *,
    source: DataInput,
    output: Output,
) -> None:
    """Make every table and figure of the paper.

    They are written as CSV, SVG and PNG, with a page that shows them. The data set is spect, the
    one of the paper that is still available, or any table of yours.

    \b
    Examples:
      $ conjunct reproduce
      $ conjunct reproduce --data zoo.csv --out zoo-figures
    """
    from conjunct.cli import progress, terminal
    from conjunct.cli.standard_streams import name_of
    from conjunct.paper import EXPERIMENTS
    from conjunct.paper import reproduce as write_all

    total = len(EXPERIMENTS) + 1
    with progress.bar("Reproducing", total) as update:
        n_done = 0

        def advance(outcome: Outcome) -> None:
            nonlocal n_done
            n_done += 1
            update(n_done, outcome.title)
            terminal.detail(f"wrote {outcome.name}: {outcome.title}")

        if data is None:
            outcomes = write_all(out, watch=advance)
        else:
            with source.naming_cells_of(data):
                outcomes = write_all(
                    out, source.read(data), name=Path(name_of(data)).stem, watch=advance
                )
    files = [f"{outcome.name}: {outcome.title}\n  {outcome.text}".rstrip() for outcome in outcomes]
    output.tell(
        lambda: {
            "outcomes": [{"name": o.name, "title": o.title, "text": o.text} for o in outcomes],
            "saved": {"folder": str(out), "index": str(out / "index.html")},
        },
        "\n".join(files),
        f"Everything is in {out}; open {out / 'index.html'}.",
    )
