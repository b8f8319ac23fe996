"""A session of Spark on this machine, for tests."""

import os
import shutil
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    # workers are forked from a process that has conjunct already
    "spark.python.daemon.module": "spark_daemon",
}


def missing():
    """Why there is no Spark; empty if there is."""
    if find_spec("pyspark") is None:
        return "no Spark to test with: install pyspark, or run make .venv/.installed-spark"
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "no Java for Spark: install the package default-jre-headless"
    return ""


@contextmanager
def cluster(folder):
    """A session with two executors, each a Java of its own; once in a process.

    They are started from what is linked in ``folder``, and write there.
    """
    import pyspark

    for entry in Path(pyspark.__file__).parent.iterdir():
        (folder / entry.name).symlink_to(entry)
    os.environ |= {"SPARK_HOME": str(folder), "SPARK_LOCAL_IP": "127.0.0.1"}
    with session("local-cluster[2,1,1024]") as running:
        yield running


@contextmanager
def session(master="local[2,4]", **settings):
    """Two threads, in which a task may fail three times."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Java and the daemon have it from here
    before = os.environ.get("PYTHONPATH")
    folders = [str(Path(__file__).parent), *filter(None, [before])]
    os.environ["PYTHONPATH"] = os.pathsep.join(folders)
    builder = SparkSession.builder.master(master)
    for name, value in (SETTINGS | settings).items():
        builder = builder.config(name, value)
    running = builder.getOrCreate()
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before
    running.sparkContext.setLogLevel("OFF")
    try:
        yield running
    finally:
        running.stop()
