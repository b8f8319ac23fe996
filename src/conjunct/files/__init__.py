"""Reading and writing files: tables, tags, models, and nothing half-written."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
