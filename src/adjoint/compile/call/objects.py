"""Python's and NumPy's objects as machine code sees them: where their fields are, and helpers shared by all entries."""

from __future__ import annotations

import ctypes
import functools
import importlib
import struct
import sys
import sysconfig
from typing import Any

import numpy as np

from adjoint.compile.call import conditions
from adjoint.compile.call.helpers import text
from adjoint.compile.emit import LLVM_TYPES

VALUE = 16
"""Where a float, a NumPy scalar or a cell holds its value, and a list or tuple its length."""
LIST_ITEMS = 24
TUPLE_ITEMS = tuple.__basicsize__
"""Items are in the tuple itself, after its fixed fields (one more of them from Python 3.14 on)."""
DATA, AXES, SHAPE, STRIDES, DTYPE, FLAGS = 16, 24, 32, 40, 56, 64
"""The fields of an ndarray."""
DTYPE_WORD = 24
"""Eight bytes of a dtype: kind, character, byte order, unused, number of the type."""
TYPE_ALLOCATE = 304
"""The field tp_alloc of a type."""
C_CONTIGUOUS, F_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x2, 0x100, 0x400
NEW_FROM_DESCRIPTOR = 94
"""PyArray_NewFromDescr in the table of NumPy's C API."""


def peek(address: int) -> int:
    """The word at an address."""
    return ctypes.c_uint64.from_address(address).value


def dtype_word(dtype: np.dtype) -> int:
    """What tells a dtype from others; the same for every copy of it, of which unpickling makes many."""
    return peek(id(dtype) + DTYPE_WORD)


@functools.cache
def is_available() -> bool:
    """Whether entries can be made: LLVM is there, and objects have the known layout (CPython, 64 bits, with a GIL)."""
    known = (
        sys.implementation.name == "cpython"
        and not sysconfig.get_config_var("Py_GIL_DISABLED")
        and sys.byteorder == "little"
        and struct.calcsize("P") == 8
        and object.__basicsize__ == 16
    )
    if not known:
        return False
    try:
        importlib.import_module("llvmlite")
        return _python_layout() and _numpy_layout()
    except (AttributeError, ImportError, ValueError):
        return False


def _python_layout() -> bool:
    mark = object()
    box, pair = [mark], (mark, 1.5)
    cell = (lambda: mark).__closure__[0]  # type: ignore[index]
    return (
        ctypes.c_double.from_address(id(pair[1]) + VALUE).value == 1.5
        and peek(id(pair) + VALUE) == 2
        and peek(id(pair) + TUPLE_ITEMS) == id(mark)
        and peek(id(box) + VALUE) == 1
        and peek(peek(id(box) + LIST_ITEMS)) == id(mark)
        and peek(id(cell) + VALUE) == id(mark)
        and peek(id(mark) + 8) == id(object)
        and peek(id(list) + TYPE_ALLOCATE) == ctypes.cast(ctypes.pythonapi.PyType_GenericAlloc, ctypes.c_void_p).value
    )


def _numpy_layout() -> bool:
    array = np.zeros((3, 5), order="F")
    address = id(array)
    fields = (
        peek(address + DATA) == array.ctypes.data
        and peek(address + AXES) & 0xFFFFFFFF == 2
        and [peek(peek(address + SHAPE) + 8 * i) for i in (0, 1)] == [3, 5]
        and [peek(peek(address + STRIDES) + 8 * i) for i in (0, 1)] == [8, 24]
        and peek(address + DTYPE) == id(array.dtype)
        and peek(address + FLAGS) & 0xFFFFFFFF == array.flags.num
    )
    return fields and conditions.has_layout() and all([_dtype_layout(np.dtype(name)) for name in LLVM_TYPES])


def _dtype_layout(dtype: np.dtype) -> bool:
    scalar = dtype.type(1)
    kind, character, order, _, number = struct.unpack("<cccci", struct.pack("<Q", dtype_word(dtype)))
    names = (kind.decode(), character.decode(), order.decode(), number)
    value = ctypes.string_at(id(scalar) + VALUE, dtype.itemsize)
    return names == (dtype.kind, dtype.char, dtype.byteorder, dtype.num) and value == scalar.tobytes()


def array_conditions(
    dtype: np.dtype, shape: tuple[int, ...], strides: tuple[int, ...] | str, writeable: bool = False
) -> tuple[int, int, tuple[int, ...]]:
    """What an array has to have besides its shape: the word of its dtype, flags, and strides if they are compared."""
    if not dtype.isnative:
        raise TypeError(f"machine code reads numbers in native byte order only, not {dtype!r}")
    flags = ALIGNED | (WRITEABLE if writeable else 0)
    if 0 in shape:
        strides = "C"
    if isinstance(strides, str):
        flags |= {"C": C_CONTIGUOUS, "F": F_CONTIGUOUS}[strides]
        strides = ()
    return dtype_word(dtype), flags, strides


HELPERS = {
    "adjoint_slow": "ptr {}(ptr, ptr, i64, ptr)",
    "adjoint_array": "ptr {}(ptr, ptr)",
    "adjoint_same": "i1 {}(ptr, ptr)",
    "adjoint_values": "i1 {}(ptr, ptr, i64, i1, ptr)",
    "adjoint_item": "ptr {}(ptr, ptr)",
    "adjoint_item_is": "i1 {}(ptr, ptr, ptr)",
    "adjoint_item_lacks": "i1 {}(ptr, ptr)",
    "adjoint_attribute_is": "i1 {}(ptr, ptr, ptr)",
    "adjoint_dict_is": "i1 {}(ptr, ptr)",
    "adjoint_holds": "i1 {}(ptr, ptr)",
    "adjoint_integer": "i1 {}(ptr, ptr)",
    "adjoint_calm": "i1 {}()",
    "adjoint_new_array": "ptr {}(ptr, i32, ptr, i32)",
    "adjoint_new_tuple": "ptr {}(ptr, ptr, i64)",
    "adjoint_new_list": "ptr {}(ptr, ptr, i64)",
    "adjoint_new_dict": "ptr {}(ptr, ptr, i64, ptr)",
    "adjoint_drop": "void {}(ptr, i64)",
}
"""Functions that entries call, by name: compiled once, so that entries are short. Hardly optimised, as that would take
longer than they will ever run; what has to be quick is written into the entry."""

PYTHON = {
    "Py_IncRef": "void {}(ptr)",
    "Py_DecRef": "void {}(ptr)",
    "PyErr_Clear": "void {}()",
    "PyErr_SetString": "void {}(ptr, ptr)",
    "PyObject_Vectorcall": "ptr {}(ptr, ptr, i64, ptr)",
    "PyObject_RichCompareBool": "i32 {}(ptr, ptr, i32)",
    "PyObject_GetAttr": "ptr {}(ptr, ptr)",
    "PyObject_GenericGetDict": "ptr {}(ptr, ptr)",
    "PyObject_CallNoArgs": "ptr {}(ptr)",
    "PyDict_Size": "i64 {}(ptr)",
    "PyDict_Next": "i32 {}(ptr, ptr, ptr, ptr)",
    "PyDict_GetItemWithError": "ptr {}(ptr, ptr)",
    "PyContextVar_Get": "i32 {}(ptr, ptr, ptr)",
    "PyDict_New": "ptr {}()",
    "PyDict_SetItem": "i32 {}(ptr, ptr, ptr)",
    "PyTuple_New": "ptr {}(i64)",
    "PyList_New": "ptr {}(i64)",
    "PyLong_AsLongLongAndOverflow": "i64 {}(ptr, ptr)",
    "PyFloat_FromDouble": "ptr {}(double)",
    "PyLong_FromLongLong": "ptr {}(i64)",
    "PyBool_FromLong": "ptr {}(i64)",
    "PyEval_SaveThread": "ptr {}()",
    "PyEval_RestoreThread": "void {}(ptr)",
}
"""Functions of CPython that entries and helpers call."""


@functools.cache
def helpers(slow_offset: int) -> Any:
    """Compile the helpers and make them known by name; `slow_offset` is where a callable holds its slow way."""
    from adjoint.compile.engine import Code, add_symbol, python_symbol  # not before there is something to compile

    table = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    numpy_functions = importlib.import_module("numpy._core._multiarray_umath")._ARRAY_API

    constants: dict[str, Any] = {
        "slow_offset": slow_offset,
        "new_array": peek(table(numpy_functions, None) + 8 * NEW_FROM_DESCRIPTOR),
        "runtime_error": id(RuntimeError),
        "ndarray": id(np.ndarray),
        "dict": id(dict),
        "int": id(int),
        "str": id(str),
        "float": id(float),
        "tuple_items": TUPLE_ITEMS,
        "list_items": LIST_ITEMS,
    } | {name: globals()[name] for name in ("DATA", "AXES", "SHAPE", "STRIDES", "DTYPE", "FLAGS", "DTYPE_WORD")}
    declared = [f"declare {PYTHON[name].format('@' + python_symbol(name))}" for name in PYTHON]
    code = Code("\n".join(declared) + text(constants) + conditions.text(), level=0, keep=False)
    for name in HELPERS:
        add_symbol(name, code.address(name))
    # never freed: callables may outlive this module when the interpreter ends
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))
    return code
