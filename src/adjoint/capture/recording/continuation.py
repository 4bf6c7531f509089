"""All that decides how Python goes on from a truth test: where its frames stand, and what they will still read.

Two runs of a function that have come to equal points go on alike, whatever way they came: the same steps on the handles
that are among the variables, and the same decisions for the same values of these. Points of different recordings are
compared, so that objects which a recording makes anew are alike if all that can be reached from them is.
"""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.traced import Traced
from ...host.frames.liveness import resumption_of
from ...host.frames.ownership import is_users_code
from ...host.frames.variables import instruction_of, variables_in
from ...ir.bits import Copy
from ...ir.counts import Number
from ...ir.program import Program, type_of
from ..environment.object_state import is_number
from ..environment.watch import content_of
from .iterating import RangeItems
from .variables import MOST, Fact, UnknownError, is_same_fact, parts_of_code, parts_of_object

LARGEST = 1 << 16
"""Bytes of a plain array that is worth a copy."""


HANDLE = "handle"
HANDLE_OF_FLOAT = (HANDLE, "Traced", "<f8", (), True, False, False)
"""The fact of a handle that stands for a float of Python's."""


Variable = tuple[types.CodeType, int, str]
"""A variable at an instruction."""


class Continuation(NamedTuple):
    """A point from which Python goes on."""

    facts: list[Any]
    """Of everything but the values of handles: types, numbers, which objects are the same one."""
    handles: list[Traced]
    """Each once, in the order in which they are met."""
    names: dict[int, Variable]
    """Where, among the facts, single variables are."""

    def is_like(self, other: Continuation) -> bool:
        """Whether Python goes on alike from both."""
        if len(self.facts) != len(other.facts):
            return False
        return all([is_same(a, b) for a, b in zip(self.facts, other.facts, strict=True)])

    def key(self) -> Hashable:
        """What points have to have in common that are alike, or differ in floats of Python's alone."""
        facts = [fact.x for fact in self.facts if type(fact) is Fact and type(fact.x) in (int, str, tuple)]
        return tuple([x for x in facts if x != HANDLE_OF_FLOAT])

    def differing(self, other: Continuation) -> list[Variable] | None:
        """Variables that are a float of Python's in one of the two, and another or a handle in the other.

        None if anything else differs.
        """
        if len(self.facts) != len(other.facts):
            return None
        places = [k for k, (a, b) in enumerate(zip(self.facts, other.facts, strict=True)) if not is_same(a, b)]
        if not all([k in self.names and _is_float(self.facts[k]) and _is_float(other.facts[k]) for k in places]):
            return None
        return [self.names[k] for k in places]


Iterating = Callable[[types.FrameType, int], RangeItems | None]
"""What the `for` at a place of a frame takes its items from, if that is known."""


class FrameState(NamedTuple):
    """Where a frame stands."""

    frame: types.FrameType
    names: list[str]
    """Of the variables that decide how it goes on."""
    iterators: list[RangeItems]
    """Of the loops around, which decide as well."""
    is_open: bool
    """Whether one of these loops, or a `while`, may end at any time."""

    @property
    def rounds(self) -> int:
        """How many times it comes by here."""
        return math.prod([iterator.rounds for iterator in self.iterators])


def standing(frame: types.FrameType, root: types.FrameType, iterating: Iterating) -> list[FrameState] | None:
    """A frame and those that called it, up to the root; None if it is not known what decides how they go on."""
    found: list[FrameState] = []
    here: types.FrameType | None = frame
    while here is not None and here is not root:
        needed = resumption_of(here) if is_users_code(here) else None
        iterators = [iterating(here, loop) for loop in needed.loops] if needed is not None else []
        if needed is None or None in iterators:
            return None
        names = sorted(needed.variables.intersection(variables_in(here).keys()))
        found.append(FrameState(here, names, [x for x in iterators if x is not None], needed.is_open))
        here = here.f_back
    return found if here is root else None


def continuation_of(frames: Sequence[FrameState], tested: Traced) -> Continuation | None:
    """The point at which frames stand, with the handles of the test's trace; None if something cannot be seen."""
    looking = _Looking(tested.traced_by)
    looking.facts.append(Fact(_type_in_words(tested.value)))
    try:
        for frame, names, iterators, _ in frames:
            code, place = instruction_of(frame)
            looking.facts += [code, Fact(place)]
            variables = variables_in(frame)
            for name in names:
                looking.facts.append(Fact(name))
                looking.names[len(looking.facts)] = code, place, name
                looking.look(variables[name])
            for iterator in iterators:
                looking.look((iterator.following, iterator.limits))
    except UnknownError:
        return None
    return Continuation(looking.facts, looking.handles, looking.names)


def result_of(result: Any, trace: Any) -> Continuation | None:
    """The point at which a function has returned."""
    looking = _Looking(trace)
    try:
        looking.look(result)
    except UnknownError:
        return None
    return Continuation(looking.facts, looking.handles, {})


def handles_behind(fun: Any) -> list[Traced] | None:
    """The handles that a function reaches without its arguments, of any trace; None if something cannot be seen."""
    looking = _Looking(None)
    try:
        looking.look(fun)
    except UnknownError:
        return None
    return looking.handles


def is_same(a: Any, b: Any) -> bool:
    """Whether two facts are the same, of different recordings."""
    if type(a) is types.CodeType:  # copies of functions have copies of their code
        return a is b or (type(b) is types.CodeType and a == b)
    return is_same_fact(a, b)


def _is_float(x: Any) -> bool:
    return type(x) is Fact and (type(x.x) is float or x.x == HANDLE_OF_FLOAT)


def is_handle(fact: Any) -> bool:
    """Whether a fact is of a handle."""
    return type(fact) is Fact and type(fact.x) is tuple and fact.x[0] == HANDLE


def number_in(fact: Any) -> Any:
    """The number that a fact is of."""
    return fact.x


class _Looking:
    def __init__(self, trace: Any) -> None:
        self.trace = trace
        self.program = Program() if trace is None else trace.program
        self.facts: list[Any] = []
        self.handles: list[Traced] = []
        self.names: dict[int, Variable] = {}
        self._seen: dict[int, int] = {}
        """By identity, the place among the facts of what is known of an object."""
        self._kept: list[Any] = []
        """So that no number is given to another object."""

    def look(self, x: Any) -> None:
        """Take note of an object and of all that can be reached from it."""
        if is_number(x):
            self.facts.append(Fact(x))
            return
        known = self._seen.get(id(x))
        if known is not None:
            self.facts.append(Fact(("again", known)))
            return
        self._seen[id(x)] = len(self.facts)
        self._kept.append(x)
        if len(self._seen) > MOST:
            raise UnknownError
        for part in self._parts(x):
            self.look(part)

    def _parts(self, x: Any) -> Sequence[Any]:
        kind = type(x)
        if issubclass(kind, Traced):
            return self._handle(x)
        if kind is np.ndarray and not x.dtype.hasobject:
            if x.nbytes > LARGEST or x.base is not None:
                raise UnknownError
            self.facts.append(Copy(x))
            return ()
        if kind is types.FunctionType:
            self.facts += [kind, x.__code__]
            return [x.__defaults__, x.__kwdefaults__, x.__dict__, *[content_of(cell) for cell in x.__closure__ or ()]]
        if kind in (list, tuple):
            self.facts += [kind, Fact(len(x))]
            return list(x)
        if kind is dict:
            self.facts += [kind, Fact(len(x))]
            return [*x.keys(), *x.values()]
        if kind in (types.MethodType, functools.partial):
            self.facts.append(kind)
            return parts_of_code(x) or ()
        if kind is range:
            self.facts.append(Fact(x))
            return ()
        if parts_of_code(x) is not None:  # made outside, or unlike any that is made anew
            self.facts.append(x)
            return ()
        items, attributes, parts = parts_of_object(x)
        self.facts += [kind, Fact(items), Fact(attributes)]
        return parts

    def _handle(self, x: Traced) -> Sequence[Any]:
        """A handle of the trace: a value that is computed, or an array that is read at every run."""
        if self.trace is None and x.traced_by.level:
            self.handles.append(x)
            return ()
        if x.traced_by is not self.trace or type(x) not in (Traced, Number):
            raise UnknownError
        program = self.program
        array = program.constants.get(x.node)
        if type(array) is np.ndarray and x.node not in program.frozen:
            self.facts += [Traced, array]
            return ()
        self.facts.append(Fact((HANDLE, type(x).__name__, *_type_in_words(x.value))))
        self.handles.append(x)
        return ()


def _type_in_words(value: Any) -> tuple[Any, ...]:
    """What steps depend on: an array without axes is not a number, and some functions ask how arrays lie in memory."""
    t = type_of(value)
    is_array = type(value) is np.ndarray
    return t.dtype.str, t.shape, t.weak, is_array, is_array and (value.flags.c_contiguous, value.flags.f_contiguous)
