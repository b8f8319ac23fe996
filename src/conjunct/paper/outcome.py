"""What an experiment gives: rows of plain data, and charts of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """One table or figure of the paper, or of what goes past it.

    ``name`` is that of its files; ``charts`` are made when asked for, by the ending of their name
    (an empty one for the only chart).
    """

    name: str
    title: str
    text: str
    rows: Sequence[Row]
    charts: Mapping[str, Callable[[], Any]] = field(default_factory=dict)

    @cached_property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(column for row in self.rows for column in row))

    def csv(self) -> str:
        """The rows as CSV; numbers are rounded to six decimals, what is unknown is empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.rows:
            writer.writerow([printed(row.get(column)) for column in self.columns])
        return text.getvalue()


def printed(value: Any) -> str:
    """A cell of a table as text."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if 0 < abs(value) < 1e-4:
            return f"{value:.3g}"
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return str(value)
