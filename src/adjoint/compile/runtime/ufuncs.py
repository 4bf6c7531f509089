"""The inner loops of NumPy's universal functions: C functions that need no Python, read from the functions themselves.

A loop is `void (char **args, npy_intp *dimensions, npy_intp *steps, void *data)`, part of NumPy's C API. It is called
through a function of one's own that knows its address and its data, so that code which is kept has neither in it.
"""

from __future__ import annotations

import ctypes
import functools

import numpy as np

from .engine import Code, add_symbol


class _Header(ctypes.Structure):
    """The beginning of `PyUFuncObject`."""

    _fields_ = (
        ("object", ctypes.c_char * object.__basicsize__),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
        ("reserved", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("types", ctypes.POINTER(ctypes.c_ubyte)),
    )


@functools.cache
def inner_loop(ufunc: np.ufunc, types: str) -> str | None:
    """The symbol of a function `void (args, dimensions, steps)` that runs the loop for these types, as in `dd->d`.

    None if the function has no such loop, or its memory does not look as it should.
    """
    header = _Header.from_address(id(ufunc))
    if types not in ufunc.types or not _looks_right(header, ufunc):
        return None
    number = ufunc.types.index(types)
    function, data = header.functions[number], header.data[number] if header.data else None
    if not function:
        return None
    name = f"adjoint_loop_{ufunc.__name__}_{types.replace('->', '_')}"
    text = f"""define void @{name}(ptr %a, ptr %d, ptr %s) {{
  call void inttoptr (i64 {function} to ptr)(ptr %a, ptr %d, ptr %s, ptr inttoptr (i64 {data or 0} to ptr))
  ret void
}}
"""
    code = Code(text, 0, keep=False)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))  # other threads may call it until the process ends
    add_symbol(name, code.address(name))
    return name


def _looks_right(header: _Header, ufunc: np.ufunc) -> bool:
    """Whether what is read is what the function says of itself."""
    counts = (header.nin, header.nout, header.nargs, header.ntypes)
    if counts != (ufunc.nin, ufunc.nout, ufunc.nargs, len(ufunc.types)):
        return False
    if not header.name or header.name.decode() != ufunc.__name__ or not header.types or not header.functions:
        return False
    letters = "".join([t.replace("->", "") for t in ufunc.types])
    numbers = header.types[: header.nargs * header.ntypes]
    return numbers == [np.dtype(letter).num for letter in letters]
