"""The commands together, and how each run ends."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence
from functools import cache
from typing import Annotated

import typer

import conjunct
from conjunct.cli import commands
from conjunct.cli.help import GroupedCommand
from conjunct.cli.standard_streams import remove_copy
from conjunct.cli.terminal import complain, notes_on_stderr, set_volume, tolerate_any_encoding
from conjunct.errors import ConjunctError, InputError

# the order of the help; commands that are not named here come after them
ORDER = (
    "demo",
    "fit",
    "chunks",
    "transform",
    "path",
    "fringe",
    "stability",
    "show",
    "compare",
    "describe",
    "report",
    "export",
    "update",
    "tags",
    "reproduce",
    "datasets",
)


@cache
def application(only: str | None = None) -> typer.Typer:
    """All commands in the order of the help; or one of them, which starts quicker."""
    found = {module.name for module in pkgutil.iter_modules(commands.__path__)}
    names = (*ORDER, *sorted(found.difference(ORDER))) if only not in found else (only,)
    app = typer.Typer(rich_markup_mode=None)
    for name in names:
        module = importlib.import_module(f"{commands.__name__}.{name}")
        app.command(cls=GroupedCommand)(getattr(module, name))
    app.callback(invoke_without_command=True)(conjunct_)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"conjunct {conjunct.__version__}\n")
        raise typer.Exit


def conjunct_(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Find the tags that belong together, and read rows as chunks of them, without labels.

    A photograph tagged book, chair, dining table, person and tv becomes
    "book + tv · chair + dining table · person". Nothing is lost: each chunk is an exact Boolean
    feature of the row.

    \b
    Examples:
      $ conjunct demo
      $ conjunct datasets zoo --out zoo.csv
      $ conjunct fit zoo.csv --out model.json
      $ conjunct chunks model.json zoo.csv --out chunks.csv
      $ conjunct transform model.json zoo.csv --out features.csv
    """
    if context.invoked_subcommand is None:
        sys.stdout.write(context.get_help() + "\n")


def run(args: Sequence[str] | None = None) -> int:
    """Run one command and say how it ended, in one line if badly."""
    tolerate_any_encoding()
    set_volume(0)
    try:
        return _run(args)
    finally:
        remove_copy()


def _run(args: Sequence[str] | None) -> int:
    words = sys.argv[1:] if args is None else list(args)
    try:
        with notes_on_stderr():
            app = application(words[0] if words else None)
            code = app(words, prog_name="conjunct", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "conjunct"
        complain(f"{_message(error)} See {path} --help")
        return 2
    except InputError as error:
        complain(str(error))
        return 2
    except ConjunctError as error:
        complain(str(error))
        return 1
    except BrokenPipeError:
        # whoever read the output has left; nothing more can be written, not even at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except MemoryError:
        complain("not enough memory")
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        complain(f"{where}{error.strerror or error}")
        return 1
    return code if isinstance(code, int) else 0


def _message(error: typer.TyperException) -> str:
    text: str = error.format_message() if hasattr(error, "format_message") else str(error)
    return text if text.endswith((".", "?")) else f"{text}."
