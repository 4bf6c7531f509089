"""Machine code for one element of what the processor itself can do: arithmetic, comparison, choice, rounding, bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..emit import Emitter, literal, llvm_type
from .casting import cast, truth

Emit = Callable[..., str]
UNORDERED = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}


def binary(real: str, whole: str, *, signed: str = "", boolean: str = "") -> Emit:
    """One instruction, by the kind of number."""

    def emit(e: Emitter, args: list[str], dtype: np.dtype) -> str:
        kind = dtype.kind
        word = real if kind == "f" else boolean if kind == "b" else signed if kind == "i" and signed else whole
        return e.op(f"{word} {llvm_type(dtype)} {args[0]}, {args[1]}")

    return emit


def intrinsic(name: str, *, whole: Emit | None = None) -> Emit:
    """An operation LLVM knows by name, for floats; integers have a way of their own."""

    def emit(e: Emitter, args: list[str], dtype: np.dtype) -> str:
        if dtype.kind != "f" and whole:
            return whole(e, args, dtype)
        return call_intrinsic(e, name, args, dtype)

    return emit


def call_intrinsic(e: Emitter, name: str, args: list[str], dtype: np.dtype) -> str:
    """Call one of LLVM's own functions, all of whose arguments have one type."""
    kind = llvm_type(dtype)
    suffix = ("f" if dtype.kind == "f" else "i") + str(8 * dtype.itemsize)
    target = e.module.declare(f"llvm.{name}.{suffix}", f"{kind} {{}}({', '.join([kind] * len(args))})")
    return e.op(f"call {kind} {target}({', '.join([f'{kind} {a}' for a in args])})")


def identity(e: Emitter, args: list[str], dtype: np.dtype, **params: Any) -> str:
    """The argument itself."""
    return args[0]


def compare(e: Emitter, relation: str, x: str, y: str, dtype: np.dtype) -> str:
    """A comparison: eq, ne, lt, le, gt, ge; false with nan, but for ne."""
    kind = llvm_type(dtype)
    if dtype.kind == "f":
        return e.op(f"fcmp {UNORDERED[relation]} {kind} {x}, {y}")
    sign = "" if relation in ("eq", "ne") else "s" if dtype.kind == "i" else "u"
    return e.op(f"icmp {sign}{relation} {kind} {x}, {y}")


def comparison(relation: str) -> Emit:
    """A comparison as an operation."""
    return lambda e, args, dtype: compare(e, relation, args[0], args[1], dtype)


def select(e: Emitter, condition: str, yes: str, no: str, dtype: np.dtype) -> str:
    """One of two values."""
    kind = llvm_type(dtype)
    return e.op(f"select i1 {condition}, {kind} {yes}, {kind} {no}")


def is_nan(e: Emitter, x: str, dtype: np.dtype) -> str:
    """Whether a float is nan."""
    return e.op(f"fcmp uno {llvm_type(dtype)} {x}, {literal(0, dtype)}")


def magnitude(e: Emitter, x: str, dtype: np.dtype) -> str:
    """|x| of a float."""
    return call_intrinsic(e, "fabs", [x], dtype)


def negate(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """-x."""
    kind = llvm_type(dtype)
    return e.op(f"fneg {kind} {args[0]}" if dtype.kind == "f" else f"sub {kind} 0, {args[0]}")


def absolute(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """|x|; the lowest integer stays as it is."""
    if dtype.kind == "f":
        return magnitude(e, args[0], dtype)
    if dtype.kind in "ub":
        return args[0]
    below = compare(e, "lt", args[0], "0", dtype)
    return select(e, below, negate(e, args, dtype), args[0], dtype)


def square(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """The product of x and x."""
    return MULTIPLY(e, [args[0], args[0]], dtype)


def reciprocal(e: Emitter, args: list[str], dtype: np.dtype) -> str:
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

    def emit(e: Emitter, args: list[str], dtype: np.dtype) -> str:
        x, y = args
        chosen = select(e, compare(e, relation, x, y, dtype), x, y, dtype)
        if dtype.kind != "f":
            return chosen
        return select(e, is_nan(e, y if over_nan else x, dtype), x, chosen, dtype)

    return emit


def clip(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """`np.clip(x, low, high)`: the upper bound has the last word; nan anywhere gives nan.

    Where x is one of two zeros and a bound the other, NumPy keeps x if the bounds are numbers and takes the bound if
    they are arrays.
    """
    x, low, high = args
    if dtype.kind == "f" and not low.startswith("%") and not high.startswith("%"):
        return _bounded(e, "gt", _bounded(e, "lt", x, low, dtype), high, dtype)
    return MINIMUM(e, [MAXIMUM(e, [x, low], dtype), high], dtype)


def _bounded(e: Emitter, relation: str, x: str, bound: str, dtype: np.dtype) -> str:
    """The bound where x is beyond it or the bound is nan, and x is not."""
    beyond = e.op(f"fcmp u{relation} {llvm_type(dtype)} {x}, {bound}")  # u: true for nan on either side
    return select(e, is_nan(e, x, dtype), x, select(e, beyond, bound, x, dtype), dtype)


def where(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """`np.where(condition, x, y)`, the condition being one bit."""
    condition, yes, no = args
    return select(e, condition, yes, no, dtype)


def sign(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """-1, 0 or 1; nan for nan, and 0 without a sign for both zeros."""
    zero, one = literal(0, dtype), literal(1, dtype)
    above = compare(e, "gt", args[0], zero, dtype)
    if dtype.kind == "u":
        return select(e, above, one, zero, dtype)
    rest = zero
    if dtype.kind == "f":
        rest = select(e, is_nan(e, args[0], dtype), args[0], zero, dtype)
    below = compare(e, "lt", args[0], zero, dtype)
    return select(e, above, one, select(e, below, literal(-1, dtype), rest, dtype), dtype)


def heaviside(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """0, h or 1 where x is negative, 0 or positive; nan for nan."""
    x, h = args
    zero = literal(0, dtype)
    positive = select(e, is_nan(e, x, dtype), x, literal(1, dtype), dtype)
    not_below = select(e, compare(e, "eq", x, zero, dtype), h, positive, dtype)
    return select(e, compare(e, "lt", x, zero, dtype), zero, not_below, dtype)


def isnan(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """Whether x is nan; no integer is."""
    return is_nan(e, args[0], dtype) if dtype.kind == "f" else "false"


def isinf(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """Whether x is an infinity; no integer is."""
    if dtype.kind != "f":
        return "false"
    return compare(e, "eq", magnitude(e, args[0], dtype), literal(np.inf, dtype), dtype)


def isfinite(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """Whether x is neither nan nor an infinity; every integer is."""
    if dtype.kind != "f":
        return "true"
    return compare(e, "lt", magnitude(e, args[0], dtype), literal(np.inf, dtype), dtype)


def signbit(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """Whether the sign is set, of zeros and nan too."""
    bits = f"i{8 * dtype.itemsize}"
    return e.op(f"icmp slt {bits} {e.op(f'bitcast {llvm_type(dtype)} {args[0]} to {bits}')}, 0")


def logical(word: str) -> Emit:
    """An operation on truth values."""

    def emit(e: Emitter, args: list[str], dtype: np.dtype) -> str:
        return e.op(f"{word} i1 {truth(e, args[0], dtype)}, {truth(e, args[1], dtype)}")

    return emit


def logical_not(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """Whether x is 0."""
    return e.op(f"xor i1 {truth(e, args[0], dtype)}, true")


def invert(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """Every bit turned over."""
    return e.op(f"xor {llvm_type(dtype)} {args[0]}, {'true' if dtype.kind == 'b' else '-1'}")


def left_shift(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """0 beyond the width, where the processor would begin again."""
    return _shift(e, "shl", args, "0", dtype)


def right_shift(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """0, or -1 for negative numbers, beyond the width."""
    if dtype.kind == "u":
        return _shift(e, "lshr", args, "0", dtype)
    kind = llvm_type(dtype)
    return _shift(e, "ashr", args, e.op(f"ashr {kind} {args[0]}, {8 * dtype.itemsize - 1}"), dtype)


def _shift(e: Emitter, word: str, args: list[str], beyond: str, dtype: np.dtype) -> str:
    kind = llvm_type(dtype)
    fits = e.op(f"icmp ult {kind} {args[1]}, {8 * dtype.itemsize}")
    safe = select(e, fits, args[1], "0", dtype)
    return select(e, fits, e.op(f"{word} {kind} {args[0]}, {safe}"), beyond, dtype)


def bitwise_count(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """The number of set bits of |x|, as uint8."""
    if dtype.kind == "b":
        return e.op(f"zext i1 {args[0]} to i8")
    return cast(e, call_intrinsic(e, "ctpop", [absolute(e, args, dtype)], dtype), dtype, np.dtype(np.uint8))


def fraction(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """`np.modf(x)[0]`: with the sign of x, 0 for infinities."""
    x = args[0]
    rest = e.op(f"fsub {llvm_type(dtype)} {x}, {call_intrinsic(e, 'trunc', [x], dtype)}")
    rest = select(e, isinf(e, args, dtype), literal(0, dtype), rest, dtype)
    return call_intrinsic(e, "copysign", [rest, x], dtype)


def imag(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """0 for a real number."""
    return literal(0, dtype)


def astype(e: Emitter, args: list[str], dtype: np.dtype, /, **params: Any) -> str:
    """`x.astype(dtype)`; the parameter has the name that the loop's type has elsewhere."""
    return cast(e, args[0], dtype, np.dtype(params["dtype"]))


ADD = binary("fadd", "add", boolean="or")
SUBTRACT = binary("fsub", "sub")
MULTIPLY = binary("fmul", "mul", boolean="and")
DIVIDE = binary("fdiv", "")
MAXIMUM, MINIMUM = extreme("gt"), extreme("lt")
