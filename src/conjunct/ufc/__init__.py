"""uFC: measures, criteria, searches, stopping rules, runs and paths."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
