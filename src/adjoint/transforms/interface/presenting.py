"""Results as the user should see them: the kind of number that was given, without handles, in memory of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.trace import Trace
from ...core.traced import ARRAY, FLOAT64, Traced, snapshot
from ...core.tree import flatten
from ...core.values import Value, concrete, dtype_of, is_captured, is_python


def presented(g: Value, given: Any) -> Any:
    """A gradient as the user should see it: the kind of number that was given, conjugated back."""
    kind = type(given)
    if kind is ARRAY and type(g) is ARRAY and g.dtype is FLOAT64:
        return g
    if kind is Traced and is_captured(given):
        kind = type(concrete(given))
        if isinstance(g, Traced):
            return of_kind(np.conjugate(g) if g.dtype.kind == "c" else g, given)
    if kind is float:
        return g if type(g) is float or isinstance(g, Traced) else float(g)
    if isinstance(g, Traced):
        return np.conjugate(g) if g.dtype.kind == "c" else g
    if kind is complex:
        return complex(g).conjugate()
    if kind is ARRAY:
        g = np.asarray(g)
        return np.conjugate(g) if g.dtype.kind == "c" else g
    g = dtype_of(given).type(g)
    return np.conjugate(g) if g.dtype.kind == "c" else g


def of_kind(x: Traced, given: Any) -> Any:
    """While a program is captured: a Python number if a Python number was given, NumPy's number if that was."""
    mine, its = concrete(x), concrete(given)
    if np.ndim(mine) or isinstance(its, np.ndarray) or not is_captured(x):
        return x
    if isinstance(its, np.generic):
        return x[()] if isinstance(mine, np.ndarray) else x  # type: ignore[index]
    from ...ops.shape import item  # there is a capture, so the catalogue is there

    return item(x) if isinstance(mine, (np.ndarray, np.generic)) else x


def finished(x: Any, trace: Trace) -> Any:
    """A result as the caller should see it: without this trace's handle."""
    if isinstance(x, Traced):
        value = released(x, trace)
        return np.float64(value) if type(value) is float and not is_python(x) else value
    return x


def without_handles(tree: Any, trace: Trace) -> Any:
    """Containers of results without this trace's handles."""
    leaves, unflatten = flatten(tree)
    return unflatten([finished(leaf, trace) for leaf in leaves])


def released(x: Any, trace: Trace) -> Any:
    """A result without this trace's handle; a number may be Python's, although it stands for one of NumPy's."""
    return snapshot(x.value if x.traced_by is trace else x) if isinstance(x, Traced) else x


def copied(x: Value) -> Value:
    """An array of its own: somebody else may write to this one."""
    return x.copy() if type(x) is ARRAY else x
