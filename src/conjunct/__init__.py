"""Readable features from Boolean data, without labels.

>>> from conjunct import UFC, datasets
>>> spect = datasets.load_spect()
>>> model = UFC().fit(spect.values)
>>> len(model.features_)
69
"""

import lazy_loader

__version__ = "0.3.0.dev0"

# __init__.pyi lists the public names. They are imported on first use, which keeps
# ``import conjunct`` and ``conjunct --help`` fast.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
