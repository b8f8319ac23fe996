"""The command ``conjunct``: one thin file for each of its commands."""

from __future__ import annotations

import sys
from importlib.util import find_spec


def main() -> int:
    """Run the command line; the exit code is 0, 1 (failure), 2 (bad input) or 130 (Ctrl-C)."""
    missing = [name for name in ("typer", "rich", "polars") if find_spec(name) is None]
    if missing:
        needed = ", ".join(missing)
        sys.stderr.write(
            f'conjunct: error: the commands need {needed}: pip install "conjunct[cli]"\n'
        )
        return 1
    from conjunct.cli.app import run

    return run()
