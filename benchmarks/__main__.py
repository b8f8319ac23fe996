"""``python -m benchmarks [NAME …]``: run all benchmarks, or those named."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks


def main(wanted: list[str]) -> int:
    known = sorted(
        module.name
        for module in pkgutil.iter_modules(benchmarks.__path__)
        if not module.name.startswith("_")
    )
    unknown = sorted(set(wanted) - set(known))
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(known)}")
        return 2
    missed = 0
    for name in wanted or known:
        print(f"\n== {name} ==", flush=True)
        missed += importlib.import_module(f"benchmarks.{name}").main()
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
