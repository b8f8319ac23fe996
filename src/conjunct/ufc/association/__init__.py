"""The strength of the association of two features, from exact counts (§3.2, §6.1, §6.2).

Everything here is a function of four integers: the number of rows ``n``, the two supports and the
joint count. They become floating-point numbers in the measures and the tests, and nowhere else.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
