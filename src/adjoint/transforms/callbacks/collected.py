"""What the functions given to a solver collect, if it is read afterwards: plain numbers, which nothing follows."""

from __future__ import annotations

import functools
import sys
import types
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...core.errors import ImpureError, message
from ...core.traced import Traced
from ...host.code.decode import Instruction, instructions, line_of
from ...host.code.reach import owner_of_class
from ...host.frames.ownership import Owner, owner_of
from .reach import Reach, attributes_of, content_of

COUNTS = (bool, int)


class Collected:
    """What a solver's run finds behind its arguments: variables, containers, attributes, arrays."""

    def __init__(self, reach: Reach, values: Sequence[Any]) -> None:
        self.counts = any(map(_runs_again, values))
        """Whether counts matter too: a derivative may take them for constants, a program or a batch may not."""
        self._reach = reach
        self._held: list[tuple[Any, Any, dict[Any, Any]]] = []

    def begin(self, stand_in: Callable[[Any], Any]) -> None:
        """Remember everything as it is before a run, which works with what stands in for each object."""
        pairs = [(x, stand_in(x)) for x in self._reach.objects.values()]
        self._held = [(x, made, _content(made)) for x, made in pairs if _can_change(made)]

    def refuse_if_read(self, name: str) -> None:
        """Refuse a function that goes on with what was collected."""
        changed: set[int] = set()
        variables: set[str] = set()
        for x, made, before in self._held:
            now = _content(made)
            keys = [key for key in before.keys() | now.keys() if _differ(before.get(key), now.get(key))]
            if isinstance(made, HOLDERS):
                changed.update([id(x)] if keys else [])
                continue
            is_lost = made is not x
            variables.update([k for k in keys if type(k) is str and self._counts(now.get(k))])
            attributes = [(k[0], now.get(k)) for k in keys if type(k) is tuple]
            if any([(is_lost or self._counts(v)) and self._is_read(x, name, v) for name, v in attributes]):
                changed.add(id(x))
        if not (changed or variables):
            return
        for frame in _frames():
            for variable in _read_later(frame):
                held = {**frame.f_globals, **frame.f_locals}.get(variable.removeprefix(GLOBAL))
                if variable in variables or not changed.isdisjoint(Reach(held).objects):
                    raise ImpureError(
                        message(
                            f"What a function given to {name} changes is used after the call, through"
                            f"  {variable.removeprefix(GLOBAL)}:  nothing follows it there.",
                            fix="Compute what is needed from the solver's result, which counts evaluations too;\n"
                            "  what is collected to be looked at belongs outside, and is read there.",
                        )
                    )

    def _counts(self, value: Any) -> bool:
        """Whether it matters that a variable or attribute has this value now."""
        return self.counts or not isinstance(value, COUNTS)

    def _is_read(self, x: Any, name: str, value: Any) -> bool:
        """Whether code reads an attribute that was set; of one that is counted up, other code than that."""
        if isinstance(x, types.FunctionType):
            return True
        methods = [f for base in type(x).__mro__ for f in vars(base).values()]
        functions = [f for f in (*self._reach.objects.values(), *methods) if isinstance(f, types.FunctionType)]
        for code in [*[f.__code__ for f in functions], *[frame.f_code for frame in _frames()]]:
            read, written = _attributes(code)
            if name in read and not (isinstance(value, COUNTS) and name in written):
                return True
        return False


ARRAY = np.ndarray  # and no traced one
HOLDERS = (list, dict, ARRAY)


def _can_change(x: Any) -> bool:
    """Whether something can hold other things after a run: a container, an array, an object of the user's."""
    if isinstance(x, (Traced, type)):
        return False
    kinds = (types.FunctionType, types.SimpleNamespace, *HOLDERS)
    return isinstance(x, kinds) or owner_of_class(type(x)) is Owner.USER


def _content(x: Any) -> dict[Any, Any]:
    """What a container holds, by keys; an array's bytes; variables by name; attributes by tuples."""
    if isinstance(x, ARRAY):
        return {None: _digest(x)} if x.flags.writeable and not x.dtype.hasobject else {}
    if isinstance(x, dict):
        return dict(dict.items(x))
    if isinstance(x, list):
        return dict(enumerate(x))
    if not isinstance(x, types.FunctionType):
        return {(n,): v for n, v in attributes_of(x).items()}
    cells = zip(x.__code__.co_freevars, x.__closure__ or (), strict=True)
    found: dict[Any, Any] = {n: content_of(c) for n, c in cells}
    found.update({GLOBAL + n: x.__globals__.get(n) for n in _set_globals(x.__code__)})
    found.update({(n,): v for n, v in x.__dict__.items()})
    return found


GLOBAL = "global "
"""Before the names of global variables."""


def _digest(x: np.ndarray) -> bytes:
    """What an array holds, or something that is another one for other numbers where that is long."""
    if x.size <= SMALL:
        return x.tobytes()
    return zlib.crc32(np.ascontiguousarray(x).view(np.uint8).data).to_bytes(4, "little")


def _differ(a: Any, b: Any) -> bool:
    """Whether a container holds something else now."""
    return a is not b and not (isinstance(a, bytes) and isinstance(b, bytes) and a == b)


SMALL = 1000
"""How many elements an array has at most that is kept as it was."""


@functools.lru_cache(1024)
def _set_globals(code: types.CodeType) -> frozenset[str]:
    """The global variables that code sets."""
    return frozenset([s.value for s in instructions(code) if s.name == "STORE_GLOBAL"])


@functools.lru_cache(1024)
def _attributes(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """The attributes that code reads, and those that it sets."""
    steps = instructions(code)
    read = [s.value for s in steps if s.name in ("LOAD_ATTR", "LOAD_SUPER_ATTR")]
    return frozenset(map(str, read)), frozenset([str(s.value) for s in steps if s.name == "STORE_ATTR"])


def _runs_again(x: Any) -> bool:
    """Whether a value is one of a program or a batch."""
    while isinstance(x, Traced):
        if x.traced_by.is_capture or x.traced_by.lead:
            return True
        x = x.value
    return False


def _frames() -> Iterator[types.FrameType]:
    """The calls of the user's functions that lead here, from where tracing began."""
    frame: types.FrameType | None = sys._getframe(1)
    found = False
    while frame is not None:
        owner = owner_of(frame.f_globals)
        if owner is Owner.USER:
            found = True
            yield frame
        elif found and owner is Owner.OURS:
            return
        frame = frame.f_back


def _read_later(frame: types.FrameType) -> set[str]:
    """The variables that a call may still read, in the next round of a loop too."""
    code, here = frame.f_code, frame.f_lasti
    steps = instructions(code)
    jumps = [s for s in steps if s.place > here and "JUMP_BACKWARD" in s.name and s.value <= here]
    start = min([s.value for s in jumps], default=here + 1)
    found = {n for s in steps if s.place > here for n in _names(s, code)[0]}
    past = [s for s in steps if s.place <= here]
    line = line_of(code, past[-1])
    loaded = [n for s in past if line is not None and line_of(code, s) == line for n in _names(s, code)[0]]
    found.update([n for n in loaded if loaded.count(n) > 1])  # as f in  f(brentq(f, 0, 1)),  which waits on the stack
    written: set[str] = set()
    for step in past:
        if start <= step.place:
            read, stored = _names(step, code)
            found.update(read - written)
            written |= stored
    return found


def _names(step: Instruction, code: types.CodeType) -> tuple[set[str], set[str]]:
    """The variables that an instruction reads, and those that it sets."""
    if step.name in ("STORE_FAST", "STORE_DEREF"):
        return set(), {step.value}
    if step.name == "LOAD_GLOBAL":
        return {GLOBAL + step.value}, set()
    if step.name == "LOAD_DEREF":
        return {step.value}, set()
    if step.name.startswith("LOAD_FAST"):  # of a variable of inner functions it makes a closure
        return {step.value} - set(code.co_cellvars) - set(code.co_freevars), set()
    return set(), set()
