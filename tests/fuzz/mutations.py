"""Changes of good files: values of their JSON replaced, moved, doubled or left out, and bytes."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

_VALUES: list[Any] = [None, True, False, -1, 0, 1, 2, 3, 7, 40, 100, 2**31, 2**32, 2**53, 2**62]
_VALUES += [2**63, 2**64, -(2**63), 10**30, 0.5, -0.0, 1e-300, 1e18, 1e308, "", "a", "b", "UFC"]
_VALUES += ["\u2227", "x\ny", "\ud800", [], {}, [[]], [0], [1, 2], [0, 0, 0], {"rule": "bits"}]
_BYTES = [b"", b"\0", b"\xff", b'"', b"\\", b",", b"1e999", b"9" * 40, b"null", b"[" * 2000, b"}"]


def mutate(content: bytes, rng: random.Random) -> bytes:
    """Return a file with one to three changes, of its values or now and then of its bytes."""
    if rng.random() < 0.15:
        return _change_bytes(content, rng)
    lines = content.splitlines()
    k = rng.randrange(len(lines))
    value = json.loads(lines[k])
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = list(_places(value))
        if places:
            _change_value(places, rng)
    lines[k] = json.dumps(value, separators=(",", ":")).encode()
    return b"\n".join(lines) + b"\n" * content.endswith(b"\n")


def _change_value(places: list[tuple[Any, Any]], rng: random.Random) -> None:
    holder, key = rng.choice(places)
    old = holder[key]
    what = rng.random()
    if isinstance(old, int | float) and not isinstance(old, bool) and what < 0.5:
        holder[key] = old + rng.choice((-1, 1, -2, 2, 10, 0.5, old, 2**31))
    elif what < 0.6:
        del holder[key]
    elif what < 0.75:
        other, its_key = rng.choice(places)
        holder[key] = json.loads(json.dumps(other[its_key]))
    elif what < 0.85 and isinstance(holder, list):
        holder.insert(key, json.loads(json.dumps(old)))
    elif what < 0.9 and isinstance(old, list) and old:
        rng.shuffle(old)
    elif what < 0.93 and isinstance(old, list):
        holder[key] = old * rng.choice((2, 5, 300))
    else:
        # a copy, because a later change may be of it
        holder[key] = copy.deepcopy(rng.choice(_VALUES))


def _change_bytes(content: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(content) + 1)
    end = min(len(content), start + rng.randrange(20))
    piece = rng.choice([*_BYTES, rng.randbytes(3), content[start:end] * 2])
    return content[:start] + piece + content[end:]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every holder and key of a JSON value."""
    if isinstance(value, dict | list):
        for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
            yield value, key
            yield from _places(inner)
