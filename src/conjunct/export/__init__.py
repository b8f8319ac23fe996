"""Features that leave conjunct: as SQL, as expressions of narwhals and Polars, as Python, as ONNX.

One file for each, and nothing imported here: each needs another library, or none.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
