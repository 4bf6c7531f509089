"""Universal functions with keywords, and their methods: reduce, accumulate, outer, at, reduceat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import UnsupportedError, message
from ..core.primitive import Primitive
from ..core.values import shape_of
from .registry import as_value, axis_of, deliver, given, ndim_of

REDUCTIONS: dict[Any, Callable[..., Any]] = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.logical_and: np.all,
    np.logical_or: np.any,
}
ACCUMULATIONS: dict[Any, Callable[..., Any]] = {np.add: np.cumsum, np.multiply: np.cumprod}
IGNORED = frozenset(("casting", "order", "subok", "signature"))
"""Keywords that do not change the numbers."""


def call_with_keywords(primitive: Primitive, ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`np.add(x, y, out=z, where=mask, dtype=...)`."""
    _refuse(ufunc, kwargs, {"out", "where", "dtype", "axes", "axis", "keepdims"})
    values = [as_value(x) for x in inputs]
    if given(kwargs.get("dtype")):
        values = [np.astype(v, kwargs["dtype"]) for v in values]
    result = primitive(*values)
    out, where = kwargs.get("out"), kwargs.get("where", True)
    if primitive.multiple:
        outs = out or (None,) * len(result)
        return tuple([_masked(r, o, where) for r, o in zip(result, outs, strict=True)])
    return _masked(result, out[0] if out else None, where)


def _masked(result: Any, out: Any, where: Any) -> Any:
    if where is not True:
        result = np.where(where, result, 0.0 if out is None else out)
    return deliver(result, out)


def reduce(primitive: Primitive, ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`np.add.reduce(x, axis)`: the named reduction, or one step after the other."""
    kwargs = _named(kwargs, inputs[1:], ("axis", "dtype", "out", "keepdims", "initial", "where"))
    kwargs["axis"] = kwargs.get("axis", 0)
    if ufunc in REDUCTIONS:
        return REDUCTIONS[ufunc](inputs[0], **kwargs)
    _refuse(ufunc, kwargs, {"axis", "out", "keepdims"})
    x = as_value(inputs[0])
    if kwargs["axis"] is None or isinstance(kwargs["axis"], tuple):
        axes = range(ndim_of(x)) if kwargs["axis"] is None else sorted(a % ndim_of(x) for a in kwargs["axis"])
        for a in reversed(axes):
            x = reduce(primitive, ufunc, (x,), {"axis": a, "keepdims": kwargs.get("keepdims", False)})
        return deliver(x, kwargs.get("out"))
    axis = axis_of(kwargs["axis"], ndim_of(x))
    steps = np.moveaxis(x, axis, 0)
    total = steps[0]
    for i in range(1, shape_of(steps)[0]):
        total = primitive(total, steps[i])
    return deliver(np.expand_dims(total, axis) if kwargs.get("keepdims") else total, kwargs.get("out"))


def accumulate(primitive: Primitive, ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`np.add.accumulate(x, axis)`."""
    kwargs = _named(kwargs, inputs[1:], ("axis", "dtype", "out"))
    axis, out = kwargs.get("axis", 0), kwargs.get("out")
    x = as_value(inputs[0])
    if given(kwargs.get("dtype")):
        x = np.astype(x, kwargs["dtype"])
    if ufunc in ACCUMULATIONS:
        return deliver(ACCUMULATIONS[ufunc](x, axis), out)
    steps = np.moveaxis(x, axis, 0)
    totals = [steps[0]]
    for i in range(1, shape_of(steps)[0]):
        totals.append(primitive(totals[-1], steps[i]))
    return deliver(np.moveaxis(np.stack(totals), 0, axis), out)


def outer(primitive: Primitive, ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`np.multiply.outer(x, y)`: every element with every other."""
    x, y = (as_value(v) for v in inputs)
    wide = np.reshape(x, shape_of(x) + (1,) * ndim_of(y))
    return call_with_keywords(primitive, ufunc, (wide, y), kwargs)


def at(primitive: Primitive, ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """`np.add.at(y, i, v)`: update in place, repeated indices one after the other."""
    from .assignment import store, update_at

    target, key, *rest = inputs
    store(target, update_at(primitive, ufunc, target, key, *[as_value(r) for r in rest]))


def reduceat(primitive: Primitive, ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`np.add.reduceat(x, starts, axis)`: reduce slices."""
    kwargs = _named(kwargs, inputs[2:], ("axis", "dtype", "out"))
    x, starts = as_value(inputs[0]), [int(i) for i in inputs[1]]
    steps = np.moveaxis(x, kwargs.get("axis", 0), 0)
    stops = [*starts[1:], shape_of(steps)[0]]
    parts = [
        reduce(primitive, ufunc, (steps[a:b],), {"axis": 0}) if a < b else steps[a]
        for a, b in zip(starts, stops, strict=True)
    ]
    return deliver(np.moveaxis(np.stack(parts), 0, kwargs.get("axis", 0)), kwargs.get("out"))


METHODS: dict[str, Callable[..., Any]] = {
    "reduce": reduce,
    "accumulate": accumulate,
    "outer": outer,
    "at": at,
    "reduceat": reduceat,
}


def _named(kwargs: dict[str, Any], positional: tuple[Any, ...], names: tuple[str, ...]) -> dict[str, Any]:
    return {**dict(zip(names, positional, strict=False)), **kwargs}


def _refuse(ufunc: Any, kwargs: dict[str, Any], known: set[str]) -> None:
    for name, value in kwargs.items():
        if name not in known and name not in IGNORED and given(value):
            raise UnsupportedError(
                message(
                    f"np.{ufunc.__name__} is not differentiated with the keyword {name}=.",
                    fix="Leave the keyword out, or write the operation without it.",
                )
            )
