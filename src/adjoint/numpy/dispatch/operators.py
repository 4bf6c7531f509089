"""Python's operators on traced values: straight to the primitive, without NumPy in between."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.primitive import Primitive
from ...core.quick.operators import binary_operators, comparison
from ...core.reverse import ReverseTrace
from ...core.traced import ARRAY, PYTHON, Traced, is_array
from ...core.values import concrete, decidable, is_python
from ...ir.counts import WORD
from ...ops.arithmetic import add, divide, multiply, negative, positive, power, square, subtract
from ...ops.contraction import matmul
from ...ops.declare import UFUNCS
from ...ops.selection import absolute
from ...ops.shape import constant_astype
from ..numbers.exact import compared, is_exact
from ..numbers.keys import guarded, hashed
from ..numbers.python_numbers import captured as _captured
from ..numbers.python_numbers import inverted, of_numbers, rounded
from .arguments import as_value
from .conversions import decided, refuse_batch
from .foreign import foreign, is_sparse

ARRAYS = (np.ndarray, np.memmap)
OPERANDS = (np.ndarray, np.generic, float, int, complex, list, tuple)


def _binary(primitive: Primitive, python: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    if primitive.derivative.is_zero:
        return _constant(primitive, python, swap=False), _constant(primitive, python, swap=True)
    primitive.is_operator = True
    return binary_operators(primitive, _operand, _captured)


def _operand(x: Any, other: Any) -> Any:
    """Lists become arrays, beside NumPy's numbers; Python's numbers stay: they take the other's precision."""
    if isinstance(x, Traced):
        return x
    if not isinstance(x, OPERANDS) or (isinstance(x, np.ndarray) and type(x) not in ARRAYS):
        return foreign(x, other)
    if isinstance(x, (list, tuple)):
        return NotImplemented if is_python(other) else as_value(x)  # [0] * n repeats the list
    if type(x) is int and not WORD[0] <= x <= WORD[1] and other.dtype.kind in "fc":
        return float(x)  # as Python and NumPy do; an array of it alone would be one of objects
    return x


def _unary(primitive: Primitive) -> Callable[[Traced], Any]:
    primitive.is_operator = True

    def operate(self: Any) -> Any:
        if type(self) is not Traced:
            self = self.current()
        return self.traced_by.unary(primitive, self)

    return operate


def _constant(primitive: Primitive, python: Callable[[Any, Any], Any], *, swap: bool = False) -> Callable[..., Any]:
    def operate(self: Traced, other: Any) -> Any:
        other = _operand(other, self)
        if other is NotImplemented:
            return other
        x, y = (other, self) if swap else (self, other)
        if type(self.value) in NOT_ARRAYS and is_python(self) and is_python(other):
            return of_numbers(python, primitive, x, y)
        found = primitive(x, y)
        return _captured(found, x, y) if self.traced_by.is_capture else found

    return operate


def _comparison(primitive: Primitive, python: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    general = _constant(primitive, python)

    def compare(self: Traced, other: Any) -> Any:
        if type(self) is Traced and type(self.traced_by) is ReverseTrace:
            value = self.value
            if type(value) is np.ndarray and type(other) in PLAIN:
                found = primitive.evaluate(value, other)
                self.traced_by.asked = self.traced_by.asked or primitive.facts.asks
                self.traced_by.answers.append(found)
                return found
        return compared(python, self, other) if is_exact(other, self) else general(self, other)

    return comparison(python, compare)


def _matmul(self: Traced, other: Any) -> Any:
    if type(other) in MATRICES and type(self) is Traced and type(self.value) is ARRAY:
        return _general_matmul(self, other)
    if is_sparse(other):
        return NotImplemented  # its own operator knows what to do
    if is_python(self) and is_python(other):
        kinds = [type(concrete(x)).__name__ for x in (self, other)]
        raise TypeError(f"unsupported operand type(s) for @: {kinds[0]!r} and {kinds[1]!r}")
    return _general_matmul(self, other)


MATRICES = frozenset((np.ndarray, Traced))
PLAIN = frozenset((np.ndarray, float, int))
NOT_ARRAYS = frozenset((Traced, *PYTHON))
"""What may be under the handle of a Python number."""


def _power(self: Traced, other: Any) -> Any:
    if type(other) is int and other == 2:
        handle = self if type(self) is Traced else self.current()
        value = handle.value
        if (value if type(value) is ARRAY else handle).dtype.kind != "b":
            return handle.traced_by.unary(square, handle)
    if type(other) is int and not is_array(self) and self.dtype.kind == "b" and not is_python(self):
        return _general_power(constant_astype(self, dtype=np.dtype(int)), other)  # of arrays, it has 8 bits
    return _general_power(self, other)


_general_power, _reflected_power = _binary(power, operator.pow)
square.is_operator = True


def _divmod(self: Traced, other: Any) -> Any:
    return self // other, self % other


def _rdivmod(self: Traced, other: Any) -> Any:
    return other // self, other % self


def _bool(self: Traced) -> bool:
    refuse_batch(self, "a truth value", "Use  np.where(condition, a, b)  instead of  if.")
    tested = decidable(self)
    if not isinstance(tested, Traced):
        return bool(tested)
    if tested.size != 1:
        return bool(np.zeros(tested.shape, tested.dtype))  # raises what NumPy raises, for any values
    if tested.dtype.kind != "b":  # the program relies on which of the two it is, not on the number
        tested = UFUNCS[np.not_equal](tested, tested.dtype.type(0))
    if tested.shape:
        tested = np.reshape(tested, ())
    if tested.traced_by.loops is not None:
        return bool(tested.traced_by.loops.truth(tested, sys._getframe(1)))
    return bool(decided(tested))


def _int(self: Traced) -> int:
    refuse_batch(self, "an integer", "Use array operations instead of Python's integers.")
    return _decided_integer(self, np.trunc)


def _index(self: Traced) -> int:
    refuse_batch(self, "an integer", "Use  np.take(x, index)  instead of Python's index.")
    index = decided(self)
    if type(index) is bool:
        inner: Any = self
        while isinstance(inner.value, Traced):
            inner = inner.value
        if inner.traced_by.is_capture:
            inner.traced_by.assumptions.make_place()
    return operator.index(index)


def _round(self: Traced, ndigits: int | None = None) -> Any:
    if ndigits is None:
        return _whole(np.rint)(self)
    return rounded(self, ndigits) if is_python(self) else np.round(self, ndigits)


def _whole(rounding: Any) -> Callable[[Traced], int]:
    def operate(self: Traced) -> int:
        refuse_batch(self, "an integer", f"Use  np.{rounding.__name__}(x).")
        return _decided_integer(self, rounding)

    return operate


def _decided_integer(x: Traced, rounding: Any) -> int:
    """The integer that a number is rounded to; a program is guarded by that, not by every digit of the number."""
    number = decidable(x)
    if isinstance(number, Traced) and number.dtype.kind == "f":
        return int(decided(rounding(number)))
    return int(rounding(decided(number)) if rounding is not np.trunc else decided(number))


OPERATORS: dict[str, Callable[..., Any]] = {
    "__neg__": _unary(negative),
    "__pos__": _unary(positive),
    "__abs__": _unary(absolute),
    "__pow__": _power,
    "__rpow__": _reflected_power,
    "__divmod__": _divmod,
    "__rdivmod__": _rdivmod,
    "__bool__": _bool,
    "__int__": _int,
    "__trunc__": _int,
    "__index__": _index,
    "__round__": _round,
    "__floor__": _whole(np.floor),
    "__ceil__": _whole(np.ceil),
    "__invert__": lambda self: inverted(self) if is_python(self) else UFUNCS[np.invert](self),
    "__eq__": guarded(_comparison(UFUNCS[np.equal], operator.eq)),
    "__ne__": _comparison(UFUNCS[np.not_equal], operator.ne),
    "__lt__": _comparison(UFUNCS[np.less], operator.lt),
    "__le__": _comparison(UFUNCS[np.less_equal], operator.le),
    "__gt__": _comparison(UFUNCS[np.greater], operator.gt),
    "__ge__": _comparison(UFUNCS[np.greater_equal], operator.ge),
    "__hash__": hashed,
}
for _name, _primitive in {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "truediv": divide,
    "matmul": matmul,
    "mod": UFUNCS[np.remainder],
    "floordiv": UFUNCS[np.floor_divide],
    "and": UFUNCS[np.bitwise_and],
    "or": UFUNCS[np.bitwise_or],
    "xor": UFUNCS[np.bitwise_xor],
    "lshift": UFUNCS[np.left_shift],
    "rshift": UFUNCS[np.right_shift],
}.items():
    _python = getattr(operator, {"and": "and_", "or": "or_"}.get(_name, _name))
    OPERATORS[f"__{_name}__"], OPERATORS[f"__r{_name}__"] = _binary(_primitive, _python)
_general_matmul = OPERATORS["__matmul__"]
OPERATORS["__matmul__"] = _matmul

for _name, _operator in OPERATORS.items():
    setattr(Traced, _name, _operator)
