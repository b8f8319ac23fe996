"""How far a command is and how long it will take, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isnan
from typing import TYPE_CHECKING

from conjunct.cli.terminal import console, detail, is_quiet

if TYPE_CHECKING:
    from rich.progress import Progress

    from conjunct.ufc import Indicators


@contextmanager
def iterations(
    n_iterations: int | None = None, n_features: int | None = None
) -> Iterator[Callable[[Indicators], None]]:
    """Show iterations as they end; gives the callback that is told of them.

    Time left is known if the last iteration is, or the number of features that ends them.
    """
    with bar("Constructing", n_iterations or n_features) as update:

        def advance(line: Indicators) -> None:
            said = f"iteration {line.iteration}, {line.n_features} features"
            update(line.iteration if n_features is None else line.n_features, said)
            bits = "" if isnan(line.bits) else f", {line.bits:,.0f} bits"
            detail(
                f"iteration {line.iteration}: {line.n_features} features{bits}, length "
                f"{line.length:.2f}, OI {line.oi:.3f}, C0 {line.c0:.3f}, RMS {line.rms:.3f}"
            )

        yield advance


@contextmanager
def rows_read(doing: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show rows as they are read; gives the callback that is told of them."""
    if not _is_shown():
        yield lambda n_rows, total: None
        return
    with _shown(None) as shown:
        task = shown.add_task(doing, total=None)

        def advance(n_rows: int, total: int | None) -> None:
            words = f"{doing}: {n_rows:,} rows"
            shown.update(task, completed=n_rows, total=total, description=words)

        yield advance


@contextmanager
def bar(doing: str, total: float | None) -> Iterator[Callable[[float, str], None]]:
    """A bar; gives the function to tell how much is done, and in what words."""
    if not _is_shown():
        yield lambda done, words: None
        return
    with _shown(total) as shown:
        task = shown.add_task(doing, total=total)

        def update(done: float, words: str) -> None:
            shown.update(task, completed=done, description=f"{doing}: {words}")

        yield update


@contextmanager
def step(what: str) -> Iterator[None]:
    """Say, if asked to say much, that something was done and how long it took."""
    start = time.perf_counter()
    yield
    detail(f"{what}: {time.perf_counter() - start:.2f} s")


def _is_shown() -> bool:
    return sys.stderr.isatty() and not is_quiet()


def _shown(total: float | None) -> Progress:
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
