"""Readable features from Boolean data, without labels.

>>> from conjunct import UFC, datasets
>>> spect = datasets.load_spect()
>>> model = UFC().fit(spect.values)
>>> len(model.features_)
69
"""

import lazy_loader

__version__ = "0.3.0.dev0"

# The public names are in __init__.pyi. Each is imported when it is first used, so that
# ``import conjunct`` and ``conjunct --help`` stay quick.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
