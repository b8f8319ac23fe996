"""``python -m benchmarks [NAME …] [--OPTION …]``: run all benchmarks, or the named ones.

An option is given to the benchmarks that have it: ``python -m benchmarks bits --slim``.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys

import benchmarks


def main(words: list[str]) -> int:
    options = {word.removeprefix("--") for word in words if word.startswith("--")}
    wanted = [word for word in words if not word.startswith("--")]
    known = sorted(
        module.name
        for module in pkgutil.iter_modules(benchmarks.__path__)
        if not module.name.startswith("_")
    )
    unknown = sorted(set(wanted) - set(known))
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(known)}")
        return 2
    mains = {name: importlib.import_module(f"benchmarks.{name}").main for name in wanted or known}
    takes = {name: options & set(inspect.signature(mains[name]).parameters) for name in mains}
    if unknown_options := options - set().union(*takes.values()):
        print(f"no benchmark here has the option --{', --'.join(sorted(unknown_options))}")
        return 2
    missed = 0
    for name, run in mains.items():
        print(f"\n== {name} ==", flush=True)
        missed += run(**dict.fromkeys(takes[name], True))
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
