"""Tables of Booleans to files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conjunct.data import BooleanData
from conjunct.errors import InputError
from conjunct.files.atomic import write_atomically
from conjunct.files.formats.base import FORMATS, Writes, find_writer
from conjunct.files.raw import StrPath, check_name, first_line

if TYPE_CHECKING:
    import polars as pl

    from conjunct.data import Change


def check_table_target(path: StrPath, *, lists: bool = False) -> None:
    """Refuse a name that says no kind of table which is written, or none that can hold lists."""
    kind, _ = find_writer(path)
    if lists and not kind.holds_lists:
        *first, last = (k.extensions[0] for k in FORMATS.values() if k.writes and k.holds_lists)
        raise InputError(f"{path}: lists are written as {', '.join(first)} or {last}")


def write_table(path: StrPath, frame: pl.DataFrame) -> None:
    """Write a table, whole or not at all: Booleans are 0/1 in CSV and TSV.

    Examples
    --------
    >>> import polars as pl
    >>> from conjunct.files import read_table, write_table
    >>> write_table("tags.csv", pl.DataFrame({"sky": [True, False]}))
    >>> read_table("tags.csv").rows()
    [(True,), (False,)]
    """
    _write(path, "tables", frame)


def as_csv(frame: pl.DataFrame) -> str:
    """Return a table of Booleans as CSV text, as ``write_table`` writes it."""
    content = io.BytesIO()
    FORMATS["csv"].write(content, frame, "uncompressed")
    return content.getvalue().decode()


def write_review(path: StrPath, changes: Sequence[Change], ids: Sequence[str] = ()) -> None:
    """Write proposals as a table; whoever reads it writes yes or no under ``accept``.

    ``ids`` name the example rows, which are numbered from 1 otherwise.

    Examples
    --------
    >>> from conjunct.data import Change
    >>> from conjunct.files import read_review, write_review
    >>> change = Change("same", "brook", "stream", 40, "in the same 40 rows", (0, 1))
    >>> write_review("review.csv", [change])
    >>> read_review("review.csv")[0].into
    'stream'
    """
    import polars as pl

    def name_rows(rows: Sequence[int]) -> str:
        return "; ".join(ids[row] if ids else str(row + 1) for row in rows)

    columns: dict[str, list[Any]] = {
        "kind": [change.kind for change in changes],
        "from": [change.tag for change in changes],
        "to": [change.into for change in changes],
        "rows": [change.rows for change in changes],
        "why": [change.why for change in changes],
        "examples": [name_rows(change.examples) for change in changes],
        "accept": ["" for _ in changes],
    }
    schema = dict.fromkeys(columns, pl.String) | {"rows": pl.Int64}
    write_table(path, pl.DataFrame(columns, schema=schema))


def is_sparse_file(path: StrPath) -> bool:
    """Return True if the name of a file asks for a sparse matrix."""
    sparse = (kind.extensions for kind in FORMATS.values() if kind.writes == "matrices")
    return any(Path(path).suffix.lower() in extensions for extensions in sparse)


def write_sparse(path: StrPath, table: BooleanData) -> None:
    """Write a table as a sparse matrix, whole or not at all; columns are known by their numbers."""
    if table.n_missing:
        raise InputError(f"{path}: a sparse file has no missing cells: write .csv or .parquet")
    if table.ids is not None:
        raise InputError(f"{path}: a sparse file has no ids: leave --id out, or write .parquet")
    _write(path, "matrices", table.columns.to_scipy())


def _write(path: StrPath, what: Writes, data: Any) -> None:
    import polars as pl

    kind, compression = find_writer(path, what)
    check_name(path)

    def write(part: Path) -> None:
        try:
            with part.open("wb") as file:
                kind.write(file, data, compression)
        except pl.exceptions.PolarsError as error:
            # a full disk, which polars reports as a PolarsError
            raise OSError(f"{path} cannot be written: {first_line(error)}") from None

    write_atomically(path, write)
