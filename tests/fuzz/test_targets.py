"""Each fuzz target on every case that once failed, and on what Hypothesis makes of good input."""

import random
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expressions.strategies import names
from fuzz.mutations import mutate
from fuzz.targets import CORPUS, READERS, TARGETS, command_line, seeds

KEPT = sorted(path for path in CORPUS.rglob("*") if path.is_file())


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_once_failed_holds(path):
    TARGETS[path.parent.name](path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_good_input_holds(name):
    for content in seeds(name)[:60]:
        TARGETS[name](content)


@st.composite
def changed(draw, name):
    """Good input with pieces cut out, put in, doubled and mixed with other good input."""
    known = _seeds(name)
    content = draw(_one_of(known))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(len(content), start + 30)))
        piece = draw(
            st.sampled_from(_PIECES)
            | st.binary(max_size=8)
            | st.just(content[start:end] * 2)
            | _one_of(known).map(lambda other: other[start:end])  # noqa: B023
        )
        content = content[:start] + piece + content[end:]
    return content


_seeds = cache(seeds)


def _one_of(values):
    """As sampled_from, which would write all values out to say where one came from."""
    return st.integers(0, len(values) - 1).map(values.__getitem__)


_PIECES = [
    b"",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n\n",
    b'"',
    b"'",
    b"\\",
    b",",
    b";",
    b"\t",
]
_PIECES += [
    b"-1",
    b"nan",
    b"1e999",
    b"9" * 40,
    b"null",
    b"[]",
    b"{",
    b"{}",
    b"[" * 2000,
    b"\xed\xa0\x80",
]
_PIECES += [
    "∧".encode(),
    "¬".encode(),
    "\u202e".encode(),
    "ß".encode(),
    b"<script>",
    b"' OR 1=1 --",
]


@pytest.mark.parametrize("name", ["model", "classifier", "groups", "checkpoint", "readers"])
@given(data=st.data())
def test_changed_files(name, data):
    TARGETS[name](data.draw(changed(name)))


@given(
    text=st.lists(st.sampled_from([*'∧∨¬&|~()"\\ ', "⊤", "true", "a", "b c"]) | names).map("".join)
)
def test_texts_of_operators_and_names(text):
    TARGETS["parser"](text.encode("utf-8", "surrogatepass"))


@given(
    content=st.binary(max_size=200),
    kind=st.integers(0, len(READERS) - 1),
    flags=st.integers(0, 255),
)
def test_bytes_are_no_table(content, kind, flags):
    TARGETS["readers"](bytes([kind, flags]) + content)


@given(lines=st.lists(st.lists(names | st.text(max_size=6), max_size=4).map(",".join), max_size=6))
def test_tags(lines):
    TARGETS["tags"]("\n".join(lines).encode("utf-8", "surrogatepass"))


@given(choices=st.binary(max_size=14))
def test_command_lines(choices):
    TARGETS["command"](choices)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("max-iter-beyond-any-count", ["--max-iter", "9" * 30]),
        ("surrogate-as-a-word-for-missing", ["--null", "\ud800"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_command_kept_is_the_one_that_failed(name, words):
    """Options are kept as numbers, and a new option changes what they mean."""
    kept = (CORPUS / "command" / name).read_bytes()
    assert command_line(kept) == ["fit", "t.csv", *words]


@pytest.mark.parametrize("name", ["model", "classifier", "groups", "checkpoint"])
@given(seed=st.integers(0, 2**32), k=st.integers(0, 99))
def test_files_with_other_values(name, seed, k):
    """Files that are JSON still, with some of their values replaced, moved or left out."""
    known = _seeds(name)
    TARGETS[name](mutate(known[k % len(known)], random.Random(seed)))


def test_every_reader_has_seeds():
    assert {content[0] for content in seeds("readers")} >= set(range(len(READERS)))
