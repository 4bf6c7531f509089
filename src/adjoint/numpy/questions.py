"""NumPy's questions about arrays: shapes, dtypes, equality, text. The answers carry no derivative."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from ..core.errors import DerivativeDroppedError, message
from ..core.traced import Traced
from ..core.values import describe, dtype_of, plain, shape_of
from .agreement import WRITERS
from .registry import FUNCTIONS, as_value, axes_of, deliver, implements, ndim_of


@implements(np.shape)
def shape(a: Any) -> tuple[int, ...]:
    """`np.shape`."""
    return shape_of(as_value(a))


@implements(np.ndim)
def ndim(a: Any) -> int:
    """`np.ndim`."""
    return ndim_of(as_value(a))


@implements(np.size)
def size(a: Any, axis: Any = None) -> int:
    """`np.size`."""
    lengths = shape_of(as_value(a))
    return math.prod([lengths[i] for i in axes_of(axis, len(lengths))])


def _by_dtype(function: Any) -> Any:
    """A function that looks at dtypes only."""

    def ask(*args: Any, **kwargs: Any) -> Any:
        return function(*[dtype_of(a) if isinstance(a, Traced) else a for a in args], **kwargs)

    return ask


_function: Any
for _function in (np.result_type, np.can_cast):
    FUNCTIONS[_function] = _by_dtype(_function)


def _by_example(function: Any) -> Any:
    """A function that looks at shapes and dtypes, not at values."""

    def ask(*args: Any, **kwargs: Any) -> Any:
        return function(*[np.empty(shape_of(a), dtype_of(a)) if isinstance(a, Traced) else a for a in args], **kwargs)

    return ask


for _function in (np.common_type, np.einsum_path):
    FUNCTIONS[_function] = _by_example(_function)


def _by_value(function: Any) -> Any:
    """A function for printing, or about memory: it sees the plain array."""

    def ask(*args: Any, **kwargs: Any) -> Any:
        return function(*[np.asarray(plain(a)) if isinstance(a, Traced) else a for a in args], **kwargs)

    return ask


for _function in (
    np.array2string,
    np.array_repr,
    np.array_str,
    np.may_share_memory,
    np.shares_memory,
    np.min_scalar_type,
):
    FUNCTIONS[_function] = _by_value(_function)


@implements(np.isrealobj)
def isrealobj(x: Any) -> bool:
    """`np.isrealobj`."""
    return dtype_of(x).kind != "c"


@implements(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    """`np.iscomplexobj`."""
    return dtype_of(x).kind == "c"


@implements(np.isreal)
def isreal(x: Any) -> Any:
    """`np.isreal`."""
    return np.equal(np.imag(as_value(x)), 0)


@implements(np.iscomplex)
def iscomplex(x: Any) -> Any:
    """`np.iscomplex`."""
    return np.not_equal(np.imag(as_value(x)), 0)


def _infinite(sign: int) -> Any:
    def ask(x: Any, out: Any = None) -> Any:
        x = as_value(x)
        if dtype_of(x).kind == "c":
            raise TypeError(f"This operation is not supported for {dtype_of(x)} values because it would be ambiguous.")
        return deliver(np.equal(x, sign * np.inf), out)

    return ask


implements(np.isposinf)(_infinite(1))
implements(np.isneginf)(_infinite(-1))


@implements(np.isclose)
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """`np.isclose`."""
    a, b = as_value(a), as_value(b)
    near = np.less_equal(np.abs(a - _number(b)), atol + rtol * np.abs(b)) & np.isfinite(b)
    near = near | np.equal(a, b)
    return near | (np.isnan(a) & np.isnan(b)) if equal_nan else near


def _number(b: Any) -> Any:
    """Truth values as numbers, which can be subtracted."""
    return b if dtype_of(b).kind != "b" else np.astype(np.asarray(b) if not isinstance(b, Traced) else b, float)


@implements(np.allclose)
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """`np.allclose`: a truth value, or one for each example of a batch."""
    return _truth(np.all(isclose(a, b, rtol, atol, equal_nan)))


@implements(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """`np.array_equal`."""
    a1, a2 = as_value(a1), as_value(a2)
    if shape_of(a1) != shape_of(a2):
        return False
    same = np.equal(a1, a2)
    return _truth(np.all(same | (np.isnan(a1) & np.isnan(a2)) if equal_nan else same))


@implements(np.array_equiv)
def array_equiv(a1: Any, a2: Any) -> Any:
    """`np.array_equiv`."""
    a1, a2 = as_value(a1), as_value(a2)
    try:
        np.broadcast_shapes(shape_of(a1), shape_of(a2))
    except ValueError:
        return False
    return _truth(np.all(np.equal(a1, a2)))


def _truth(found: Any) -> Any:
    return found if isinstance(found, Traced) else bool(found)


def _refusing(function: Any) -> Any:
    """A function that writes plain numbers to a file."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        met = next((a for a in [*args, *kwargs.values()] if isinstance(a, Traced)), None)
        raise DerivativeDroppedError(
            message(
                f"np.{function.__name__} writes plain numbers, so a traced value would lose its derivative there.",
                got="" if met is None else describe(met),
                fix="Write the value:  ad.value(x).",
            )
        )

    return refuse


for _function in WRITERS:
    FUNCTIONS[_function] = _refusing(_function)
