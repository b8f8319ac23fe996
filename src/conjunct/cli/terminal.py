"""Read standard input; write results, notes, errors and progress."""

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
from typing import TYPE_CHECKING, Any, TextIO

from conjunct.errors import ConjunctWarning, one_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from conjunct.ufc import Indicators

Update = Callable[..., None]

DASH = Path("-")
_CHUNK = 1 << 20

_copy: ContextVar[Path | None] = ContextVar("copy", default=None)


def file_of(data: Path) -> Path:
    """Return the file to read: for standard input a copy, because it is read more than once."""
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
    """Return the name of a file in messages."""
    return "standard input" if data == DASH else str(data)


def replace_temp_path(message: str) -> str:
    """Replace the copy of standard input in a message with its name."""
    copy = _copy.get()
    return message if copy is None else message.replace(str(copy), name_of(DASH))


def is_printed(out: Path | None) -> bool:
    """Return True if a text result goes to standard output."""
    return out is None or out == DASH


# Messages of the library name parameters, and commands have options instead. Messages also quote
# names from the data, which may look like parameters: a word such as "top" is replaced only if a
# value follows it or a phrase precedes it.
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

SECONDS_BETWEEN_LINES = 10.0  # of progress, if standard error is not a terminal
SECONDS_BEFORE_STATUS = 5.0  # without output, on a terminal
_volume: ContextVar[int] = ContextVar("volume", default=0)


def set_volume(volume: int) -> None:
    """Print only errors (-1), also results and notes (0), or also each step (1)."""
    _volume.set(volume)


def is_verbose() -> bool:
    """Return True with ``--verbose``."""
    return _volume.get() > 0


def is_quiet() -> bool:
    """Return True with ``--quiet``."""
    return _volume.get() < 0


def console(stream: TextIO | None = None) -> Console:
    """Return a console that prints text literally, without markup, emoji codes or highlighting."""
    from rich.console import Console

    return Console(file=stream, markup=False, emoji=False, highlight=False)


def write(*parts: RenderableType | None) -> None:
    """Write to standard output, with blank lines between parts and no trailing spaces."""
    if is_quiet():
        return
    output = console()
    with output.capture() as captured:
        for position, part in enumerate(part for part in parts if part is not None):
            shown = "\n".join(map(showable, part.split("\n"))) if isinstance(part, str) else part
            output.print(*([""] if position else []), shown, sep="\n")
    # rich marks cut text with this sign only, and the widths must stay
    text = captured.get().replace("…", ".") if ascii_only() else captured.get()
    write_text("".join(line.rstrip() + "\n" for line in text.splitlines()))


def write_text(text: str) -> None:
    """Write text to standard output unchanged; other output waits until it is written."""
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
    """Print a note to standard error, unless ``--quiet`` is given."""
    if not is_quiet():
        _print_line(f"note: {one_line(replace_temp_path(message))}")


def detail(message: str) -> None:
    """Print one line to standard error if ``--verbose`` is given."""
    if is_verbose():
        _print_line(one_line(message))


def print_error(message: str) -> None:
    """Print an error to standard error."""
    if refused := _REFUSED.match(message):
        # a command has no None: the option is omitted instead
        rest = message[refused.end() :].replace(" must be None or ", " must be ", 1)
        message = _as_option(refused) + as_options(rest)
    message = message.replace("(feature_names='number')", "(--feature-names number)")
    _print_line(f"error: {one_line(replace_temp_path(message))}")


class Watch:
    """Report on standard error that a command is still running if it prints nothing for a while."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._last = 0.0
        self._width = 0
        self._n_bars = 0

    @contextmanager
    def watch(self, words: str) -> Iterator[None]:
        """Watch a command until it ends or fails."""
        self._last = time.monotonic()
        ended = Event()
        # a daemon thread cannot keep the process alive if standard error is blocked
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
        """Report nothing while other output is written."""
        with self._lock:
            self._erase()
            yield
            self._last = time.monotonic()

    @contextmanager
    def stand_aside(self) -> Iterator[None]:
        """Report nothing while a progress bar shows the time."""
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
        # characters of some scripts are two columns wide
        room = self._width if line.isascii() else self._width // 2
        sys.stderr.write(f"conjunct: {line}"[:room])
        sys.stderr.flush()

    def _erase(self) -> None:
        if self._width:
            # spaces instead of control codes: some terminals do not know the codes
            width, self._width = self._width, 0
            sys.stderr.write(f"\r{' ' * width}\r")
            sys.stderr.flush()


WATCH = Watch()


@contextmanager
def notes_on_stderr() -> Iterator[None]:
    """Show conjunct's warnings as notes, and all others as Python shows them."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", ConjunctWarning)
        show_others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *args: Any, **named: Any) -> None:
            if issubclass(category, ConjunctWarning):
                note(as_options(str(message)))
            else:
                with WATCH.make_room():
                    show_others(message, category, *args, **named)

        warnings.showwarning = show
        yield


def tolerate_any_encoding() -> None:
    """Escape characters that a stream cannot encode, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def showable(text: str) -> str:
    """Return one line in characters that standard output can encode."""
    return one_line(text.translate(_IN_ASCII) if ascii_only() else text)


def as_options(message: str) -> str:
    """Replace parameters with options in a message of the library."""
    for python, prompt in _OTHERWISE.items():
        message = message.replace(python, prompt)
    message = _EVIDENCE.sub(r"--factor \1", message)
    return _PARAMETER.sub(_as_option, message)


def _as_option(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    if (name, value) == ("prune", "False"):
        return "--no-prune"
    # --jobs for n_jobs; the threshold is the NUMBER of --criterion
    name = "criterion" if name == "threshold" else name.removeprefix("n_").replace("_", "-")
    return f"--{name} {value}" if value else f"--{name}"


@contextmanager
def show_iterations(
    n_iterations: int | None = None, n_features: int | None = None
) -> Iterator[Callable[[Indicators], None]]:
    """Yield a callback that shows iterations, and the time left if a maximum is given."""
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
    """Yield a callback that shows the rounds of a search for groups."""
    with show_bar("Finding groups", None) as update:

        def advance(n_groups: int, bits: float) -> None:
            update(n_groups, f"{n_groups} groups")
            detail(f"{n_groups} groups: {bits:,.0f} bits")

        yield advance


@contextmanager
def show_rows_read(doing: str) -> Iterator[Callable[[int, int | None], None]]:
    """Yield a callback that shows the number of rows read."""
    with show_bar(doing, None) as update:
        yield lambda n_rows, total: update(n_rows, f"{n_rows:,} rows", total)


@contextmanager
def show_bar(doing: str, total: float | None) -> Iterator[Update]:
    """Show progress as a bar on a terminal, or as a line every ten seconds elsewhere.

    Yield a function of the amount done, a text, and the total if it has become known.
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
    from rich import progress as bars

    progress = bars.Progress(
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(bar_width=20),
        bars.TimeElapsedColumn(),
        bars.TextColumn("left" if total else ""),
        bars.TimeRemainingColumn(),
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
    """Print the duration of a step if ``--verbose`` is given."""
    start = time.perf_counter()
    yield
    detail(f"{what}: {time.perf_counter() - start:.2f} s")
