"""Counts of pairs of columns, wherever rows are: in memory, on disk, on the workers of Dask."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
