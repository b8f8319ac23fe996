"""Where words go: results to standard output, notes, errors and progress to standard error."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from conjunct.errors import ConjunctWarning

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from conjunct.construction.stopping import Indicators

# Messages come from the library and speak Python; at a prompt the same things have other names.
_PARAMETER = re.compile(
    r"\b(?P<name>(?:min_|max_)?threshold|alpha|max_iter|max_length|max_solutions|max_seconds|noise"
    r"|search|n_jobs|prune|max_features|min_samples_leaf|max_depth|strategy|redundant|n_bins"
    r"|max_categories|min_frequency|memory)\b"
    r"(?:='?(?P<value>\w+)'?)?"
)


def console(stream: TextIO | None = None) -> Console:
    """A console that shows text as it is: no markup, no emoji codes, no highlighting."""
    from rich.console import Console

    return Console(file=stream, markup=False, emoji=False, highlight=False)


def write(*parts: RenderableType | None) -> None:
    """Write to standard output, a blank line between parts and no spaces at the ends of lines."""
    output = console()
    with output.capture() as captured:
        for position, part in enumerate(part for part in parts if part is not None):
            output.print(*([""] if position else []), part, sep="\n")
    sys.stdout.write("".join(line.rstrip() + "\n" for line in captured.get().splitlines()))


def ascii_only() -> bool:
    """Whether standard output cannot show ∧ and ¬."""
    return not (sys.stdout.encoding or "").lower().startswith("utf")


def note(message: str) -> None:
    """One line on standard error about something worth knowing."""
    sys.stderr.write(f"conjunct: note: {_one_line(message)}\n")


def complain(message: str) -> None:
    """One line on standard error about what went wrong."""
    # only here is a parameter sure to be meant: other messages hold names from the data
    about_a_parameter = " must be" in message and _PARAMETER.match(message)
    words = _as_options(message) if about_a_parameter else message
    sys.stderr.write(f"conjunct: error: {_one_line(words)}\n")


@contextmanager
def notes_on_stderr() -> Iterator[None]:
    """Warnings of conjunct as notes; all others as Python shows them."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", ConjunctWarning)
        otherwise = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, ConjunctWarning):
                note(_as_options(str(message)))
            else:
                otherwise(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield


@contextmanager
def progress(doing: str, total: int | None) -> Iterator[Callable[[Indicators], None]]:
    """Show iterations as they end, on a terminal only; gives the callback that is told of them."""
    with progress_bar(doing, total) as update:

        def advance(line: Indicators) -> None:
            update(line.iteration, f"iteration {line.iteration}, {line.n_features} features")

        yield advance


@contextmanager
def progress_bar(doing: str, total: float | None) -> Iterator[Callable[[float, str], None]]:
    """A bar on a terminal; gives the function to tell how much is done, and in what words."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        console=console(sys.stderr),
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as bar:
        task = bar.add_task(doing, total=total)

        def update(done: float, words: str) -> None:
            bar.update(task, completed=done, description=f"{doing}: {words}")

        yield update


@contextmanager
def reading(doing: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show rows as they are read, on a terminal only; gives the callback that is told of them."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TimeRemainingColumn(),
        console=console(sys.stderr),
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as bar:
        task = bar.add_task(doing, total=None)

        def advance(n_rows: int, total: int | None) -> None:
            bar.update(task, completed=n_rows, total=total, description=f"{doing}: {n_rows:,} rows")

        yield advance


def tolerate_any_encoding() -> None:
    """Escape what a stream cannot show instead of failing on it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _one_line(message: str) -> str:
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in message)


def _as_options(message: str) -> str:
    return _PARAMETER.sub(_as_option, message)


def _as_option(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    if (name, value) == ("prune", "False"):
        return "--no-prune"
    # --jobs for n_jobs, --bins for n_bins
    option = "--" + name.removeprefix("n_").replace("_", "-")
    return f"{option} {value}" if value else option
