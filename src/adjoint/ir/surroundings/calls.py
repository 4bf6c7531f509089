"""Calls by name in a function's code that go to another function: `float(x)`, `math.sqrt(x)`, `np.float64(x)`.

Python's own number types and the functions of `math` want true numbers, so that a handle has to give up its value. In
the copy of a function that is recorded, such calls go to versions that take handles. Only calls do: `dtype=float` and
`isinstance(x, float)` mean the type and keep it.
"""

from __future__ import annotations

import builtins
import dis
import functools
import sys
import types
from collections.abc import Callable
from typing import Any

VERSIONS: dict[str, list[tuple[Any, Callable[..., Any]]]] = {}
"""By name: the functions that go by it, and what is called instead. `adjoint.numpy` fills it."""

RANGE = "range for handles"
"""What the version of `range` is called: it is the same where no loops are looked for."""
SUPPORTED = sys.implementation.name == "cpython" and (3, 11) <= sys.version_info < (3, 14)
"""Interpreters whose code is known."""


def has_versions(f: types.FunctionType, loops: bool = False) -> bool:
    """Whether a function calls something that has a version for handles; `range` if loops are looked for."""
    found = _found(f.__code__, f.__globals__) if SUPPORTED else []
    return bool(found) and (loops or any([name != RANGE for _, name, _ in found]))


def redirected(f: types.FunctionType) -> tuple[types.CodeType, dict[str, Any]]:
    """The code of a function with such calls led elsewhere, and the globals that it needs for that."""
    if not SUPPORTED:
        return f.__code__, {}
    needed: dict[str, Any] = {}
    return _changed(f.__code__, f.__globals__, needed), needed


def _changed(code: types.CodeType, module: dict[str, Any], needed: dict[str, Any]) -> types.CodeType:
    constants = tuple([_changed(c, module, needed) if type(c) is types.CodeType else c for c in code.co_consts])
    names, text = list(code.co_names), bytearray(code.co_code)
    for step, name, value in _sites(code, module):
        if name not in names:
            names.append(name)
        number = names.index(name) << 1 | step.arg & 1
        wide = step.offset >= 2 and text[step.offset - 2] == dis.EXTENDED_ARG
        if number > (0xFFFF if wide else 0xFF):
            continue  # there is no room: the handle gives up its value there
        text[step.offset + 1] = number & 0xFF
        if wide:
            text[step.offset - 1] = number >> 8
        needed[name] = value
    if bytes(text) == code.co_code and all([a is b for a, b in zip(constants, code.co_consts, strict=True)]):
        return code
    return code.replace(co_code=bytes(text), co_names=tuple(names), co_consts=constants)


def _found(code: types.CodeType, module: dict[str, Any]) -> list[Any]:
    inner = [site for c in code.co_consts if type(c) is types.CodeType for site in _found(c, module)]
    return [*_sites(code, module), *inner]


def _sites(code: types.CodeType, module: dict[str, Any]) -> list[tuple[Any, str, Any]]:
    """The instructions that load what is then called: each with the name and the object to load instead."""
    found: list[tuple[Any, str, Any]] = []
    for step, attribute in _called(code):
        name = step.argval
        held = module.get(name, getattr(builtins, name, None))
        if not attribute:
            version = _version(getattr(held, "__name__", ""), held)
            if version is not None:
                found.append((step, f"{name} for handles", version))
        elif isinstance(held, types.ModuleType):
            version = _version(attribute, getattr(held, attribute, None))
            if version is not None:
                found.append((step, f"{name}.{attribute} for handles", types.SimpleNamespace(**{attribute: version})))
    return found


@functools.lru_cache(4096)
def _called(code: types.CodeType) -> list[tuple[Any, str]]:
    """The instructions that load a global which is called, or whose attribute is, with the name of that attribute.

    `NULL` is loaded together with what is called; for an attribute this may also be left to the next instruction.
    """
    steps = list(dis.get_instructions(code))
    found: list[tuple[Any, str]] = []
    for step, following, third in zip(steps, steps[1:], steps[2:], strict=False):
        if step.opname != "LOAD_GLOBAL":
            continue
        is_called = bool(step.arg is not None and step.arg & 1)
        if following.opname not in ATTRIBUTES:
            found += [(step, "")] if is_called else []
        elif third.opname not in ATTRIBUTES and (is_called or _is_method(following, third)):
            found.append((step, following.argval))
    return found


ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")


def _is_method(step: Any, following: object) -> bool:
    """Whether an instruction loads an attribute to be called: how that is said has changed with every version."""
    if sys.version_info >= (3, 13) and following.opname == "PUSH_NULL":
        return True
    return step.opname == "LOAD_METHOD" or (sys.version_info >= (3, 12) and bool(step.arg & 1))


def _version(name: str, function: object) -> Callable[..., Any] | None:
    return next((version for known, version in VERSIONS.get(name, ()) if known is function), None)
