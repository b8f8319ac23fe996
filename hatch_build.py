"""Builds the C part of conjunct where there is a compiler, and carries on where there is none."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = "src/conjunct/columns/native"
LIBRARY = "_native.so"
# Nothing is compiled for one processor only: what it can do is asked when it runs. A product and a
# sum stay two operations, so that numbers are those of NumPy.
OPTIONS = ("-O3", "-std=gnu11", "-ffp-contract=off", "-shared", "-fPIC")


class CompilerHook(BuildHookInterface):
    """A wheel for this kind of machine, or one without a library for all."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        sources = Path(self.root, SOURCES)
        in_place = sources / LIBRARY
        is_editable = version == "editable"
        self._folder = tempfile.TemporaryDirectory(dir=sources if is_editable else None)
        library = Path(self._folder.name, LIBRARY)
        if not compiled(sources, library):
            if is_editable:
                in_place.unlink(missing_ok=True)
            self.app.display_warning("no C compiler: conjunct is built without its C part")
            return
        if is_editable:
            library.replace(in_place)
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["force_include"][str(library)] = f"conjunct/columns/native/{LIBRARY}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.target_name == "wheel":
            self._folder.cleanup()


def compiled(sources: Path, library: Path) -> bool:
    """Whether a library could be made."""
    files = sorted(map(str, sources.glob("*.c")))
    command = [os.environ.get("CC", "cc"), *OPTIONS, "-o", str(library), *files, "-lm"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=300, check=False)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0 and library.exists()
