"""Words and pictures of a model: one summary, and for each feature its forms and its ancestry."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
