"""The capturing trace: evaluate every step, or put it off, and write it down, with a guard for each decision."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Protocol

import numpy as np

from ..core.errors import user_line
from ..core.primitive import Primitive
from ..core.singular.replaced import as_asked
from ..core.trace import Trace, new_level
from ..core.traced import AXISLESS, LOCAL, Ended, Traced, settled, snapshot
from .arithmetic import Pythons, is_spoken_of
from .assumptions import Assumed, Assumptions
from .bits import frozen, same_bits
from .builder import Builder
from .conditions import Checked, Conditions, Surroundings
from .counts import Count, Integers
from .deferring import Deferred
from .loops import LoopPrimitive
from .program import GUARD, PYTHON_NUMBERS, Failure, Step, type_of, wording
from .progress_line import OFTEN, look

NUMBERS = (bool, int, float, complex, np.generic)
_step: Any = tuple.__new__  # makes a step without asking for its parts by name: there are many


class ForeignValueError(Exception):
    """The function uses a traced value of another trace, which is not among its arguments."""


class GuardRefusedError(Exception):
    """A decision was taken where a program must not have any: inside the body of a loop."""


class NeedsValuesError(Exception):
    """A loop would be run on numbers that have been made up, and might never end."""


class NoStepError(Exception):
    """What was to be a step turned out to be none: nothing is written down."""


class Tests(Protocol):
    """Who sees truth values that are tested."""

    def truth(self, x: Traced, frame: FrameType) -> bool:
        """The truth value that a frame is to go on with, for one of a captured program."""

    def iterated(self, frame: FrameType, place: int, items: range) -> Any:
        """What the `for` at this place of a frame is to take its items from."""


class ForeignValues:
    """What a captured function uses besides its arguments, as far as that is read at every run."""

    __slots__ = ("foreign", "lifted", "may_lift")

    def __init__(self, may_lift: bool) -> None:
        self.may_lift = may_lift
        """Whether values of other traces may be used."""
        self.lifted: list[Traced] = []
        """The handles of arrays that the function captures."""
        self.foreign: list[tuple[Traced, int]] = []
        """Values of traces further out, and the inputs that stand for them."""


class CaptureTrace(Trace):
    """The outermost trace of a recording: its handles hold real values, and numbers of a `Program`."""

    __slots__ = (
        "arrays", "assumptions", "deferred", "guards_allowed", "integers", "level", "loops", "numbers", "outside",
        "plain_truths", "program", "surroundings",
    )  # fmt: skip
    is_capture = True
    is_checked = True
    """Whether errors are part of what is written down: steps that raised, and those that have to be able to."""

    def __init__(
        self,
        *,
        guards: bool = True,
        lift: bool = False,
        plain_truths: bool = False,
        speculative: bool = False,
        defers: bool = False,
    ) -> None:
        self.level = new_level()
        self.plain_truths = plain_truths
        """Whether Python's truth values are plain at once, with a guard: an array takes them for masks."""
        self.program = Builder()
        self.deferred = Deferred(self.program) if defers else None
        """What has not been computed; without it, every step is taken at once."""
        self.guards_allowed = guards
        self.assumptions = Assumptions(may_speculate=speculative)
        self.outside = ForeignValues(lift)
        self.arrays: dict[int, tuple[Any, Any, int]] = {}
        """Plain arrays by identity: the array, a copy as it was when it was used, its number."""
        self.numbers: dict[Any, int] = {}
        self.integers = Integers()
        self.surroundings = Surroundings(root=id(sys._getframe(1)))
        self.loops: Tests | None = None

    def input(self, value: Any) -> Traced:
        """A fresh argument of the program."""
        return Traced(value, self, self.program.input(type_of(value)))

    def count(self, value: object) -> Count:
        """A fresh argument that is one of Python's integers or truth values."""
        number = self.input(value).node
        self.integers[number] = frozenset((number,))
        return Count(value, self, number)

    def process(self, primitive: Primitive, args: tuple[object, ...], params: dict[str, Any]) -> Any:
        """Write a step down; it is evaluated on the real values, or put off."""
        if primitive.inline:
            return primitive.evaluate(*args, **params)
        if self.integers:
            args = Count.meeting(self, primitive, args)
        primitive = as_asked(primitive) if primitive.facts.asks and not self.guards_allowed else primitive
        numbers, values = [], []
        for a in args:
            if type(a) is Traced and a.traced_by is self:
                numbers.append(a.node)
                values.append(a.value)
            else:
                number, value = self.number_of(a)
                numbers.append(number)
                values.append(value)
        for name, p in params.items() if params else ():
            if isinstance(p, Traced) or (self.integers and type(p) in (tuple, list, slice)):
                params = {**params, name: self._plain(p)}
        if self.is_checked:
            are_pythons = primitive.facts.python is not None and _are_pythons(values)
            around = self.surroundings
            conditions = around.conditions()
            if conditions is not None and not are_pythons:
                values = self._all_computed(numbers, values)
                return self._checked(conditions, primitive, numbers, values, params)
            if are_pythons and is_spoken_of(around.root):
                primitive = around.checked.setdefault(id(primitive), Pythons(primitive))
        if self.deferred is not None:
            out = self.deferred.stand_in(primitive, numbers, values, params)
            if out is not None:
                return self._put_off(primitive, numbers, values, params, out)
        return self._taken(primitive, numbers, values, params)

    def _taken(self, primitive: Any, numbers: list[int], values: list[Any], params: dict[str, Any]) -> Any:
        """Evaluate a step, and write it down."""
        if self.assumptions and isinstance(primitive, LoopPrimitive) and self.assumptions.has(Assumed.INPUTS):
            raise NeedsValuesError
        values = self._all_computed(numbers, values)
        try:
            out = primitive.evaluate(*values, **params) if params else primitive.evaluate(*values)
        except Exception as error:
            self.raised(error, primitive, numbers, params)
            raise
        return self._written(primitive, numbers, params, out)

    def _put_off(self, primitive: Any, numbers: list[int], values: list[Any], params: dict[str, Any], out: Any) -> Any:
        """Write a step down without taking it; `out` stands for its result."""
        made = self._written(primitive, numbers, params, out)
        outs, handles = (out, made) if primitive.multiple else ((out,), (made,))
        self.deferred.put_off(self.program.steps[-1], values, outs, handles)  # type: ignore[union-attr]
        return made

    def computed(self, number: int, value: Any) -> Any:
        """What a value is, given what its handle holds: it may not have been computed yet."""
        if self.deferred is None:
            return value
        if self.assumptions and self.deferred.is_waiting(number) and self.assumptions.has(Assumed.INPUTS):
            raise NeedsValuesError
        return self.deferred.value(number, value, self._as_used)

    def _all_computed(self, numbers: list[int], values: list[Any]) -> list[Any]:
        if self.deferred is None or not self.deferred.has_begun():
            return values
        return [self.computed(n, v) for n, v in zip(numbers, values, strict=True)]

    def is_waiting(self, x: object) -> bool:
        """Whether something is a handle of a value that has not been computed."""
        is_mine = isinstance(x, Traced) and x.traced_by is self
        return is_mine and self.deferred is not None and self.deferred.is_waiting(x.node)  # type: ignore[attr-defined]

    def example(self, x: Traced) -> Any:
        """What the value of a handle is; what it could be, if it has not been computed."""
        number, value = self.number_of(x)
        if self.deferred is None or not self.deferred.is_waiting(number):
            return self.computed(number, value)
        self.assumptions.make(Assumed.EXAMPLE, number)
        return self.deferred.example(value)

    def _as_used(self, number: int) -> Any:
        """A plain array as it was when it was used."""
        return next((copy for _, copy, n in self.arrays.values() if n == number), self.program.constants[number])

    def conditions(self) -> Conditions | None:
        """The floating-point conditions and warnings that are errors here; None for none."""
        return self.surroundings.conditions() if self.is_checked else None

    def _plain(self, p: Any) -> Any:
        """A parameter without handles."""
        if isinstance(p, Traced):
            return self.decided(p)
        if type(p) is slice:
            return slice(self._plain(p.start), self._plain(p.stop), self._plain(p.step))
        return type(p)(map(self._plain, p)) if type(p) in (tuple, list) else p

    def _checked(
        self, conditions: Conditions, primitive: Any, numbers: list[int], values: list[Any], params: Any
    ) -> Any:
        """Take a step under conditions of the user's, and write down that they have to be looked at each time."""
        step = self.surroundings.checked.setdefault((id(primitive), conditions), Checked(primitive, conditions))
        try:
            step.evaluate(*values, **params)
        except Warning as error:  # made an error by the user, or only noted: a guard says that it is given
            self.raised(error, step, numbers, params)
            step = primitive
        except Exception as error:
            self.raised(error, step, numbers, params)
            raise
        return self._written(step, numbers, params, primitive.evaluate(*values, **params))

    def _written(self, primitive: Any, numbers: list[int], params: dict[str, Any], out: Any) -> Any:
        if primitive.multiple:
            return self.write(primitive, numbers, params, tuple(out))
        return self.write_one(primitive, numbers, params, out)

    def write_one(self, primitive: object, numbers: list[int], params: dict[str, Any], out: object) -> Any:
        """Append a step with one result, as most are."""
        program = self.program
        place = len(program.types)
        program.declare(type_of(out))
        program.append(_step(Step, (primitive, tuple(numbers), params, (place,), "")))
        if place % OFTEN == 0:
            look(len(program.steps), recording=True)
        made = Traced(out, self, place)
        return self.decided(made) if self.plain_truths and type(out) is bool else made

    def raised(self, error: Exception, primitive: Any, numbers: Any, params: dict[str, Any]) -> None:
        """Write down that a step raises: if the function goes on nevertheless, it relies on that."""
        if not self.is_checked or self.surroundings.failed == id(error) or isinstance(error, NoStepError):
            return
        self.surroundings.failed = id(error)
        if not self.guards_allowed:
            self.assumptions.make(Assumed.RAISED, type(error))
            return
        expected = Failure(primitive, params, type(error), wording(error))
        self.program.append(Step(GUARD, tuple(numbers), {"expected": expected}, (), user_line()))

    def unary(self, primitive: Primitive, x: Traced) -> Any:
        """`process`, under the name the operators use."""
        return self.process(primitive, (x,), {})

    def write(
        self, primitive: Primitive, numbers: list[int], params: dict[str, Any], outs: tuple[object, ...]
    ) -> tuple:
        """Append a step; its results as handles."""
        program = self.program
        places = tuple([program.new(type_of(o)) for o in outs])
        program.append(Step(primitive, tuple(numbers), params, places))
        return tuple([Traced(o, self, place) for o, place in zip(outs, places, strict=True)])

    def number_of(self, a: object) -> tuple[int, Any]:
        """The number of an argument in the program, and what its handle holds: see `computed`."""
        if isinstance(a, Traced):
            a = settled(a if type(a) is Traced else a.current())  # type: ignore[attr-defined]
            if isinstance(a, Traced):
                return (a.node, a.value) if a.traced_by is self else self._foreign(snapshot(a))
        return self.constant(a), a

    def captured(self, array: np.ndarray) -> Traced:
        """The handle of an array that the function captures: a constant that is read at every run."""
        self.outside.lifted.append(Traced(array, self, self.program.constant(array)))
        return self.outside.lifted[-1]

    def constant(self, a: object) -> int:
        """The number of a plain value: numbers by value, arrays by identity for as long as nobody writes to them."""
        program = self.program
        if isinstance(a, np.ndarray):
            known = self.arrays.get(id(a))
            if known is not None and same_bits(known[1], a):
                return known[2]
            plain = np.ndarray.view(a, np.ndarray) if type(a) is not np.ndarray else a
            # made by the function, or watched: what it holds is compared before each run
            number = program.constant(plain, type_of(a), frozen=True)
            self.arrays[id(a)] = (a, a.copy(), number)
            if known is not None:  # changed after its first use: what was used then is kept as it was
                program.set_constant(known[2], known[1])
            return number
        if not isinstance(a, NUMBERS):
            return program.constant(np.asarray(a))
        key: Any = a
        if type(a) is not float or not a or a != a:  # 0.0 and -0.0 are equal but not the same, as are 1.0 and True
            key = (type(a), a.tobytes() if isinstance(a, np.generic) else repr(a))
        if key not in self.numbers:
            self.numbers[key] = program.constant(a)
        return self.numbers[key]

    def settle(self) -> None:
        """At the end of the recording: arrays that were written to since their last use are kept as they were."""
        for array, copy, number in self.arrays.values():
            if not same_bits(copy, array):
                self.program.set_constant(number, copy)

    def _foreign(self, a: Traced) -> tuple[int, Any]:
        if not self.outside.may_lift:
            raise ForeignValueError
        for known, number in self.outside.foreign:
            if known.value is a.value and known.traced_by is a.traced_by and known.node is a.node:
                return number, example(a)
        value = example(a)
        number = self.program.new(type_of(value))
        self.outside.foreign.append((a, number))
        return number, value

    def assumes_none(self, condition: Traced) -> bool:
        """Whether the program may go on as if no element of this were true; it has to be thrown away where one is."""
        if not self.assumptions.may_speculate:
            return False
        self.assumptions.make(Assumed.ORDINARY, np.any(condition))
        return True

    def decided(self, x: Traced, why: str = "", likely: bool | None = None) -> Any:
        """The plain value of a handle, on which the program from here on relies: a guard is written down.

        What has not been computed is taken for what is likely, if that is said: the guard will tell.
        """
        if LOCAL.forced:
            self.count_forced()
        if not self.guards_allowed:
            self.assumptions.are_refused = True
            raise GuardRefusedError
        number, value = self.number_of(x)
        if likely is not None and self.deferred is not None and self.deferred.is_waiting(number):
            self.assumptions.make(Assumed.LIKELY, number)
            value = likely
        else:
            value = self.computed(number, value)
        if number in self.program.constants and not isinstance(value, np.ndarray):
            return value
        if number in self.integers:
            if self.integers.ranges.get(number) == (value, value):
                return value
            self.integers.ranges[number] = (int(value), int(value))
            self.assumptions.make(Assumed.INTEGERS, self.integers[number])
        line = why or user_line()
        self.program.append(Step(GUARD, (number,), {"expected": frozen(value)}, (), line))
        return value

    def count_forced(self) -> None:
        """One more decision is taken after one that was forced: values are not what they might be."""
        LOCAL.forced -= 1
        if not LOCAL.forced:
            self.assumptions.are_refused = True
            raise GuardRefusedError

    def end(self) -> None:
        """Let go of the program, which whoever made the recording has; a handle that was kept is its value."""
        if self.deferred is not None and not self.assumptions.has(Assumed.INPUTS):
            self.deferred.settle(self._as_used)
        self.__class__ = EndedCapture
        self.program, self.arrays, self.numbers = Builder(), {}, {}
        self.outside = ForeignValues(self.outside.may_lift)
        self.deferred = None


class EndedCapture(Ended, CaptureTrace):
    """A recording that is done."""

    __slots__ = ()


def _are_pythons(values: list[Any]) -> bool:
    return all([type(v) in PYTHON_NUMBERS for v in values])


def example(x: object) -> Any:
    """The plain value under every trace, of the first example where there is a batch."""
    if not isinstance(x, Traced):
        return x
    inner = x.traced_by.example(x) if isinstance(x.traced_by, CaptureTrace) else example(x.value)
    if not x.traced_by.lead:
        return inner
    first = inner[0] if len(inner) else np.zeros(inner.shape[1:], inner.dtype)[()]
    return np.asarray(first) if x.node is AXISLESS else first
