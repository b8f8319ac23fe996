"""Output files that are whole or absent, and tables of Booleans written to them."""

from __future__ import annotations

import io
import os
import platform
import secrets
import sys
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conjunct.data import BooleanData
from conjunct.errors import InputError
from conjunct.files.formats.base import FORMATS, Writes, find_writer
from conjunct.files.raw import StrPath, check_name, first_line

if TYPE_CHECKING:
    import polars as pl

    from conjunct.data import Change

_SUFFIX = ".part"


def check_target(path: StrPath) -> Path:
    """Return the file that writing to ``path`` makes or replaces; refuse it if it cannot."""
    # through a link, the file it points to is replaced and the link stays
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise InputError(f"{path} is a folder: choose a file to write")
    if target.exists() and not target.is_file():
        raise InputError(f"{path} is not an ordinary file: choose another file")
    # a link may point into a folder that is not there
    folder = target.parent if Path(path).is_symlink() else Path(path).parent
    if not target.parent.is_dir():
        raise InputError(f"{folder} is not a folder: create it first")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError(f"{folder} is read-only: choose another folder")
    return target


def check_page_target(path: StrPath) -> Path:
    """Check the target of a page for a browser, whose name must say so."""
    target = check_target(path)
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path}: a report is a page for a browser: name it .html")
    return target


def write_atomically(path: StrPath, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a file beside ``path``, then rename it into place.

    If anything goes wrong, ``path`` keeps what it held before and no other file remains, unless
    the process is killed outright; then the next one that writes there clears up.
    """
    target = check_target(path)
    # parts of this machine, because some network locks hold for one machine only
    prefix = f".conjunct-{zlib.crc32(platform.node().encode()):08x}-"
    for leftover in target.parent.glob(f"{prefix}*{_SUFFIX}"):
        # those of living processes are locked; others may be gone already, or not ours to remove
        with suppress(OSError):
            handle = os.open(leftover, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
            try:
                if _try_lock(handle):
                    leftover.unlink()
            finally:
                os.close(handle)
    try:
        mode = target.stat().st_mode & 0o777
    except FileNotFoundError:
        mode = None
    # an interrupt may come between any two steps: the name is known before the file exists
    part, handle = target, -1
    try:
        while True:
            part = target.parent / f"{prefix}{secrets.token_hex(8)}{_SUFFIX}"
            # the system applies the umask; who may not read the target may not read the part
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
            handle = os.open(part, flags, 0o666 if mode is None else mode)
            # no process removes a part that is locked; before, one may take it for abandoned
            if _try_lock(handle) is not False and part.exists():
                break
            os.close(handle)
            handle = -1
        write(part)
        if mode is not None:
            part.chmod(mode)
        part.replace(target)
    except BaseException as error:
        if part != target:
            part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and error.filename in (None, str(part)):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    finally:
        if handle >= 0:
            os.close(handle)


def _try_lock(handle: int) -> bool | None:
    """Lock a file until it is closed; False if another process has, None if locks do not work."""
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


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
