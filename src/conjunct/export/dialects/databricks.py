"""Databricks, which speaks Spark's SQL."""

from conjunct.export.dialects.base import DIALECTS
from conjunct.export.dialects.spark import Spark


class Databricks(Spark):
    name = "databricks"
    summary = "Databricks"


DIALECTS.enter(Databricks())
