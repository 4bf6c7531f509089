"""Code with some of its calls led elsewhere: the instructions that load what is called load something else."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Container, Iterable, Sequence
from opcode import EXTENDED_ARG, opmap
from types import CodeType
from typing import TYPE_CHECKING, Any

from .decode import CACHE, instructions
from .versions import CACHES_OF_GLOBAL, NULL_IS_LAST, otherwise

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ..records import NamedTuple


class LoadSite(NamedTuple):
    """An instruction that loads what is then called, or the module that has it."""

    place: int
    name: str
    """The global that is loaded; of a method, what it is taken from if that is a global, else empty."""
    attribute: str
    """The attribute of it that is called, or the method; empty if it is called itself."""
    is_next_to_self: bool
    """Whether a place for `self` is loaded with it."""


@functools.lru_cache(4096)
@otherwise(lambda code: [])
def called_globals(code: CodeType) -> list[LoadSite]:
    """The instructions that load a global which is called, or whose attribute is.

    `NULL` is loaded together with what is called, or by an instruction of its own.
    """
    steps = instructions(code)
    found: list[LoadSite] = []
    mapped = {b.place for a, b in itertools.pairwise(steps) if a.calls and a.value == "map"}
    for step, following, third in zip(steps, steps[1:], steps[2:], strict=False):
        if step.name != "LOAD_GLOBAL":
            continue
        is_called = step.calls or step.place in mapped
        if following.name != "LOAD_ATTR":
            found += [LoadSite(step.place, step.value, "", step.calls)] if is_called else []
        elif third.name != "LOAD_ATTR":
            is_called = is_called or following.calls or (NULL_IS_LAST and third.name == "PUSH_NULL")
            found += [LoadSite(step.place, step.value, following.value, step.calls)] if is_called else []
    return found


@otherwise(lambda code, methods: [])
def called_methods(code: CodeType, methods: Container[str]) -> list[LoadSite]:
    """The instructions that load one of these methods, which is then called."""
    return [
        LoadSite(step.place, before.value if before.name == "LOAD_GLOBAL" else "", step.value, is_next_to_self=True)
        for before, step in itertools.pairwise(instructions(code))
        if step.name == "LOAD_ATTR" and step.calls and step.value in methods
    ]


def with_calls_led(
    code: CodeType,
    globals_: Iterable[tuple[LoadSite, str]],
    methods: Iterable[tuple[LoadSite, str]],
    constants: Sequence[Any],
) -> tuple[CodeType, set[str]]:
    """Code that loads globals of these names at some sites, with these constants; and the names that have room there.

    Instead of a method, a global is called with the object in front.
    """
    text, names, led = bytearray(code.co_code), list(code.co_names), set[str]()
    for site, name in globals_:
        if name not in names:
            names.append(name)
        if _lead_global(text, site, names.index(name)):
            led.add(name)
    for site, name in methods:
        if name not in names:
            names.append(name)
        if _lead_method(text, site.place, names.index(name)):
            led.add(name)
    if bytes(text) == code.co_code and all([a is b for a, b in zip(constants, code.co_consts, strict=True)]):
        return code, led
    return code.replace(co_code=bytes(text), co_names=tuple(names), co_consts=tuple(constants)), led


def _lead_global(text: bytearray, site: LoadSite, number: int) -> bool:
    """Have another global loaded, if its number has room in the argument."""
    arg = number << 1 | site.is_next_to_self
    wide = site.place >= 2 and text[site.place - 2] == EXTENDED_ARG
    if arg > (0xFFFF if wide else 0xFF):
        return False
    text[site.place + 1] = arg & 0xFF
    if wide:
        text[site.place - 1] = arg >> 8
    return True


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
