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
import importlib
import json
import math
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import coverage
import pytest
from hypothesis import Phase, settings

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
# arguments that only assert something, or help the garbage collector
ASSERTED = {"strict", "frozen", "gc"}
# tests elsewhere that compare a folder with its oracle
ALSO = {
    "ufc": [
        "estimators/test_metamorphic.py",
        "estimators/test_missing.py",
        "estimators/test_rare.py",
        "files/test_model.py",
        "files/test_model_sources.py",
    ],
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
OPTIONS = ["-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:randomly"]
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
# they take seconds to import
for name in (
    "numpy",
    "scipy.optimize",
    "scipy.stats",
    "pandas",
    "sklearn.tree",
    "hypothesis.extra",
):
    importlib.import_module(name)
TESTS_FAILED, WRONG_USE, NO_TESTS, BROKEN = 1, 4, 5, 99  # exit statuses of pytest, and ours
SLOWEST = 10  # a test that takes more seconds is left out
QUICK, MAY = 2, 10_000  # seconds of a quick test; the rank from which a test only may reach a line
Found = tuple[str, str]
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
            state, by = try_mutant(path, code, ranks, given.seconds)
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
    """Yield nodes, but none of annotations, messages of errors, assertions, imports for types."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.Raise | ast.JoinedStr):
                continue
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                continue
            if isinstance(node, ast.keyword) and node.arg in ASSERTED:
                continue
            yield node
            yield from _nodes(node)


def recorded(folder: str) -> dict[str, Any]:
    """Return the seconds of each test of a folder, and by file and line the tests that reach it.

    Only test files that have changed since are run again.
    """
    sources = sorted((ROOT / "src" / "conjunct" / folder).rglob("*.py"))
    state = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    kept = ROOT / "build" / "mutation" / f"{folder}.json"
    known = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    if known.get("state") != state:
        known = {"state": state, "files": {}, "seconds": {}, "reached": {}}
    tests = [ROOT / "tests" / name for name in (folder, *ALSO.get(folder, ()))]
    files = [f for test in tests for f in ([*test.rglob("test_*.py")] if test.is_dir() else [test])]
    now = {
        str(file.relative_to(ROOT)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files
    }
    if changed := {file for file in now if known["files"].get(file) != now[file]}:
        seconds, reached = record(folder, sorted(changed))
        before = known["seconds"].items()
        kept_seconds = {test: x for test, x in before if file_of(test) in now.keys() - changed}
        known |= {"files": now, "seconds": kept_seconds | seconds}
        for path, by_line in reached.items():
            lines = known["reached"].setdefault(path, {})
            for line, found in by_line.items():
                earlier = {test for test in lines.get(line, ()) if file_of(test) not in changed}
                lines[line] = sorted(earlier | found)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(known), "utf-8")
    return known


def record(
    folder: str, files: list[str]
) -> tuple[dict[str, float], dict[str, dict[str, set[str]]]]:
    """Run test files on the code as it is: seconds of tests, and the tests that reach lines."""
    with tempfile.TemporaryDirectory(prefix="conjunct-mutant-") as made:
        settings, data = Path(made, "settings"), Path(made, "data")
        settings.write_text(f"[run]\nsource = conjunct.{folder}\ndata_file = {data}\n", "utf-8")
        options = [f"--cov-config={settings}", "--cov", "--cov-context=test", "--cov-report="]
        code, said, seconds = run(ROOT / "src", [*options, *files], {}, None)
        if code not in (0, TESTS_FAILED):
            raise SystemExit(said[-3000:])
        if failing := [test for test, taken in seconds.items() if taken == math.inf]:
            print("fail without a change and are left out:", *failing, sep="\n", flush=True)
        lines = coverage.CoverageData(str(data))
        lines.read()
        reached = {
            str(Path(file).relative_to(ROOT)): {
                str(line): {context.partition("|")[0] for context in contexts}
                for line, contexts in lines.contexts_by_lineno(file).items()
            }
            for file in lines.measured_files()
            # tests may write modules of their own
            if Path(file).is_relative_to(ROOT)
        }
    return seconds, reached


def file_of(test: str) -> str:
    return test.partition("::")[0]


def order(known: dict[str, Any], path: Path, lines: range) -> dict[str, float]:
    """Return when each test runs: those that reach the lines, then those that may; -1 is never.

    What imports reach may matter to all tests that reach the file.
    """
    by_line = known["reached"].get(str(path.relative_to(ROOT)), {})
    reached = {test for line in lines for test in by_line.get(str(line), ())}
    if "" in reached:
        reached = {test for tests in by_line.values() for test in tests}
    files = {file_of(test) for test in reached}
    ranks = {}
    for test, seconds in known["seconds"].items():
        file = file_of(test)
        if seconds > SLOWEST:
            ranks[test] = -1
        elif test in reached:
            ranks[test] = seconds
        elif file in files or UNRECORDED.search((ROOT / file).read_text("utf-8")):
            # a fixture that the test shares with others may reach them
            ranks[test] = MAY + seconds
        else:
            ranks[test] = -1
    return ranks


def try_mutant(path: Path, code: str, ranks: dict[str, float], limit: float) -> Found:
    """Return what the tests did - killed it, hung, or noticed nothing - and which test failed."""
    with tempfile.TemporaryDirectory(prefix="conjunct-mutant-") as copied:
        source = Path(copied, "src")
        # with what was compiled
        shutil.copytree(ROOT / "src", source)
        (source / path.relative_to(ROOT / "src")).write_text(code, "utf-8")
        for some in rounds(path, ranks):
            whole = 2 * limit + 5 * sum(rank % MAY for rank in some.values() if rank >= 0)
            files = sorted({file_of(test) for test, rank in some.items() if rank >= 0})
            try:
                done, said, _ = run(source, ["-x", f"--timeout={limit}", *files], some, whole)
            except TimeoutError:
                return "hung", ""
            if done == BROKEN or (done == WRONG_USE and "while loading conftest" not in said):
                raise SystemExit(said[-3000:])
            if done not in (0, NO_TESTS):
                by = re.search(r"^(?:FAILED|ERROR) (?:\S*/)?(\S+)", said, re.MULTILINE)
                return "killed", by[1] if by else f"exit status {done}"
    return "SURVIVED", ""


def rounds(path: Path, ranks: dict[str, float]) -> Iterator[dict[str, float]]:
    """Yield the plan of some tests and of the others: those of two files take no long imports."""
    chosen = {test for test, rank in ranks.items() if 0 <= rank < MAY}
    files = Counter(file_of(test) for test in chosen if ranks[test] < QUICK)
    alike = sorted(files, key=lambda file: (path.stem not in file, -files[file], file))
    first = {*alike[:2]}
    one = {test: rank if file_of(test) in first else -1 for test, rank in ranks.items()}
    if max(one.values(), default=-1) >= 0:
        yield one
    other = {test: -1 if one[test] >= 0 else rank for test, rank in ranks.items()}
    if max(other.values(), default=-1) >= 0:
        yield other


def run(
    source: Path, options: list[str], ranks: dict[str, float], limit: float | None
) -> tuple[int, str, dict[str, float]]:
    """Run tests on sources, in an order; return the exit status, what was said, and seconds."""
    with tempfile.TemporaryDirectory(prefix="conjunct-mutant-") as made:
        said, taken = Path(made, "said.txt"), Path(made, "seconds.json")
        # a copy of this process has what tests import
        if not (child := os.fork()):
            try:
                os.setsid()
                for stream in (1, 2):
                    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
                status = run_here(source, options, ranks, taken)
            except BaseException:  # noqa: BLE001
                traceback.print_exc()
                status = BROKEN
            os._exit(status)
        end, done = time.monotonic() + (limit or math.inf), 0
        while not done and time.monotonic() < end:
            time.sleep(0.05)
            done, status = os.waitpid(child, os.WNOHANG)
        # with the processes that its tests have left
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        if not done:
            os.waitpid(child, 0)
            raise TimeoutError
        seconds = json.loads(taken.read_text("utf-8")) if taken.exists() else {}
        return os.waitstatus_to_exitcode(status), said.read_text("utf-8", "replace"), seconds


def run_here(source: Path, options: list[str], ranks: dict[str, float], taken: Path) -> int:
    """Run tests in this process."""
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(source), str(ROOT)]
    # the same examples of Hypothesis each time
    os.environ |= {"PYTHONPATH": os.pathsep.join(sys.path[:2]), "CI": "mutation"}
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.chdir(ROOT)
    plan = Plan(ranks)
    status = pytest.main([*OPTIONS, *options], [plan])
    taken.write_text(json.dumps(plan.seconds), "utf-8")
    sys.stdout.flush()
    sys.stderr.flush()
    return int(status)


class Plan:
    """Puts tests into an order, leaves out those ranked below 0, and notes their seconds."""

    def __init__(self, ranks: dict[str, float]) -> None:
        self.ranks = ranks
        self.seconds: dict[str, float] = {}

    def pytest_configure(self) -> None:
        # the first failing example will do
        quick = settings.get_profile("quick")
        settings.register_profile(
            "mutation", quick, phases=[Phase.explicit, Phase.generate], database=None
        )
        settings.load_profile("mutation")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        # a change may rename tests
        rank = {item: self.ranks.get(item.nodeid, 0) for item in items}
        config.hook.pytest_deselected(items=[item for item in items if rank[item] < 0])
        items[:] = sorted((item for item in items if rank[item] >= 0), key=rank.__getitem__)

    def pytest_runtest_logreport(self, report: Any) -> None:
        taken = math.inf if report.failed else report.duration
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + taken


if __name__ == "__main__":
    main()
