"""What the code of a frame is about to do, and for whom: read from the instruction it stands at, not from its source.

Whose code it is, is answered in `ownership`.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe as getframe
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from ..code.decode import Instruction, index_at, instructions
from ..code.positions import start_of
from ..code.versions import IN_PLACE, IS_KNOWN, NULL_IS_LAST, otherwise
from .ownership import OURS, is_library, is_up_to_date, kept_until_the_next_import, package_of, takes_handles

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ..records import NamedTuple

_passing_on: set[int] = set()
_for_the_user: set[int] = set()


def passes_on(code: CodeType) -> None:
    """Let a function of the library stand for whoever calls it."""
    _passing_on.add(id(code))


def stands_for_the_user(code: CodeType) -> None:
    """Let a function of the library count as the user's: what it calls is what the user has asked for."""
    _for_the_user.add(id(code))


def is_entrance(frame: FrameType) -> bool:
    """Whether a frame is where the library calls the user's function."""
    return id(frame.f_code) in _for_the_user


def is_users(frame: FrameType | None) -> bool:
    """Whether the call that is under way was made by the user's code, not from inside a library."""
    while frame is not None and id(frame.f_code) in _passing_on:
        frame = frame.f_back
    return frame is None or not is_library(frame) or id(frame.f_code) in _for_the_user


def reads_for_handles(frame: FrameType) -> bool:
    """Whether a frame itself reads an attribute of a module, and the new arrays of its own module may be handles."""
    address, name = id(frame.f_code) + frame.f_lasti, frame.f_globals.get("__name__")
    if _readers.get(address) is name is not None and is_up_to_date():
        return True
    if not site_of(frame).reads or not takes_handles(frame.f_globals):
        return False
    _readers[address] = name
    return True


_readers: dict[int, Any] = kept_until_the_next_import({})
"""Addresses of instructions for which that is so, and the name of the module; see `_sites`."""


class Site(NamedTuple):
    """What Python code does with an attribute of a module, at one of its instructions."""

    reads: bool
    """Whether it reads the attribute itself; else compiled code, which has no frame, does so on its behalf."""
    calls: bool
    """Whether it only calls what it reads: `np.sin(x)`, `np.add.reduce(x)`, `np.add(*pair)`, `getattr(np, name)(x)`.

    Who does anything else with it (compares, stores, passes it) has to see the very object that everybody sees.
    """


_sites: dict[int, tuple[CodeType, Site]] = {}
"""By the address of an instruction: that of its code, in whose memory it lies, and its place there (to hash a code
takes long). The code is kept, so that no other one gets its address."""
CALLS: set[int] = set()
"""The addresses of those where what is read is only called."""


@otherwise(lambda frame: Site(reads=True, calls=False))
def site_of(frame: FrameType) -> Site:
    """What a frame is doing while an attribute of a module is asked for."""
    code = frame.f_code
    address = id(code) + frame.f_lasti
    known = _sites.get(address)
    if known is None:
        known = _sites[address] = code, _site(code, frame.f_lasti)
        if known[1].calls:
            CALLS.add(address)
    return known[1]


def reader(
    names: dict[str, Any], name: str, original: Any, version: Callable[[Any], Any], local: Any
) -> Callable[[ModuleType], Any]:
    """What a property reads: a name of a module; where it is only called, and `local.depth` is set, another version.

    It is asked for at every call of NumPy, so all of it stands in one function. Where instructions are not known,
    functions of `math` are taken to be called; types and universal functions are not.
    """
    ours: Any = None
    is_taken = not IS_KNOWN and type(original) is BuiltinFunctionType

    def read(module: ModuleType) -> Any:
        nonlocal ours
        frame = getframe(1)
        if id(frame.f_code) + frame.f_lasti not in CALLS and not site_of(frame).calls and not is_taken:
            return named_in(names, name)
        try:
            if names[name] is not original or not local.depth:
                return names[name]
        except KeyError:
            return named_in(names, name)
        if ours is None:
            ours = version(original)
        return ours

    return read


def named_in(names: dict[str, Any], name: str) -> Any:
    """What a module has by a name; an error as Python's if there is nothing."""
    try:
        return names[name]
    except KeyError:
        raise AttributeError(f"module {names['__name__']!r} has no attribute {name!r}") from None


_storing: dict[int, tuple[CodeType, bool]] = {}


def may_be_filled(frame: FrameType | None) -> bool:
    """Whether an array made in a frame may be written to: by its function, one that called it, or one they name."""
    while frame is not None and package_of(frame.f_globals) != OURS:
        code = frame.f_code
        if stores_elements(code):
            return True
        named = [frame.f_globals.get(name) for name in code.co_names]
        named += [frame.f_locals.get(name) for name in code.co_freevars] if code.co_freevars else []
        if any([type(f) is FunctionType and stores_elements(f.__code__) for f in named]):
            return True
        frame = frame.f_back
    return False


@otherwise(lambda code: True)
def stores_elements(code: CodeType) -> bool:
    """Whether a function stores into elements of something, `y[i] = v`, or updates in place, `y += v`."""
    known = _storing.get(id(code))
    if known is None:
        stores = any(
            [s.name == "STORE_SUBSCR" or (s.name == "BINARY_OP" and s.arg in IN_PLACE) for s in instructions(code)]
        )
        known = _storing[id(code)] = code, stores
    return known[1]


READS = frozenset(("LOAD_ATTR", "IMPORT_FROM"))
CALLING = frozenset(("PRECALL", "CALL"))


def _site(code: CodeType, place: int) -> Site:
    steps, at = instructions(code), index_at(code, place)
    if steps[at].name in READS:
        return Site(reads=True, calls=_is_called(steps, at))
    start = _start_of_getattr(code, steps, at) if steps[at].name in CALLING else None
    if start is None:
        return Site(reads=False, calls=False)
    beside = at + 1 if NULL_IS_LAST else start - 1
    return Site(reads=True, calls=beside >= 0 and steps[beside].name == "PUSH_NULL")


def _is_called(steps: tuple[Instruction, ...], at: int) -> bool:
    """Whether what an instruction reads is called: then a place for `self` is left on the stack, before or after it."""
    if steps[at].calls or (steps[at + 1].name == "LOAD_ATTR" and steps[at + 1].calls):
        return True
    if NULL_IS_LAST:
        return steps[at + 1].name == "PUSH_NULL"
    while steps[at].name == "LOAD_ATTR":
        at -= 1
    if steps[at].name == "LOAD_GLOBAL":
        return steps[at].calls
    return at > 0 and steps[at - 1].name == "PUSH_NULL"


def _start_of_getattr(code: CodeType, steps: tuple[Instruction, ...], at: int) -> int | None:
    """Where the name `getattr` is read, if it is what is called at an instruction: both begin at the same character."""
    here = start_of(code, steps[at])
    for k in range(at - 1, -1, -1):
        is_name = steps[k].name in ("LOAD_GLOBAL", "LOAD_NAME") and steps[k].value == "getattr"
        if is_name and start_of(code, steps[k]) == here:
            return k
    return None
