"""The forward walk: every value is pushed on together with its tangent."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from .float_warnings import quiet
from .primitive import Primitive
from .reverse import PLAIN
from .trace import new_level
from .traced import Ended, Traced, snapshot
from .values import Value, ieee, is_inexact


class _Met(threading.local):
    vertex = False


met = _Met()
"""Whether a tangent that is 0 met an infinite slope in this thread; then the numbers of the walk are in doubt."""


class ForwardTrace:
    """Nothing is stored: the `node` of a handle is its tangent, and None is a tangent that is structurally zero."""

    __slots__ = ("level",)
    lead = 0
    is_capture = False

    def __init__(self) -> None:
        self.level = new_level()

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Evaluate one walk further out, and push the tangents along."""
        tangents: list[Value | None] = []
        values: list[Value] = []
        is_moving = False
        for a in args:
            tangent, kind = None, type(a)
            if kind is Traced or (kind not in PLAIN and isinstance(a, Traced)):
                a = a if kind is Traced else a.current()
                if a.walk is self:
                    tangent, a = a.node, a.value
                    is_moving = is_moving or tangent is not None
                else:
                    a = snapshot(a)
            tangents.append(tangent)
            values.append(a)
        if primitive.multiple and (together := getattr(primitive.derivative, "push_together", None)):
            out, tangent = together(primitive, tangents, values, params)
            return tuple([self._output(o, t) for o, t in zip(out, tangent, strict=True)])
        out = primitive(*values, **params)
        if not is_moving or primitive.derivative.is_zero:
            return out
        tangent = pushed(primitive, tangents, out, values, params)
        if not primitive.multiple:
            return Traced(out, self, tangent)
        return tuple([self._output(o, t) for o, t in zip(out, tangent, strict=True)])

    def end(self) -> None:
        """From now on a handle of this walk is its value."""
        self.__class__ = EndedForward

    def _output(self, value: Value, tangent: Value | None) -> Value:
        return value if tangent is None or not is_inexact(value) else Traced(value, self, tangent)

    def unary(self, primitive: Primitive, x: Traced) -> Any:
        """`process` for an elementwise function of one traced argument: the short way."""
        value, tangent = x.value, x.node
        out = primitive.evaluate(value) if type(value) in PLAIN else primitive(value)
        if tangent is None:
            return out
        return Traced(out, self, pushed(primitive, [tangent], out, (value,), {}))


class EndedForward(Ended, ForwardTrace):
    """A forward walk that has ended."""

    __slots__ = ()


@quiet
def pushed(primitive: Primitive, tangents: list[Value], out: Value, values: Sequence[Value], params: dict) -> Value:
    """The tangent of a step's result; for a step with several results a list of them.

    Python's numbers become NumPy's only if they raise: in all other cases they give way to the precision of an array.
    """
    try:
        return primitive.derivative.push(primitive, tangents, out, values, params)
    except (ZeroDivisionError, OverflowError):
        return primitive.derivative.push(primitive, tangents, ieee(out), tuple([ieee(v) for v in values]), params)
