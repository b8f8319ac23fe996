"""Count pairs of columns wherever the rows are: in memory, on disk, or on workers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
