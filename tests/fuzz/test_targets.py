"""Each fuzz target on every case that once failed, and on what Hypothesis makes of good input."""

import json
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expressions.strategies import names
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


@pytest.mark.parametrize("name", ["model", "readers"])
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


# JSON of any shape where the model file has some
_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 60)
    | st.sampled_from([2**31, 2**63, -(2**63), 10**40, 0.5, -0.0, 1e308, "", "a", "UFC", "∧"])
)
_values = st.recursive(
    _scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(data=st.data())
def test_models_with_other_values(data):
    """Model files that are JSON still, with some of their values replaced, moved or left out."""
    content = json.loads(data.draw(_one_of(_seeds("model"))))
    for _ in range(data.draw(st.integers(1, 3))):
        places = list(_places(content))
        holder, key = data.draw(_one_of(places))
        what = data.draw(st.sampled_from(["replace", "remove", "copy", "add"]))
        if what == "remove":
            del holder[key]
        elif what == "copy":
            other, its_key = data.draw(_one_of(places))
            if key in holder if isinstance(holder, dict) else key < len(holder):
                holder[key] = json.loads(json.dumps(other[its_key]))
        elif what == "add" and isinstance(holder, list):
            holder.insert(key, data.draw(_values))
        else:
            holder[key] = data.draw(_values)
        if not any(True for _ in _places(content)):
            break
    TARGETS["model"](json.dumps(content).encode())


def _places(value):
    """Every holder and key of a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


def test_every_reader_has_seeds():
    assert {content[0] for content in seeds("readers")} >= set(range(len(READERS)))
