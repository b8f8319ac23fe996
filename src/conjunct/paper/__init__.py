"""Reproduce the paper's tables and figures, and measure the stability of features."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
