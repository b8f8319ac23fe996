"""Algorithm 1 and what follows from it: uFC as a generator of stages, and policies that stop it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
