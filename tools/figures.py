"""Measure the size of the code, and the distance from a fit to the kernel.

    python tools/figures.py

Counts files and lines of ``src``, modules that ``from conjunct import UFC`` loads, functions
between ``UFC.fit`` and the first count of pairs, files that a fit uses, and places
outside ``columns/`` that check the layout.
"""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path
from types import FrameType
from typing import Any

SOURCE = Path(__file__).parents[1] / "src" / "conjunct"
LAYOUTS = {"PackedColumns", "SparseColumns", "MaskedColumns"}


def main() -> None:
    files = sorted(SOURCE.rglob("*.py"))
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    _tell("files", len(files))
    _tell("lines", lines)
    from conjunct import UFC

    _tell("modules loaded by from conjunct import UFC", len(_ours(sys.modules)))
    depth, seen = _distance(UFC)
    _tell("functions between UFC.fit and the kernel", depth)
    _tell("files that a fit passes through", len(seen))
    outside = [file for file in files if SOURCE / "columns" not in file.parents]
    _tell("layout checks outside columns/", sum(map(_count_checks, outside)))


def _tell(what: str, number: int) -> None:
    sys.stdout.write(f"{what:45}{number:8,}\n")


def _ours(modules: Any) -> list[str]:
    return [name for name in modules if name.startswith("conjunct.")]


def _distance(estimator: Any) -> tuple[int, set[str]]:
    """Return the functions up to the first call of the kernel, and the files that a fit uses."""
    from conjunct import datasets

    data = datasets.load_zoo().values
    found: list[int] = []
    seen: set[str] = set()

    def watch(frame: FrameType, event: str, argument: object) -> None:
        file = frame.f_code.co_filename
        is_function = frame.f_code.co_flags & inspect.CO_OPTIMIZED
        if event != "call" or not is_function or not file.startswith(str(SOURCE)):
            return
        seen.add(file)
        if frame.f_code.co_name == "count_pairs" and not found:
            names, above = [], frame.f_back
            while above is not None and above.f_code.co_name != "fit":
                if above.f_code.co_filename.startswith(str(SOURCE)):
                    names.append(above.f_code.co_name)
                above = above.f_back
            found.append(len(names))

    sys.setprofile(watch)
    try:
        estimator().fit(data)
    finally:
        sys.setprofile(None)
    return found[0], seen


def _count_checks(file: Path) -> int:
    """Count calls of isinstance that name a layout."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    checks = [call for call in calls if getattr(call.func, "id", "") == "isinstance"]
    return sum(
        bool(LAYOUTS & {getattr(part, "id", "") for part in ast.walk(check)}) for check in checks
    )


if __name__ == "__main__":
    main()
