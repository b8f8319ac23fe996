"""A fitted model on its data as one offline page: what was found, and why."""

from importlib.util import find_spec

import lazy_loader

if not all(map(find_spec, ("altair", "jinja2", "PIL", "vl_convert"))):
    raise ImportError(
        "a report needs more libraries: pip install altair jinja2 pillow vl-convert-python"
    )

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
