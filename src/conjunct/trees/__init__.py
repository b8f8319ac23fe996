"""Clustering trees, and features built from the paths and tests of trees."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
