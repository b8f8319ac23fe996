"""What the benchmark of engines kills, and that the model is the same."""

import os
import sys

import pytest
from benchmarks import cluster
from benchmarks._apart import measured_apart

import spark

# two Javas and their workers of Python start, and one of them anew
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

N_ROWS = 20_000


def fitted(tmp_path, engine: str, kill: int):  # type: ignore[no-untyped-def]
    files = cluster.engine_files(tmp_path, N_ROWS, N_ROWS // 4)
    assert len(files) == 4
    return measured_apart("benchmarks._engines", engine, kill, 20, "sparse", *files)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
@pytest.mark.parametrize("engine", ["dask", "spark"])
def test_a_lost_process_changes_nothing(tmp_path, engine) -> None:  # type: ignore[no-untyped-def]
    """A worker of Dask; an executor of Spark, whose Java is not that of the driver.

    It goes with the parts as they were read, and with those that are kept with some merges.
    """
    if engine == "spark" and (reason := spark.missing()):
        # a test that is skipped everywhere would never fail
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    expected = fitted(tmp_path, "disk", 0)
    actual = fitted(tmp_path, engine, 18)
    assert actual["kill"]
    assert actual["model"] == expected["model"]
