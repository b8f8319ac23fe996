"""Measure the size, the wording and the call paths of the code, and fail above a limit.

    python tools/house.py

A limit above its target is the present value: lower it when the code allows it.
"""

import ast
import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

PACKAGE = Path(__file__).parents[1] / "src" / "conjunct"


class Limit(NamedTuple):
    """The maximum of a measure now, and its target."""

    now: float
    target: float


LIMITS = {
    "files": Limit(120, 120),
    "lines": Limit(42_150, 34_000),
    "functions of a fit": Limit(200, 200),
    "files of a fit": Limit(25, 25),
    "depth of a fit": Limit(14, 15),
    "odd words": Limit(30, 30),
    "functions named by a participle, %": Limit(4, 4),
    "docstrings that begin with a clause": Limit(20, 20),
    "uses of model._x": Limit(0, 0),
}

ODD = re.compile(
    r"\b(told|apart|nobody|whom|meanwhile|gives? way|hardly|for ever|so many|what is left|is said"
    r"|mended)\b",
    re.IGNORECASE,
)
PARTICIPLES = re.compile(
    r"\w+ed|made|told|drawn|shown|kept|taken|held|said|found|written|met|built|known|given|lost"
)
CLAUSE = re.compile(r"(What|Whether|Where|Which|How|Why|Who|Whom|When|That)\b")


def measure_text(folder: Path) -> dict[str, float]:
    """Return the measures that depend only on the sources."""
    files = {file: file.read_text(encoding="utf-8") for file in sorted(folder.rglob("*.py"))}
    texts = [*files.values()]
    # the classes of estimators own such attributes; no other folder may use them
    others = [text for file, text in files.items() if file.parent.name != "estimators"]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    functions = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = [ast.get_docstring(n) or "" for n in nodes if isinstance(n, documented)]
    n_participles = sum(
        any(map(PARTICIPLES.fullmatch, function.name.split("_"))) for function in functions
    )
    return {
        "files": len(texts),
        "lines": sum(len(text.splitlines()) for text in texts),
        "odd words": sum(len(ODD.findall(text)) for text in texts),
        "functions named by a participle, %": 100 * n_participles / max(len(functions), 1),
        "docstrings that begin with a clause": sum(map(bool, map(CLAUSE.match, docstrings))),
        "uses of model._x": sum(len(re.findall(r"\bmodel\._[a-z]", text)) for text in others),
    }


def measure_fit(folder: Path) -> dict[str, float]:
    """Return the size of the code that a fit of a small table calls, and the depth of calls."""
    import numpy as np

    from conjunct import UFC

    rng = np.random.default_rng(0)
    causes = rng.random((400, 5)) < 0.3
    table = causes[:, rng.integers(0, 5, 20)] ^ (rng.random((400, 20)) < 0.1)
    called = set()
    depth = deepest = 0

    def watch(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth, deepest
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(str(folder)):
            return
        depth += 1 if event == "call" else -1
        deepest = max(deepest, depth)
        called.add((code.co_filename, code.co_qualname))

    UFC().fit(table)  # steps that run only once do not count
    sys.setprofile(watch)
    try:
        UFC().fit(table)
    finally:
        sys.setprofile(None)
    return {
        "functions of a fit": len(called),
        "files of a fit": len({file for file, _ in called}),
        "depth of a fit": deepest,
    }


def main() -> int:
    """Print each measure with its limit; return 1 if a measure exceeds its limit."""
    import conjunct

    measures = measure_text(PACKAGE) | measure_fit(Path(conjunct.__file__).parent)
    is_above = False
    for name, limit in LIMITS.items():
        value = measures[name]
        is_above |= value > limit.now
        target = "" if limit.now <= limit.target else f", target {limit.target:,}"
        verdict = "  ABOVE" if value > limit.now else ""
        print(f"{name:37} {value:8,.0f}  at most {limit.now:,}{target}{verdict}")
    return int(is_above)


if __name__ == "__main__":
    sys.exit(main())
