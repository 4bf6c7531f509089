"""Values that a recording can do without: the results of large steps are not computed until somebody asks for them.

A step that takes long is written down like any other, but its result is a stand-in: of the right type, shape and dtype,
with nothing in it that means anything. Whoever wants to know what a value is has it computed, from what it was made of.
In most recordings nobody asks, and the result of the first call comes from the program, once that is compiled.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.primitive import Primitive
from ..core.traced import ARRAY, PYTHON, Traced
from .fold import may_fail, results, values_wanted
from .loops import LoopPrimitive
from .program import Readable, Step, Type
from .requirements import together

LARGE = 10_000
"""Elements from which on a step is not taken at once."""


class Deferred:
    """The values of one recording that have not been computed, and how they are if they are wanted."""

    __slots__ = ("_known", "_makers", "_program", "_stand_ins", "_truths")

    def __init__(self, program: Readable) -> None:
        self._program = program
        self._makers: dict[int, Step] = {}
        """The step that has not been taken, for each value that it would give."""
        self._known: dict[int, Any] = {}
        """Operands of such steps, and values that have been computed since."""
        self._stand_ins: dict[int, Any] = {}
        self._truths: dict[int, weakref.ref[Traced]] = {}
        """The handles of truth values: there are but two of these, so that who holds one is not to be seen from it."""

    def stand_in(
        self, primitive: Primitive, numbers: Sequence[int], values: Sequence[Any], params: dict[str, Any]
    ) -> Any:
        """What stands for the result of a step that is not taken now; None for one that is."""
        waits = bool(self._makers) and not self._makers.keys().isdisjoint(numbers)
        if not waits and not isinstance(primitive, LoopPrimitive):
            for v in values:
                if type(v) is ARRAY and v.size >= LARGE:
                    break
            else:
                return None
        if may_fail(self._program, Step(primitive, tuple(numbers), params, ())):
            return None
        return _result(primitive, values, params, waits)

    def put_off(self, step: Step, values: Sequence[Any], outs: Sequence[Any], handles: Sequence[Traced]) -> None:
        """A step has been written down, but not taken: with these operands, and these results for the time being."""
        for number, value in zip(step.args, values, strict=True):
            if number not in self._makers:
                self._known.setdefault(number, value)
        for number, out, handle in zip(step.outs, outs, handles, strict=True):
            self._makers[number] = step
            self._stand_ins[number] = out
            if type(out) is np.bool:
                self._truths[number] = weakref.ref(handle)

    def example(self, value: Any) -> Any:
        """Something that a value could be, where it is not computed for that."""
        if type(value) is float:
            return 1.0
        shape, dtype = np.shape(value), value.dtype
        if dtype.kind not in "fc":
            return np.zeros(shape, dtype)[()]
        made = np.ones(shape, dtype)
        if len(shape) > 1 and shape[-1] == shape[-2]:  # a matrix that can be factorised
            made += shape[-1] * np.eye(shape[-1], dtype=dtype)
        return made[()]

    def has_begun(self) -> bool:
        """Whether there are any, or have been."""
        return bool(self._stand_ins)

    def is_waiting(self, number: int) -> bool:
        """Whether nobody has computed a value yet."""
        return number in self._makers

    def value(self, number: int, value: Any, frozen: Callable[[int], Any]) -> Any:
        """What a value is, given what the handle holds; `frozen` gives arrays as they were when they were used."""
        if number in self._makers:
            self._compute(number, frozen)
        elif number not in self._stand_ins:
            return value
        return self._known[number]

    def settle(self, frozen: Callable[[int], Any]) -> None:
        """At the end of the recording: compute what somebody has kept a handle of, as for a log."""
        kept = self._kept()
        self._stand_ins = {number: kept[number] for number in sorted(kept, reverse=True) if number in self._makers}
        for number, out in list(self._stand_ins.items()):
            value = self.value(number, out, frozen)
            if value is out:
                continue
            truth = self._truths.get(number)
            for handle in gc.get_referrers(out) if truth is None else [truth()]:
                if type(handle) is Traced and handle.value is out:
                    handle.value = value

    def _kept(self) -> dict[int, Any]:
        """What stands for values of which somebody has a handle, or a view; afterwards nothing else does."""
        left, self._stand_ins = self._stand_ins, {}
        arrays = {number: weakref.ref(out) for number, out in left.items() if type(out) is ARRAY}
        truths = {number: left[number] for number, handle in self._truths.items() if handle() is not None}
        numbers = {number: out for number, out in left.items() if type(out) is not ARRAY and number not in self._truths}
        del left
        shared = Counter(map(id, numbers.values()))
        for number in list(numbers):
            out, times = _popped(numbers, number)
            shared[id(out)] -= 1
            if times > ALONE + shared[id(out)]:
                truths[number] = out
            del out
        return truths | {number: out for number, array in arrays.items() if (out := array()) is not None}

    def _compute(self, wanted: int, frozen: Callable[[int], Any]) -> None:
        values_wanted([wanted], self._makers.get, _Late(self, frozen), self._known)

    def taken(self, step: Step, args: list[Any]) -> list[Any]:
        """The results of a step that was put off, in the memory that stood for them."""
        with np.errstate(all="ignore"):
            found = list(results(step, step.primitive.evaluate(*args, **step.params)))
        for number in step.outs:
            del self._makers[number]
        return [_filled(self._stand_ins.get(n), out) for n, out in zip(step.outs, found, strict=True)]

    def is_frozen(self, number: int) -> bool:
        """Whether a value is an array that the recording relies on as it was when it was used."""
        return number in self._program.frozen


class _Late:
    """Values that are computed after all."""

    def __init__(self, deferred: Deferred, frozen: Callable[[int], Any]) -> None:
        self.deferred, self.frozen = deferred, frozen

    def constant(self, number: int, value: object) -> Any:
        raise KeyError(number)  # the operands of a step that is put off are known

    def step(self, step: Step, args: list[Any]) -> list[Any]:
        is_frozen = self.deferred.is_frozen
        rows = zip(step.args, args, strict=True)
        return self.deferred.taken(step, [self.frozen(a) if is_frozen(a) else x for a, x in rows])


def _popped(table: dict[int, Any], number: int) -> tuple[Any, int]:
    """The number that a table holds, taken out of it, and the references to it, those of this function among them.

    Numbers have no weak references, as arrays have.
    """
    out = table.pop(number)
    return out, sys.getrefcount(out)


ALONE = _popped({0: object()}, 0)[1]
"""How many there are to what nobody else holds: how many calls and variables count differs between Pythons."""


def _filled(stand_in: Any, value: Any) -> Any:
    """The value, in the memory that stood for it if it can be: handles that somebody has kept hold it then."""
    if type(stand_in) is ARRAY and stand_in.base is None and stand_in.flags.writeable:
        stand_in[...] = value
        return stand_in
    return value


def _result(primitive: Primitive, values: Sequence[Any], params: dict[str, Any], waits: bool) -> Any:
    """Something of the type, shape and dtype that a step would give; None where it takes the values to say."""
    facts = primitive.facts
    if isinstance(primitive, LoopPrimitive):
        types = primitive.operands.cut(values, params["sizes"]).results(params)
        are_known = types is not None and all([not t.weak or t.dtype.kind == "f" for t in types])
        return tuple(map(_empty, types)) if types is not None and are_known else None
    if primitive.multiple or not all([type(v) is ARRAY or np.isscalar(v) for v in values]):
        return None
    if all([type(v) in PYTHON for v in values]):  # whose arithmetic may raise
        return None
    if facts.ragged:
        return None
    evaluate: Callable[..., Any] = primitive.evaluate
    shapes = [np.shape(v) for v in values]
    shape: tuple[int, ...] | None
    if facts.moves is not None or facts.addressed is not None:
        return _moved(primitive, values, params) if waits else None
    if facts.reduces is not None:
        shape = _reduced(shapes[0], **params)
    elif facts.contracts is not None:
        shape = _contracted(facts.contracts(*shapes[:2], **params), shapes)
        evaluate, params = np.multiply, {}
    elif facts.accumulates is not None:
        shape = shapes[0]
    elif facts.kernel is not None or (facts.ufunc is not None and facts.ufunc.signature is None):
        shape = together(shapes)
    else:
        return None
    if shape is None or 0 in shape:
        return None
    with np.errstate(all="ignore"):
        found = evaluate(*map(_shrunk, values), **params)
    return found if np.shape(found) == shape else _empty(Type(found.dtype, shape, False))


def _moved(primitive: Primitive, values: Sequence[Any], params: dict[str, Any]) -> Any:
    """The step itself, taken on whatever the memory holds: a view shares it, and errors are about shapes."""
    with np.errstate(all="ignore"):
        return primitive.evaluate(*values, **params)


def _empty(t: Type) -> Any:
    return np.empty(t.shape, t.dtype) if t.shape else float("nan") if t.weak else t.dtype.type(0)


def _shrunk(x: Any) -> Any:
    """An array of one element, with as many axes."""
    return np.ones((1,) * x.ndim, x.dtype) if type(x) is ARRAY else x


def _reduced(shape: tuple[int, ...], *, axis: Sequence[int], keepdims: bool, **others: object) -> Any:
    if 0 in shape:
        return None
    axes = {a % len(shape) for a in axis}
    return tuple([1 if a in axes else n for a, n in enumerate(shape) if keepdims or a not in axes])


def _contracted(labels: Any, shapes: Sequence[tuple[int, ...]]) -> Any:
    lengths: dict[Any, int] = {}
    for names, shape in zip(labels, shapes, strict=False):
        for name, n in zip(names, shape, strict=True):
            if lengths.setdefault(name, n) == 1:
                lengths[name] = n
            elif n not in (1, lengths[name]):
                return None
    return tuple([lengths[name] for name in labels[2]])
