"""SLIM of scikit-mine 1.0.0, in an environment of its own: it needs libraries of old versions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._apart import ONE_THREAD, Measurement

FOLDER = Path(__file__).resolve().parents[1] / "build" / "slim"
NEEDS = ("scikit-mine==1.0.0", "numpy<2", "pandas<2", "scikit-learn<1.6")
SECONDS = 900
"""How long SLIM may take on a set."""

_RUN = """
import json, sys, time
from skmine.itemsets import SLIM
rows = [[int(tag) for tag in line.split()] for line in open(sys.argv[1])]
model, start = SLIM(), time.process_time()
model.fit(rows)
seconds = time.process_time() - start
sizes = float(model.data_size_ + model.model_size_)
print(json.dumps({"seconds": seconds, "bits": sizes}))
"""


def environment() -> Path | None:
    """The interpreter with SLIM, made once; ``None`` where it cannot be had."""
    python = FOLDER / "bin" / "python"
    ready = FOLDER / ".ready"
    if ready.exists():
        return python
    print(f"making {FOLDER.name} with {', '.join(NEEDS)}", flush=True)
    try:
        subprocess.run([sys.executable, "-m", "venv", str(FOLDER)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", *NEEDS]
        subprocess.run(install, check=True, stderr=subprocess.PIPE, text=True)
    except subprocess.CalledProcessError as error:
        print(f"SLIM cannot be had here: {(error.stderr or str(error)).strip().splitlines()[-1]}")
        return None
    ready.touch()
    return python


def compressed(python: Path, data: Any) -> Measurement:
    """Seconds of the processor and bits of SLIM on a sparse matrix; or where it was stopped."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.txt"
        rows = np.split(data.indices, data.indptr[1:-1])
        file.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows if len(row)))
        try:
            done = subprocess.run(
                [str(python), "-W", "ignore", "-c", _RUN, str(file)],
                check=True,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                env=os.environ | ONE_THREAD,
            )
        except subprocess.TimeoutExpired:
            return {"stopped": SECONDS}
    return dict(json.loads(done.stdout.splitlines()[-1]))
