"""Build the C part of conjunct if there is a compiler, and continue without it otherwise.

The environment variable CONJUNCT_NATIVE overrides this. With ``required``, a build without a
compiler fails. With ``none``, nothing is compiled, and the wheel is for every machine.
"""

from __future__ import annotations

import os
import re
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = "src/conjunct/columns/native"
LIBRARY = "_native.dll" if os.name == "nt" else "_native.so"  # kernel.py opens it
# The code is not compiled for one kind of processor: it checks the processor when it runs. A
# product and a sum stay two operations, so the numbers are equal to those of NumPy.
OPTIONS = {
    "unix": ["-O3", "-std=gnu11", "-ffp-contract=off", "-fno-wrapv", "-g0"],
    "msvc": ["/O2", "/std:c11", "/fp:precise"],
}
# The functions of a file that Python calls: lines such as `int native_version(void) {`.
OFFERED = re.compile(r"^\w[\w *]*\b(native_\w+)\(", re.MULTILINE)


class CompilerHook(BuildHookInterface):
    """Builds a wheel for this kind of machine, or a wheel without a library for all machines."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        sources = Path(self.root, SOURCES)
        in_place = sources / LIBRARY
        is_editable = version == "editable"
        self._folder = tempfile.TemporaryDirectory(dir=sources if is_editable else None)
        wanted = os.environ.get("CONJUNCT_NATIVE", "")
        if wanted not in ("", "none", "required"):
            raise ValueError(f"CONJUNCT_NATIVE must be none or required, not {wanted!r}")
        problem = "CONJUNCT_NATIVE=none" if wanted == "none" else None
        library = Path(self._folder.name, LIBRARY)
        if problem is None:
            problem = compile_library(sources, library)
        if problem is not None:
            if wanted == "required":
                raise RuntimeError(f"conjunct's C part could not be built: {problem}")
            if is_editable:
                in_place.unlink(missing_ok=True)
            self.app.display_warning(f"conjunct is built without its C part: {problem}")
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


def compile_library(sources: Path, library: Path) -> str | None:
    """Build the library with the compiler of this platform; return the reason for a failure."""
    import setuptools  # noqa: F401, I001  brings distutils, which Python 3.12 no longer has

    from distutils.ccompiler import new_compiler
    from distutils.errors import CCompilerError, DistutilsError
    from distutils.sysconfig import customize_compiler

    compiler = new_compiler()
    if compiler.compiler_type != "msvc":
        customize_compiler(compiler)
    options = OPTIONS.get(compiler.compiler_type, OPTIONS["unix"])
    files = sorted(sources.glob("*.c"))
    try:
        with tempfile.TemporaryDirectory() as folder:
            objects = compiler.compile(
                list(map(str, files)), output_dir=folder, extra_postargs=options
            )
            compiler.link_shared_object(
                objects,
                str(library),
                libraries=[] if compiler.compiler_type == "msvc" else ["m"],
                export_symbols=[
                    name for file in files for name in OFFERED.findall(file.read_text("utf-8"))
                ],
                build_temp=folder,
            )
    except (CCompilerError, DistutilsError, OSError) as error:
        return str(error)
    return None
