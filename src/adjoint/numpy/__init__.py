"""The NumPy face: plain `np` functions, operators and methods on traced values.

As a module, `adjoint.numpy` is a drop-in for `numpy`: the same names, with array makers that accept traced values.
"""

from __future__ import annotations

from typing import Any

import numpy as _numpy

from . import assignment, conversions, methods, operators, protocols, reductions, selections, shapes, topics
from .constructors import MAKERS as _MAKERS
from .imported import OBJECTS as _OBJECTS
from .registry import FUNCTIONS as _FUNCTIONS


def __getattr__(name: str) -> Any:
    if name in _MAKERS:
        return _MAKERS[name]
    if name in _OBJECTS:
        from .names import VERSIONS

        return VERSIONS[name]
    return getattr(_numpy, name)


def __dir__() -> list[str]:
    return dir(_numpy)
