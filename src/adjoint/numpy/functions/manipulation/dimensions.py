"""Array manipulation: changing the number of dimensions. Views, as NumPy's are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.traced import Traced, is_array
from ....core.values import shape_of, spreads
from ....ops import shape as ops
from ...dispatch.arguments import as_value, axes_of, lengths_of, ndim_of, reduced_axes
from ...dispatch.registry import implements
from ...dispatch.views import arrayed, read_only, view_of


def _at_least(*shapes: Any) -> Any:
    """A function that gives arrays axes of length 1, by the number they have."""

    def widen(*arys: Any) -> Any:
        found = [_widened(as_value(a), shapes) for a in arys]
        return found[0] if len(found) == 1 else tuple(found)

    return widen


def _widened(a: Any, shapes: Any) -> Any:
    n = ndim_of(a)
    return np.reshape(a, shapes[n](*shape_of(a))) if n < len(shapes) else a


implements(np.atleast_1d, exact=True)(_at_least(lambda: (1,)))


implements(np.atleast_2d, exact=True)(_at_least(lambda: (1, 1), lambda n: (1, n)))


implements(np.atleast_3d, exact=True)(_at_least(lambda: (1, 1, 1), lambda n: (1, n, 1), lambda m, n: (m, n, 1)))


@implements(np.broadcast_to, exact=True)
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    """`np.broadcast_to`: nobody may write to the result, as one element stands in many places."""
    shape = lengths_of(shape)
    array = as_value(array)
    if shape == shape_of(array) and (shape or not isinstance(array, Traced) or is_array(array)):
        return array
    if not spreads(shape_of(array), shape):
        np.broadcast_to(np.broadcast_to(0.0, shape_of(array)), shape)  # raises
    return view_of(array, lambda base: ops.broadcast_to(base, shape=shape), read_only)


@implements(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    """`np.broadcast_arrays`."""
    values = [as_value(a) for a in args]
    shape = np.broadcast_shapes(*[shape_of(v) for v in values])
    return tuple([np.broadcast_to(v, shape) for v in values])


@implements(np.expand_dims, exact=True)
def expand_dims(a: Any, axis: Any) -> Any:
    """`np.expand_dims`."""
    a = arrayed(a)
    many = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    n = ndim_of(a) + len(many)
    new = axes_of(many, n)
    rest = iter(shape_of(a))
    return np.reshape(a, tuple([1 if i - n in new else next(rest) for i in range(n)]))


@implements(np.squeeze, exact=True)
def squeeze(a: Any, axis: Any = None) -> Any:
    """`np.squeeze`."""
    shape = shape_of(a)
    n = len(shape)
    drop = [i - n for i in range(n) if shape[i] == 1] if axis is None else reduced_axes(axis, n)
    if any(shape[i] != 1 for i in drop):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return np.reshape(a, tuple([m for i, m in enumerate(shape) if i - n not in drop]))
