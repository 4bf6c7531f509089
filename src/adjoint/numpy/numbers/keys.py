"""Traced numbers as keys of dicts and sets: looked up by value, as numbers are.

`x in {0.0, 1.0}`, `table[x]`, `set([x, y])` and `Counter` answer as for the plain number; while a program is captured,
a guard says that the number has to stay. A cache is another matter: what it holds was computed from another number that
happened to be equal, or from a plain one, so that the derivative with respect to this one would be lost. Those of
`functools` are passed by: there a handle is equal to itself alone, so that it finds nothing else, and what is kept for
it is found by nobody later. In a dict of the user's own, a key that a trace has left behind is no longer found.
"""

from __future__ import annotations

import functools
import sys
import threading
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from ...core.errors import DerivativeDroppedError, message
from ...core.traced import Traced, is_differentiated, is_kept, kind_of, settled
from ...core.values import describe
from ...host.code.uses import stores_entries
from ...host.frames.in_progress import called_at, is_calling, is_comparing, may_fetch
from ...host.frames.variables import place_of
from ..dispatch.conversions import decided, refuse_batch
from ..patching.caches import watch

BATCH = "Use  np.where(x == key, a, b)  instead of a dict or a set."

_looked_up: dict[int, tuple[int, tuple[int, int]]] = {}
"""By thread: the handle that was hashed last, and the frame that did with the place where it stood."""

_left: dict[int, weakref.ref[Any]] = {}
"""Handles that became keys while they were traced, by their identity: after that they are keys to nobody."""


def hashed(self: Any) -> int:
    """`hash(x)`: that of the number; arrays have none."""
    self = self if type(self) is Traced else self.current()
    if not self.traced_by.level:
        return hash(settled(self))
    if kind_of(self) is np.ndarray:
        raise TypeError("unhashable type: 'numpy.ndarray'")
    frame = sys._getframe(1)
    if is_calling(frame):
        cache = called_at(frame)
        if isinstance(cache, functools._lru_cache_wrapper):
            watch(cache)
            return object.__hash__(self)  # which nothing else has: it is computed anew
    refuse_batch(self, "looked up in a dict or a set", BATCH)
    if is_differentiated(self):
        number = id(self)
        _left[number] = weakref.ref(self, lambda _: _left.pop(number, None))  # type: ignore[arg-type,return-value]
        if may_fetch(frame):
            _looked_up[threading.get_ident()] = id(self), place_of(frame)
    return hash(decided(self))


def guarded(equal: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`x == y`, with an eye on the comparisons that a lookup makes: with keys of the same hash."""

    def compare(self: Any, other: Any) -> Any:
        if _left and _is_left_behind(self, other, sys._getframe(1)):
            return False
        found = equal(self, other)
        if _looked_up:
            frame, last = sys._getframe(1), _looked_up.pop(threading.get_ident(), None)
            here = place_of(frame)
            if last in ((id(self), here), (id(other), here)) and bool(found):
                _check_entry(self if last is not None and last[0] == id(self) else other, self, other, frame)
        return found

    return compare


def _is_left_behind(self: Any, other: Any, frame: FrameType) -> bool:
    """Whether a lookup meets a key that a trace has left behind, with what was computed in that trace."""
    for x in (self, other):
        if id(x) in _left and type(x) is Traced and is_kept(x):
            return not is_comparing(frame)
    return False


def _check_entry(x: Traced, self: Any, other: Any, frame: FrameType) -> None:
    """Refuse to take what a cache holds for another number of the same value."""
    if is_calling(frame):
        function = called_at(frame)
        if function is not None and getattr(function, "__name__", "") not in GETTERS:
            return
    if isinstance(self, Traced) and isinstance(other, Traced):
        _refuse(x, "A dict with traced numbers as keys")
    if "setdefault" in frame.f_code.co_names or stores_entries(frame.f_code):  # it keeps a cache, not a table
        _refuse(x, "A dict that is used as a cache")


def _refuse(x: Traced, what: str) -> NoReturn:
    raise DerivativeDroppedError(
        message(
            f"{what}  finds what was computed from another number of the same value: the derivative would be lost.",
            got=describe(x),
            fix=f"{CACHE}\nWrite  ad.value(x)  as the key if no derivative is wanted.",
        )
    )


CACHE = "Compute it anew while derivatives are taken."
GETTERS = ("get", "setdefault", "pop", "__getitem__")
