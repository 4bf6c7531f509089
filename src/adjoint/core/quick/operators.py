"""Short-cuts for speed: Python's operators on handles, without the detours that unusual operands need.

What is done is what `ReverseTrace.process` does; where anything is unusual, the general way is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..primitive import Primitive
from ..reverse import ReverseTrace, recorded
from ..trace import ALIKE, NO_PARAMS
from ..traced import ARRAY, Traced, is_of
from ..values import LARGE
from .number_kinds import QUICK_KINDS, with_precision

Operator = Callable[[Any, Any], Any]
NUMBERS = frozenset((float, int, bool))
COMPARES = 1
"""See `singular/replaced.py`."""


def binary_operators(  # noqa: C901 - two operators, each with its short ways
    primitive: Primitive, prepared: Callable[[Any, Any], Any], captured: Callable[[Any, Any, Any], Any]
) -> tuple[Operator, Operator]:
    """`x op y` for a traced x, and its reflection: `process`, the short way where the other operand is nothing unusual.

    `prepared` turns an unusual operand into one that the primitive takes, or says `NotImplemented`; `captured` has the
    last word on a result that belongs to a captured program.
    """
    evaluate, of_each_element = primitive.evaluate, primitive.domain is not None

    def forward(self: Any, other: Any) -> Any:
        if type(self) is not Traced:
            self = self.current()
        trace, kind, x = self.traced_by, type(other), self.value
        if type(trace) is not ReverseTrace:
            return unusual(self, other, is_first=True)
        if kind is Traced:
            if other.traced_by is not trace:
                return unusual(self, other, is_first=True)
            y, params = other.value, NO_PARAMS
            parents: Any = (self.node, other.node)
            if type(x) is not type(y):
                x, y = with_precision(trace, [x, y], parents)
            elif type(x) is ARRAY and of_each_element and (x is y or x.shape == y.shape):
                params = ALIKE
        elif kind in NUMBERS:
            y, parents, params = other, (self.node, None), ALIKE
        elif kind is ARRAY:
            return beside_array(trace, primitive, (self, other), self, other)
        else:
            return unusual(self, other, is_first=True)
        out = evaluate(x, y)
        place = len(trace)
        if type(out) is ARRAY and out.size > LARGE:
            return recorded(trace, primitive, parents, (x, y), out)
        trace.append((primitive, parents, (x, y), out, params))
        return Traced(out, trace, place)

    def reflected(self: Any, other: Any) -> Any:
        if type(self) is not Traced:
            self = self.current()
        trace = self.traced_by
        if type(trace) is not ReverseTrace or type(other) not in NUMBERS:
            return unusual(self, other, is_first=False)
        y = self.value
        out = evaluate(other, y)
        if type(out) is ARRAY and out.size > LARGE:
            return recorded(trace, primitive, (None, self.node), (other, y), out)
        trace.append((primitive, (None, self.node), (other, y), out, ALIKE))
        return Traced(out, trace, len(trace) - 1)

    def unusual(handle: Traced, other: object, *, is_first: bool) -> Any:
        trace = handle.traced_by
        if trace.is_capture and type(handle.value) in QUICK_KINDS and (type(other) is float or is_of(other, trace)):
            pair = (handle, other) if is_first else (other, handle)
            found = trace.process(primitive, pair, NO_PARAMS)
            return captured(found, handle, other) if type(handle.value) is float else found
        other = prepared(other, handle)
        if other is NotImplemented:
            return other
        found = primitive(handle, other) if is_first else primitive(other, handle)
        return captured(found, handle, other) if trace.is_capture else found

    return forward, reflected


def beside_array(trace: ReverseTrace, primitive: Primitive, pair: tuple[Any, Any], x: Traced, array: np.ndarray) -> Any:
    """`process` for the pair of a handle and a plain array, in any order: the short way for arrays.

    The array is copied, as the user may change it before the sweep back.
    """
    value, node = x.value, x.node
    if type(value) is not ARRAY or not value.ndim:
        return trace.process(primitive, pair, NO_PARAMS)
    is_first = pair[0] is x
    values, parents = ((value, array), (node, None)) if is_first else ((array, value), (None, node))
    out = primitive.evaluate(*values)
    if type(out) is np.float64:  # a product of vectors
        out = float(out)
        trace.has_numpys = True
    if value.size > LARGE or (type(out) is ARRAY and out.size > LARGE):
        return recorded(trace, primitive, parents, values, out)
    kept = (value, array.copy()) if is_first else (array.copy(), value)
    trace.append((primitive, parents, kept, out, NO_PARAMS))
    return Traced(out, trace, len(trace) - 1)


def comparison(python: Callable[[Any, Any], Any], general: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`x < y` for a traced x, the short way for one number beside a plain one: Python's truth value, or NumPy's."""

    def compare(self: Traced, other: object) -> Any:
        if type(self) is Traced and type(other) in NUMBERS:
            trace, x = self.traced_by, self.value
            if type(x) is float and type(trace) is ReverseTrace:
                found = python(x, other)
                if not trace.asked:
                    trace.asked = COMPARES
                    trace.answers.append(found)
                return found if trace.is_python_at(self.node) else np.bool(found)
        return general(self, other)

    return compare
