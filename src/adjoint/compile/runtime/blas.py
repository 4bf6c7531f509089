"""BLAS and LAPACK: the library that NumPy has loaded already, else SciPy's."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

import numpy as np

from ..assembly.kinds import I32, I64, Kind
from .engine import add_symbol


@functools.cache
def blas(name: str) -> tuple[str, Kind] | None:
    """The symbol of a Fortran routine, and the kind of its integers; None if there is no such library here."""
    found = _numpys(name) or _scipys(name)
    if found is None:
        return None
    address, whole = found
    add_symbol(f"adjoint_{name}", address)
    return f"adjoint_{name}", whole


@functools.cache
def thread_limit() -> str | None:
    """The symbol of OpenBLAS's function that sets how many threads it uses, and gives how many it did; None without it.

    It has its say in OpenBLAS of 0.3.27 and later, in the library that NumPy has loaded.
    """
    name = "openblas_set_num_threads_local"
    for library in _libraries():
        if _numpys("dgemm") is not None and hasattr(library, name):
            add_symbol(f"adjoint_{name}", ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0)
            return f"adjoint_{name}"
    return None


def _libraries() -> list[ctypes.CDLL]:
    """The OpenBLAS that NumPy's wheels bring."""
    folder = Path(np.__file__).parent.parent / "numpy.libs"
    return [ctypes.CDLL(str(path)) for path in folder.glob("*openblas*")]


def _numpys(name: str) -> tuple[int, Kind] | None:
    """NumPy's wheels bring an OpenBLAS whose names have a prefix; using the same one means one pool of threads."""
    for library in _libraries():
        for symbol, whole in ((f"scipy_{name}_64_", I64), (f"scipy_{name}_", I32)):
            if hasattr(library, symbol):
                return ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value or 0, whole
    return None


def _scipys(name: str) -> tuple[int, Kind] | None:
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
            return pointer_of(capsule, name_of(capsule)), I32
    return None
