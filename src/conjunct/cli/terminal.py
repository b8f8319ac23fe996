"""Where words go: results to standard output, notes, errors and progress to standard error."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from conjunct.cli.standard_streams import named
from conjunct.errors import ConjunctWarning

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# Messages come from the library and speak Python; at a prompt the same things have other names.
# They also hold names from the data, which may be words like these: a word is a parameter only
# where a value or a phrase says so.
_NAMED = (
    r"max_iter|max_length|max_solutions|max_seconds|max_features|max_depth|max_categories"
    r"|max_threshold|min_threshold|min_samples_leaf|min_frequency|n_jobs|n_bins"
)
_WORDS = (
    r"criterion|threshold|alpha|factor|noise|search|prune|strategy|redundant|memory|stop|store|top"
    r"|unseen"
)
_PHRASES = r"(?:(?<=smaller )|(?<=larger )|(?<=this ))"
_PARAMETER = re.compile(
    rf"\b(?P<name>{_NAMED}|(?:{_WORDS})(?==)|{_PHRASES}(?:{_WORDS}))\b"
    r"(?:='?(?P<value>[\w.]*\w)'?)?"
)
_REFUSED = re.compile(rf"(?P<name>{_NAMED}|{_WORDS})(?P<value>)(?= must be)")
_EVIDENCE = re.compile(r"criterion=Evidence\(factor=([\d.]+)\)")
_OTHERWISE = {"criterion=Bits(alpha=None)": "--alpha none", "chunks()": "conjunct chunks"}

_IN_ASCII = str.maketrans({"…": "...", "λ": "lambda", "α": "alpha", "≥": ">=", "·": "/"})

# -1: errors only; 0: results and notes; 1: each step too
_volume: ContextVar[int] = ContextVar("volume", default=0)


def set_volume(volume: int) -> None:
    """How much is said from here on: errors only (-1), results and notes (0), every step (1)."""
    _volume.set(volume)


def is_verbose() -> bool:
    """Whether every step is wanted."""
    return _volume.get() > 0


def is_quiet() -> bool:
    """Whether errors only are wanted."""
    return _volume.get() < 0


def console(stream: TextIO | None = None) -> Console:
    """A console that shows text as it is: no markup, no emoji codes, no highlighting."""
    from rich.console import Console

    return Console(file=stream, markup=False, emoji=False, highlight=False)


def write(*parts: RenderableType | None) -> None:
    """Write to standard output, a blank line between parts and no spaces at the ends of lines."""
    if is_quiet():
        return
    output = console()
    with output.capture() as captured:
        for position, part in enumerate(part for part in parts if part is not None):
            shown = "\n".join(map(showable, part.split("\n"))) if isinstance(part, str) else part
            output.print(*([""] if position else []), shown, sep="\n")
    # rich has no other sign for what it cuts off, and the widths must stay
    text = captured.get().replace("…", ".") if ascii_only() else captured.get()
    sys.stdout.write("".join(line.rstrip() + "\n" for line in text.splitlines()))


def ascii_only() -> bool:
    """Whether standard output cannot show ∧ and ¬."""
    return not (sys.stdout.encoding or "").lower().startswith("utf")


def note(message: str) -> None:
    """One line on standard error about something worth knowing."""
    if not is_quiet():
        sys.stderr.write(f"conjunct: note: {one_line(named(message))}\n")


def detail(message: str) -> None:
    """One line on standard error for those who asked for every step."""
    if is_verbose():
        sys.stderr.write(f"conjunct: {one_line(message)}\n")


def complain(message: str) -> None:
    """One line on standard error about what went wrong."""
    refused = _REFUSED.match(message)
    if refused:
        # to leave an option out is None
        rest = message[refused.end() :].replace(" must be None or ", " must be ", 1)
        message = _as_option(refused) + as_options(rest)
    message = message.replace("(columns='number')", "(--names number)")
    sys.stderr.write(f"conjunct: error: {one_line(named(message))}\n")


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
                note(as_options(str(message)))
            else:
                otherwise(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield


def tolerate_any_encoding() -> None:
    """Escape what a stream cannot show instead of failing on it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def one_line(text: str) -> str:
    """The text with what would move the cursor, colour or reorder it written as an escape."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def showable(text: str) -> str:
    """One line for standard output, in signs that it has."""
    return one_line(text.translate(_IN_ASCII) if ascii_only() else text)


def as_options(message: str) -> str:
    """A message of the library in the words of the command line."""
    for python, prompt in _OTHERWISE.items():
        message = message.replace(python, prompt)
    message = _EVIDENCE.sub(r"--factor \1", message)
    return _PARAMETER.sub(_as_option, message)


def _as_option(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    if (name, value) == ("prune", "False"):
        return "--no-prune"
    # --jobs for n_jobs, --bins for n_bins; λ is a criterion
    name = "criterion" if name == "threshold" else name.removeprefix("n_").replace("_", "-")
    return f"--{name} {value}" if value else f"--{name}"
