"""Reading and writing files: tables, tags, models, and nothing half-written."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conjunct.io.streaming import Stream, stream
    from conjunct.io.synonyms import read_synonyms, write_review
    from conjunct.io.tables import read_boolean, read_table
    from conjunct.io.writing import write_table

_HOME_OF = {
    "Stream": "streaming",
    "read_boolean": "tables",
    "read_table": "tables",
    "read_synonyms": "synonyms",
    "stream": "streaming",
    "write_review": "synonyms",
    "write_table": "writing",
}

__all__ = [
    "Stream",
    "read_boolean",
    "read_synonyms",
    "read_table",
    "stream",
    "write_review",
    "write_table",
]


def __getattr__(name: str) -> Any:
    # readers are imported when one is used: a model file needs none of them
    if name in _HOME_OF:
        return getattr(importlib.import_module(f"conjunct.io.{_HOME_OF[name]}"), name)
    raise AttributeError(f"module 'conjunct.io' has no attribute {name!r}")
