"""Lists of traced numbers as arguments of universal functions: `np.sin([x, y])`, `np.add.reduce([x, y])`.

They have no dispatcher that could look into lists, so while a function is traced, calls of them go through
versions that do; for traced arrays these are the shorter way too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.reverse import ReverseTrace
from ...core.trace import NO_PARAMS
from ...core.traced import Traced
from ...core.values import is_captured, is_python
from ...host.frames.callsite import passes_on
from ...ops.declare import UFUNCS
from ...ops.shape import astype
from ..numbers.python_numbers import made_by_numpy, marked_as_numpys
from ..patching.constructors import array
from .arguments import number
from .dispatchers import is_list_of_traced
from .protocols import array_ufunc, recorded

PLAIN = frozenset((np.ndarray, float, int, bool, np.float64))
"""Arguments that are neither lists nor traced."""


def aware(ufunc: Any) -> Callable[..., Any]:
    """A universal function that knows traced values in lists; to be called, not to be looked at."""
    if isinstance(ufunc, type):
        return converting(ufunc)
    call = _unary(ufunc) if ufunc.nin == 1 else _binary(ufunc) if ufunc.nin == 2 else _looking(ufunc)
    parts = {name: getattr(ufunc, name) for name in dir(ufunc) if not name.startswith("_")}
    found = {name: _looking(x) if callable(x) else x for name, x in parts.items()}
    return _with_attributes(call, {**found, "at": _updating(ufunc.at)})


def converting(kind: Any) -> Callable[..., Any]:
    """`np.float64(x)` and the like: a traced value in that precision, anything else as NumPy has it."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if (
            len(args) == 1
            and isinstance(args[0], Traced)
            and not kwargs
            and np.can_cast(args[0].dtype, kind, "same_kind")
        ):
            return _of_numpys(number(args[0].astype(kind)))
        return kind(*args, **kwargs)

    passes_on(call.__code__)
    return _with_attributes(call, {name: getattr(kind, name) for name in dir(kind) if not name.startswith("_")})


def _of_numpys(x: Any) -> Any:
    """A number as one of NumPy's, which its classes make of Python's."""
    return astype(x, dtype=x.dtype) if is_captured(x) and is_python(x) else marked_as_numpys(x)


def _with_attributes(call: Callable[..., Any], found: dict[str, Any]) -> Callable[..., Any]:
    """Whoever calls it may also call what belongs to it: `np.add.reduce(x)`, `np.float64.fromhex(text)`."""
    for name, value in found.items():
        setattr(call, name, value)
    return call


def _unary(ufunc: Any) -> Callable[..., Any]:
    primitive: Any = UFUNCS.get(ufunc)
    is_smooth = primitive is not None and primitive.is_smooth

    def call(x: Any, /, *args: Any, **kwargs: Any) -> Any:
        kind = type(x)
        if not args and not kwargs:
            if kind is Traced:  # as NumPy would, after a longer look
                trace = x.traced_by
                if is_smooth and type(trace) is ReverseTrace:
                    return recorded(trace, primitive, x)
                if is_smooth and trace.level and not trace.is_capture:
                    return made_by_numpy(trace.unary(primitive, x))
                return array_ufunc(x, ufunc, "__call__", x)
            if kind in PLAIN:
                return ufunc(x)
        if kind not in PLAIN and is_list_of_traced(x):
            x = array(x)
        return ufunc(x, *args, **kwargs)

    passes_on(call.__code__)
    return call


def _binary(ufunc: Any) -> Callable[..., Any]:
    primitive: Any = UFUNCS.get(ufunc)
    is_smooth = primitive is not None and primitive.is_smooth

    def call(x: Any, y: Any, /, *args: Any, **kwargs: Any) -> Any:
        one, other = type(x), type(y)
        if not args and not kwargs:
            if one in PLAIN and other in PLAIN:
                return ufunc(x, y)
            if one is Traced and (other is Traced or other in PLAIN):
                trace = x.traced_by
                if is_smooth and type(trace) is ReverseTrace and (other is not Traced or y.traced_by is trace):
                    return made_by_numpy(trace.process(primitive, (x, y), NO_PARAMS))
                return array_ufunc(x, ufunc, "__call__", x, y)
            if other is Traced and one in PLAIN:
                trace = y.traced_by
                if is_smooth and type(trace) is ReverseTrace:
                    return made_by_numpy(trace.process(primitive, (x, y), NO_PARAMS))
                return array_ufunc(y, ufunc, "__call__", x, y)
        if one not in PLAIN or other not in PLAIN:
            x, y = joined_inputs((x, y))
        return ufunc(x, y, *args, **kwargs)

    passes_on(call.__code__)
    return call


def _looking(function: Any) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*joined_inputs(args), **kwargs)

    passes_on(call.__code__)
    return call


def _updating(function: Any) -> Callable[..., Any]:
    def call(target: Any, key: Any, /, *operand: Any) -> Any:
        """A tuple is a key with one part for each axis, and no array."""
        key = key if isinstance(key, tuple) else joined_inputs((key,))[0]
        return function(target, key, *joined_inputs(operand))

    passes_on(call.__code__)
    return call


def joined_inputs(args: tuple[Any, ...]) -> list[Any]:
    """Arguments that are all arrays, with arrays instead of lists of traced numbers."""
    return [array(a) if is_list_of_traced(a) else a for a in args]
