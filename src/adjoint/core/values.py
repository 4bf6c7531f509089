"""Questions every trace asks of a value, whether it is a Python number, an ndarray or a `Traced`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .quick.number_kinds import NUMPYS
from .traced import ARRAY, FLOAT64, Traced
from .traced import concrete as concrete
from .traced import contents as contents
from .traced import is_python as is_python  # of the same kind, and needed there
from .types import Mask, Numeric

Value = Any
"""A Python or NumPy scalar, an ndarray, or a `Traced` of a trace further out."""


def shape_of(x: object) -> tuple[int, ...]:
    """The shape as NumPy would give it; () for numbers."""
    kind = type(x)
    if kind is Traced or kind is ARRAY:
        return x.shape  # type: ignore[no-any-return, attr-defined]
    if kind is float:
        return ()
    shape = getattr(x, "shape", None)
    return np.shape(x) if shape is None else shape  # type: ignore[call-overload, no-any-return]


def dtype_of(x: object) -> np.dtype:
    """The dtype NumPy would store the value with."""
    kind = type(x)
    if kind is ARRAY or kind is Traced:
        return x.dtype  # type: ignore[no-any-return, attr-defined]
    if kind is float:
        return FLOAT64
    dtype = getattr(x, "dtype", None)
    return np.asarray(x).dtype if dtype is None else dtype


def is_inexact(x: object) -> bool:
    """Whether the value is real or complex floating point, so that it can carry a derivative."""
    return type(x) is float or dtype_of(x).kind in "fc"


def decidable(x: object) -> Any:
    """The number or array under every trace (inside vmap: of the whole batch), to take a decision on.

    While a program is being captured this is still a handle, whose truth value and whose conversions to Python's
    numbers write a guard down: a decision taken on it holds only for as long as the value does.
    """
    while isinstance(x, Traced) and not x.traced_by.is_capture:
        x = x.value
    return x


def may_hold(condition: Mask) -> bool:
    """Whether any element is true. Where a program must not branch, in a loop, yes: the general form is right.

    A loop that can be run again may assume that none is; then it is told so at its end.
    """
    if type(condition) is bool or type(condition) is np.bool:
        return bool(condition)
    asked = decidable(condition)
    if cannot_branch(asked):
        return not asked.traced_by.assumes_none(asked)
    found = np.any(asked)
    return bool(found.traced_by.decided(found, likely=False) if isinstance(found, Traced) else found)


def cannot_branch(x: object) -> bool:
    """Whether a value belongs to a program that must not depend on decisions: the body of a loop."""
    x = decidable(x)
    return isinstance(x, Traced) and not x.traced_by.guards_allowed


def describe(x: object) -> str:
    """`float64[3,4]`, for messages."""
    if isinstance(x, (Traced, np.ndarray, np.generic)):
        return f"{dtype_of(x).name}[{','.join(map(str, shape_of(x)))}]"
    return f"{type(x).__name__} {x!r}" if isinstance(x, (bool, int, float, complex, str)) else type(x).__name__


FLOATS = frozenset((float, np.float64))
LARGE = 4096
"""From here on the memory of an array costs more than a few calls."""


def spreads(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether an array can be broadcast to a shape, of any number of axes: `np.broadcast_shapes` takes 32."""
    extra = len(wanted) - len(shape)
    return extra >= 0 and all([n in (1, m) for n, m in zip(shape, wanted[extra:], strict=True)])


def spread(x: Numeric, shape: tuple[int, ...]) -> Any:
    """`x` broadcast to `shape`; a large result takes no memory of its own, so it is not to be written to."""
    if isinstance(x, Traced):
        return x if x.shape == shape else np.broadcast_to(x, shape)
    if math.prod(shape) > LARGE:
        return np.broadcast_to(x, shape)
    out = np.empty(shape, FLOAT64 if type(x) is float else dtype_of(x))
    out[...] = x
    return out


def ieee(x: object) -> Any:
    """A Python float as NumPy's, whose division by zero is infinite instead of an exception."""
    return np.float64(x) if type(x) is float else x


def numpy_number(x: Any, inputs: Sequence[object]) -> Any:
    """A result of the inputs' kind: Python floats in, Python floats out; else a number is NumPy's."""
    if type(x) in FLOATS:
        for i in inputs:
            if type(i) is not float:
                return np.float64(x)
        return float(x)
    return x


def zeros_for(x: object) -> Any:
    """A zero of the value's shape and dtype: what a symbolic zero means when it has to be written down."""
    if type(x) is float:
        return 0.0
    shape = shape_of(x)
    return np.zeros(shape, dtype_of(x)) if shape else dtype_of(x).type(0)


def fit(cotangent: Any, value: Any) -> Any:
    """Give a cotangent its value's shape (summing what was broadcast) and dtype (real part, precision).

    The one place where broadcasting is undone; no rule does it.
    """
    kind = type(value)
    if kind is float and type(cotangent) in FLOATS:
        return float(cotangent)
    if kind is ARRAY and type(cotangent) is ARRAY and cotangent.dtype is value.dtype:
        found = cotangent if cotangent.shape == value.shape else sum_to(cotangent, value.shape)
        return found if type(found) is ARRAY else np.asarray(found)
    if kind is Traced and type(cotangent) is Traced and value.traced_by is cotangent.traced_by:
        have, want = cotangent.value, value.value  # as they are while a program is captured
        if type(have) is float and type(want) is float:
            return cotangent
        if type(have) is type(want) and type(want) in NUMPYS and have.shape == want.shape and have.dtype is want.dtype:
            return cotangent
    shape, dtype = shape_of(value), dtype_of(value)
    if shape_of(cotangent) != shape:
        cotangent = sum_to(cotangent, shape)
    if kind is ARRAY and type(cotangent) is ARRAY and cotangent.dtype is dtype:
        return cotangent
    if isinstance(cotangent, Traced):
        return cast(cotangent, dtype)
    if kind is float:
        return float(cotangent.real)
    if dtype_of(cotangent) != dtype:
        cotangent = cast(np.asarray(cotangent), dtype)
    if kind is ARRAY and type(cotangent) is not ARRAY:
        cotangent = np.asarray(cotangent, dtype)
    return cotangent


ONE = (1,)


def sum_to(x: Numeric, shape: tuple[int, ...]) -> Any:
    """Transpose of broadcasting from `shape` to the shape of `x`; `x` may also be smaller (a scalar for an array)."""
    have = x.shape if type(x) is ARRAY else shape_of(x)
    if have[1:] == shape:
        return np.add.reduce(x, 0)
    if shape[-1:] == ONE != have[-1:] and have[:-1] == shape[:-1] and have:
        return np.add.reduce(x, axis=-1, keepdims=True)
    extra = len(have) - len(shape)
    if extra > 0:
        x = np.add.reduce(x, axis=tuple(range(extra)))
        if have[extra:] == shape:
            return x
    have = have[extra:] if extra > 0 else (1,) * -extra + have
    stretched = [i - len(shape) for i, n in enumerate(shape) if n == 1 and have[i] != 1]
    if stretched:
        x = np.add.reduce(x, axis=tuple(stretched), keepdims=True)
    return x if shape_of(x) == shape else spread(x, shape)


def cast(x: Numeric, dtype: np.dtype) -> Any:
    """`x` as `dtype`, dropping an imaginary part that a real value cannot have."""
    have = dtype_of(x)
    if have == dtype:
        return x
    if have.kind == "c" and dtype.kind != "c":
        x = np.real(x)
    return x.astype(dtype) if hasattr(x, "astype") else dtype.type(x)


def is_captured(x: object) -> bool:
    """Whether a capturing trace is under this value."""
    while isinstance(x, Traced):
        if x.traced_by.is_capture:
            return True
        x = x.value
    return False


def unshared(outputs: list[Any], others: Sequence[object]) -> list[Any]:
    """Results that share memory with nothing else, so that the caller may write to them."""
    taken = {id(o) for o in others}
    for k, o in enumerate(outputs):
        if type(o) is not float and issubclass(type(o), np.ndarray):
            if o.base is not None or not o.flags.writeable or id(o) in taken:
                outputs[k] = o = o.copy() if type(o) is ARRAY else np.array(o)
            taken.add(id(o))
    return outputs
