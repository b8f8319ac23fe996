"""Start the command ``conjunct``, and end it on signals."""

from __future__ import annotations

import gc
import os
import signal
import sys
from importlib.util import find_spec
from threading import Timer, main_thread
from typing import Any

# polars and its threads reserve 1.8 GB of address space, and abort the process without it
NEEDED = 2 << 30


class Ended(KeyboardInterrupt):
    """Ctrl-C, or a request to end.

    ``python -m`` ends itself by SIGINT after a KeyboardInterrupt in generated code, such as that of
    a dataclass, even if it was caught. A subclass avoids this.
    """


def main() -> int:
    """Run the command line.

    The exit code is 0, 1 (failure), 2 (bad input), 130 (Ctrl-C) or 143 (SIGTERM).
    """
    ended: list[int] = []

    def end(number: int, frame: object) -> None:
        ended.append(number)
        raise Ended

    def end_soon(unraisable: Any) -> None:
        if not isinstance(unraisable.exc_value, Ended):
            sys.__unraisablehook__(unraisable)
            return
        # Python ignores exceptions in destructors, so raise this one again soon
        try:
            Timer(0.05, _interrupt, ended[:1]).start()
        except Ended:  # on a busy machine, the timer may fire here
            end_soon(unraisable)

    sys.unraisablehook = end_soon
    try:
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                # nohup, and & in a script, ignore signals: leave these ignored
                if signal.getsignal(number) is not signal.SIG_IGN:
                    signal.signal(number, end)
            code = _run()
        finally:
            # a signal while Python exits must not change the exit code
            _ignore_signals()
    except BaseException as error:
        # an interrupt during an import or in a library may appear as another error, and one that
        # arrives at the very end must not end Python as if by Ctrl-C
        _ignore_signals()
        if not ended and not isinstance(error, KeyboardInterrupt):
            raise
        code = 128 + signal.SIGINT
    return 128 + ended[0] if ended else code


def _interrupt(number: int) -> None:
    if hasattr(signal, "pthread_kill"):
        # a signal that a thread raises for itself does not wake the main thread
        signal.pthread_kill(main_thread().ident or 0, number)
    else:  # Windows
        signal.raise_signal(number)


def _ignore_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _run() -> int:
    reason = ""
    if missing := [name for name in ("typer", "rich", "polars") if find_spec(name) is None]:
        reason = f"the commands need {', '.join(missing)}: pip install {' '.join(missing)}"
    elif (limit := _address_limit()) < NEEDED:
        reason = (
            f"not enough memory: the commands need {NEEDED >> 20} MB of address space, and the "
            f"limit is {limit >> 20} MB (ulimit -v)"
        )
    if reason:
        sys.stderr.write(f"conjunct: error: {reason}\n")
        return 1
    # imported modules stay: searching them for garbage takes a tenth of a second
    gc.set_threshold(200_000, 20, 20)
    # otherwise pydantic, which reads the options, searches all installed packages for plugins
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # no command needs NumPy's threads for matrix products, which use CPU time while they wait
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from conjunct.cli.app import run

    return run()


def _address_limit() -> int:
    """Return the limit of the address space of this process, in bytes."""
    try:
        import resource
    except ImportError:  # Windows
        return sys.maxsize
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft
