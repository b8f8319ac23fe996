"""Atomic writing of output files and Boolean tables."""

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
    """Return the file that writing to ``path`` creates or replaces, after checking it."""
    # replace the target of a link, and keep the link
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise InputError(f"{path} is a folder: choose a file to write")
    if target.exists() and not target.is_file():
        raise InputError(f"{path} is not an ordinary file: choose another file")
    # a link may point to a folder that does not exist
    folder = target.parent if Path(path).is_symlink() else Path(path).parent
    if not target.parent.is_dir():
        raise InputError(f"{folder} is not a folder: create it first")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError(f"{folder} is read-only: choose another folder")
    return target


def check_page_target(path: StrPath) -> Path:
    """Check the target of a page for a browser, whose name must end in .html or .htm."""
    target = check_target(path)
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path}: a report is a page for a browser: name it .html")
    return target


def write_atomically(path: StrPath, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary file in the same folder, and rename it to ``path``.

    After an error, ``path`` is unchanged and no other file remains. If the process is killed, the
    next one that writes to the folder removes its temporary file.
    """
    target = check_target(path)
    # names are specific to this machine, because locks on a network may be
    prefix = f".conjunct-{zlib.crc32(platform.node().encode()):08x}-"
    for leftover in target.parent.glob(f"{prefix}*{_SUFFIX}"):
        # running processes lock theirs; others may be gone already, or belong to another user
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
    # set the name before the file exists, because an interrupt may come at any time
    part, handle = target, -1
    try:
        while True:
            part = target.parent / f"{prefix}{secrets.token_hex(8)}{_SUFFIX}"
            # keep the permissions of the target; the system applies the umask to new files
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
            handle = os.open(part, flags, 0o666 if mode is None else mode)
            # until it is locked, another process may remove the file
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
    """Lock a file until it is closed. False: another process has it. None: locks do not work."""
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
    """Refuse a file name without a format for writing tables, or for lists in cells."""
    kind, _ = find_writer(path)
    if lists and not kind.holds_lists:
        *first, last = (k.extensions[0] for k in FORMATS.values() if k.writes and k.holds_lists)
        raise InputError(f"{path}: a file with lists must end in {', '.join(first)} or {last}")


def write_table(path: StrPath, frame: pl.DataFrame) -> None:
    """Write a table atomically. Booleans are 0/1 in CSV and TSV.

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
    """Write proposals as a table, for a person to write yes or no under ``accept``.

    ``ids`` name the example rows. Without them, rows are numbered from 1.

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
    """Return True if the name of a file is that of a sparse matrix."""
    sparse = (kind.extensions for kind in FORMATS.values() if kind.writes == "matrices")
    return any(Path(path).suffix.lower() in extensions for extensions in sparse)


def write_sparse(path: StrPath, table: BooleanData) -> None:
    """Write a table atomically as a sparse matrix, whose columns have numbers instead of names."""
    if table.n_missing:
        raise InputError(f"{path}: a sparse file cannot have missing cells: use .csv or .parquet")
    if table.ids is not None:
        raise InputError(f"{path}: a sparse file cannot have ids: leave --id out, or use .parquet")
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
            # polars reports a full disk as a PolarsError
            raise OSError(f"{path} cannot be written: {first_line(error)}") from None

    write_atomically(path, write)
