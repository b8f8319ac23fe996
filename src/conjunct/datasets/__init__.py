"""Small Boolean data sets that come with conjunct, each with its licence."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
