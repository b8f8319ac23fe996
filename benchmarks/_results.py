"""Store the results of benchmarks: ``benchmarks/results/NAME.json``, one run per file."""

from __future__ import annotations

import contextlib
import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("results")
_LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn", "mlxtend", "dask")


def save(name: str, found: dict[str, Any]) -> None:
    """Store the results of a run, with its machine and versions."""
    FOLDER.mkdir(exist_ok=True)
    machine = {"processor": _processor(), "cores": os.cpu_count(), "versions": _versions()}
    text = json.dumps({"machine": machine, **found}, indent=1, ensure_ascii=False)
    (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def _versions() -> dict[str, str]:
    found = {}
    for library in _LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            found[library] = version(library)
    return found


def _processor() -> str:
    """Return the processor and the width of its instructions in bits."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    fields = dict(
        tuple(map(str.strip, line.split(":", 1))) for line in text.splitlines() if ":" in line
    )
    flags = fields.get("flags", "").split()
    widest = next((flag for flag in ("avx512f", "avx2", "sse2") if flag in flags), "")
    return " ".join(filter(None, [fields.get("model name", platform.machine()), widest]))
