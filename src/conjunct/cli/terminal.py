"""Standard input, output and error: results, notes, errors and progress."""

from __future__ import annotations

import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from io import TextIOWrapper
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from conjunct.errors import ConjunctWarning

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress

    from conjunct.ufc import Indicators

DASH = Path("-")
_CHUNK = 1 << 20

_copy: ContextVar[Path | None] = ContextVar("copy", default=None)


def file_of(data: Path) -> Path:
    """Return the file to read; standard input, which is read more than once, is copied first."""
    import tempfile

    from conjunct.counting import room_in_scratch

    if data != DASH:
        return data
    copy = _copy.get()
    if copy is None:
        # CSV unless --format says otherwise
        handle, name = tempfile.mkstemp(prefix="conjunct-", suffix=".csv")
        copy = Path(name)
        _copy.set(copy)
        with os.fdopen(handle, "wb", buffering=0) as opened:
            while some := sys.stdin.buffer.read(_CHUNK):
                with room_in_scratch():
                    while some:
                        some = some[opened.write(some) :]
    return copy


def remove_copy() -> None:
    """Remove the copy of standard input, if there is one."""
    copy = _copy.get()
    if copy is not None:
        copy.unlink(missing_ok=True)
        _copy.set(None)


def name_of(data: Path) -> str:
    """Return what to call a file in messages."""
    return "standard input" if data == DASH else str(data)


def replace_temp_path(message: str) -> str:
    """Return a message about the copy of standard input as one about standard input."""
    copy = _copy.get()
    return message if copy is None else message.replace(str(copy), name_of(DASH))


def is_printed(out: Path | None) -> bool:
    """Return True if a result that is text goes to standard output."""
    return out is None or out == DASH


# Messages come from the library and name parameters; commands have options instead.
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
    """Set what is printed from here on: errors (-1), results and notes (0), every step (1)."""
    _volume.set(volume)


def is_verbose() -> bool:
    """Return True with ``--verbose``."""
    return _volume.get() > 0


def is_quiet() -> bool:
    """Return True with ``--quiet``."""
    return _volume.get() < 0


def console(stream: TextIO | None = None) -> Console:
    """Return a console that prints text literally: no markup, emoji codes or highlighting."""
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
    """Return True if standard output cannot show ∧ and ¬."""
    return not (sys.stdout.encoding or "").lower().startswith("utf")


def note(message: str) -> None:
    """Print one line to standard error about something worth knowing."""
    if not is_quiet():
        sys.stderr.write(f"conjunct: note: {one_line(replace_temp_path(message))}\n")


def detail(message: str) -> None:
    """Print one line to standard error, with ``--verbose`` only."""
    if is_verbose():
        sys.stderr.write(f"conjunct: {one_line(message)}\n")


def print_error(message: str) -> None:
    """Print one line to standard error about what went wrong."""
    refused = _REFUSED.match(message)
    if refused:
        # to leave an option out is None
        rest = message[refused.end() :].replace(" must be None or ", " must be ", 1)
        message = _as_option(refused) + as_options(rest)
    message = message.replace("(columns='number')", "(--names number)")
    sys.stderr.write(f"conjunct: error: {one_line(replace_temp_path(message))}\n")


@contextmanager
def notes_on_stderr() -> Iterator[None]:
    """Show warnings of conjunct as notes; all others as Python shows them."""
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
    """Escape what would move the cursor, colour the text or reorder it."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def showable(text: str) -> str:
    """Return one line in characters that standard output has."""
    return one_line(text.translate(_IN_ASCII) if ascii_only() else text)


def as_options(message: str) -> str:
    """Return a message of the library with options in place of parameters."""
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


@contextmanager
def show_iterations(
    n_iterations: int | None = None, n_features: int | None = None
) -> Iterator[Callable[[Indicators], None]]:
    """Show iterations as they end; yield the callback for them.

    The time left is known if the last iteration is, or the number of features that ends them.
    """
    with show_bar("Constructing", n_iterations or n_features) as update:

        def advance(line: Indicators) -> None:
            text = f"iteration {line.iteration}, {line.n_features} features"
            update(line.iteration if n_features is None else line.n_features, text)
            bits = "" if isnan(line.bits) else f", {line.bits:,.0f} bits"
            detail(
                f"iteration {line.iteration}: {line.n_features} features{bits}, length "
                f"{line.length:.2f}, OI {line.oi:.3f}, C0 {line.c0:.3f}, RMS {line.rms:.3f}"
            )

        yield advance


@contextmanager
def show_rows_read(doing: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show rows as they are read; yield the callback for them."""
    if not _has_progress():
        yield lambda n_rows, total: None
        return
    with _progress(None) as progress:
        task = progress.add_task(doing, total=None)

        def advance(n_rows: int, total: int | None) -> None:
            words = f"{doing}: {n_rows:,} rows"
            progress.update(task, completed=n_rows, total=total, description=words)

        yield advance


@contextmanager
def show_bar(doing: str, total: float | None) -> Iterator[Callable[[float, str], None]]:
    """Show a bar; yield the function that takes how much is done, and a text."""
    if not _has_progress():
        yield lambda done, words: None
        return
    with _progress(total) as progress:
        task = progress.add_task(doing, total=total)

        def update(done: float, words: str) -> None:
            progress.update(task, completed=done, description=f"{doing}: {words}")

        yield update


@contextmanager
def time_step(what: str) -> Iterator[None]:
    """Print, with ``--verbose``, that something was done and how long it took."""
    start = time.perf_counter()
    yield
    detail(f"{what}: {time.perf_counter() - start:.2f} s")


def _has_progress() -> bool:
    return sys.stderr.isatty() and not is_quiet()


def _progress(total: float | None) -> Progress:
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        # unknown until a total is
        TextColumn("left" if total else ""),
        TimeRemainingColumn(),
        console=console(sys.stderr),
        transient=True,
    )
