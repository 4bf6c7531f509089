"""Objects of compiled types by their memory: if no pointer in it is to something unknown, it is all there is."""

from __future__ import annotations

import ctypes
import functools
import gc
import mmap
import types
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...capture.environment.object_state import BY_IDENTITY, is_immutable, is_number, present_in
from ...host.objects.parts import dict_of
from ...ir.bits import Copy
from .objects import VALUE, peek
from .row import of_array, of_dict, of_list, word

LOWEST, HIGHEST = 4096, 1 << 47
"""Where memory of a process is."""
MOST = 512
"""Objects that are looked into."""
LARGEST = 1 << 14
"""Bytes of an array that is one of these."""
DERIVED = ("pandas._libs.index",)
"""Modules of objects that are computed from others, which are looked at: tables of places by value."""


def raw_rows(x: object, arrays: Sequence[np.ndarray] = ()) -> list[Any] | None:
    """Rows that hold for as long as an object, and what it refers to, is as it is; None if it may hide something.

    The contents of `arrays` are looked at elsewhere.
    """
    found: list[Any] = []
    seen = {id(a) for a in arrays}
    return found if _look(x, found, seen) else None


def _look(x: Any, found: list[Any], seen: set[int]) -> bool:
    """Add the rows of an object; whether all of it is known."""
    kind = type(x)
    if id(x) in seen or is_number(x) or is_immutable(x) or isinstance(x, BY_IDENTITY) or kind.__module__ in DERIVED:
        return True
    seen.add(id(x))
    if len(seen) > MOST:
        return False
    if kind is weakref.ref:
        found.append(word(id(x) + VALUE, peek(id(x) + VALUE)))
        return True
    if kind is np.ndarray:
        made = of_array(x, Copy(x), "") if x.nbytes <= LARGEST else None
        found += made or []
        return made is not None and (x.dtype != object or all([_look(item, found, seen) for item in x.flat]))
    if kind is tuple:
        return all([_look(item, found, seen) for item in present_in(x)])
    if kind is list or kind is dict:
        items = [part for pair in x.items() for part in pair] if kind is dict else x
        was = (*x.keys(), *x.values()) if kind is dict else tuple(x)
        found += (of_dict(x, was) if kind is dict else of_list(x, was)) or []
        return all([_look(item, found, seen) for item in items])
    return _look_at_memory(x, found, seen)


def _look_at_memory(x: Any, found: list[Any], seen: set[int]) -> bool:
    """Every word of an object: a number, a reference that the garbage collector knows, or an address in a library."""
    kind: Any = type(x)
    if kind.__itemsize__ or issubclass(kind, (np.ndarray, types.ModuleType)):
        return False
    own = dict_of(x)  # before its memory is looked at, as it may be made by asking for it
    referents = {id(r): r for r in gc.get_referents(x)}
    for offset in range(16, kind.__basicsize__, 8):
        if offset == kind.__weakrefoffset__:
            continue
        now = peek(id(x) + offset)
        if now not in referents and _may_own(now):
            return False
        found.append(word(id(x) + offset, now))
    if own is not None:
        referents[id(own)] = own
    return all([_look(r, found, seen) for r in referents.values() if r is not kind])


def _may_own(address: int) -> bool:
    """Whether a word may be the address of memory that somebody has asked for: not one in a library, as of its tables
    of functions, nor one that is nowhere.
    """
    if not LOWEST <= address < HIGHEST or address % 8:
        return False
    find, touch = _system()
    if find is None or touch is None:
        return True
    room = (ctypes.c_void_p * 4)()
    is_there = touch(address & -mmap.PAGESIZE, 1, 1) == 0
    return is_there and not find(address, room)


@functools.cache
def _system() -> tuple[Any, Any]:
    """Functions that say in which library an address is, and whether there is memory."""
    try:
        system = ctypes.CDLL(None)
        find, touch = system.dladdr, system.msync
    except (OSError, TypeError, AttributeError):  # no such library by that name here
        return None, None
    find.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
    touch.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return find, touch
