"""The command ``conjunct``: one thin file for each of its commands."""

from __future__ import annotations

import signal
import sys
from importlib.util import find_spec


def main() -> int:
    """Run the command line.

    The exit code is 0, 1 (failure), 2 (bad input), 130 (Ctrl-C) or 143 (told to end).
    """
    ended: list[int] = []

    def end(number: int, frame: object) -> None:
        ended.append(number)
        raise KeyboardInterrupt

    try:
        for number in (signal.SIGTERM, signal.SIGINT):
            # what nohup and & in a script have said to ignore stays ignored
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, end)
        code = _run()
    except BaseException:
        # in the middle of an import or a library, an interrupt may come out as another error
        if not ended:
            raise
    finally:
        # all is done: Python alone ends, which takes a moment
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
    return 128 + ended[0] if ended else code


def _run() -> int:
    missing = [name for name in ("typer", "rich", "polars") if find_spec(name) is None]
    if missing:
        needed = ", ".join(missing)
        sys.stderr.write(
            f'conjunct: error: the commands need {needed}: pip install "conjunct[cli]"\n'
        )
        return 1
    from conjunct.cli.app import run

    return run()
