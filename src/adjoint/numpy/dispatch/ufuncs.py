"""Universal functions with keywords, and their methods: reduce, accumulate, outer, at, reduceat."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message
from ...core.primitive import Primitive
from ...core.values import dtype_of, shape_of
from ...ops.declare import CONSTANT
from ...rules.stacking import one_by_one
from ..functions.linalg.products import with_axes
from .arguments import as_value, given
from .assignment import deliver

IGNORED = frozenset(("casting", "order", "subok"))
"""Keywords that do not change the numbers."""


def call_with_keywords(primitive: Primitive, ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`np.add(x, y, out=z, where=mask, dtype=...)`."""
    known = {"axes", "axis", "keepdims"} if ufunc.signature is not None else {"where"}
    _refuse(ufunc, kwargs, {"out", "dtype", *known})
    values = [as_value(x) for x in inputs]
    if given(kwargs.get("dtype")):
        values = [cast_to(v, kind) for v, kind in zip(values, _loop(ufunc, values, kwargs), strict=True)]
    if ufunc.signature is not None and any(given(kwargs.get(k)) for k in ("axes", "axis", "keepdims")):
        return deliver(with_axes(primitive, ufunc.signature, tuple(values), kwargs), kwargs.get("out"))
    out, where = kwargs.get("out"), kwargs.get("where", True)
    if where is True:
        result = primitive(*values)
    else:
        with np.errstate(all="ignore"):  # NumPy does not look at what is left out, so it does not warn of it
            result = primitive(*values)
    if primitive.multiple:
        outs = out or (None,) * len(result)
        return tuple([_masked(r, o, where) for r, o in zip(result, outs, strict=True)])
    return _masked(result, out[0] if out else None, where)


def _loop(ufunc: Any, values: list[Any], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The dtypes of the arguments of the loop that has results of the dtype that is asked for."""
    kinds = [type(v) if type(v) in (int, float, complex) else dtype_of(v) for v in values]
    signature = (None,) * ufunc.nin + (np.dtype(kwargs["dtype"]),) * ufunc.nout
    casting = kwargs.get("casting", "same_kind")
    return ufunc.resolve_dtypes((*kinds, *(None,) * ufunc.nout), signature=signature, casting=casting)[: ufunc.nin]


def constantly(function: Any, name: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a function without a derivative as one step: NumPy's own, whatever its keywords mean."""
    step = Primitive(
        name, lambda *values: function(*values, **kwargs), derivative=CONSTANT, stacking=one_by_one, fails_from=0
    )
    lists = [np.asarray(x, None if len(x) else int) if isinstance(x, (list, tuple)) else x for x in inputs]
    return step(*lists)


def cast_to(x: Any, dtype: Any) -> Any:
    """`x` as `dtype`; Python numbers become NumPy's."""
    return np.astype(x, dtype) if hasattr(x, "astype") else np.dtype(dtype).type(x)


def _masked(result: Any, out: Any, where: Any) -> Any:
    if where is not True:
        result = np.where(where, result, 0.0 if out is None else out)
    return deliver(result, out)


def _refuse(ufunc: Any, kwargs: dict[str, Any], known: set[str]) -> None:
    for name, value in kwargs.items():
        if name not in known and name not in IGNORED and given(value):
            raise UnsupportedError(
                message(
                    f"np.{ufunc.__name__} is not differentiated with the keyword {name}=.",
                    fix="Leave the keyword out, or write the operation without it.",
                )
            )


def by_python(ufunc: Any, inputs: tuple[Any, ...]) -> Any:
    """A function of `np.frompyfunc`: of arrays of objects, which are the traced numbers themselves."""
    arrays = np.broadcast_arrays(*[as_value(x) for x in inputs])
    shape = shape_of(arrays[0])
    given = []
    for a in arrays:
        objects = np.empty(math.prod(shape), object)
        for k, x in enumerate(np.reshape(a, (-1,))):
            objects[k] = x
        given.append(objects)
    found = ufunc(*given)
    results = [np.reshape(np.stack(list(part)), shape) for part in (found if ufunc.nout > 1 else [found])]
    return tuple(results) if ufunc.nout > 1 else results[0]
