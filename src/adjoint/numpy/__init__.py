"""The NumPy face: plain `np` functions, operators and methods on traced values.

As a module, `adjoint.numpy` is a drop-in for `numpy`: the same names, with array makers that accept traced values, and
the operations on each element that NumPy does not have. Other operations that NumPy does not have are not here: in the
catalogue they are written for the traces, with axes counted from the end, and users call a function around them.
"""

from __future__ import annotations

from typing import Any

import numpy as _numpy

from .patching.patched_names import CONVERTERS as _CONVERTERS
from .patching.patched_names import FILLERS as _FILLERS
from .patching.patched_names import GRIDS as _GRIDS
from .patching.patched_names import OBJECTS as _OBJECTS


def __getattr__(name: str) -> Any:
    if name in (*_CONVERTERS, *_FILLERS, *_GRIDS):
        from .patching.constructors import MAKERS

        return MAKERS[name]
    if name in _OBJECTS:
        from .patching.index_tricks import VERSIONS

        return VERSIONS[name]
    if name not in vars(_numpy):  # to ask NumPy for what it does not have takes long
        from ..ops import CATALOGUE

        operation = CATALOGUE.get(name)
        if operation is not None and operation.nin is not None:
            return operation
    return getattr(_numpy, name)


def __dir__() -> list[str]:
    from ..ops import CATALOGUE

    own = [name for name, operation in CATALOGUE.items() if operation.nin is not None and name.isidentifier()]
    return sorted({*dir(_numpy), *own})
