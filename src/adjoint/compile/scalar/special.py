"""SciPy's special functions, called as the C functions they are: the same results, without Python in between."""

from __future__ import annotations

import ctypes
import re
from functools import cache
from typing import Any

import numpy as np

from ..assembly.emit import Emitter
from ..assembly.kinds import DOUBLE as WIDE
from ..assembly.kinds import I32
from ..assembly.values import Value, number
from ..runtime.engine import add_symbol
from .basic import Emit
from .casting import cast

PREFIX = "scipy_special_"
"""What the names of these functions begin with in modules."""

DOUBLE = np.dtype(np.float64)
PURE = "memory(none) nounwind willreturn"


def scipy(name: str) -> Emit:
    """A call of SciPy's function of doubles; singles are computed as doubles, as SciPy does."""

    def emit(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
        symbol = define(PREFIX + name)
        function = e.module.declare(symbol, WIDE, *[WIDE] * len(args), I32, attributes=PURE)
        found = e.call(function, *[cast(e, a, dtype, DOUBLE) for a in args], number(0, I32))
        return cast(e, found, DOUBLE, dtype)

    return emit


@cache
def define(symbol: str) -> str:
    """Let modules call a function by the name this file gives it; code from a file needs that again."""
    add_symbol(symbol, _address(symbol.removeprefix(PREFIX)))
    return symbol


def _address(name: str) -> int:
    """Where the version for doubles begins; the others of a name have another number."""
    from scipy.special import cython_special

    table = cython_special.__pyx_capi__
    signature = re.compile(rb"double \((double, )+int __pyx_skip_dispatch\)")
    for key in (name, *[f"__pyx_fuse_{k}{name}" for k in range(4)]):
        capsule = table.get(key)
        if capsule is not None and signature.fullmatch(_signature(capsule)):
            return int(_pointer(capsule, _signature(capsule)))
    raise KeyError(name)


def _signature(capsule: object) -> bytes:
    read = ctypes.pythonapi.PyCapsule_GetName
    read.restype, read.argtypes = ctypes.c_char_p, [ctypes.py_object]
    found: bytes = read(capsule)
    return found


def _pointer(capsule: object, name: bytes) -> Any:
    read = ctypes.pythonapi.PyCapsule_GetPointer
    read.restype, read.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return read(capsule, name)
