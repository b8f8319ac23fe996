"""Mutation testing: ``python tools/mutate.py ufc features --mutants 30``.

Changes one operator, comparison or constant of a folder of ``src/conjunct`` at a time, in a copy,
and runs the tests of that folder. A mutant that no test notices survives: either a test is missing,
or the change makes no difference. Mutants are drawn at random by a seed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

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
Mutation = tuple[ast.AST, Callable[[ast.AST], None]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--mutants", type=int, default=30, help="of each folder")
    parser.add_argument("--numbers", type=int, nargs="*", help="only these of the mutants, from 0")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=300, help="time limit of one mutant")
    given = parser.parse_args()
    for folder in given.folders:
        survivors, total = 0, 0
        drawn = sample(folder, given.mutants, random.Random(given.seed))
        for path, number in [drawn[k] for k in given.numbers or range(len(drawn))]:
            code, what = mutant(path, number)
            state = try_mutant(folder, path, code, given.seconds)
            survivors, total = survivors + (state != "killed"), total + 1
            sys.stdout.write(f"{state:8} {path.relative_to(ROOT)}:{what}\n")
            sys.stdout.flush()
        killed = total - survivors
        sys.stdout.write(f"{folder}: {killed} of {total} killed, {killed / total:.0%}\n")


def sample(folder: str, n: int, rng: random.Random) -> list[tuple[Path, int]]:
    """Draw mutations from all of a folder: a file, and the number of the mutation in it."""
    found = [
        (path, k)
        for path in sorted((ROOT / "src" / "conjunct" / folder).rglob("*.py"))
        for k in range(len(list(mutations(ast.parse(path.read_text("utf-8"))))))
    ]
    return rng.sample(found, min(n, len(found)))


def mutant(path: Path, number: int) -> tuple[str, str]:
    """Return the code with one mutation, and where and what it is."""
    tree = ast.parse(path.read_text("utf-8"))
    node, change = list(mutations(tree))[number]
    before = ast.unparse(node)
    change(node)
    texts = [" ".join(text.split())[:80] for text in (before, ast.unparse(node))]
    return ast.unparse(tree), f"{node.lineno}: {texts[0]}  ->  {texts[1]}"


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


def try_mutant(folder: str, path: Path, code: str, seconds: float) -> str:
    """Return what the tests of the folder did: killed it, took too long, or noticed nothing."""
    tests = sorted((ROOT / "tests" / folder).rglob("test_*.py"))
    # those of the same name first: they are the likeliest to fail
    tests.sort(key=lambda test: path.stem not in test.stem and test.stem[5:9] not in path.stem)
    also = [ROOT / "tests" / name for name in ALSO.get(folder, ())]
    tests += [test for test in also if test.exists()]
    with tempfile.TemporaryDirectory(prefix="conjunct-mutant-") as copied:
        source = Path(copied, "src")
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        (source / path.relative_to(ROOT / "src")).write_text(code, "utf-8")
        options = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:randomly"]
        command = [sys.executable, "-m", "pytest", *options, *map(str, tests)]
        environment = os.environ | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            # a busy machine may be the reason, so that it does not count as killed
            return "too slow"
        if done.returncode not in (0, 1, 2):
            raise SystemExit(done.stdout.decode()[-2000:] + done.stderr.decode()[-2000:])
        return "killed" if done.returncode else "SURVIVED"


if __name__ == "__main__":
    main()
