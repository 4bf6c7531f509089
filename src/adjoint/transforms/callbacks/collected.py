"""What the functions given to a solver collect, if it is read afterwards: plain numbers, which nothing follows."""

from __future__ import annotations

import sys
import types
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...core.errors import ImpureError, message
from ...core.traced import Traced
from ...host.code.reach import owner_of_class
from ...host.code.uses import attributes_used, globals_set
from ...host.frames.liveness import GLOBAL, read_later
from ...host.frames.ownership import Owner, owner_of
from ...host.frames.variables import variables_in
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
            for variable in read_later(frame):
                plain = variable.removeprefix(GLOBAL)
                held = variables_in(frame).get(plain, frame.f_globals.get(plain))
                if variable in variables or not changed.isdisjoint(Reach(held).objects):
                    raise ImpureError(
                        message(
                            f"What a function given to {name} changes is used after the call, through"
                            f"  {plain}:  nothing follows it there.",
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
            read, written = attributes_used(code)
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
    found.update({GLOBAL + n: x.__globals__.get(n) for n in globals_set(x.__code__)})
    found.update({(n,): v for n, v in x.__dict__.items()})
    return found


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
