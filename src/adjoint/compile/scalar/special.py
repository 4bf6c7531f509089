"""SciPy's special functions, called as the C functions they are: the same results, without Python in between."""

from __future__ import annotations

import ctypes
import re
from functools import cache
from typing import Any

import numpy as np

from ..emit import Emitter
from ..engine import add_symbol
from .basic import Emit
from .casting import cast

PREFIX = "scipy_special_"
"""What the names of these functions begin with in modules."""

DOUBLE = np.dtype(np.float64)
PURE = "memory(none) nounwind willreturn"

FUNCTIONS = {
    "beta": 2, "betaln": 2, "binom": 2, "boxcox": 2, "boxcox1p": 2, "cosdg": 1, "cosm1": 1, "cotdg": 1, "dawsn": 1,
    "ellipe": 1, "ellipeinc": 2, "ellipk": 1, "ellipkinc": 2, "ellipkm1": 1, "erfcinv": 1, "erfcx": 1, "erfi": 1,
    "exp1": 1, "exp10": 1, "expi": 1, "gamma": 1, "gammainc": 2, "gammaincc": 2, "gammainccinv": 2, "gammaincinv": 2,
    "gammaln": 1, "gammasgn": 1, "huber": 2, "i0e": 1, "i1": 1, "i1e": 1, "inv_boxcox": 2, "inv_boxcox1p": 2, "j0": 1,
    "j1": 1, "jv": 2, "k0": 1, "k0e": 1, "k1": 1, "k1e": 1, "kl_div": 2, "log_ndtr": 1, "loggamma": 1, "ndtri": 1,
    "owens_t": 2, "poch": 2, "pseudo_huber": 2, "psi": 1, "rel_entr": 2, "rgamma": 1, "sindg": 1, "spence": 1,
}  # fmt: skip
"""Functions of doubles alone whose singles are rounded doubles, with their number of arguments."""


def special(name: str) -> Emit:
    """A call of SciPy's function; singles are computed as doubles, as SciPy does."""

    def emit(e: Emitter, args: list[str], dtype: np.dtype) -> str:
        symbol = define(PREFIX + name)
        kinds = ", ".join(["double"] * len(args))
        target = e.module.declare(symbol, f"double {{}}({kinds}, i32) {PURE}")
        wide = ", ".join([f"double {cast(e, a, dtype, DOUBLE)}" for a in args])
        return cast(e, e.op(f"call double {target}({wide}, i32 0)"), DOUBLE, dtype)

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


def _signature(capsule: Any) -> bytes:
    read = ctypes.pythonapi.PyCapsule_GetName
    read.restype, read.argtypes = ctypes.c_char_p, [ctypes.py_object]
    found: bytes = read(capsule)
    return found


def _pointer(capsule: Any, name: bytes) -> Any:
    read = ctypes.pythonapi.PyCapsule_GetPointer
    read.restype, read.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return read(capsule, name)
