"""Report a fitted model and its data as one offline page."""

from importlib.util import find_spec

import lazy_loader

if find_spec("jinja2") is None:
    raise ImportError("a report needs Jinja: pip install jinja2")

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
