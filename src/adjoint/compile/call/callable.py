"""A callable object whose calls go straight to machine code: CPython's vectorcall protocol, set up through ctypes."""

from __future__ import annotations

import ctypes
import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

from adjoint.compile.call.objects import helpers, is_available, peek

ENTRY = object.__basicsize__
"""Where an instance holds the address of its machine code: the first field after those of every object."""
_FLAGS = 168
"""The field tp_flags of a type."""
_BASETYPE, _VECTORCALL, _METHOD = 1 << 10, 1 << 11, 1 << 17


FLAGS_PATCH = {
    "what": "the flags of our own classes of functions that can be called without intermediate objects (`tp_flags`), "
    "and of classes that users derive from these",
    "when": "from then on",
    "why": "a call of compiled code takes 0.1 us in place of 1 us",
    "undone": "never: it says what is true of the class",
}


class _Slot(ctypes.Structure):
    _fields_ = (("slot", ctypes.c_int), ("function", ctypes.c_void_p))


class _Specification(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("size", ctypes.c_int),
        ("item_size", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    )


class _Member(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_PY_TP_CALL, _PY_TP_MEMBERS, _SSIZE, _READONLY = 50, 72, 19, 1
_MEMBERS = (_Member * 2)(_Member(b"__vectorcalloffset__", _SSIZE, ENTRY, _READONLY, None), _Member())
"""Kept for good: a type may refer to the table it was made from."""


def _make_base() -> type:
    """A type with one field more than `object`: the address that calls jump to."""
    if not is_available():
        return object
    call = ctypes.cast(ctypes.pythonapi.PyVectorcall_Call, ctypes.c_void_p)
    members = ctypes.cast(_MEMBERS, ctypes.c_void_p)
    slots = (_Slot * 3)(_Slot(_PY_TP_CALL, call), _Slot(_PY_TP_MEMBERS, members), _Slot(0, None))
    flags = _BASETYPE | _VECTORCALL
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(("PyType_FromSpec", ctypes.pythonapi))
    specification = _Specification(b"adjoint.compile.call.callable.Base", ENTRY + 8, 0, flags, slots)
    base: type = make(ctypes.addressof(specification))
    return base


Base: Any = _make_base()


class NativeCallable(Base):
    """A function that runs machine code where that fits the arguments, and `slow` where not.

    It binds as a method as functions do. Without machine code, or where an entry does not know its arguments, `slow` is
    called with the same arguments. On interpreters with other objects than CPython's (see `is_available`) it is always
    called.

    >>> twice = NativeCallable(lambda x: 2 * x)
    >>> twice(21)
    42
    """

    __slots__ = ("__dict__", "__weakref__", "_code", "_slow")
    _code: list[Any]
    _slow: Any

    def __new__(cls, *args: object, **keywords: object) -> NativeCallable:
        """An instance that can be called at once."""
        self: NativeCallable = super().__new__(cls)
        self._code = []
        self.set_entry(None)
        return self

    def __init__(self, slow: Callable) -> None:
        self._slow = slow

    def __init_subclass__(cls, **keywords: object) -> None:
        """Let instances of a subclass be called the short way too, which Python 3.11 does not pass on."""
        super().__init_subclass__(**keywords)
        _mark(cls)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __copy__(self) -> NativeCallable:
        return self  # as with functions

    def __deepcopy__(self, memo: dict) -> NativeCallable:
        return self

    def set_entry(self, address: int | None, keep_alive: object = None) -> None:
        """Let calls run the machine code at an address from now on, or `slow` if None.

        `keep_alive` is whatever owns the machine code and the objects it refers to. It lives as long as this instance,
        also after another entry is set, as other threads may still be inside: unless `keep_only` lets go of it.
        """
        if Base is object:
            return
        if keep_alive is not None and not any([kept is keep_alive for kept in self._code]):
            self._code.append(keep_alive)
        ctypes.c_void_p.from_address(id(self) + ENTRY).value = slow_entry() if address is None else address

    def keep_only(self, entries: Sequence[Any]) -> None:
        """Let go of machine code but for these entries, to which alone calls come, and what calls are under way in."""
        wanted = set(map(id, entries))
        for kept in list(self._code):
            if id(kept) not in wanted and not kept.is_busy:  # and never will be again
                self._code.remove(kept)

    @property
    def entry(self) -> int | None:
        """The address of the machine code that calls run, if any."""
        address = peek(id(self) + ENTRY) if Base is not object else slow_entry()
        return None if address == slow_entry() else address

    if Base is object:

        def __call__(self, *args: object, **keywords: object) -> Any:
            """Call `slow`."""
            return self._slow(*args, **keywords)


def _mark(cls: type) -> None:
    """Set the flags for calls, and for method calls, without intermediate objects."""
    if Base is object or cls.__call__ is not Base.__call__:  # type: ignore[operator]
        return
    flags = ctypes.c_ulong.from_address(id(cls) + _FLAGS)
    if flags.value != cls.__flags__:
        return
    flags.value |= _VECTORCALL
    if cls.__get__ is NativeCallable.__get__:  # type: ignore[attr-defined]
        flags.value |= _METHOD
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(cls))


@functools.cache
def slow_entry() -> int:
    """The machine code that calls `slow`, whatever the arguments."""
    return helper("adjoint_slow") if Base is not object else 0


def helper(name: str) -> int:
    """The address of one of the functions that entries share."""
    return int(helpers(_slow_offset()).address(name))


def _slow_offset() -> int:
    """Where instances hold `slow`: looked for, as the order of slots is Python's affair."""
    probe, mark = object.__new__(NativeCallable), object()
    probe._slow = mark
    found = [at for at in range(ENTRY + 8, NativeCallable.__basicsize__, 8) if peek(id(probe) + at) == id(mark)]
    return found[0]


_mark(NativeCallable)
