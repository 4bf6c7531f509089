"""Python's operators on traced values: straight to the primitive, without NumPy in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.primitive import Primitive
from ..core.reverse import binary_operators
from ..core.traced import Traced, is_kept
from ..core.values import is_python
from ..ops.arithmetic import add, divide, multiply, negative, positive, power, square, subtract
from ..ops.contraction import matmul
from ..ops.declare import UFUNCS
from ..ops.selection import absolute
from ..ops.shape import item
from .conversions import decided, refuse_batch
from .registry import as_value

OPERANDS = (Traced, np.ndarray, np.generic, float, int, complex, list, tuple)


def _binary(primitive: Primitive) -> tuple[Callable[..., Any], Callable[..., Any]]:
    if primitive.derivative.is_zero:
        return _constant(primitive, swap=False), _constant(primitive, swap=True)
    return binary_operators(primitive, _operand, _captured)


def _operand(x: Any) -> Any:
    """Lists become arrays; Python's numbers stay, as NumPy lets them take the other operand's precision."""
    if not isinstance(x, OPERANDS):
        return NotImplemented
    return as_value(x) if isinstance(x, (list, tuple)) else x


def _unary(primitive: Primitive) -> Callable[[Traced], Any]:
    def operator(self: Any) -> Any:
        if type(self) is not Traced:
            self = self.current()
        return self.walk.unary(primitive, self)

    return operator


def _constant(primitive: Primitive, *, swap: bool = False) -> Callable[[Traced, Any], Any]:
    def operator(self: Traced, other: Any) -> Any:
        other = _operand(other)
        if other is NotImplemented:
            return other
        found = primitive(other, self) if swap else primitive(self, other)
        return _captured(found, self, other) if self.walk.is_capture else found

    return operator


def _captured(found: Any, x: Any, y: Any) -> Any:
    """What an operator gives in a captured program: of two Python numbers a Python number, as without a program."""
    if is_python(x) and is_python(y) and isinstance(found, Traced) and not is_python(found):
        return item(found)
    return found


def _power(self: Traced, other: Any) -> Any:
    if type(other) is int and other == 2 and self.dtype.kind != "b":
        return _square(self)
    return _general_power(self, other)


_general_power, _reflected_power = _binary(power)
_square = _unary(square)


def _divmod(self: Traced, other: Any) -> Any:
    return self // other, self % other


def _rdivmod(self: Traced, other: Any) -> Any:
    return other // self, other % self


def _bool(self: Traced) -> bool:
    refuse_batch(self, "a truth value", "Use  np.where(condition, a, b)  instead of  if.")
    return bool(decided(self))


def _int(self: Traced) -> int:
    refuse_batch(self, "an integer", "Use array operations instead of Python's integers.")
    return int(decided(self))


def _index(self: Traced) -> int:
    refuse_batch(self, "an integer", "Use  np.take(x, index)  instead of Python's index.")
    return int(decided(self).__index__())


def _round(self: Traced, ndigits: int | None = None) -> Any:
    if ndigits is None:
        return _whole(np.rint)(self)
    found = np.round(self, ndigits)
    return _captured(found, self, ndigits) if self.walk.is_capture else found


def _whole(rounding: Any) -> Callable[[Traced], int]:
    def operator(self: Traced) -> int:
        refuse_batch(self, "an integer", f"Use  np.{rounding.__name__}(x).")
        return int(rounding(decided(self)))

    return operator


def _is_key(x: Any) -> bool:
    """Whether a value is looked up in a dict or set by what it is: a number of a captured program, or a plain one."""
    return isinstance(x, Traced) and (x.walk.is_capture or is_kept(x)) and x.shape == ()


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
    "__invert__": lambda self: UFUNCS[np.invert](self),
    "__eq__": _constant(UFUNCS[np.equal]),
    "__ne__": _constant(UFUNCS[np.not_equal]),
    "__lt__": _constant(UFUNCS[np.less]),
    "__le__": _constant(UFUNCS[np.less_equal]),
    "__gt__": _constant(UFUNCS[np.greater]),
    "__ge__": _constant(UFUNCS[np.greater_equal]),
    "__hash__": lambda self: hash(decided(self)) if _is_key(self) else id(self),
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
    OPERATORS[f"__{_name}__"], OPERATORS[f"__r{_name}__"] = _binary(_primitive)

for _name, _operator in OPERATORS.items():
    setattr(Traced, _name, _operator)
