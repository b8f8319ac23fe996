"""Runs every example of README.md and docs/*.md, and compares what it prints with the page.

- A `python` block runs in one namespace for its page. A `text` block directly after it is the
  exact output.
- A `console` block holds `$ conjunct ...` lines, each followed by what it prints; `...` alone on a
  line stands for any lines. A command that must fail says so: `console exit=2`.

A page starts in an empty folder of its own and makes the files it needs.
"""

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from conjunct.cli.app import run as run_app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
# they fit several models, and take seconds
LONG = {"export.md", "faq.md", "paper.md", "report.md", "risk.md", "scale.md", "tags.md"}
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    info: str
    body: str
    line: int
    follows_directly: bool

    @property
    def language(self) -> str:
        return self.info.partition(" ")[0]


def blocks(page: str) -> list[Block]:
    found = []
    end = 0
    for fence in FENCE.finditer(page):
        between = page[end : fence.start()]
        line = page.count("\n", 0, fence.start(2))
        found.append(Block(fence[1].strip(), fence[2], line, not between.strip()))
        end = fence.end()
    return found


def run_python(block: Block, page: Path, namespace: dict[str, object]) -> str:
    # Leading newlines make tracebacks point at the line of the page.
    code = compile("\n" * block.line + block.body, str(page), "exec")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    return printed.getvalue()


def commands(block: Block) -> Iterator[tuple[list[str], str]]:
    for part in re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield shlex.split(command), expected


def run_command(words: list[str]) -> tuple[int, str]:
    """In this process: to start Python takes longer than most commands."""
    assert words[0] == "conjunct", f"a console block runs conjunct only, not {words[0]}"
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        code = run_app(words[1:])
    return code, printed.buffer.getvalue().decode()


def matches(expected: str, actual: str) -> bool:
    lines = [r"(?:.*\n)*" if x == "..." else re.escape(x) + r"\n" for x in expected.splitlines()]
    return re.fullmatch("".join(lines), actual) is not None


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            id=str(page.relative_to(ROOT)),
            marks=[pytest.mark.slow] if page.name in LONG else [],
        )
        for page in PAGES
    ],
)
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    namespace: dict[str, object] = {"__name__": "__main__"}
    printed = None
    for block in blocks(page.read_text(encoding="utf-8")):
        assert "no-run" not in block.info, f"line {block.line}: every example runs"
        if block.language == "text" and block.follows_directly and printed is not None:
            assert printed == block.body, f"line {block.line}"
        printed = run_python(block, page, namespace) if block.language == "python" else None
        if block.language == "console":
            _, _, exit_code = block.info.partition("exit=")
            for words, expected in commands(block):
                code, output = run_command(words)
                shown = f"line {block.line}: $ {shlex.join(words)}\n{output}"
                assert code == int(exit_code or 0), shown
                assert matches(expected, output), f"{shown}--- expected ---\n{expected}"


def test_blocks_know_their_line_and_neighbour() -> None:
    page = "# t\n```python\nprint(1)\n```\n\n```text\n1\n```\nwords\n```text\nother\n```\n"
    assert blocks(page) == [
        Block("python", "print(1)\n", 2, False),
        Block("text", "1\n", 6, True),
        Block("text", "other\n", 10, False),
    ]


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\nc\n", False),
        ("a.c\n", "abc\n", False),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\nd\n", "a\nd\n", True),
        ("a\n...\n", "a\n", True),
        ("...\nd\n", "a\nb\n", False),
        ("", "a\n", False),
    ],
)
def test_dots_stand_for_any_lines(expected: str, actual: str, same: bool) -> None:
    assert matches(expected, actual) is same
