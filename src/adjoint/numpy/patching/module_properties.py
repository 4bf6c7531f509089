"""NumPy's names while a function is traced, where NumPy gives no hook: `np.array([x, y])`, `np.zeros(3)`.

The names are read through properties of the module's class, and the thread that traces gets versions that know traced
values. The module's own dictionary is never changed: other threads read from it what they always did, and so does
everybody once the function is done. What somebody has put in the place of a name, a test's mock for example, stays.
"""

from __future__ import annotations

import cmath
import importlib
import math
import sys
from collections.abc import Callable
from sys import _getframe as getframe
from types import ModuleType
from typing import Any

import numpy

from ...core.traced import LOCAL
from ...host.forking import Lock, held_at_fork
from ...host.frames.callsite import named_in, reader, reads_for_handles, site_of
from ...host.frames.ownership import OURS, is_ours
from ...host.patches.changes import ListItem
from ..dispatch import assignment, conversions, dispatchers, methods, operators, protocols
from ..dispatch.lists import aware
from ..numbers.mathematics import version_of
from . import claiming, imported, replacements, tracing
from . import import_hook as late
from .caches import CODES, makes_plain
from .constructors import CONVERTERS, MAKERS
from .patched_names import OBJECTS

FACE = (assignment, claiming, conversions, methods, operators, protocols)
"""What gives handles their operators, methods and protocols, as it is imported."""

_lock = Lock()
held_at_fork(_lock)
PACKAGES = {
    "statistics": "adjoint.numpy.numbers.samples",
    "polars": "adjoint.numpy.dispatch.polars_columns",
    "pandas": "adjoint.numpy.dispatch.pandas_tables",
    "numpy.ma": "adjoint.numpy.patching.masked",
}
"""Modules that are neither NumPy's nor SciPy's, and that of ours which teaches them traced values."""
_ready: set[str] = set()
"""The modules that have been looked at."""


def prepare(fun: Any) -> None:
    """A function is about to be traced: let the names it may use know traced values."""
    if len(sys.modules) != len(_ready):
        with _lock:
            _look_at_modules(None)
    imported.adopt_surroundings(fun)


def _complete(module: ModuleType) -> None:
    """A function that is traced has imported a module of SciPy's, whose code has been run."""
    if not _is_looking and _lock.acquire(blocking=False):  # while modules are looked at, some are imported too
        try:
            _look_at_modules(module, None)  # the second time at those of ours that teach it
        finally:
            _lock.release()


ListItem(late.FINDER_PATCH, sys.meta_path, "sys.meta_path", late.Finder(_complete))


_is_looking = False


def _look_at_modules(*complete: ModuleType | None) -> None:
    """Look at all that are new, once for each of these, whose code has been run although it is being imported."""
    global _is_looking
    _is_looking = True
    try:
        for module in complete:
            _look_at_new(module)
    finally:
        _is_looking = False


def _look_at_new(complete: ModuleType | None) -> None:
    for name, module in list(sys.modules.items()):
        is_module = issubclass(type(module), ModuleType)  # other objects are not to be asked for anything
        if name in _ready or (is_module and module is not complete and replacements.is_being_imported(module)):
            continue
        _ready.add(name)
        if not is_module:
            continue
        _teach(name, module)
        if name in ("numpy", "numpy.linalg", "numpy.fft"):
            dispatchers.look_into_lists(vars(module).values())
        elif name.startswith(OURS + "."):
            _give_own_numpy(vars(module))
        elif name != "__main__":
            imported.adopt_again(vars(module))
    if "scipy" in sys.modules:
        replacements.install(complete)
    _ready.intersection_update(list(sys.modules))  # their number says whether anything is new


def _teach(name: str, module: ModuleType) -> None:
    """Let a module that has been imported know traced values, if it is one of those that have to."""
    if name == "numpy" or name == "scipy.special":
        give_versions(module)
    if name in ("math", "cmath"):
        _give_mathematics(module)
    if name == "numpy":
        from .vectorize import divert_vectorize  # not needed before

        divert_vectorize()
    if name in PACKAGES:
        importlib.import_module(PACKAGES[name]).teach()


_own = ModuleType("numpy", "NumPy as this library sees it: whatever a thread is tracing, and whoever replaces names.")


_mathematics = [ModuleType("math"), ModuleType("cmath")]
for _module, _names in zip(_mathematics, (math, cmath), strict=True):
    vars(_module).update(vars(_names))


def _give_mathematics(module: ModuleType) -> None:
    """Let the functions of `math` and `cmath` know traced numbers, where they are called."""
    names = vars(module)
    found = {name: x for name, x in names.items() if version_of(x) is not None}
    tracing.add(module, {name: _called(names, name, x, version_of) for name, x in found.items()})


def _give_own_numpy(names: dict[str, Any]) -> None:
    """Let a module of this library read NumPy's names from a copy, which is no slower while a function is traced."""
    if not hasattr(_own, "ndarray"):
        vars(_own).update(vars(numpy), **CONVERTERS)
    if names.get("np") is numpy:
        names["np"] = _own
    for own in _mathematics:
        if getattr(names.get(own.__name__), "__name__", None) == own.__name__:
            names[own.__name__] = own


def give_versions(module: ModuleType) -> None:
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
        found = named_in(names, name)
        if LOCAL.depth and found is original:
            frame = getframe(1)
            if CODES and makes_plain(frame):
                return found
            if reads_for_handles(frame):
                return users
            if others is not None and site_of(frame).calls:
                return others
        return found

    return _property(names, name, read)


def _object(names: dict[str, Any], name: str, original: Any) -> property:
    """An object such as `np.r_`."""

    def read(module: ModuleType) -> Any:
        found = named_in(names, name)
        if LOCAL.depth and found is original:
            frame = getframe(1)
            if site_of(frame).reads and not is_ours(frame):
                from .index_tricks import VERSIONS

                return VERSIONS[name]
        return found

    return _property(names, name, read)


def _called(names: dict[str, Any], name: str, original: Any, version: Callable[[Any], Any] = aware) -> property:
    """A universal function, in another version where it is only called, so that nobody sees which of the two it is."""
    return _property(names, name, reader(names, name, original, version, LOCAL))


def _property(names: dict[str, Any], name: str, read: Callable[[ModuleType], Any]) -> property:
    """A property that reads as said, and writes and deletes in the module's own dictionary."""

    def write(module: ModuleType, value: Any) -> None:
        names[name] = value

    def delete(module: ModuleType) -> None:
        named_in(names, name)
        del names[name]

    return property(read, write, delete)
