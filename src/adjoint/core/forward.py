"""The forward trace: every value is pushed on together with its tangent."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from ..host.frames.asking import is_asking
from .calls.float_warnings import quiet
from .primitive import Primitive
from .reverse import PLAIN
from .trace import NO_PARAMS, Trace, new_level
from .traced import Ended, Traced, snapshot
from .types import Params
from .values import ieee, is_inexact, may_hold


class _Met(threading.local):
    vertex = False


met = _Met()
"""Whether a tangent that is 0 met an infinite slope in this thread; then the tangents are in doubt."""


class ForwardTrace(Trace):
    """Nothing is stored: the `node` of a handle is its tangent, and None is a tangent that is structurally zero."""

    __slots__ = ("asked", "level")

    def __init__(self) -> None:
        self.level = new_level()
        self.asked = False
        """Whether the user's function has compared values, or asked if they are finite."""

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: Params) -> Any:
        """Evaluate one trace further out, and push the tangents along."""
        tangents: list[Any] = []
        values: list[Any] = []
        is_moving = False
        for a in args:
            tangent, kind = None, type(a)
            if kind is Traced or (kind not in PLAIN and isinstance(a, Traced)):
                a = a if kind is Traced else a.current()
                if a.traced_by is self:
                    tangent, a = a.node, a.value
                    is_moving = is_moving or tangent is not None
                else:
                    a = snapshot(a)
            tangents.append(tangent)
            values.append(a)
        rule = primitive.derivative
        if rule.pushes_together:
            out, tangent = rule.push_together(primitive, tangents, values, params)
            return tuple([self._output(o, t) for o, t in zip(out, tangent, strict=True)])
        out = primitive(*values, **params)
        if not is_moving or rule.is_zero:
            if is_moving and primitive.facts.asks:
                self.heard(primitive.facts.asks, out, tangents, values)
            return out
        if self.asked and primitive.facts.leaves_out is not None:
            note_replaced(primitive, tangents, values, params)
        tangent = pushed(primitive, tangents, out, values, params)
        if not primitive.multiple:
            return Traced(out, self, tangent)
        return tuple([self._output(o, t) for o, t in zip(out, tangent, strict=True)])

    def heard(self, asks: int, answer: Any, nodes: Sequence[Any], values: Sequence[Any]) -> None:
        """Remember that the user's function has asked; be in doubt if it was told that a number is not finite."""
        self.asked = self.asked or is_asking(asks)
        note_question(asks, nodes, values)

    def end(self) -> None:
        """From now on a handle of this trace is its value."""
        self.__class__ = EndedForward  # type: ignore[assignment]

    def _output(self, value: Any, tangent: Any) -> Any:
        return value if tangent is None or not is_inexact(value) else Traced(value, self, tangent)

    def unary(self, primitive: Primitive, x: Traced) -> Any:
        """`process` for an elementwise function of one traced argument: the short way."""
        value, tangent = x.value, x.node
        out = primitive.evaluate(value) if type(value) in PLAIN else primitive(value)
        if tangent is None:
            return out
        return Traced(out, self, pushed(primitive, [tangent], out, (value,), NO_PARAMS))


def note_replaced(primitive: Primitive, moving: Sequence[Any], values: Sequence[Any], params: Params) -> None:
    """Be in doubt if a step leaves out what is not finite."""
    from .singular.replaced import left_out  # seldom needed, so not when the library is imported

    met.vertex = met.vertex or any([may_hold(mask) for _, mask in left_out(primitive, moving, values, params)])


def note_question(asks: int, nodes: Sequence[Any], values: Sequence[Any]) -> None:
    """Be in doubt if the user's function was told that a number is not finite."""
    from .singular.replaced import not_finite  # seldom needed, so not when the library is imported

    met.vertex = met.vertex or any([may_hold(mask) for _, mask in not_finite(asks, nodes, values)])


class EndedForward(Ended, ForwardTrace):  # type: ignore[misc]
    """A forward trace that has ended."""

    __slots__ = ()


@quiet
def pushed(primitive: Primitive, tangents: Sequence[Any], out: Any, values: Sequence[Any], params: Params) -> Any:
    """The tangent of a step's result; for a step with several results a list of them.

    Python's numbers become NumPy's only if they raise: in all other cases they give way to the precision of an array.
    """
    try:
        return primitive.derivative.push(primitive, tangents, out, values, params)
    except (ZeroDivisionError, OverflowError):
        return primitive.derivative.push(primitive, tangents, ieee(out), tuple([ieee(v) for v in values]), params)
