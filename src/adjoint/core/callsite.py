"""Whose code is running, and what it is about to do: the one place where frames are looked at.

Whose it is follows from the name of the module that a frame runs in, never from the folder of its file: the same source
means the same in a home folder, in a notebook and among installed packages. What it is about to do follows from the
instruction it stands at, never from its source text.
"""

from __future__ import annotations

import sys
from importlib.machinery import EXTENSION_SUFFIXES
from types import CodeType, FrameType
from typing import Any, NamedTuple

OURS = __name__.partition(".")[0]
LIBRARIES = frozenset((OURS, "numpy", "scipy", "functools"))
"""Packages whose frames are not the user's: this library and those it looks into; cached properties are functools'."""


def package_of(names: dict[str, Any]) -> str:
    """The package that a module belongs to, given its global names; empty for a script, a notebook, a text."""
    name = names.get("__name__")
    if name == "__main__":
        name = names.get("__package__")
    return name.partition(".")[0] if isinstance(name, str) else ""


def is_library(frame: FrameType) -> bool:
    """Whether a frame is of this library, NumPy or SciPy."""
    return package_of(frame.f_globals) in LIBRARIES


_passing_on: set[int] = set()
_for_the_user: set[int] = set()


def passes_on(code: CodeType) -> None:
    """Let a function of the library stand for whoever calls it."""
    _passing_on.add(id(code))


def stands_for_the_user(code: CodeType) -> None:
    """Let a function of the library count as the user's: what it calls is what the user has asked for."""
    _for_the_user.add(id(code))


def is_users(frame: FrameType | None) -> bool:
    """Whether the call that is under way was made by the user's code, not from inside a library."""
    while frame is not None and id(frame.f_code) in _passing_on:
        frame = frame.f_back
    return frame is None or not is_library(frame) or id(frame.f_code) in _for_the_user


def takes_handles(names: dict[str, Any]) -> bool:
    """Whether a module's new arrays may be handles, so that traced values can be stored in them.

    Not those of packages with compiled code of their own, which may get to see the array, nor those of this library.
    """
    package = package_of(names)
    if len(sys.modules) != len(_looked_at):
        _look_at_modules()
    return package not in _compiled


_compiled = {OURS}
"""Packages of which an extension module has been imported."""
_looked_at: set[str] = set()


def _look_at_modules() -> None:
    for name, module in list(sys.modules.items()):
        if name not in _looked_at:
            _looked_at.add(name)
            path = getattr(module, "__file__", None)
            if isinstance(path, str) and path.endswith(tuple(EXTENSION_SUFFIXES)):
                _compiled.add(name.partition(".")[0])
    _looked_at.intersection_update(list(sys.modules))  # their number says whether anything is new


class Site(NamedTuple):
    """What Python code does with an attribute of a module, at one of its instructions."""

    reads: bool
    """Whether it reads the attribute itself; else compiled code, which has no frame, does so on its behalf."""
    calls: bool
    """Whether it only calls what it reads: `np.sin(x)`, `np.add.reduce(x)`, `np.add(*pair)`, `getattr(np, name)(x)`.

    Who does anything else with it (compares, stores, passes it) has to see the very object that everybody sees.
    """


_sites: dict[tuple[int, int], tuple[CodeType, Site]] = {}
"""By the number of a code, which is kept so that no other one gets its number (to hash a code takes long)."""


def site_of(frame: FrameType) -> Site:
    """What a frame is doing while an attribute of a module is asked for."""
    code, place = frame.f_code, frame.f_lasti
    known = _sites.get((id(code), place))
    if known is None:
        known = _sites[id(code), place] = code, _site(code, place)
    return known[1]


READS = frozenset(("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"))
CALLS = frozenset(("PRECALL", "CALL"))


def _site(code: CodeType, place: int) -> Site:
    import dis

    steps = [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "EXTENDED_ARG")]
    at = next(k for k, step in enumerate(steps) if step.offset == place)
    if steps[at].opname in READS:
        return Site(reads=True, calls=_is_called(steps, at))
    start = _start_of_getattr(steps, at) if steps[at].opname in CALLS else None
    if start is None:
        return Site(reads=False, calls=False)
    if sys.version_info >= (3, 13):
        return Site(reads=True, calls=steps[at + 1].opname == "PUSH_NULL")
    return Site(reads=True, calls=start > 0 and steps[start - 1].opname == "PUSH_NULL")


def _is_called(steps: list[Any], at: int) -> bool:
    """Whether what an instruction reads is called: then a place for `self` is left on the stack, before or after it."""
    if _is_method(steps[at]) or _is_method(steps[at + 1]):
        return True
    if sys.version_info >= (3, 13):
        return steps[at + 1].opname == "PUSH_NULL"
    while steps[at].opname == "LOAD_ATTR":
        at -= 1
    if steps[at].opname == "LOAD_GLOBAL":
        return _is_odd(steps[at])
    return at > 0 and steps[at - 1].opname == "PUSH_NULL"


def _is_method(step: Any) -> bool:
    """Whether an instruction reads a method that is called next; from Python 3.12 on an odd argument says so."""
    return step.opname == "LOAD_METHOD" or (
        sys.version_info >= (3, 12) and step.opname == "LOAD_ATTR" and _is_odd(step)
    )


def _is_odd(step: Any) -> bool:
    return step.arg is not None and step.arg & 1 == 1


def _start_of_getattr(steps: list[Any], at: int) -> int | None:
    """Where the name `getattr` is read, if it is what is called at an instruction: both begin at the same character."""
    here = steps[at].positions
    for k in range(at - 1, -1, -1):
        there = steps[k].positions
        if steps[k].argval == "getattr" and (there.lineno, there.col_offset) == (here.lineno, here.col_offset):
            return k
    return None
