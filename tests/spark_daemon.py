"""What workers of Spark are forked from: each would take seconds to import conjunct by itself."""

from pyspark.daemon import manager

import conjunct.counting.spark
import conjunct.data.boolean_data
import conjunct.estimators.base
import conjunct.files.streaming  # noqa: F401

if __name__ == "__main__":
    manager()
