"""NumPy's names while a function is traced, where NumPy gives no hook: `np.array([x, y])`, `np.zeros(3)`.

The names are read through properties of the module's class, and the thread that traces gets versions that know traced
values. The module's own dictionary is never changed: other threads read from it what they always did, and so does
everybody once the function is done. What somebody has put in the place of a name, a test's mock for example, stays.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from sys import _getframe as getframe
from types import ModuleType
from typing import Any

import numpy

from ..core.callsite import CALLS, OURS, package_of, reads_for_handles, site_of
from ..core.forking import held_at_fork
from ..core.traced import LOCAL
from . import dispatchers, imported, replacements, tracing
from .constructors import CONVERTERS, MAKERS
from .imported import OBJECTS
from .lists import aware

_lock = threading.Lock()
held_at_fork(_lock)
_ready: set[str] = set()
"""The modules that have been looked at."""


def prepare(fun: Any) -> None:
    """A function is about to be traced: let the names it may use know traced values."""
    if len(sys.modules) != len(_ready):
        with _lock:
            _look_at_modules()
    imported.adopt_surroundings(fun)


def _look_at_modules() -> None:
    for name, module in list(sys.modules.items()):
        is_module = issubclass(type(module), ModuleType)  # other objects are not to be asked for anything
        if name in _ready or (is_module and replacements.is_being_imported(module)):
            continue
        _ready.add(name)
        if not is_module:
            continue
        if name == "numpy" or name == "scipy.special":
            teach(module)
        if name == "numpy":
            from .applying import learn  # not needed before

            learn()
        if name in ("numpy", "numpy.linalg", "numpy.fft"):
            dispatchers.teach(vars(module).values())
        elif name.startswith(OURS + "."):
            _give_own_numpy(vars(module))
        elif name != "__main__":
            imported.adopt_again(vars(module))
    if "scipy" in sys.modules:
        replacements.install()
    _ready.intersection_update(list(sys.modules))  # their number says whether anything is new


_own = ModuleType("numpy", "NumPy as this library sees it: whatever a thread is tracing, and whoever replaces names.")


def _give_own_numpy(names: dict[str, Any]) -> None:
    """Let a module of this library read NumPy's names from a copy, which is no slower while a function is traced."""
    if not hasattr(_own, "ndarray"):
        vars(_own).update(vars(numpy), **CONVERTERS)
    if names.get("np") is numpy:
        names["np"] = _own


def teach(module: ModuleType) -> None:
    """Let the public names of a module know traced values."""
    properties: dict[str, property] = {}
    for name, original in list(vars(module).items()):
        if module is numpy and name in MAKERS:
            properties[name] = _made(vars(module), name, original)
        elif module is numpy and name in OBJECTS:
            properties[name] = _object(vars(module), name, original)
        elif not name.startswith("_") and (isinstance(original, numpy.ufunc) or _is_number_type(original)):
            properties[name] = _called(vars(module), name, original)
    tracing.add(module, properties)


def _is_number_type(x: Any) -> bool:
    """Whether it is a class such as `np.float64`, which is called to convert: a traced number stays one then."""
    return isinstance(x, type) and issubclass(x, (numpy.floating, numpy.complexfloating)) and x.__module__ == "numpy"


def _made(names: dict[str, Any], name: str, original: Any) -> property:
    """A function that makes arrays: the user's own arrays are handles."""
    users, others = MAKERS[name], CONVERTERS.get(name)

    def read(module: ModuleType) -> Any:
        found = _found(names, name)
        if LOCAL.depth and found is original:
            frame = getframe(1)
            if reads_for_handles(frame):
                return users
            if others is not None and site_of(frame).calls:
                return others
        return found

    return _property(names, name, read)


def _object(names: dict[str, Any], name: str, original: Any) -> property:
    """An object such as `np.r_`."""

    def read(module: ModuleType) -> Any:
        found = _found(names, name)
        if LOCAL.depth and found is original:
            frame = getframe(1)
            if site_of(frame).reads and package_of(frame.f_globals) != OURS:
                from .names import VERSIONS

                return VERSIONS[name]
        return found

    return _property(names, name, read)


def _called(names: dict[str, Any], name: str, original: Any) -> property:
    """A universal function, in another version where it is only called, so that nobody sees which of the two it is."""
    ours: Any = None

    def read(module: ModuleType) -> Any:
        nonlocal ours
        frame = getframe(1)
        if id(frame.f_code) + frame.f_lasti not in CALLS and not site_of(frame).calls:
            return _found(names, name)
        try:
            if names[name] is not original or not LOCAL.depth:
                return names[name]
        except KeyError:
            return _found(names, name)
        if ours is None:
            ours = aware(original)
        return ours

    return _property(names, name, read)


def _found(names: dict[str, Any], name: str) -> Any:
    try:
        return names[name]
    except KeyError:
        raise AttributeError(f"module {names['__name__']!r} has no attribute {name!r}") from None


def _property(names: dict[str, Any], name: str, read: Callable[[ModuleType], Any]) -> property:
    """A property that reads as said, and writes and deletes in the module's own dictionary."""

    def write(module: ModuleType, value: Any) -> None:
        names[name] = value

    def delete(module: ModuleType) -> None:
        _found(names, name)
        del names[name]

    return property(read, write, delete)
