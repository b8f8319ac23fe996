"""Coverage-guided fuzzing: ``python tests/fuzz/guided.py TARGET [--seconds 600]``, by atheris.

What fails is written to ``corpus/TARGET/`` beside this file, and from then on is a regression case
of ``test_targets.py``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import atheris

with atheris.instrument_imports(include=["conjunct"]):
    from fuzz.targets import CORPUS, TARGETS, seeds


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=600)
    given = parser.parse_args()
    kept = CORPUS / given.target
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="conjunct-corpus-") as folder:
        for number, content in enumerate(seeds(given.target)):
            (Path(folder) / f"seed-{number}").write_bytes(content)
        options = [
            f"-max_total_time={given.seconds}",
            f"-artifact_prefix={kept}/",
            "-max_len=4096",
            "-timeout=20",
            "-rss_limit_mb=4096",
            "-print_final_stats=1",
            "-verbosity=0",
        ]
        atheris.Setup([sys.argv[0], *options, folder], TARGETS[given.target])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
