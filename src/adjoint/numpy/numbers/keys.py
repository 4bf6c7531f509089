"""Traced numbers as keys of dicts and sets: looked up by value, as numbers are.

`x in {0.0, 1.0}`, `table[x]`, `set([x, y])` and `Counter` answer as for the plain number; while a program is captured,
a guard says that the number has to stay. A cache is another matter: what it holds was computed from another number that
happened to be equal, or from a plain one, so that the derivative with respect to this one would be lost.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from opcode import opmap
from types import CodeType, FrameType
from typing import Any, NoReturn

import numpy as np

from ...core.errors import DerivativeDroppedError, message
from ...core.frames.standing import called_at
from ...core.traced import Traced, is_differentiated, kind_of, settled
from ...core.values import describe
from ..dispatch.conversions import decided, refuse_batch

BATCH = "Use  np.where(x == key, a, b)  instead of a dict or a set."

_looked_up: dict[int, tuple[int, int, int]] = {}
"""By thread: the handle that was hashed last, the frame that did, and the instruction it stood at."""


def hashed(self: Any) -> int:
    """`hash(x)`: that of the number; arrays have none."""
    self = self if type(self) is Traced else self.current()
    if not self.traced_by.level:
        return hash(settled(self))
    if kind_of(self) is np.ndarray:
        raise TypeError("unhashable type: 'numpy.ndarray'")
    refuse_batch(self, "looked up in a dict or a set", BATCH)
    if is_differentiated(self):
        frame = sys._getframe(1)
        if frame.f_code.co_code[frame.f_lasti] in FETCHES:
            _looked_up[threading.get_ident()] = id(self), id(frame), frame.f_lasti
    return hash(decided(self))


def guarded(equal: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`x == y`, with an eye on the comparisons that a lookup makes: with keys of the same hash."""

    def compare(self: Any, other: Any) -> Any:
        found = equal(self, other)
        if _looked_up:
            frame, last = sys._getframe(1), _looked_up.pop(threading.get_ident(), None)
            if last in ((id(self), id(frame), frame.f_lasti), (id(other), id(frame), frame.f_lasti)) and bool(found):
                _check_entry(self if last is not None and last[0] == id(self) else other, self, other, frame)
        return found

    return compare


def _check_entry(x: Traced, self: Any, other: Any, frame: FrameType) -> None:
    """Refuse to take what a cache holds for another number of the same value."""
    if frame.f_code.co_code[frame.f_lasti] in CALLS:
        function = called_at(frame)
        if isinstance(function, functools._lru_cache_wrapper):
            _refuse(x, f"functools.lru_cache around  {function.__name__}", f"Call  {function.__name__}.__wrapped__(x).")
        if function is not None and getattr(function, "__name__", "") not in GETTERS:
            return
    if isinstance(self, Traced) and isinstance(other, Traced):
        _refuse(x, "A dict with traced numbers as keys", CACHE)
    if _stores(frame.f_code):
        _refuse(x, "A dict that is used as a cache", CACHE)


def _refuse(x: Traced, what: str, fix: str) -> NoReturn:
    raise DerivativeDroppedError(
        message(
            f"{what}  finds what was computed from another number of the same value: the derivative would be lost.",
            got=describe(x),
            fix=f"{fix}\nWrite  ad.value(x)  as the key if no derivative is wanted.",
        )
    )


CACHE = "Compute it anew while derivatives are taken."
GETTERS = ("get", "setdefault", "pop", "__getitem__")
CALLS = frozenset([opmap[name] for name in ("CALL", "PRECALL", "CALL_KW", "CALL_FUNCTION_EX") if name in opmap])
FETCHES = CALLS | {opmap["BINARY_SUBSCR"] if "BINARY_SUBSCR" in opmap else opmap["BINARY_OP"]}
"""Instructions that may take something out of a dict; others only ask for a key, or store one."""


def _stores(code: CodeType) -> bool:
    """Whether a function stores entries as well as it looks them up: then it keeps a cache, not a table."""
    return opmap["STORE_SUBSCR"] in code.co_code[::2] or "setdefault" in code.co_names
