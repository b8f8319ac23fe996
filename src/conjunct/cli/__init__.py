"""The command ``conjunct``: starting it, and ending it on signals."""

from __future__ import annotations

import gc
import os
import signal
import sys
from importlib.util import find_spec
from threading import Timer, main_thread
from typing import Any

# polars and its threads ask for 1.8 GB of addresses, of which they use little; without them, the
# process aborts
NEEDED = 2 << 30


class Ended(KeyboardInterrupt):
    """Ctrl-C, or the request to end.

    Not KeyboardInterrupt itself: where that passes through code which a library runs from text,
    such as that of a dataclass, ``python -m`` ends itself by SIGINT, even if it was caught.
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
        # where Python frees an object, nothing can be raised: the work would go on
        try:
            Timer(0.05, _interrupt, ended[:1]).start()
        except Ended:  # nor can it here, where it comes too soon on a busy machine
            end_soon(unraisable)

    sys.unraisablehook = end_soon
    try:
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                # a signal that nohup or & in a script ignores stays ignored
                if signal.getsignal(number) is not signal.SIG_IGN:
                    signal.signal(number, end)
            code = _run()
        finally:
            # all is done: Python alone ends, which takes a moment
            _ignore()
    except BaseException as error:
        # in the middle of an import or a library, an interrupt may come out as another error;
        # and one that comes just as all is done must not end Python, as if by Ctrl-C
        _ignore()
        if not ended and not isinstance(error, KeyboardInterrupt):
            raise
        code = 128 + signal.SIGINT
    return 128 + ended[0] if ended else code


def _interrupt(number: int) -> None:
    if hasattr(signal, "pthread_kill"):
        # one that a thread raises for itself does not wake the main thread
        signal.pthread_kill(main_thread().ident or 0, number)
    else:  # Windows
        signal.raise_signal(number)


def _ignore() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _run() -> int:
    missing = [name for name in ("typer", "rich", "polars") if find_spec(name) is None]
    if missing:
        needed = ", ".join(missing)
        sys.stderr.write(
            f"conjunct: error: the commands need {needed}: pip install {' '.join(missing)}\n"
        )
        return 1
    if _limit() < NEEDED:
        sys.stderr.write(
            f"conjunct: error: not enough memory: the commands need {NEEDED >> 20} MB of address "
            f"space, and the limit is {_limit() >> 20} MB (ulimit -v)\n"
        )
        return 1
    # what is imported stays: to look through it for garbage takes a tenth of a second
    gc.set_threshold(200_000, 20, 20)
    # else pydantic, which reads the options, looks for plugins in whatever is installed
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # no command multiplies large matrices, and NumPy's threads for that wait busily at the start
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from conjunct.cli.app import run

    return run()


def _limit() -> int:
    """Return the limit of the address space of this process, in bytes."""
    try:
        import resource
    except ImportError:  # Windows
        return sys.maxsize
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft
