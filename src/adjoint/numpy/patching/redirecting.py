"""Functions whose code calls `float`, `complex` or `hasattr` by name, or methods of arrays that give no hook, as in
`a.dot(x)`: such calls go to versions that let traced values pass.

The code of a function is replaced, once and for good, by the same code with another global name at such calls (see
`capture/environment/redirect_calls.py`), which does what it always did unless its thread is tracing. `dtype=float` and
`isinstance(x, float)` mean the type and keep it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ...capture.environment.redirect_calls import redirected
from ...host.frames.ownership import Owner, owner_of
from ...host.objects.parts import contents_of
from ...host.patches.undo import replace_code
from ..numbers.passing import OF_ARRAYS, PASSING

CALLS_PATCH = {
    "what": "calls of `float`, `complex` and `hasattr` by name, and of the methods `dot`, `clip`, `choose` and "
    "`searchsorted`, in functions of the user and of packages: the code of such a function calls a version that is "
    "Python's or NumPy's own unless its thread is tracing, and then lets a traced value pass. The version is among the "
    "global names of the module, with a name that nobody can write (`_float for handles`)",
    "when": "from then on",
    "why": "they give plain values and no hook",
    "undone": "`ad.debug.unpatch()`",
}
NAMES = frozenset([name.removeprefix(".") for name in PASSING]) - {"hasattr"}
OWNERS = (Owner.USER, Owner.INSTALLED, Owner.COMPILED)
"""Whose functions are changed."""
LOOKED_AT: dict[int, CodeType] = {}
"""Codes that need no other look, by their address; they are kept, so that no other one gets it."""
_versions: dict[int, tuple[CodeType, CodeType, dict[str, Any]]] = {}
"""By address: codes that have been replaced, by which, and the names that these need.

A function that another one makes has the same code each time.
"""


def is_run_by_python(names: dict[str, Any]) -> bool:
    """Whether a module's functions are run by Python alone: numba reads their code too, and knows no such versions."""
    return "numba" not in sys.modules or not any([_is_numbas(x) for x in list(names.values())])


def _is_numbas(x: Any) -> bool:
    if issubclass(type(x), ModuleType):
        homes = [vars(x).get("__name__")]
    else:
        homes = [type(x).__module__, x.__module__ if type(x) in (FunctionType, type) else ""]
    return any([str(home).partition(".")[0] == "numba" for home in homes])


def redirect(names: dict[str, Any], held: Any) -> None:
    """Lead such calls elsewhere in what a module holds: a function, or the methods of a class."""
    if issubclass(type(held), type):
        for value in list(vars(held).values()):
            for f in functions_in(value):
                _redirect(names, f)
    else:
        for f in functions_in(held):
            _redirect(names, f)


def functions_in(x: Any) -> Iterator[FunctionType]:
    """The functions that are called when this is: through decorators, of properties and class methods."""
    waiting, seen = [x], set()
    while waiting:
        x = waiting.pop()
        kind = type(x)
        if kind is FunctionType and id(x) not in seen:
            seen.add(id(x))
            yield x
            waiting += contents_of(x) if hasattr(x, "__wrapped__") else []
        elif kind in (staticmethod, classmethod):
            waiting.append(x.__func__)
        elif kind is property:
            waiting += [x.fget, x.fset]
        elif kind in (functools.cached_property, functools.partial):
            waiting.append(x.func)


def redirect_function(f: FunctionType) -> None:
    """Lead such calls elsewhere in a function that is about to be traced, in those it closes over and in defaults."""
    waiting, seen = [f], set()
    while waiting:
        g = waiting.pop()
        if id(g) in seen:
            continue
        seen.add(id(g))
        if id(g.__code__) not in LOOKED_AT and owner_of(g.__globals__) in OWNERS and is_run_by_python(g.__globals__):
            _redirect(g.__globals__, g)
        held = [*contents_of(g), *(g.__defaults__ or ())]
        waiting += [inner for x in held for inner in functions_in(x)]


def _redirect(names: dict[str, Any], f: FunctionType) -> None:
    code = f.__code__
    if f.__globals__ is not names or id(code) in LOOKED_AT:
        return
    if _mentions(code):
        new, needed = _version(f, names)
        if new is not code:
            replace_code(CALLS_PATCH, f, new, needed)
        code = new
    LOOKED_AT[id(code)] = code


def _version(f: FunctionType, names: dict[str, Any]) -> tuple[CodeType, dict[str, Any]]:
    """The code of a function with such calls led elsewhere, one for all functions of a code, and the names it needs."""
    old, new, needed = _versions.get(id(f.__code__), (None, None, {}))
    if old is None or new is None or any([names.get(name) is not value for name, value in needed.items()]):
        new, needed = redirected(f, PASSING)
        _versions[id(f.__code__)] = f.__code__, new, needed
    return new, needed


def _mentions(code: CodeType) -> bool:
    """Whether a code, or one written inside it, has one of the names."""
    if not NAMES.isdisjoint(code.co_names) or ("hasattr" in code.co_names and not OF_ARRAYS.isdisjoint(code.co_consts)):
        return True
    return any([type(c) is CodeType and _mentions(c) for c in code.co_consts])
