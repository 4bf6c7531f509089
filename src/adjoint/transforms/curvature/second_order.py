"""The trace of second derivatives: every value goes on with its tangents and the second derivatives along them.

Of y = f(x) with tangents t_i and second derivatives s_i of x, the chain rule gives

    t_i(y) = Df t_i        s_i(y) = Df s_i + D2f[t_i, t_i]

Where only the sum of the s_i is wanted, as for the Laplacian, only their sum is carried along, which the linear steps
take for the price of one tangent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.batch import BatchTrace
from ...core.calls.float_warnings import quiet
from ...core.forward import ForwardTrace, note_question, note_replaced, pushed
from ...core.primitive import Primitive
from ...core.trace import Trace, new_level
from ...core.traced import Ended, Traced, is_of, peel
from ...core.types import Params
from ...core.values import Value, dtype_of, is_inexact, shape_of, zeros_for
from ...host.frames.asking import is_asking
from ...rules.elementwise import Elementwise
from ...rules.linear import Linear
from ...rules.multilinear import Multilinear
from ...rules.selecting import Selecting


class Motion(NamedTuple):
    """How a value moves."""

    tangents: Any
    """One for each direction, along the first axis."""
    seconds: Any = None
    """The second derivatives along the directions, or their sum; None for a structural zero."""
    is_basis: bool = False
    """Whether the directions are the axes of this very value, a vector, so that its tangents are the identity."""


class SecondOrderTrace(Trace):
    """The `node` of a handle is its `Motion`."""

    __slots__ = ("asked", "level", "size", "summed")

    def __init__(self, size: int, summed: bool) -> None:
        self.level = new_level()
        self.asked = False
        """Whether the user's function has compared values, or asked if they are finite."""
        self.size = size
        """How many directions there are."""
        self.summed = summed
        """Whether only the sum of the second derivatives is wanted."""

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: Params) -> Any:
        """Evaluate one trace further out, and move the result."""
        step = MovingStep(self, primitive, args, params)
        out = primitive(*step.values, **params)
        rule = primitive.derivative
        if not step.moving or rule.is_zero:
            if step.moving and primitive.facts.asks:
                self.heard(primitive.facts.asks, out, step.motions, step.values)
            return out
        if self.asked and primitive.facts.leaves_out is not None:
            note_replaced(primitive, step.motions, step.values, params)
        if primitive.multiple or rule.pushes_together:
            return tuple([self._output(o, m) for o, m in zip(out, step.by_nesting(), strict=True)])
        if isinstance(rule, (Linear, Selecting)) or (isinstance(rule, Multilinear) and len(step.moving) == 1):
            return Traced(out, self, Motion(step.tangents(out), step.seconds(out)))
        if isinstance(rule, Multilinear) and len(step.values) == 2:
            return Traced(out, self, Motion(step.tangents(out), step.seconds(out, step.of_product())))
        if isinstance(rule, Elementwise) and not step.is_complex:
            return Traced(out, self, Motion(step.tangents(out), step.seconds(out, step.of_partials())))
        return Traced(out, self, step.by_nesting()[0])

    def _output(self, value: Any, motion: Motion) -> Any:
        return Traced(value, self, motion) if is_inexact(value) else value

    def heard(self, asks: int, answer: Any, nodes: Sequence[Any], values: Sequence[Any]) -> None:
        """Remember that the user's function has asked; be in doubt if it was told that a number is not finite."""
        self.asked = self.asked or is_asking(asks)
        note_question(asks, nodes, values)

    def end(self) -> None:
        """From now on a handle of this trace is its value."""
        self.__class__ = EndedSecondOrder  # type: ignore[assignment]

    def each(self, function: Callable[..., Any], *stacked: Any) -> Any:
        """A function of the parts of one direction, for all directions at once; results that are alike have no axis."""
        trace = BatchTrace(self.size)
        try:
            found = function(*[Traced(x, trace, None) for x in stacked])
            if isinstance(found, (list, tuple)):
                return [_whole(x, trace) for x in found]
            return _whole(found, trace)
        finally:
            trace.end()


class EndedSecondOrder(Ended, SecondOrderTrace):  # type: ignore[misc]
    """A trace of second derivatives that has ended."""

    __slots__ = ()


class MovingStep:
    """One step, and how its arguments move."""

    def __init__(self, trace: SecondOrderTrace, primitive: Primitive, args: Sequence[Any], params: Params) -> None:
        self.trace, self.primitive, self.params = trace, primitive, params
        self.values = [peel(trace, a) for a in args]
        self.motions: list[Motion | None] = [a.node if is_of(a, trace) else None for a in args]
        self.moving = [k for k, m in enumerate(self.motions) if m is not None]

    @property
    def is_complex(self) -> bool:
        """Whether a value is complex, so that a step need not have a derivative that is one number."""
        return any([dtype_of(v).kind == "c" for v in self.values])

    def tangents(self, out: Value) -> Any:
        """Those of the result."""
        read = self._read_off()
        if read is not None:
            return read
        return self.trace.each(lambda *ts: self._pushed(ts, out), *[self._motion(k).tangents for k in self.moving])

    @quiet
    def seconds(self, out: Value, bend: Any = None) -> Any:
        """The second derivatives of the result: those of the arguments, pushed on, and what the step bends itself."""
        given = [self._motion(k).seconds for k in self.moving]
        if all([s is None for s in given]):
            return bend
        if self.trace.summed:
            found = self._pushed(given, out)
        else:
            known = [k for k, s in enumerate(given) if s is not None]

            def push(*some: Any) -> Any:
                parts = dict(zip(known, some, strict=True))
                return self._pushed([parts.get(k) for k in range(len(given))], out)

            found = self.trace.each(push, *[given[k] for k in known])
        return found if bend is None else found + bend

    @quiet
    def of_product(self) -> Any:
        """Of a product, linear in either factor: twice the product of the tangents."""
        first, second = [self._motion(k).tangents for k in self.moving]
        return self._total(2.0 * self.trace.each(lambda a, b: self.primitive(a, b, **self.params), first, second))

    @quiet
    def of_partials(self) -> Any:
        """Of a function of each element: its second partials, times products of tangents."""
        total: Any = None
        rank = max([len(shape_of(v)) for v in self.values])
        for i, k in enumerate(self.moving):
            for m in self.moving[: i + 1]:
                a, b = [_padded(self._motion(j).tangents, rank) for j in (k, m)]
                products = self._total(a * b)
                term = self._second_partial(k, m) * products
                term = term if k == m else 2.0 * term
                total = term if total is None else total + term
        return total

    @quiet
    def by_nesting(self) -> list[Motion]:
        """For any step: a derivative of a derivative along each direction."""
        points = [self.values[k] for k in self.moving]
        motions = [self._motion(k) for k in self.moving]

        def along(*ts: Any) -> list[Any]:
            return _moved(self._result, points, ts)[1]

        def twice(*ts: Any) -> list[Any]:
            return _moved(lambda *xs: _moved(self._result, xs, ts)[1], points, ts)[1]

        tangents = self.trace.each(along, *[m.tangents for m in motions])
        bends = [self._total(b) for b in self.trace.each(twice, *[m.tangents for m in motions])]
        if any([m.seconds is not None for m in motions]):
            given = [
                self._zeros(m, p) if m.seconds is None else m.seconds for m, p in zip(motions, points, strict=True)
            ]
            found = _moved(self._result, points, given)[1] if self.trace.summed else self.trace.each(along, *given)
            bends = [f + b for f, b in zip(found, bends, strict=True)]
        return [Motion(t, b) for t, b in zip(tangents, bends, strict=True)]

    def _zeros(self, motion: Motion, point: Value) -> Any:
        return zeros_for(point) if self.trace.summed else np.zeros(shape_of(motion.tangents), dtype_of(motion.tangents))

    def _motion(self, k: int) -> Motion:
        motion = self.motions[k]
        assert motion is not None
        return motion

    def _pushed(self, moves: Sequence[Any], out: Value) -> Any:
        tangents: list[Any] = [None] * len(self.values)
        for k, t in zip(self.moving, moves, strict=True):
            tangents[k] = t
        return pushed(self.primitive, tangents, out, self.values, self.params)

    def _result(self, *moving: Any) -> list[Any]:
        args = list(self.values)
        for k, x in zip(self.moving, moving, strict=True):
            args[k] = x
        out = self.primitive(*args, **self.params)
        return list(out) if self.primitive.multiple else [out]

    def _second_partial(self, k: int, m: int) -> Any:
        """By two tangents that are 1 in every element."""

        def slope(of: int, at: Any) -> Any:
            def function(x: Any) -> list[Any]:
                args = list(at)
                args[of] = x
                return [self.primitive(*args, **self.params)]

            return _moved(function, [at[of]], [_ones(at[of])])[1]

        def of_slope(x: Any) -> list[Any]:
            args = list(self.values)
            args[m] = x
            return slope(k, args)  # type: ignore[no-any-return]

        return _moved(of_slope, [self.values[m]], [_ones(self.values[m])])[1][0]

    def _total(self, stacked: Any) -> Any:
        """The sum over the directions, if only that is wanted."""
        return np.sum(stacked, axis=0) if self.trace.summed else stacked

    def _read_off(self) -> Any:
        """The tangents of the product of the argument itself, a vector, and a matrix: they are the matrix."""
        labels = self.primitive.facts.contracts
        if labels is None or len(self.moving) != 1 or len(self.values) != 2:
            return None
        k = self.moving[0]
        other = self.values[1 - k]
        if not self._motion(k).is_basis or dtype_of(other) != dtype_of(self.values[k]):
            return None
        *operands, result = labels(shape_of(self.values[0]), shape_of(self.values[1]), **self.params)
        (own,), theirs = operands[k], list(operands[1 - k])
        if own not in theirs or [c for c in theirs if c != own] != list(result):
            return None
        return np.moveaxis(other, theirs.index(own), 0)


def _moved(function: Callable[..., list[Any]], points: Sequence[Any], moves: Sequence[Any]) -> tuple[list, list]:
    """The results of a function and their tangents, by the plain forward trace."""
    trace = ForwardTrace()
    try:
        found = function(*[Traced(x, trace, t) for x, t in zip(points, moves, strict=True)])
        values = [peel(trace, o) for o in found]
        moved = [
            o.node if is_of(o, trace) and o.node is not None else zeros_for(v)
            for o, v in zip(found, values, strict=True)
        ]
        return values, moved
    finally:
        trace.end()


def _whole(x: Any, trace: BatchTrace) -> Any:
    """A result for all directions: with their axis in front, also if it is the same for all."""
    if is_of(x, trace):
        return x.value
    return np.broadcast_to(x, (trace.size, *shape_of(x)))


def _ones(x: Value) -> Any:
    return 1.0 if type(x) is float else np.ones(shape_of(x), dtype_of(x))


def _padded(x: Any, rank: int) -> Any:
    """A stack whose parts have this many axes: those that are missing come first, as NumPy broadcasts."""
    shape = shape_of(x)
    return x if len(shape) == rank + 1 else np.reshape(x, (shape[0], *[1] * (rank + 1 - len(shape)), *shape[1:]))
