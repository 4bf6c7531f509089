"""The Taylor trace: every value goes on together with its coefficients along a curve, order by order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..host.frames.asking import is_asking
from .calls.float_warnings import quiet
from .forward import note_question, note_replaced
from .primitive import Primitive
from .series import Expansion, Series
from .trace import Trace, new_level
from .traced import Ended, Traced, snapshot
from .types import Params
from .values import LARGE, ieee, is_inexact, zeros_for


class TaylorTrace(Trace):
    """The `node` of a handle is its `Series`.

    A step that the user's function takes is expanded to the full order at once. The steps that its rule takes on the
    way are expanded as far as they are needed, and a step that is met again, on the same series, is the same series: so
    the equations of a rule close, and sine and cosine are two series at any order.
    """

    __slots__ = ("asked", "count", "has_kinks", "in_doubt", "is_certain", "level", "met", "order", "side")

    def __init__(self, order: int, *, is_certain: bool = False, side: int = 0) -> None:
        self.level = new_level()
        self.order = order
        self.asked = False
        """Whether the user's function has compared values, or asked if they are finite."""
        self.in_doubt = False
        """Whether a value that is 0 in all orders met the end of a domain, where it matters whether it stays so."""
        self.is_certain = is_certain
        """Whether its order is so high that what is 0 in all orders is taken to stay so."""
        self.has_kinks = False
        """Whether there may have been a point at which a step has no series, but one on each side."""
        self.side = side
        """1 or -1 for the series on one side, 0 for that on both."""
        self.met: dict[Any, Any] | None = None
        """The steps taken inside a rule; None outside."""
        self.count = 0
        """How many series the last step of the user's function took."""

    def input(self, value: Any, *further: Any) -> Traced:
        """A value that moves along a curve, of which the coefficients are given; all that are not are zero."""
        return Traced(value, self, Series([value, *further]))

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: Params) -> Any:
        """Evaluate one trace further out, and expand the result."""
        rows: list[Series | None] = []
        values: list[Any] = []
        for a in args:
            row = None
            if isinstance(a, Traced):
                a = a if type(a) is Traced else a.current()
                if a.traced_by is self:
                    row, a = a.node, a.value
                else:
                    a = snapshot(a)
            rows.append(row)
            values.append(a)
        if primitive.derivative.is_zero or all([row is None for row in rows]):
            out = primitive(*values, **params)
            if primitive.facts.asks:
                self.heard(primitive.facts.asks, out, rows, values)
            return out
        if self.asked and self.met is None and primitive.facts.leaves_out is not None:
            note_replaced(primitive, rows, values, params)
        if primitive.inline:
            return primitive.evaluate(*args, **params)
        if self.met is not None:
            return self._met_before(primitive, rows, values, params)
        if primitive.derivative.pushes_together:
            return self._looped(primitive, rows, values, params)
        out = primitive(*values, **params)
        try:
            return self._taken(primitive, rows, values, params, out)
        except (ZeroDivisionError, OverflowError):  # Python's numbers raise, NumPy's do not
            rows = [row and Series([ieee(c) for c in row.known]) for row in rows]
            return self._taken(primitive, rows, [ieee(v) for v in values], params, ieee(out))

    @quiet
    def _looped(
        self, primitive: Primitive, rows: Sequence[Series | None], values: Sequence[Any], params: Params
    ) -> Any:
        """A loop of the user's function, by one loop of values and all coefficients."""
        towers = [None if row is None else [row.at(k) for k in range(1, self.order + 1)] for row in rows]
        out, found = primitive.derivative.push_towers(primitive, towers, values, params, self.order)
        return tuple([
            o if tower is None or not is_inexact(o) else self.input(o, *tower)
            for o, tower in zip(out, found, strict=True)
        ])  # fmt: skip

    @quiet
    def _taken(
        self, primitive: Primitive, rows: Sequence[Series | None], values: Sequence[Any], params: Params, out: Any
    ) -> Any:
        """A step of the user's function, of which the value is known, to the full order."""
        self.met = {}
        try:
            result = self._met_before(primitive, rows, values, params, out)
            for o in result if primitive.multiple else (result,):
                if isinstance(o, Traced):
                    o.node.settle(self.order)
            self.count = len(self.met)
        finally:
            self.met = None
        return result

    def _met_before(
        self,
        primitive: Primitive,
        rows: Sequence[Series | None],
        values: Sequence[Any],
        params: Params,
        out: Any = None,
    ) -> Any:
        """A step that a rule takes; if it was taken before, its result from then."""
        met: Any = self.met
        key = (
            primitive,
            *[_key(v) if row is None else id(row) for row, v in zip(rows, values, strict=True)],
            *[(name, _key(p)) for name, p in params.items()],
        )
        if key not in met:
            out = primitive(*values, **params) if out is None else out
            met[key] = self._expanded(primitive, rows, values, out, params), rows, values  # which the key speaks of
        found = met[key][0]
        return tuple([snapshot(o) for o in found]) if primitive.multiple else snapshot(found)  # may be written to

    def _expanded(
        self, primitive: Primitive, rows: Sequence[Series | None], values: Sequence[Any], out: Any, params: Params
    ) -> Any:
        step = Expansion(self, primitive, rows, values, out, params)
        if not primitive.multiple:
            find = primitive.derivative.expand(step)
            first = out
            if primitive.derivative.is_product and any([row and row.at(0) is None for row in rows]):
                first, step.out = None, zeros_for(out)
            step.results.append(Series([first], find))
            return Traced(step.out, self, step.results[0])
        step.results += [Series([o]) for o in out]
        find_all = primitive.derivative.expand(step)
        for j, row in enumerate(step.results):
            row.find = _in_step(step.results, j, find_all)
        return tuple([Traced(o, self, row) if is_inexact(o) else o for o, row in zip(out, step.results, strict=True)])

    def heard(self, asks: int, answer: Any, nodes: Sequence[Any], values: Sequence[Any]) -> None:
        """Remember that the user's function has asked; be in doubt if it was told that a number is not finite."""
        self.asked = self.asked or is_asking(asks)
        if self.met is None:
            note_question(asks, nodes, values)

    def end(self) -> None:
        """From now on a handle of this trace is its value."""
        self.__class__ = EndedTaylor  # type: ignore[assignment]


class EndedTaylor(Ended, TaylorTrace):  # type: ignore[misc]
    """A Taylor trace that has ended."""

    __slots__ = ()


def _in_step(results: list[Series], j: int, find_all: Callable[[int], Sequence[Any]]) -> Callable[[int], Any]:
    """The next coefficient of one of several results; the others get theirs."""

    def find(k: int) -> Any:
        found = find_all(k)
        for i, row in enumerate(results):
            if i != j:
                row.known.append(found[i])
        return found[j]

    return find


def _key(x: Any) -> Any:
    """What is equal for constants and parameters that are the same; of large arrays, only for the same array."""
    kind = type(x)
    if isinstance(x, Traced):
        return kind, id(x.traced_by), _key(x.value), x.node if type(x.node) is int else id(x.node)
    if kind is np.ndarray:
        return (x.shape, x.dtype, x.tobytes()) if x.size <= LARGE and x.dtype.kind in "biufc" else id(x)
    if isinstance(x, (float, complex, np.generic)):
        return kind, repr(x)
    if kind is slice:
        return slice, x.start, x.stop, x.step
    if kind is tuple or kind is list:
        return tuple([_key(part) for part in x])
    try:
        hash(x)
    except TypeError:
        return id(x)
    return kind, x
