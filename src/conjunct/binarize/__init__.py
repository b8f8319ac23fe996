"""Any table to Boolean columns with readable names; tags made uniform."""

from conjunct.binarize.binarizer import Binarizer
from conjunct.binarize.summary import DataSummary
from conjunct.binarize.table import BooleanTable
from conjunct.binarize.tags import TagCleaner

__all__ = ["Binarizer", "BooleanTable", "DataSummary", "TagCleaner"]
