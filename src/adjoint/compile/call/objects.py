"""Python's and NumPy's objects as machine code sees them: where their fields are, and helpers shared by all entries."""

from __future__ import annotations

import ctypes
import functools
import importlib
import struct
import sys
import sysconfig
import weakref
from typing import Any

import numpy as np

from adjoint.compile.assembly.kinds import DOUBLE, I1, I32, I64, KINDS, POINTER, VOID
from adjoint.compile.assembly.module import Module
from adjoint.compile.call import conditions
from adjoint.compile.call.helpers import text
from adjoint.compile.call.owning import alone

VALUE = 16
"""Where a float, a NumPy scalar or a cell holds its value, and a list or tuple its length."""
LIST_ITEMS = 24
TUPLE_ITEMS = tuple.__basicsize__
"""Items are in the tuple itself, after its fixed fields (one more of them from Python 3.14 on)."""
DATA, AXES, SHAPE, STRIDES, BASE, DTYPE, FLAGS, REFERENCES = 16, 24, 32, 40, 48, 56, 64, 72
"""The fields of an ndarray; the last one holds weak references."""
DTYPE_WORD = 24
"""Eight bytes of a dtype: kind, character, byte order, unused, number of the type."""
TYPE_ALLOCATE = 304
"""The field tp_alloc of a type."""
C_CONTIGUOUS, F_CONTIGUOUS, OWNED, ALIGNED, WRITEABLE = 0x1, 0x2, 0x4, 0x100, 0x400
NEW = 65
"""The number of the slot tp_new."""
NEW_FROM_DESCRIPTOR = 94
"""PyArray_NewFromDescr in the table of NumPy's C API."""


MANAGED_DICT, _INLINE_VALUES = 1 << 4, 1 << 2
"""Flags of classes whose objects keep values without a dict; from 3.13 on, inside the object."""


def peek(address: int) -> int:
    """The word at an address."""
    return ctypes.c_uint64.from_address(address).value


@functools.cache
def comparing() -> int:
    """The address of `memcmp`; 0 if there is none."""
    try:
        return ctypes.cast(ctypes.CDLL(None).memcmp, ctypes.c_void_p).value or 0
    except (OSError, TypeError, AttributeError):  # no such library by that name here
        return 0


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
        and _keeps_references(array)
    )
    return fields and conditions.has_layout() and all([_dtype_layout(np.dtype(name)) for name in KINDS])


def _keeps_references(array: np.ndarray) -> bool:
    """Whether references to and from an array are found where they are expected."""
    part, count = array[1:], peek(id(array)) & 0xFFFFFFFF
    alone = peek(id(array) + BASE) == peek(id(array) + REFERENCES) == 0
    held, seen = [array] * 3, weakref.ref(array)
    counted = peek(id(array)) & 0xFFFFFFFF == count + len(held)
    return alone and counted and peek(id(part) + BASE) == id(array) and peek(id(array) + REFERENCES) == id(seen)


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


def values_address(x: object) -> int:
    """Where an object that has no dict keeps the values of its attributes; 0 if nowhere."""
    if sys.version_info < (3, 12):
        return peek(id(x) - 32)
    if sys.version_info < (3, 13):
        word = peek(id(x) - 24)
        return word + 1 if word & 1 else 0
    return id(x) + 24 if peek(id(x) + 16) >> 24 & 0xFF else 0


VALUES = {
    "pointer": "  %values_place = getelementptr i8, ptr %object, i64 -32\n"
    "  %values = load ptr, ptr %values_place\n"
    "  ret ptr %values",
    "tagged": "  %word_place = getelementptr i8, ptr %object, i64 -24\n"
    "  %word = load i64, ptr %word_place\n"
    "  %mark = and i64 %word, 1\n"
    "  %is_dict = icmp eq i64 %mark, 0\n"
    "  %address = add i64 %word, 1\n"
    "  %chosen = select i1 %is_dict, i64 0, i64 %address\n"
    "  %values = inttoptr i64 %chosen to ptr\n"
    "  ret ptr %values",
    "inline": "  %flag_place = getelementptr i8, ptr %object, i64 19\n"
    "  %flag = load i8, ptr %flag_place\n"
    "  %is_dict = icmp eq i8 %flag, 0\n"
    "  %inside = getelementptr i8, ptr %object, i64 24\n"
    "  %values = select i1 %is_dict, ptr null, ptr %inside\n"
    "  ret ptr %values",
    "": "  ret ptr null",
}
"""What `values_address` does, for each layout."""


@functools.cache
def values_layout() -> str:
    """How objects keep values without a dict, if that is as expected: tried out."""
    if sys.implementation.name != "cpython" or object.__basicsize__ != 16:
        return ""

    Probe: Any = type("Probe", (), {})
    if not keeps_values(Probe):
        return ""
    first, second, third = Probe(), Probe(), Probe()
    marks = [object() for _ in range(3)]
    for x in (first, second, third):
        for name, mark in zip("abc", marks, strict=True):
            setattr(x, name, mark)
    del second.b
    third.__dict__ = {"a": None}
    where = [values_address(x) for x in (first, second)]
    found = [[peek(at + 8 * i) if at else None for i in range(3)] for at in where]
    a, b, c = map(id, marks)
    layout = "pointer" if sys.version_info < (3, 12) else "tagged" if sys.version_info < (3, 13) else "inline"
    return layout if found == [[a, b, c], [a, 0, c]] and not values_address(third) else ""


def keeps_values(kind: type) -> bool:
    """Whether objects of a class keep values without a dict, until one is asked for."""
    if sys.version_info < (3, 13):
        return bool(kind.__flags__ & MANAGED_DICT)
    return bool(kind.__flags__ & _INLINE_VALUES) and kind.__basicsize__ == object.__basicsize__


HELPERS = {
    "adjoint_slow": (POINTER, POINTER, POINTER, I64, POINTER),
    "adjoint_array": (POINTER, POINTER, POINTER),
    "adjoint_same": (I1, POINTER, POINTER),
    "adjoint_values": (I1, POINTER, POINTER, I64, I1, POINTER),
    "adjoint_item": (POINTER, POINTER, POINTER),
    "adjoint_item_is": (I1, POINTER, POINTER, POINTER),
    "adjoint_item_lacks": (I1, POINTER, POINTER),
    "adjoint_attribute_is": (I1, POINTER, POINTER, POINTER),
    "adjoint_dict_is": (I1, POINTER, POINTER),
    "adjoint_holds": (I1, POINTER, POINTER),
    "adjoint_unchanged": (I32, POINTER),
    "adjoint_integer": (I1, POINTER, POINTER),
    "adjoint_calm": (I1,),
    "adjoint_new_array": (POINTER, POINTER, I32, POINTER, I32),
    "adjoint_array_over": (POINTER, POINTER, I1, POINTER, I32, POINTER, I32),
    "adjoint_alone": (I1, POINTER),
    "adjoint_own": (VOID, POINTER, I64, POINTER),
    "adjoint_new_tuple": (POINTER, POINTER, POINTER, I64),
    "adjoint_new_list": (POINTER, POINTER, POINTER, I64),
    "adjoint_new_dict": (POINTER, POINTER, POINTER, I64, POINTER),
    "adjoint_attributes": (I1, POINTER, I64, POINTER, POINTER, I64, POINTER),
    "adjoint_new_called": (POINTER, POINTER, POINTER, I64, POINTER, POINTER, POINTER),
    "adjoint_new_object": (POINTER, POINTER, POINTER, I64, POINTER, POINTER),
    "adjoint_drop": (VOID, POINTER, I64),
}
"""Functions that entries call, by name: compiled once, so that entries are short. Hardly optimised, as that would take
longer than they will ever run; what has to be quick is written into the entry."""

PYTHON = {
    "Py_IncRef": (VOID, POINTER),
    "Py_DecRef": (VOID, POINTER),
    "PyErr_Clear": (VOID,),
    "PyThreadState_Get": (POINTER,),
    "PyErr_SetString": (VOID, POINTER, POINTER),
    "PyObject_Vectorcall": (POINTER, POINTER, POINTER, I64, POINTER),
    "PyObject_RichCompareBool": (I32, POINTER, POINTER, I32),
    "PyObject_GetAttr": (POINTER, POINTER, POINTER),
    "PyObject_GenericGetDict": (POINTER, POINTER, POINTER),
    "PyObject_GenericSetAttr": (I32, POINTER, POINTER, POINTER),
    "PyObject_CallNoArgs": (POINTER, POINTER),
    "PyDict_Size": (I64, POINTER),
    "PyDict_Next": (I32, POINTER, POINTER, POINTER, POINTER),
    "PyDict_GetItemWithError": (POINTER, POINTER, POINTER),
    "PyContextVar_Get": (I32, POINTER, POINTER, POINTER),
    "PyDict_New": (POINTER,),
    "PyDict_SetItem": (I32, POINTER, POINTER, POINTER),
    "PyTuple_New": (POINTER, I64),
    "PyList_New": (POINTER, I64),
    "PyLong_AsLongLongAndOverflow": (I64, POINTER, POINTER),
    "PyFloat_FromDouble": (POINTER, DOUBLE),
    "PyLong_FromLongLong": (POINTER, I64),
    "PyBool_FromLong": (POINTER, I64),
    "PyEval_SaveThread": (POINTER,),
    "PyEval_RestoreThread": (VOID, POINTER),
}
"""Functions of CPython that entries and helpers call."""


def _slot_of(kind: type, number: int) -> int:
    """The address of one of the functions of a type."""
    slot = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_int)(("PyType_GetSlot", ctypes.pythonapi))
    return int(slot(kind, number))


@functools.cache
def helpers(slow_offset: int) -> Any:
    """Compile the helpers and make them known by name; `slow_offset` is where a callable holds its slow way."""
    from adjoint.compile.runtime.engine import (  # not before there is something to compile
        Code,
        add_symbol,
        python_symbol,
    )

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
    } | {
        name: globals()[name]
        for name in ("DATA", "AXES", "SHAPE", "STRIDES", "BASE", "DTYPE", "FLAGS", "REFERENCES", "DTYPE_WORD")
    }
    constants |= {"memcmp": comparing(), "own_flags": OWNED | WRITEABLE, "alone": alone()}
    constants |= {"object_new": _slot_of(object, NEW), "nothing": id(()), "own_values": VALUES[values_layout()]}
    module = Module()
    declared = [module.declare(python_symbol(name), *kinds).written for name, kinds in PYTHON.items()]
    code = Code("\n".join(declared) + text(constants) + conditions.text(), level=0, keep=False)
    for name in HELPERS:
        add_symbol(name, code.address(name))
    # never freed: callables may outlive this module when the interpreter ends
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))
    return code
