"""Calls by name in a function's code that go to another function: `float(x)`, `math.sqrt(x)`, `np.float64(x)`.

Python's own number types and the functions of `math` want true numbers, so that a handle has to give up its value. In
the copy of a function that is recorded, such calls go to versions that take handles. Only calls do: `dtype=float` and
`isinstance(x, float)` mean the type and keep it. Calls of methods, `a.dot(x)`, may go to a version that is called with
the object in front.
"""

from __future__ import annotations

import builtins
import functools
import types
from collections.abc import Callable
from typing import Any

from ...host.code.rewrite import LoadSite, called_globals, called_methods, with_calls_led

Versions = dict[str, list[tuple[Any, Callable[..., Any]]]]
"""By name: the functions that go by it, and what is called instead; the name of a method begins with a dot."""
VERSIONS: Versions = {}
"""Those of recordings. `adjoint.numpy` fills it."""

RANGE = "_range for handles"
"""What the version of `range` is called: it is the same where no loops are looked for."""


def has_versions(f: types.FunctionType, loops: bool = False) -> bool:
    """Whether a function calls something that has a version for handles; `range` if loops are looked for."""
    found = _found(f.__code__, f.__globals__, VERSIONS)
    return bool(found) and (loops or any([name != RANGE for _, name, _ in found]))


def redirected(f: types.FunctionType, versions: Versions = VERSIONS) -> tuple[types.CodeType, dict[str, Any]]:
    """The code of a function with such calls led elsewhere, and the globals that it needs for that."""
    needed: dict[str, Any] = {}
    return _changed(f.__code__, f.__globals__, needed, versions), needed


def _changed(
    code: types.CodeType, module: dict[str, Any], needed: dict[str, Any], versions: Versions
) -> types.CodeType:
    inner = [_changed(c, module, needed, versions) if type(c) is types.CodeType else c for c in code.co_consts]
    sites, methods = _sites(code, module, versions), _method_sites(code, module, versions)
    changed, led = with_calls_led(
        code, [(site, name) for site, name, _ in sites], [(site, name) for site, name, _ in methods], inner
    )  # where there is no room for a name, the handle gives up its value
    needed.update({name: value for _, name, value in [*sites, *methods] if name in led})
    return changed


def _found(code: types.CodeType, module: dict[str, Any], versions: Versions) -> list[Any]:
    inner = [site for c in code.co_consts if type(c) is types.CodeType for site in _found(c, module, versions)]
    return [*_sites(code, module, versions), *_method_sites(code, module, versions), *inner]


def _method_sites(code: types.CodeType, module: dict[str, Any], versions: Versions) -> list[tuple[LoadSite, str, Any]]:
    """The instructions that load a method which is then called, and has a version; functions of modules are none."""
    methods = {name[1:]: known[0][1] for name, known in versions.items() if name[0] == "."}
    if methods.keys().isdisjoint(code.co_names):
        return []
    return [
        (site, f"_.{site.attribute} for handles", methods[site.attribute])
        for site in called_methods(code, methods)
        if not site.name or not issubclass(type(module.get(site.name)), types.ModuleType)
    ]


def _sites(code: types.CodeType, module: dict[str, Any], versions: Versions) -> list[tuple[LoadSite, str, Any]]:
    """The instructions that load what is then called: each with the name and the object to load instead."""
    found: list[tuple[LoadSite, str, Any]] = []
    for site in called_globals(code):
        name, attribute = site.name, site.attribute
        held = module.get(name, getattr(builtins, name, None))
        if not attribute:
            version = version_of(_name_of(held), held, versions)
            if version is not None:
                found.append((site, f"_{name} for handles", version))
        elif issubclass(type(held), types.ModuleType):  # other objects are not to be asked for anything
            version = version_of(attribute, getattr(held, attribute, None), versions)
            if version is not None:
                found.append((site, f"_{name}.{attribute} for handles", types.SimpleNamespace(**{attribute: version})))
    return found


def _name_of(held: object) -> str:
    """What a function or class is called; empty for other objects, which may raise if they are asked for anything."""
    is_asked = issubclass(type(held), (type, types.FunctionType, types.BuiltinFunctionType, functools.partial))
    return str(getattr(held, "__name__", "")) if is_asked else ""


def version_of(name: str, function: object, versions: Versions) -> Callable[..., Any] | None:
    """What is called instead of a function, if anything is."""
    is_class = issubclass(type(function), type)  # `type` itself may have a stand-in, which is equal to it
    known = [pair for pair in versions.get(name, ()) if pair[0] is function or (is_class and pair[0] == function)]
    return known[0][1] if known else None
