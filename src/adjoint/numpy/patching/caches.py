"""Caches of `functools` in the user's code: what a trace leaves in one is taken out again when the trace has ended.

A cache outlives the trace, and who finds a handle in it later has no plain number or array. So a function behind a
cache whose arguments are plain makes plain arrays, and where handles are results all the same they are let go.
"""

from __future__ import annotations

import functools
import gc
import itertools
import weakref
from collections.abc import Iterator
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ...core.traced import Traced
from ...core.tree import flatten
from ...host.frames.variables import variables_in

CACHES_PATCH = {
    "what": "caches of `functools` in modules of the user: results that hold handles are taken out when the trace has "
    "ended",
    "when": "while a function is traced",
    "why": "a cache outlives the trace",
    "undone": "not at all: such a result is computed again when it is asked for",
}
Cache = functools._lru_cache_wrapper
WATCHED: dict[int, tuple[weakref.ref[Any], int]] = {}
"""By identity: a cache that this trace has asked, and how often it had missed before."""
CODES: dict[int, weakref.ref[Any]] = {}
"""Caches of the user's, by the codes of the functions behind them."""
MODULES: dict[int, weakref.WeakSet[Any]] = {}
"""The same by the identity of the global names that the functions see."""


def note(cache: Any) -> None:
    """Know the function behind a cache when it runs."""
    behind = getattr(cache, "__wrapped__", None)
    if type(behind) is FunctionType:
        CODES[id(behind.__code__)] = weakref.ref(cache)
        MODULES.setdefault(id(behind.__globals__), weakref.WeakSet()).add(cache)


def watch_module(names: dict[str, Any]) -> None:
    """Look at the caches of a module when the trace has ended: they may be asked with plain keys, and hold handles."""
    for cache in MODULES.get(id(names), ()):
        WATCHED.setdefault(id(cache), (weakref.ref(cache), cache.cache_info().misses))


def watch(cache: Any) -> None:
    """Look at a cache when the trace has ended: it is asked for a handle, or the function behind it runs."""
    if cache is not None and id(cache) not in WATCHED:
        WATCHED[id(cache)] = weakref.ref(cache), cache.cache_info().misses - 1


def makes_plain(frame: FrameType) -> bool:
    """Whether a frame is that of a function behind a cache, with plain arguments: others may find its result."""
    cache = CODES.get(id(frame.f_code))
    if cache is None:
        return False
    watch(cache())
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount]
    return not any([isinstance(x, Traced) for x in flatten([variables_in(frame).get(name) for name in names])[0]])


def sweep() -> None:
    """No function is traced any more: look at the entries that caches have got since."""
    watched = list(WATCHED.values())
    WATCHED.clear()
    for reference, misses in watched:
        cache = reference()
        if cache is not None and cache.cache_info().misses != misses:
            _clean(cache, cache.cache_info().misses - misses)


def _clean(cache: Any, n: int) -> None:
    """Let go of the results that hold handles among the last n, or fewer if n is negative: the cache was cleared.

    Where the key is a handle, nobody finds the result: it only takes place.
    """
    referents = gc.get_referents(cache)
    for entries in [x for x in referents if type(x) is dict and "__wrapped__" not in x]:
        newest = list(itertools.islice(reversed(entries.items()), n if n > 0 else None))
        if cache.cache_info().maxsize is None:
            left = {id(key) for key, result in newest if _holds(key) or _holds(result)}
            if left:  # a key that is a handle has no hash any more, so it cannot be deleted
                plain = {key: result for key, result in entries.items() if id(key) not in left}
                entries.clear()
                entries.update(plain)
        elif any([_holds(result) and not _holds(key) for key, result in _pairs(newest, referents)]):
            cache.cache_clear()


def _pairs(newest: list[tuple[Any, Any]], referents: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Keys and results of a cache with a bound: it tells of the one before the other."""
    keys = {id(key) for key, _ in newest}
    for key, result in itertools.pairwise(referents):
        if id(key) in keys:
            yield key, result


def _holds(x: Any) -> bool:
    """Whether a handle is among the leaves of a result, or behind it: in a closure, an attribute."""
    from ...host.objects.walk import is_behind  # seldom needed, so not when the library is imported

    return is_behind(filter(_may_hold, flatten(x)[0]), _referents, lambda part: isinstance(part, Traced), most=MOST)


def _referents(x: Any) -> list[Any]:
    return [part for part in gc.get_referents(x) if _may_hold(part)]


def _may_hold(x: Any) -> bool:
    """Whether something is a handle, or may have one behind it."""
    return isinstance(x, Traced) or not (isinstance(x, NO_HOLDERS) or (type(x) is dict and GLOBAL in x))


MOST = 1000
"""How many objects are looked at behind a result."""
NO_HOLDERS = (type, ModuleType, CodeType, str, bytes, float, int, np.ndarray)
GLOBAL = "__builtins__"
"""In the global names of a module, which are not a result's own."""
