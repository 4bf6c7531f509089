"""Calls by name in a function's code that go to another function: `float(x)`, `math.sqrt(x)`, `np.float64(x)`.

Python's own number types and the functions of `math` want true numbers, so that a handle has to give up its value. In
the copy of a function that is recorded, such calls go to versions that take handles. Only calls do: `dtype=float` and
`isinstance(x, float)` mean the type and keep it. Calls of methods, `a.dot(x)`, may go to a version that is called with
the object in front.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import types
from collections.abc import Callable
from opcode import EXTENDED_ARG, opmap
from typing import Any

from ...host.code.decode import CACHE, Instruction, instructions
from ...host.code.versions import CACHES_OF_GLOBAL, NULL_IS_LAST

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
    for step, name, value in _method_sites(code, module, versions):
        if name not in names:
            names.append(name)
        if _lead_method(text, step.place, names.index(name)):
            needed[name] = value
    if bytes(text) == code.co_code and all([a is b for a, b in zip(constants, code.co_consts, strict=True)]):
        return code
    return code.replace(co_code=bytes(text), co_names=tuple(names), co_consts=constants)


def _found(code: types.CodeType, module: dict[str, Any], versions: Versions) -> list[Any]:
    inner = [site for c in code.co_consts if type(c) is types.CodeType for site in _found(c, module, versions)]
    return [*_sites(code, module, versions), *_method_sites(code, module, versions), *inner]


def _method_sites(
    code: types.CodeType, module: dict[str, Any], versions: Versions
) -> list[tuple[Instruction, str, Any]]:
    """The instructions that load a method which is then called, and has a version; functions of modules are none."""
    methods = {name[1:]: known[0][1] for name, known in versions.items() if name[0] == "."}
    if methods.keys().isdisjoint(code.co_names):
        return []
    return [
        (step, f"_.{step.value} for handles", methods[step.value])
        for before, step in itertools.pairwise(instructions(code))
        if step.name == "LOAD_ATTR" and step.calls and step.value in methods
        if before.name != "LOAD_GLOBAL" or not issubclass(type(module.get(before.value)), types.ModuleType)
    ]


def _lead_method(text: bytearray, place: int, number: int) -> bool:
    """Have a global called with the object in front, instead of its method, in the room of the instruction's caches.

    The object is on the stack, where the method and the object are wanted.
    """
    end = place + 2
    while end < len(text) and text[end] == CACHE:
        end += 2
    new = [EXTENDED_ARG, number >> 7] if number > 0x7F else []
    new += [opmap["LOAD_GLOBAL"], (number & 0x7F) << 1, *[CACHE, 0] * CACHES_OF_GLOBAL, opmap["SWAP"], 2]
    if len(new) > end - place or number > 0x7FFF:
        return False
    text[place:end] = bytes([*new, *[opmap["NOP"], 0] * ((end - place - len(new)) // 2)])
    if place >= 2 and text[place - 2] == EXTENDED_ARG:  # for the number of the method's name
        text[place - 2] = opmap["NOP"]
    return True


def _sites(code: types.CodeType, module: dict[str, Any], versions: Versions) -> list[tuple[Instruction, str, Any]]:
    """The instructions that load what is then called: each with the name and the object to load instead."""
    found: list[tuple[Instruction, str, Any]] = []
    for step, attribute in _called(code):
        name = step.value
        held = module.get(name, getattr(builtins, name, None))
        if not attribute:
            version = version_of(_name_of(held), held, versions)
            if version is not None:
                found.append((step, f"_{name} for handles", version))
        elif issubclass(type(held), types.ModuleType):  # other objects are not to be asked for anything
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


def _name_of(held: object) -> str:
    """What a function or class is called; empty for other objects, which may raise if they are asked for anything."""
    is_asked = issubclass(type(held), (type, types.FunctionType, types.BuiltinFunctionType, functools.partial))
    return str(getattr(held, "__name__", "")) if is_asked else ""


def version_of(name: str, function: object, versions: Versions) -> Callable[..., Any] | None:
    """What is called instead of a function, if anything is."""
    is_class = issubclass(type(function), type)  # `type` itself may have a stand-in, which is equal to it
    known = [pair for pair in versions.get(name, ()) if pair[0] is function or (is_class and pair[0] == function)]
    return known[0][1] if known else None
