"""How a command tells what it found: in words, as JSON, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conjunct.cli.extending import Command, extended
from conjunct.cli.help import OUTPUT

if TYPE_CHECKING:
    from rich.console import RenderableType

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Output:
    """Where the result of a command goes."""

    json: bool = False

    def tell(self, document: Callable[[], Document], *parts: RenderableType | None) -> None:
        """Write the result, for people or for programs."""
        from conjunct.cli.terminal import write

        if self.json:
            self.print(document())
        else:
            write(*parts)

    def print(self, document: Document) -> None:
        """One JSON document on standard output; NaN is null."""
        import sys

        sys.stdout.write(_as_json(document))


def speaks(command: Command) -> Command:
    """Give a command ``--json``, ``--quiet`` and ``--verbose``; it gets an ``output``."""
    return extended(command, "output", _answer, _quiet_or_not)


def answers(command: Command) -> Command:
    """As :func:`speaks`, for a command that only prints, and so has no use for ``--quiet``."""
    return extended(command, "output", _answer)


def _answer(
    json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the result as JSON, for other programs.", rich_help_panel=OUTPUT
        ),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose", "-v", help="Say each step and how long it took.", rich_help_panel=OUTPUT
        ),
    ] = False,
) -> Output:
    from conjunct.cli.terminal import set_volume

    set_volume(1 if verbose else 0)
    return Output(json)


def _quiet_or_not(
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", help="Say nothing, unless it is an error.", rich_help_panel=OUTPUT
        ),
    ] = False,
    *,
    json: bool,
    verbose: bool,
) -> Output:
    from conjunct.cli.terminal import set_volume
    from conjunct.errors import InputError

    if quiet and verbose:
        raise InputError("--quiet and --verbose exclude each other: give one of them")
    output = _answer(json, verbose)
    if quiet:
        set_volume(-1)
    return output


def _as_json(document: Document) -> str:
    import json

    import msgspec

    from conjunct.cli.terminal import ascii_only

    text = msgspec.json.format(msgspec.json.encode(document), indent=1).decode()
    if ascii_only():
        text = json.dumps(json.loads(text), indent=1)
    return text + "\n"
