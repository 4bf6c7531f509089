"""NumPy's array makers that a module has imported by name: `from numpy import zeros, asarray`.

Such a name holds NumPy's own function for good. In modules whose arrays may be handles it is replaced, once, by a
version that does what it always did unless its thread is tracing; so are default arguments and attributes of classes.
In those of packages with compiled code, conversions and functions of `math` are: of a traced value they give one.
"""

from __future__ import annotations

import functools
import sys
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy

from ...host.frames.ownership import NUMPY_CODE, OURS, Owner, owner_of
from ...host.objects.parts import contents_of
from ...host.patches.changes import Attribute, GlobalName, KeywordDefault
from ...host.patches.undo import replace_variable
from ..numbers.mathematics import named_versions
from . import redirecting
from .asked_type import NAME, TYPE_PATCH, TypeForHandles, asks
from .caches import MODULES, Cache, note, watch_module
from .constructors import CONVERTERS, MAKERS, NUMPY, Maker
from .patched_names import OBJECTS

IMPORTED_PATCH = {
    "what": "functions that make arrays, imported by name, in modules of the user and in SciPy's modules of "
    "distributions: `zeros` of `from numpy import zeros` is replaced by a version that is equal to NumPy's, and does "
    "the same unless its thread is tracing. So are default arguments, attributes of classes, and variables that a "
    "function closes over",
    "when": "from then on",
    "why": "the name holds NumPy's function, whatever is read from the module later",
    "undone": "`ad.debug.unpatch()`",
}
HOLDERS = (FunctionType, type)
"""What may hold such a function as a default argument or an attribute."""

_versions: dict[int, Any] = {
    **{id(original): MAKERS[name] for name, original in NUMPY.items()},
    **{id(getattr(numpy, name)): name for name in OBJECTS},
    **{id(original): Maker(original, version) for original, version in named_versions().items()},
}
_converters: dict[int, Any] = {
    **{id(NUMPY[name]): Maker(name, version) for name, version in CONVERTERS.items()},
    **{id(original): _versions[id(original)] for original in named_versions()},
}
"""For modules whose arrays have to be plain: only what is given a traced value gives one."""
_adopted: dict[int, tuple[int, dict[str, Any]]] = {}
"""Global names of functions that were traced: how many there were, and what has been replaced among them."""

_sizes: dict[int, int] = {}
"""How many names there were where nothing has been replaced, so that there is nothing else to be asked."""

_kept: dict[int, tuple[dict[str, Any], str, Any]] = {}
"""Names among which something has been replaced, the first of them, and by what: a new import sets all of them anew."""


_codes: dict[int, CodeType] = {}
"""The codes of functions that have been looked into; kept, so that no other one gets their number."""
MOST_CODES = 20_000


def adopt_surroundings(fun: Any) -> None:
    """Look at the names that a function may use, unless they are as they were the last time."""
    script = sys.modules["__main__"].__dict__
    if _sizes.get(id(script)) != len(script):
        adopt_again(script)
    for names, name, version in _kept.values():
        if names.get(name) is not version:
            _adopt_anew()
            break
    if type(fun) is not FunctionType:
        fun = _function_of(fun)
    if fun is not None:
        if fun.__closure__ or fun.__defaults__ or id(fun.__code__) not in redirecting.LOOKED_AT:
            redirecting.redirect_function(fun)
        names = fun.__globals__
        if names is not script and _sizes.get(id(names)) != len(names):
            adopt_again(names)
        if id(names) in MODULES:
            watch_module(names)
        if id(fun.__code__) not in _codes:
            _look_into(fun)
        if fun.__closure__:
            _adopt_cells(fun)


def _look_into(fun: FunctionType) -> None:
    """A function that may be no name of its module's: whether it asks for types, which names have to know then."""
    names = fun.__globals__
    if asks(fun) and NAME not in names and owner_of(names) is Owner.USER:
        GlobalName(TYPE_PATCH, fun, NAME, TypeForHandles)
    if len(_codes) >= MOST_CODES:
        _codes.clear()
    _codes[id(fun.__code__)] = fun.__code__


def _function_of(x: Any) -> FunctionType | None:
    """The function behind a method, a partial, a jitted function or an object that can be called."""
    for _ in range(8):
        if type(x) is FunctionType:
            return x
        kind = type(x)
        if kind is MethodType:
            x = x.__func__
        elif kind is functools.partial:
            x = x.func
        else:
            x = x.fun if kind.__module__.startswith(OURS + ".") and hasattr(x, "fun") else vars(kind).get("__call__")
    return None


def _adopt_anew() -> None:
    """Look at the names of modules that have been imported anew, as by `importlib.reload`."""
    for names in [names for names, name, version in _kept.values() if names.get(name) is not version]:
        adopt_again(names)


def adopt_again(names: dict[str, Any]) -> None:
    """Look at global names that may have grown, or been set anew."""
    count, replaced = _adopted.get(id(names), (0, {}))
    if count != len(names) or any([names.get(name) is not version for name, version in replaced.items()]):
        everything = {**replaced, **adopt(names)}
        held = {name: version for name, version in everything.items() if names.get(name) is version}
        _adopted[id(names)] = len(names), held
        _sizes[id(names)] = -1 if held else len(names)
        _kept.pop(id(names), None)
        for name, version in held.items():
            _kept[id(names)] = names, name, version
            break


def adopt(names: dict[str, Any]) -> dict[str, Any]:
    """Replace NumPy's array makers among the global names of a module; what they are now."""
    owner = owner_of(names)
    if owner not in redirecting.OWNERS and names.get("__name__") not in NUMPY_CODE:
        return {}
    takes, redirects = owner is not Owner.COMPILED, redirecting.is_run_by_python(names)
    replaced: dict[str, Any] = {}
    asked = NAME in names or owner is not Owner.USER
    for name, value in list(names.items()):
        if id(value) in _versions:
            version = _version(value) if takes else _converters.get(id(value)) if redirects else None
            if version is not None:
                replaced[name] = version
                GlobalName(IMPORTED_PATCH, names, name, version)
        elif issubclass(type(value), HOLDERS) and getattr(value, "__module__", "") == names.get("__name__"):
            if takes:
                _adopt_parts(value)
            if redirects:
                redirecting.redirect(names, value)
            if not asked and asks(value):
                GlobalName(TYPE_PATCH, names, NAME, TypeForHandles)
                asked = True
        elif type(value) is Cache:
            note(value)
    return replaced


def _version(original: Any) -> Any:
    version = _versions[id(original)]
    if isinstance(version, str):
        from .index_tricks import VERSIONS

        version = _versions[id(original)] = VERSIONS[version]
    return version


def _adopt_parts(x: Any) -> None:
    """Default arguments of a function; attributes of a class, and the defaults of its methods."""
    if issubclass(type(x), type):
        for name, value in list(vars(x).items()):
            if type(value) is FunctionType:  # a method, also if it is NumPy's
                _adopt_parts(value)
            elif id(value) in _versions:
                Attribute(IMPORTED_PATCH, x, name, staticmethod(_version(value)))  # as NumPy's, it is bound to nobody
            elif type(value) is Cache:
                note(value)
        return
    if x.__defaults__ and any([id(value) in _versions for value in x.__defaults__]):
        defaults = tuple([_version(value) if id(value) in _versions else value for value in x.__defaults__])
        Attribute(IMPORTED_PATCH, x, "__defaults__", defaults)
    for name, value in list((x.__kwdefaults__ or {}).items()):
        if id(value) in _versions:
            KeywordDefault(IMPORTED_PATCH, x, name, _version(value))


def _adopt_cells(fun: FunctionType) -> None:
    """The variables of enclosing functions."""
    for name, content in zip(fun.__code__.co_freevars, contents_of(fun), strict=True):
        if id(content) in _versions:
            replace_variable(IMPORTED_PATCH, fun, name, _version(content))
        elif type(content) is FunctionType:
            adopt_again(content.__globals__)
            if id(content.__code__) not in _codes:
                _look_into(content)
