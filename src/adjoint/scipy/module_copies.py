"""Twins of SciPy's modules: the same Python code, whose new arrays can hold traced values, with our compiled functions.

SciPy writes most of its functions in Python and ends in a few compiled ones, which get an array that was made to be
filled. In the twin of a module `np.zeros` gives a handle, and each compiled function, the *leaves*, has a version that
is made of primitives. The module itself stays as it is, and so do its functions for everybody else.
"""

from __future__ import annotations

import cmath
import copy
import functools
import importlib
import math
from collections.abc import Callable, Mapping
from inspect import isgeneratorfunction
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy  # not `np`, which `naming` exchanges in modules of this library: twins are made of NumPy as SciPy sees it
import numpy as np

from ..core.traced import LOCAL, Traced
from ..host.objects.parts import contents_of
from ..numpy.dispatch.lists import aware
from ..numpy.patching.constructors import MAKERS
from ..numpy.patching.index_tricks import VERSIONS
from ..numpy.patching.replacements import Answer, divert, set_attribute

TWINS: dict[str, ModuleType] = {}
"""Modules of SciPy's by name, and their twins."""


def twin(name: str, **leaves: Any) -> ModuleType:
    """The twin of one module, in which these names stand for something else."""
    return twins({name: leaves})[name]


def twins(modules: Mapping[str, Mapping[str, Any]]) -> dict[str, ModuleType]:
    """The twins of modules, each with names that stand for something else in it; which know each other."""
    made = {name: ModuleType(name) for name in modules}
    copies: dict[int, Any] = {}
    for name, module in made.items():
        original = vars(importlib.import_module(name))
        vars(module).update(original)
        for key, value in original.items():
            if isinstance(value, FunctionType):
                vars(module)[key] = _function(value, original, vars(module), copies)
    TWINS.update(made)
    for name, module in made.items():
        _link(vars(module), name)
        _hold(vars(module), copies)
        vars(module).update(modules[name])
    return made


def _hold(names: dict[str, Any], copies: Mapping[int, Any]) -> None:
    """Let tables of functions be tables of the twin's functions."""
    for key, value in list(names.items()):
        if type(value) is dict and not key.startswith("__"):
            names[key] = {k: _held(v, copies) for k, v in value.items()}


def _held(value: Any, copies: Mapping[int, Any]) -> Any:
    if type(value) in (list, tuple):
        return type(value)([_held(v, copies) for v in value])
    return copies.get(id(value), value)


def methods_run_through(kind: type, name: str, module: ModuleType, *, changing: tuple[str, ...] | None = None) -> None:
    """Let the methods of a class run with the twin's names while a function is traced, whatever the object holds.

    If the class keeps what it has computed, `changing` are its methods that are meant to change the object: all others
    work on a copy of it, so that nothing of a trace is kept, and no program relies on what has been kept before.
    """
    for key, method in list(vars(kind).items()):
        is_bound = not isinstance(method, (staticmethod, classmethod))
        plain = method if is_bound else method.__func__
        parts = (plain.fget, plain.fset) if isinstance(plain, property) else (plain,)
        for place, part in enumerate(parts):
            if not isinstance(part, FunctionType) or part.__code__.co_filename != vars(module)["__file__"]:
                continue
            own = _function(part, part.__globals__, vars(module), {})
            if changing is not None and is_bound and key not in changing and place == 0:
                own = _on_copy(own)
            if isgeneratorfunction(part):  # whose code cannot be exchanged for that of a function
                set_attribute(kind, key, _generating(part, own))
            else:
                divert(part, Answer(ours=_without_original(own), calls_back=True), f"{name}.{key}")


def _on_copy(method: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return method(copy.copy(self), *args, **kwargs)

    return call


def _generating(method: FunctionType, own: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        return (own if LOCAL.depth else method)(*args, **kwargs)

    return call


def _without_original(own: Callable[..., Any]) -> Callable[..., Any]:
    def ours(original: Any, *args: Any, **kwargs: Any) -> Any:
        return own(*args, **kwargs)

    return ours


def _link(names: dict[str, Any], own: str) -> None:
    """Let the names of a twin that come from elsewhere be those of other twins, and NumPy's be NumPy's for twins."""
    versions = _versions()
    for key, value in list(names.items()):
        if value is numpy:
            names[key] = handles()
        elif isinstance(value, ModuleType):
            names[key] = TWINS.get(value.__name__) or _other(value)
        elif id(value) in versions:
            names[key] = versions[id(value)]
        elif isinstance(value, (FunctionType, type)) and value.__module__ in TWINS and value.__module__ != own:
            names[key] = vars(TWINS[value.__module__]).get(value.__name__, value)
    names.update(array_namespace=_namespace)


def _function(value: FunctionType, old: Any, new: dict[str, Any], copies: dict[int, Any]) -> Any:
    """A function with the twin's names: its own, or one that encloses such a function, as decorators give."""
    if id(value) in copies:
        return copies[id(value)]
    cells = contents_of(value)
    inner = [c for c in cells if isinstance(c, FunctionType) and c.__globals__ is old]
    if value.__globals__ is not old and not inner:
        return value
    closure = tuple([CellType(_function(c, old, new, copies)) if c in inner else cell
                     for c, cell in zip(cells, value.__closure__ or (), strict=True)])  # fmt: skip
    names = new if value.__globals__ is old else value.__globals__
    made = FunctionType(value.__code__, names, value.__name__, value.__defaults__, closure or None)
    made.__kwdefaults__, made.__doc__, made.__module__ = value.__kwdefaults__, value.__doc__, value.__module__
    copies[id(value)] = made
    return made


_handles: list[ModuleType] = []
_made: dict[int, Any] = {}


def handles() -> ModuleType:
    """NumPy for twins: what it makes can be filled with traced values, and it has the names of the array standard."""
    if not _handles:
        from scipy._lib._array_api import np_compat

        made = ModuleType("numpy")
        vars(made).update(vars(np_compat), **vars(numpy))
        vars(made).update(
            {name: aware(f) for name, f in vars(numpy).items() if isinstance(f, np.ufunc)},
            **MAKERS, **VERSIONS, may_share_memory=_may_share, shares_memory=_may_share,
        )  # fmt: skip
        _handles.append(made)
    return _handles[0]


def _versions() -> dict[int, Any]:
    """NumPy's functions that a module may have imported by name, to those of `handles`."""
    if not _made:
        _made.update({id(vars(numpy)[name]): vars(handles())[name] for name in (*MAKERS, *VERSIONS)})
    return _made


def _may_share(a: Any, b: Any, *args: Any) -> bool:
    """Steps read their operands before anything is written."""
    return False if isinstance(a, Traced) or isinstance(b, Traced) else np.may_share_memory(a, b, *args)


def _namespace(*arrays: Any, **options: Any) -> ModuleType:
    return handles()


class _Numbers(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, float)

    def __call__(cls, x: Any = 0.0) -> Any:
        if not isinstance(x, Traced) or x.size != 1 or x.dtype.kind == "c":
            return float(x)
        return x.item()


class Float(metaclass=_Numbers):
    """`float` for the code of a twin: a traced number is one already."""


@functools.cache
def _other(module: ModuleType) -> ModuleType:
    """What twins see of a module: Python's functions of numbers and additions to the array standard know traced values.

    Where SciPy keeps what it has taken over from the array standard depends on its version.
    """
    name = module.__name__
    if name.endswith("array_api_compat.numpy"):
        return handles()
    if module not in (math, cmath) and not name.endswith("array_api_extra"):
        return module
    made = ModuleType(name)
    vars(made).update(vars(module))
    if name.endswith("array_api_extra"):
        vars(made).update(at=At)
        return made
    for key, function in vars(module).items():
        ufunc = getattr(np, USUAL.get(key, key), None)
        if isinstance(ufunc, np.ufunc):
            vars(made)[key] = _of_numbers(function, ufunc)
    return made


USUAL = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh", "pow": "power",
}  # fmt: skip
"""What NumPy calls functions of `math`, where it is not the same."""


def _of_numbers(function: Any, ufunc: np.ufunc) -> Any:
    """A function of Python's numbers, which is NumPy's for traced ones; `math.log` may have a base."""

    def call(*args: Any) -> Any:
        if not any([isinstance(a, Traced) for a in args]):
            return function(*args)
        return ufunc(*args) if len(args) == ufunc.nin else ufunc(args[0]) / ufunc(args[1])

    return call


class At:
    """`xpx.at(x)[places].set(values)`: the array, or a copy if that is asked for, with these values at these places."""

    def __init__(self, x: Any, places: Any = ...) -> None:
        self.x, self.places = x, places

    def __getitem__(self, places: Any) -> At:
        return At(self.x, places)

    def _changed(self, change: Any, values: Any, options: Mapping[str, Any]) -> Any:
        in_place = isinstance(self.x, Traced) and not options.get("copy")  # as SciPy has it for what can be written to
        x = self.x if in_place else MAKERS["array"](self.x)
        x[self.places] = change(x[self.places], values)
        return x

    def set(self, values: Any, **options: Any) -> Any:
        """The array with these values there."""
        return self._changed(lambda old, new: new, values, options)

    def add(self, values: Any, **options: Any) -> Any:
        """The array with these values added."""
        return self._changed(np.add, values, options)

    def subtract(self, values: Any, **options: Any) -> Any:
        """The array with these values subtracted."""
        return self._changed(np.subtract, values, options)

    def multiply(self, values: Any, **options: Any) -> Any:
        """The array multiplied by these values."""
        return self._changed(np.multiply, values, options)

    def divide(self, values: Any, **options: Any) -> Any:
        """The array divided by these values."""
        return self._changed(np.divide, values, options)
