"""Export of features: to SQL, narwhals, Polars, Python and ONNX.

Each needs another library or none, and is imported when it is used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
