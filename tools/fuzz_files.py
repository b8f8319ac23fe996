"""Fuzz files that conjunct writes: ``python tools/fuzz_files.py --seconds 600``.

Starts from models, classifiers, groups and checkpoints, and changes values of their JSON, or bytes.
Reports every result that is neither a consistent model nor an error of one line, and every case
that takes more than 3 s or 500 MB. Cases that fail are written to ``tests/fuzz/corpus/``, and the
tests try them again.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import resource
import sys
import time
import traceback
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path.insert(0, str(TESTS))

from fuzz.mutations import mutate  # noqa: E402
from fuzz.targets import CORPUS, TARGETS, seeds  # noqa: E402

NAMES = ("model", "classifier", "groups", "checkpoint")
SECONDS, MEGABYTES = 3.0, 500


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    rng = random.Random(given.seed)  # noqa: S311
    end = time.monotonic() + given.seconds
    known = {name: seeds(name) for name in NAMES}
    # imports and compilation on first use must not count for a case
    for name in NAMES:
        for content in known[name]:
            TARGETS[name](content)
    counts, failures = dict.fromkeys(NAMES, 0), set()
    while time.monotonic() < end:
        name = rng.choice(NAMES)
        content = mutate(rng.choice(known[name]), rng)
        counts[name] += 1
        problem = try_case(name, content)
        if problem is not None and problem not in failures:
            failures.add(problem)
            path = CORPUS / name / hashlib.sha256(content).hexdigest()[:12]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            sys.stdout.write(f"{path}: {problem}\n")
            sys.stdout.flush()
    sys.stdout.write(f"seed {given.seed}: {counts}, {len(failures)} problems\n")
    sys.exit(bool(failures))


def try_case(name: str, content: bytes) -> str | None:
    """Return the fault of the answer to a file, or None."""
    before, start = peak_memory(), time.process_time()
    try:
        TARGETS[name](content)
    except Exception as error:  # noqa: BLE001
        where = traceback.extract_tb(error.__traceback__)[-1]
        return (
            f"{type(error).__name__} in {Path(where.filename).name}:{where.lineno}: {error!s:.200}"
        )
    seconds, megabytes = time.process_time() - start, peak_memory() - before
    if seconds > SECONDS:
        return f"{name}: {seconds:.0f} s"
    return f"{name}: {megabytes} MB" if megabytes > MEGABYTES else None


def peak_memory() -> int:
    """Return the peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


if __name__ == "__main__":
    main()
