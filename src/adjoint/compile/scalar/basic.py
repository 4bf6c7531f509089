"""Machine code for one element of what the processor itself can do: arithmetic, comparison, choice, rounding, bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..assembly.emit import Emitter
from ..assembly.kinds import I8, bits_kind
from ..assembly.values import FALSE, TRUE, Constant, Operand, Value, literal
from .casting import cast, truth

Emit = Callable[..., Value]
UNORDERED = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}


def binary(real: str, whole: str, *, signed: str = "", boolean: str = "") -> Emit:
    """One instruction, by the kind of number."""

    def emit(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
        kind = dtype.kind
        word = real if kind == "f" else boolean if kind == "b" else signed if kind == "i" and signed else whole
        return e.op(word, args[0], args[1])

    return emit


def intrinsic(name: str, *, whole: Emit | None = None) -> Emit:
    """An operation LLVM knows by name, for floats; integers have a way of their own."""

    def emit(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
        if dtype.kind != "f" and whole:
            return whole(e, args, dtype)
        return e.intrinsic(name, *args)

    return emit


def identity(e: Emitter, args: list[Value], dtype: np.dtype, **params: object) -> Value:
    """The argument itself."""
    return args[0]


def compare(e: Emitter, relation: str, x: Value, y: Operand, dtype: np.dtype) -> Value:
    """A comparison: eq, ne, lt, le, gt, ge; false with nan, but for ne."""
    if dtype.kind == "f":
        return e.compare(UNORDERED[relation], x, y)
    sign = "" if relation in ("eq", "ne") else "s" if dtype.kind == "i" else "u"
    return e.compare(sign + relation, x, y)


def comparison(relation: str) -> Emit:
    """A comparison as an operation."""
    return lambda e, args, dtype: compare(e, relation, args[0], args[1], dtype)


def is_nan(e: Emitter, x: Value, dtype: np.dtype) -> Value:
    """Whether a float is nan."""
    return e.compare("uno", x, literal(0, dtype))


def negate(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """-x."""
    return e.negative(args[0]) if dtype.kind == "f" else e.op("sub", 0, args[0])


def absolute(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """|x|; the lowest integer stays as it is."""
    if dtype.kind == "f":
        return e.intrinsic("fabs", args[0])
    if dtype.kind in "ub":
        return args[0]
    below = compare(e, "lt", args[0], 0, dtype)
    return e.select(below, negate(e, args, dtype), args[0])


def square(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """The product of x and x."""
    return MULTIPLY(e, [args[0], args[0]], dtype)


def reciprocal(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """1 / x; integers go through doubles, as in NumPy."""
    if dtype.kind == "f":
        return DIVIDE(e, [literal(1, dtype), args[0]], dtype)
    double = np.dtype(np.float64)
    found = DIVIDE(e, [literal(1, double), cast(e, args[0], dtype, double)], double)
    return cast(e, found, double, dtype)


def extreme(relation: str, *, over_nan: bool = False) -> Emit:
    """`maximum` and `minimum`: nan wins; of two zeros the second is taken, as the processor does.

    With `over_nan` it is `fmax` and `fmin`: a number wins over nan.
    """

    def emit(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
        x, y = args
        if dtype.kind == "b":
            return e.op("or" if relation == "gt" else "and", x, y)
        chosen = e.select(compare(e, relation, x, y, dtype), x, y)
        if dtype.kind != "f":
            return chosen
        return e.select(is_nan(e, y if over_nan else x, dtype), x, chosen)

    return emit


def clip(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """`np.clip(x, low, high)`: the upper bound has the last word; nan anywhere gives nan.

    Where x is one of two zeros and a bound the other, NumPy keeps x if the bounds are numbers and takes the bound if
    they are arrays.
    """
    x, low, high = args
    if dtype.kind == "f" and isinstance(low, Constant) and isinstance(high, Constant):
        return _bounded(e, "gt", _bounded(e, "lt", x, low, dtype), high, dtype)
    return MINIMUM(e, [MAXIMUM(e, [x, low], dtype), high], dtype)


def _bounded(e: Emitter, relation: str, x: Value, bound: Value, dtype: np.dtype) -> Value:
    """The bound where x is beyond it or the bound is nan, and x is not."""
    beyond = e.compare(f"u{relation}", x, bound)  # u: true for nan on either side
    return e.select(is_nan(e, x, dtype), x, e.select(beyond, bound, x))


def where(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """`np.where(condition, x, y)`, the condition being one bit."""
    condition, yes, no = args
    return e.select(condition, yes, no)


def sign(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """-1, 0 or 1; nan for nan, and 0 without a sign for both zeros."""
    zero, one = literal(0, dtype), literal(1, dtype)
    above = compare(e, "gt", args[0], zero, dtype)
    if dtype.kind == "u":
        return e.select(above, one, zero)
    rest = zero
    if dtype.kind == "f":
        rest = e.select(is_nan(e, args[0], dtype), args[0], zero)
    below = compare(e, "lt", args[0], zero, dtype)
    return e.select(above, one, e.select(below, literal(-1, dtype), rest))


def heaviside(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """0, h or 1 where x is negative, 0 or positive; nan for nan."""
    x, h = args
    zero = literal(0, dtype)
    positive = e.select(is_nan(e, x, dtype), x, literal(1, dtype))
    not_below = e.select(compare(e, "eq", x, zero, dtype), h, positive)
    return e.select(compare(e, "lt", x, zero, dtype), zero, not_below)


def isnan(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """Whether x is nan; no integer is."""
    return is_nan(e, args[0], dtype) if dtype.kind == "f" else FALSE


def isinf(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """Whether x is an infinity; no integer is."""
    if dtype.kind != "f":
        return FALSE
    return compare(e, "eq", e.intrinsic("fabs", args[0]), literal(np.inf, dtype), dtype)


def isfinite(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """Whether x is neither nan nor an infinity; every integer is."""
    if dtype.kind != "f":
        return TRUE
    return compare(e, "lt", e.intrinsic("fabs", args[0]), literal(np.inf, dtype), dtype)


def signbit(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """Whether the sign is set, of zeros and nan too."""
    return e.compare("slt", e.convert("bitcast", args[0], bits_kind(dtype)), 0)


def logical(word: str) -> Emit:
    """An operation on truth values."""

    def emit(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
        return e.op(word, truth(e, args[0], dtype), truth(e, args[1], dtype))

    return emit


def logical_not(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """Whether x is 0."""
    return e.op("xor", truth(e, args[0], dtype), TRUE)


def invert(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """Every bit turned over."""
    return e.op("xor", args[0], TRUE if dtype.kind == "b" else -1)


def left_shift(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """0 beyond the width, where the processor would begin again."""
    return _shift(e, "shl", args, 0, dtype)


def right_shift(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """0, or -1 for negative numbers, beyond the width."""
    if dtype.kind == "u":
        return _shift(e, "lshr", args, 0, dtype)
    return _shift(e, "ashr", args, e.op("ashr", args[0], 8 * dtype.itemsize - 1), dtype)


def _shift(e: Emitter, word: str, args: list[Value], beyond: Operand, dtype: np.dtype) -> Value:
    fits = e.compare("ult", args[1], 8 * dtype.itemsize)
    safe = e.select(fits, args[1], 0)
    return e.select(fits, e.op(word, args[0], safe), beyond)


def bitwise_count(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """The number of set bits of |x|, as uint8."""
    if dtype.kind == "b":
        return e.convert("zext", args[0], I8)
    return cast(e, e.intrinsic("ctpop", absolute(e, args, dtype)), dtype, np.dtype(np.uint8))


def fraction(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """`np.modf(x)[0]`: with the sign of x, 0 for infinities."""
    x = args[0]
    rest = e.op("fsub", x, e.intrinsic("trunc", x))
    rest = e.select(isinf(e, args, dtype), literal(0, dtype), rest)
    return e.intrinsic("copysign", rest, x)


def imag(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """0 for a real number."""
    return literal(0, dtype)


def astype(e: Emitter, args: list[Value], dtype: np.dtype, /, **params: Any) -> Value:
    """`x.astype(dtype)`; the parameter has the name that the loop's type has elsewhere."""
    return cast(e, args[0], dtype, np.dtype(params["dtype"]))


def llvm(name: str) -> Emit:
    """An operation LLVM knows by name; whole numbers stay as they are."""
    return intrinsic(name, whole=identity)


ADD = binary("fadd", "add", boolean="or")
SUBTRACT = binary("fsub", "sub")
MULTIPLY = binary("fmul", "mul", boolean="and")
DIVIDE = binary("fdiv", "")
MAXIMUM, MINIMUM = extreme("gt"), extreme("lt")
FMAX, FMIN = extreme("gt", over_nan=True), extreme("lt", over_nan=True)
AND, OR, XOR = [binary("", word, boolean=word) for word in ("and", "or", "xor")]
