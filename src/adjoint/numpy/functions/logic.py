"""Logic: truth values, kinds of numbers, comparisons. The answers carry no derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.traced import Traced
from ...core.values import dtype_of, shape_of
from ...ops import reduction
from ..dispatch.arguments import NO_VALUE, as_value, given, is_true, ndim_of, reduced_axes
from ..dispatch.assignment import deliver
from ..dispatch.registry import implements


def _constant(primitive: Any) -> Any:
    def reduce(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, **rest: Any) -> Any:
        a = as_value(a)
        if given(rest.get("where")):
            a = np.where(rest["where"], a, primitive.facts.reduces.combines.identity)
        return deliver(primitive(a, axis=reduced_axes(axis, ndim_of(a)), keepdims=is_true(keepdims)), out)

    return reduce


implements(np.all, exact=True, by_column=True)(_constant(reduction.all))


implements(np.any, exact=True, by_column=True)(_constant(reduction.any))


@implements(np.isrealobj, formal=True)
def isrealobj(x: Any) -> bool:
    """`np.isrealobj`."""
    return dtype_of(x).kind != "c"


@implements(np.iscomplexobj, formal=True)
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
