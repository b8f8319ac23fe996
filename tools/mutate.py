"""Mutation testing: ``python tools/mutate.py ufc features --mutants 30``.

Changes one operator, comparison or constant of a folder of ``src/conjunct`` at a time, in a copy,
and runs the tests of that folder. A mutant that no test notices survives: either a test is missing,
or the change makes no difference. Mutants are drawn at random by a seed.

A first run without a change records which lines each test reaches, and how long it takes; it is
kept in ``build/mutation`` until the folder changes. Of each mutant, the tests that reach the change
run first, the quickest of them before the others.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
# tests elsewhere that compare a folder with its oracle
ALSO = {
    "features": [
        "ufc/test_bits.py",
        "ufc/test_evidence.py",
        "estimators/test_groups.py",
        "estimators/test_curation.py",
        "estimators/test_missing.py",
        "files/test_model_sources.py",
    ],
    "explain": [
        "estimators/test_groups.py",
        "estimators/test_comparing.py",
        "cli/test_groups.py",
        "cli/test_show_and_export.py",
        "report/test_numbers.py",
    ],
    "counting": ["columns", "ufc/test_ufc.py", "ufc/test_evidence.py"],
    "columns": ["counting", "features/test_code.py", "ufc/test_evidence.py"],
}
# what a test file mentions whose lines are not all recorded: other processes, remembered results
UNRECORDED = re.compile(r"subprocess|multiprocessing|Process|dask|import runs|cache")
OPTIONS = ["-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "mutate"]
WRONG_USE, NO_TESTS = 4, 5  # exit statuses of pytest
TAKEN: dict[str, float] = {}
Mutation = tuple[ast.AST, Callable[[ast.AST], None]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--mutants", type=int, default=30, help="of each folder")
    parser.add_argument("--numbers", type=int, nargs="*", help="only these of the mutants, from 0")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=300, help="time limit of one test")
    given = parser.parse_args()
    for folder in given.folders:
        known = recorded(folder)
        states = []
        drawn = sample(folder, given.mutants, random.Random(given.seed))
        for path, number in [drawn[k] for k in given.numbers or range(len(drawn))]:
            code, what, lines = mutant(path, number)
            start = time.monotonic()
            ranks = order(known, path, lines)
            state, by = try_mutant(path, code, ranks, known["new"], given.seconds)
            states.append(state)
            seconds, place = time.monotonic() - start, path.relative_to(ROOT / "src" / "conjunct")
            print(f"{state:8} {seconds:4.0f} s {place}:{what}   {by}", flush=True)
        killed = len(states) - states.count("SURVIVED")
        print(f"{folder}: {killed} of {len(states)} killed, {killed / len(states):.0%}", flush=True)


def sample(folder: str, n: int, rng: random.Random) -> list[tuple[Path, int]]:
    """Draw mutations from all of a folder: a file, and the number of the mutation in it."""
    found = [
        (path, k)
        for path in sorted((ROOT / "src" / "conjunct" / folder).rglob("*.py"))
        for k in range(len(list(mutations(ast.parse(path.read_text("utf-8"))))))
    ]
    return rng.sample(found, min(n, len(found)))


def mutant(path: Path, number: int) -> tuple[str, str, range]:
    """Return the code with one mutation, where and what it is, and the lines of its statement."""
    tree = ast.parse(path.read_text("utf-8"))
    node, change = list(mutations(tree))[number]
    around = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and node in ast.walk(n)]
    statement = max(around, key=lambda n: n.lineno)
    inner = [n.lineno for n in getattr(statement, "body", []) if n is not node]
    lines = range(
        statement.lineno, max(min(inner, default=statement.end_lineno + 1), node.end_lineno + 1)
    )
    before = ast.unparse(node)
    change(node)
    texts = [" ".join(text.split())[:80] for text in (before, ast.unparse(node))]
    return ast.unparse(tree), f"{node.lineno}: {texts[0]}  ->  {texts[1]}", lines


def mutations(tree: ast.AST) -> Iterator[Mutation]:
    """Yield every mutation of code that runs and is not a message."""
    for node in _nodes(tree):
        if isinstance(node, ast.Compare):
            for k, operator in enumerate(node.ops):
                if type(operator) in SWAPS:
                    yield node, lambda n, k=k: n.ops.__setitem__(k, SWAPS[type(n.ops[k])]())
        elif isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in SWAPS:
            yield node, lambda n: setattr(n, "op", SWAPS[type(n.op)]())
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            yield node, lambda n: setattr(n, "op", ast.UAdd() if _is_minus(n) else _double_not(n))
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
            yield node, lambda n: setattr(n, "value", _other(n.value))
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            yield node, lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test))


def _is_minus(node: ast.UnaryOp) -> bool:
    return isinstance(node.op, ast.USub)


def _double_not(node: ast.UnaryOp) -> ast.Not:
    node.operand = ast.UnaryOp(ast.Not(), copy.copy(node.operand))
    return ast.Not()


def _other(value: bool | int) -> bool | int:
    return not value if isinstance(value, bool) else value + 1


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield nodes, but none of annotations, messages of errors, and imports for types."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.Raise | ast.JoinedStr):
                continue
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                continue
            yield node
            yield from _nodes(node)


def recorded(folder: str) -> dict[str, Any]:
    """Return the seconds of each test of a folder, and by file and line the tests that reach it."""
    import coverage

    sources = sorted((ROOT / "src" / "conjunct" / folder).rglob("*.py"))
    state = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    kept = ROOT / "build" / "mutation" / f"{folder}.json"
    tests = [ROOT / "tests" / name for name in (folder, *ALSO.get(folder, ()))]
    if kept.exists() and (known := json.loads(kept.read_text("utf-8")))["state"] == state:
        files = [
            f for test in tests for f in (test.rglob("test_*.py") if test.is_dir() else [test])
        ]
        since = kept.stat().st_mtime
        return known | {
            "new": [str(f.relative_to(ROOT)) for f in files if f.stat().st_mtime > since]
        }
    with tempfile.TemporaryDirectory(prefix="conjunct-mutant-") as made:
        settings, data = Path(made, "settings"), Path(made, "data")
        settings.write_text(f"[run]\nsource = conjunct.{folder}\ndata_file = {data}\n", "utf-8")
        options = [f"--cov-config={settings}", "--cov", "--cov-context=test", "--cov-report="]
        code, said, seconds = run(ROOT / "src", [*options, *map(str, tests)], {}, None)
        if code:
            raise SystemExit(f"tests fail without a change:\n{said[-3000:]}")
        lines = coverage.CoverageData(str(data))
        lines.read()
        known = {"state": state, "seconds": seconds, "folder": folder, "reached": {}}
        for file in lines.measured_files():
            by_line = {
                line: sorted({context.partition("|")[0] for context in contexts})
                for line, contexts in lines.contexts_by_lineno(file).items()
            }
            known["reached"][str(Path(file).relative_to(ROOT))] = by_line
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(known), "utf-8")
    return recorded(folder)


def order(known: dict[str, Any], path: Path, lines: range) -> dict[str, float]:
    """Return when each test runs: those that reach the lines, then those that may; -1 is never.

    All tests depend on what is reached before any test, by imports.
    """
    by_line = known["reached"].get(str(path.relative_to(ROOT)), {})
    reached = {test for line in lines for test in by_line.get(str(line), ())}
    files = {test.partition("::")[0] for test in reached}
    ranks = {}
    for test, seconds in known["seconds"].items():
        file = test.partition("::")[0]
        if test in reached or "" in reached:
            ranks[test] = seconds
        elif file in files or UNRECORDED.search((ROOT / file).read_text("utf-8")):
            # a fixture that the test shares with others may reach them
            ranks[test] = 1000 + seconds
        else:
            ranks[test] = -1
    return ranks


def try_mutant(
    path: Path, code: str, ranks: dict[str, float], new: list[str], limit: float
) -> tuple[str, str]:
    """Return what the tests did - killed it, hung, or noticed nothing - and which test failed."""
    files = {test.partition("::")[0] for test, rank in ranks.items() if rank >= 0} | set(new)
    if not files:
        return "SURVIVED", ""
    with tempfile.TemporaryDirectory(prefix="conjunct-mutant-") as copied:
        source = Path(copied, "src")
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        (source / path.relative_to(ROOT / "src")).write_text(code, "utf-8")
        whole = 2 * limit + 5 * sum(rank % 1000 for rank in ranks.values() if rank >= 0)
        try:
            done, said, _ = run(source, ["-x", f"--timeout={limit}", *sorted(files)], ranks, whole)
        except subprocess.TimeoutExpired:
            return "hung", ""
    if done in (0, NO_TESTS):
        return "SURVIVED", ""
    if done == WRONG_USE and "while loading conftest" not in said:
        raise SystemExit(said[-3000:])
    by = re.search(r"^(?:FAILED|ERROR) (?:\S*/)?(\S+)", said, re.MULTILINE)
    return "killed", by[1] if by else f"exit status {done}"


def run(
    source: Path, options: list[str], ranks: dict[str, float], limit: float | None
) -> tuple[int, str, dict[str, float]]:
    """Run tests on sources, in an order; return the exit status, what was said, and seconds."""
    with tempfile.TemporaryDirectory(prefix="conjunct-mutant-") as made:
        plan = Path(made, "plan.json")
        plan.write_text(json.dumps(ranks), "utf-8")
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(source), str(ROOT), str(ROOT / "tools")]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "CONJUNCT_MUTATION_PLAN": str(plan),
            "CI": "mutation",  # the same examples of Hypothesis each time
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *OPTIONS, *options],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=limit)
        finally:
            # with the processes that its tests have left
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        seconds = Path(made, "seconds.json")
        taken = json.loads(seconds.read_text("utf-8")) if seconds.exists() else {}
        return process.returncode, said.decode(errors="replace"), taken


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Put tests into the order of the plan, and leave out those ranked below 0 (for pytest)."""
    ranks = json.loads(Path(os.environ["CONJUNCT_MUTATION_PLAN"]).read_text("utf-8"))
    config.hook.pytest_deselected(items=[i for i in items if ranks.get(i.nodeid, 0) < 0])
    # tests written since come first
    items[:] = sorted(
        (i for i in items if ranks.get(i.nodeid, 0) >= 0), key=lambda i: ranks.get(i.nodeid, 0)
    )


def pytest_runtest_logreport(report: Any) -> None:
    TAKEN[report.nodeid] = TAKEN.get(report.nodeid, 0) + report.duration


def pytest_sessionfinish() -> None:
    Path(os.environ["CONJUNCT_MUTATION_PLAN"]).with_name("seconds.json").write_text(
        json.dumps(TAKEN), "utf-8"
    )


if __name__ == "__main__":
    main()
