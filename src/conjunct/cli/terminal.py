"""Standard input, output and error: results, notes, errors and progress."""

from __future__ import annotations

import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from io import TextIOWrapper
from math import isnan
from pathlib import Path
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING, TextIO

from conjunct.errors import ConjunctWarning, one_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from conjunct.ufc import Indicators

Update = Callable[..., None]

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
    r"|max_threshold|min_threshold|min_samples_leaf|min_frequency|max_groups|n_groups|n_jobs|n_bins"
)
_WORDS = (
    r"criterion|threshold|alpha|factor|noise|search|prune|strategy|memory|stop|storage|top"
    r"|handle_unknown"
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

# between two lines of progress, where there is no terminal
SECONDS_BETWEEN_LINES = 10.0
# before a line that says how long a command has run, on a terminal
SECONDS_BEFORE_STATUS = 5.0
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
    write_text("".join(line.rstrip() + "\n" for line in text.splitlines()))


def write_text(text: str) -> None:
    """Write text to standard output as it is; nothing else speaks until its reader has it."""
    with WATCH.make_room():
        sys.stdout.write(text)
        sys.stdout.flush()


def _print_line(line: str) -> None:
    """Write one line to standard error."""
    with WATCH.make_room():
        sys.stderr.write(f"conjunct: {line}\n")


def ascii_only() -> bool:
    """Return True if standard output cannot show ∧ and ¬."""
    return not (sys.stdout.encoding or "").lower().startswith("utf")


def note(message: str) -> None:
    """Print one line to standard error about something worth knowing."""
    if not is_quiet():
        _print_line(f"note: {one_line(replace_temp_path(message))}")


def detail(message: str) -> None:
    """Print one line to standard error, with ``--verbose`` only."""
    if is_verbose():
        _print_line(one_line(message))


def print_error(message: str) -> None:
    """Print one line to standard error about what went wrong."""
    refused = _REFUSED.match(message)
    if refused:
        # to leave an option out is None
        rest = message[refused.end() :].replace(" must be None or ", " must be ", 1)
        message = _as_option(refused) + as_options(rest)
    message = message.replace("(feature_names='number')", "(--feature-names number)")
    _print_line(f"error: {one_line(replace_temp_path(message))}")


class Watch:
    """Says that a command still works when nothing else has been said for some time.

    A line on standard error; on a terminal one line, which is redrawn and erased again.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._last = 0.0
        self._width = 0
        self._n_bars = 0

    @contextmanager
    def watch(self, words: str) -> Iterator[None]:
        """Watch over a command until it ends, however it does."""
        self._last = time.monotonic()
        ended = Event()
        # as a daemon it cannot keep the process, even if nobody reads standard error
        thread = Thread(target=self._report, args=(words, self._last, ended), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join(1.0)
            self._erase()

    @contextmanager
    def make_room(self) -> Iterator[None]:
        """Say nothing while something else is written."""
        with self._lock:
            self._erase()
            yield
            self._last = time.monotonic()

    @contextmanager
    def stand_aside(self) -> Iterator[None]:
        """Say nothing while a bar is shown, which shows the time itself."""
        with self.make_room():
            self._n_bars += 1
        try:
            yield
        finally:
            self._n_bars -= 1
            self._last = time.monotonic()

    def _report(self, words: str, start: float, ended: Event) -> None:
        with suppress(OSError, ValueError):  # standard error is closed
            on_terminal = sys.stderr.isatty()
            while True:
                pause = SECONDS_BEFORE_STATUS if on_terminal else SECONDS_BETWEEN_LINES
                if self._width:
                    pause = 1.0
                if ended.wait(max(0.01, self._last + pause - time.monotonic())):
                    return
                with self._lock:
                    now = time.monotonic()
                    if self._n_bars:
                        self._last = now
                    elif now - self._last >= pause and not ended.is_set():
                        self._last = now
                        self._write(f"still working: {words}, {now - start:.0f} s", on_terminal)

    def _write(self, line: str, on_terminal: bool) -> None:
        if not on_terminal:
            _print_line(line)
            return
        self._erase()
        self._width = (os.get_terminal_size(sys.stderr.fileno()).columns or 80) - 1
        # signs of some scripts take two places
        room = self._width if line.isascii() else self._width // 2
        sys.stderr.write(f"conjunct: {line}"[:room])
        sys.stderr.flush()

    def _erase(self) -> None:
        if self._width:
            # no codes, which some terminals do not know
            width, self._width = self._width, 0
            sys.stderr.write(f"\r{' ' * width}\r")
            sys.stderr.flush()


WATCH = Watch()


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
                with WATCH.make_room():
                    otherwise(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield


def tolerate_any_encoding() -> None:
    """Escape what a stream cannot show instead of failing on it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


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
def show_rounds() -> Iterator[Callable[[int, float], None]]:
    """Show the rounds of a search for groups; yield the callback for them."""
    with show_bar("Finding groups", None) as update:

        def advance(n_groups: int, bits: float) -> None:
            update(n_groups, f"{n_groups} groups")
            detail(f"{n_groups} groups: {bits:,.0f} bits")

        yield advance


@contextmanager
def show_rows_read(doing: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show rows as they are read; yield the callback for them."""
    with show_bar(doing, None) as update:
        yield lambda n_rows, total: update(n_rows, f"{n_rows:,} rows", total)


@contextmanager
def show_bar(doing: str, total: float | None) -> Iterator[Update]:
    """Show progress as a bar on a terminal, elsewhere as a line every ten seconds.

    Yield a function that takes how much is done, a text, and how much there is in all, if that
    is known now.
    """
    if is_quiet():
        yield lambda done, words, total=None: None
        return
    if not sys.stderr.isatty():
        start = last = time.monotonic()

        def print_now_and_then(done: float, words: str, total: float | None = total) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last < SECONDS_BETWEEN_LINES:
                return
            last = now
            left = ""
            if total and 0 < done < total:
                left = f", about {(now - start) * (total / done - 1):.0f} s left"
            name = one_line(replace_temp_path(doing))
            _print_line(f"{name}: {words} ({now - start:.0f} s{left})")

        yield print_now_and_then
        return
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    progress = Progress(
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
    with WATCH.stand_aside(), progress:
        task = progress.add_task(doing, total=total)

        def update(done: float, words: str, total: float | None = total) -> None:
            progress.update(task, completed=done, total=total, description=f"{doing}: {words}")

        yield update


@contextmanager
def time_step(what: str) -> Iterator[None]:
    """Print, with ``--verbose``, that something was done and how long it took."""
    start = time.perf_counter()
    yield
    detail(f"{what}: {time.perf_counter() - start:.2f} s")
