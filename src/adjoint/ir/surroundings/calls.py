"""Calls by name in a function's code that go to another function: `float(x)`, `math.sqrt(x)`, `np.float64(x)`.

Python's own number types and the functions of `math` want true numbers, so that a handle has to give up its value. In
the copy of a function that is recorded, such calls go to versions that take handles. Only calls do: `dtype=float` and
`isinstance(x, float)` mean the type and keep it.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import types
from collections.abc import Callable
from opcode import EXTENDED_ARG
from typing import Any

from ...core.code.decode import Instruction, instructions
from ...core.code.versions import NULL_IS_LAST

Versions = dict[str, list[tuple[Any, Callable[..., Any]]]]
"""By name: the functions that go by it, and what is called instead."""
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
    constants, names, text = tuple(inner), list(code.co_names), bytearray(code.co_code)
    for step, name, value in _sites(code, module, versions):
        if name not in names:
            names.append(name)
        number = names.index(name) << 1 | step.calls
        wide = step.place >= 2 and text[step.place - 2] == EXTENDED_ARG
        if number > (0xFFFF if wide else 0xFF):
            continue  # there is no room: the handle gives up its value there
        text[step.place + 1] = number & 0xFF
        if wide:
            text[step.place - 1] = number >> 8
        needed[name] = value
    if bytes(text) == code.co_code and all([a is b for a, b in zip(constants, code.co_consts, strict=True)]):
        return code
    return code.replace(co_code=bytes(text), co_names=tuple(names), co_consts=constants)


def _found(code: types.CodeType, module: dict[str, Any], versions: Versions) -> list[Any]:
    inner = [site for c in code.co_consts if type(c) is types.CodeType for site in _found(c, module, versions)]
    return [*_sites(code, module, versions), *inner]


def _sites(code: types.CodeType, module: dict[str, Any], versions: Versions) -> list[tuple[Instruction, str, Any]]:
    """The instructions that load what is then called: each with the name and the object to load instead."""
    found: list[tuple[Instruction, str, Any]] = []
    for step, attribute in _called(code):
        name = step.value
        held = module.get(name, getattr(builtins, name, None))
        if not attribute:
            version = version_of(getattr(held, "__name__", ""), held, versions)
            if version is not None:
                found.append((step, f"_{name} for handles", version))
        elif isinstance(held, types.ModuleType):
            version = version_of(attribute, getattr(held, attribute, None), versions)
            if version is not None:
                found.append((step, f"_{name}.{attribute} for handles", types.SimpleNamespace(**{attribute: version})))
    return found


@functools.lru_cache(4096)
def _called(code: types.CodeType) -> list[tuple[Instruction, str]]:
    """The instructions that load a global which is called, or whose attribute is, with the name of that attribute.

    `NULL` is loaded together with what is called, or by an instruction of its own.
    """
    steps = instructions(code)
    found: list[tuple[Instruction, str]] = []
    mapped = {b.place for a, b in itertools.pairwise(steps) if a.calls and a.value == "map"}
    for step, following, third in zip(steps, steps[1:], steps[2:], strict=False):
        if step.name != "LOAD_GLOBAL":
            continue
        is_called = step.calls or step.place in mapped
        if following.name != "LOAD_ATTR":
            found += [(step, "")] if is_called else []
        elif third.name != "LOAD_ATTR":
            is_called = is_called or following.calls or (NULL_IS_LAST and third.name == "PUSH_NULL")
            found += [(step, following.value)] if is_called else []
    return found


def version_of(name: str, function: object, versions: Versions) -> Callable[..., Any] | None:
    """What is called instead of a function, if anything is."""
    is_class = isinstance(function, type)  # `type` itself may have a stand-in, which is equal to it
    known = [pair for pair in versions.get(name, ()) if pair[0] is function or (is_class and pair[0] == function)]
    return known[0][1] if known else None
