"""Commands start quickly: scikit-learn without the modules that it names and no command uses."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from types import ModuleType
from typing import Any

# What `import sklearn.base` loads for functions that no command calls: half of its time. From
# some it takes functions already then.
UNUSED: dict[str, tuple[str, ...]] = {
    "asyncio": (),
    "numpy.ctypeslib": (),
    "numpy.f2py": (),
    "numpy.fft": (),
    "numpy.ma": (),
    "numpy.polynomial": (),
    "numpy.testing": (),
    "pandas": (),
    "pydoc": (),
    "scipy.linalg": (),
    "scipy.stats": (),
    "scipy.sparse.csgraph": ("laplacian",),
    "scipy.sparse.linalg": ("LinearOperator", "cg"),
}


class Later(ModuleType):
    """Stands for a module until something is asked of it, and then asks the module itself."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)

    def put_off(self, function: str) -> None:
        """Let a function be taken from here without loading the module before it is called."""

        def call(*args: Any, **named: Any) -> Any:
            return self.__getattr__(function)(*args, **named)

        setattr(self, function, call)


def load_scikit_learn() -> None:
    """Load scikit-learn's base, and leave what is UNUSED until someone uses it.

    The modules have stand-ins only meanwhile: what is imported later is the module itself.
    """
    if "sklearn" in sys.modules:
        return
    import numpy  # its modules are attributes of it too

    standing = {
        name: Later(name)
        for name in UNUSED
        if name not in sys.modules and find_spec(name.partition(".")[0]) is not None
    }
    of_numpy = {name.removeprefix("numpy."): name for name in standing if name.startswith("numpy.")}
    for name, module in standing.items():
        sys.modules[name] = module
        for function in UNUSED[name]:
            module.put_off(function)
    for attribute, name in of_numpy.items():
        setattr(numpy, attribute, standing[name])
    try:
        with _docstrings_unread():
            importlib.import_module("sklearn.utils.validation")
    finally:
        for name, module in standing.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
        for attribute in of_numpy:
            if isinstance(vars(numpy).get(attribute), Later):
                delattr(numpy, attribute)


@contextmanager
def _docstrings_unread() -> Iterator[None]:
    """Keep SciPy from parsing the docstrings of its functions, to add a note that no command shows.

    Since 1.16 it does so as it is imported: a tenth of a small command's time. It is SciPy's own
    affair how; where the place is not found, it does as it likes.
    """
    try:
        noted: Any = importlib.import_module("scipy._lib._array_api")
        read = noted.FunctionDoc
    except (ImportError, AttributeError):
        yield
        return
    noted.FunctionDoc = partial(read, doc="")
    try:
        yield
    finally:
        noted.FunctionDoc = read
