"""BLAS and LAPACK: the library that NumPy has loaded already, else SciPy's."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

import numpy as np

from .engine import add_symbol


@functools.cache
def blas(name: str) -> tuple[str, str] | None:
    """The symbol of a Fortran routine, and the type of its integers; None if there is no such library here."""
    found = _numpys(name) or _scipys(name)
    if found is None:
        return None
    address, whole = found
    add_symbol(f"adjoint_{name}", address)
    return f"adjoint_{name}", whole


def _numpys(name: str) -> tuple[int, str] | None:
    """NumPy's wheels bring an OpenBLAS whose names have a prefix; using the same one means one pool of threads."""
    for path in (Path(np.__file__).parent.parent / "numpy.libs").glob("*openblas*"):
        library = ctypes.CDLL(str(path))
        for symbol, whole in ((f"scipy_{name}_64_", "i64"), (f"scipy_{name}_", "i32")):
            if hasattr(library, symbol):
                return ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value or 0, whole
    return None


def _scipys(name: str) -> tuple[int, str] | None:
    try:
        from scipy.linalg import cython_blas, cython_lapack
    except ImportError:
        return None
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    for module in (cython_blas, cython_lapack):
        capsule = module.__pyx_capi__.get(name)
        if capsule is not None:
            return pointer_of(capsule, name_of(capsule)), "i32"
    return None
