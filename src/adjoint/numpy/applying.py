"""NumPy's functions that call a function of the user's on parts of an array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.errors import UnsupportedError, message
from ..core.values import dtype_of, shape_of
from .registry import as_value, axis_of, implements, ndim_of
from .replacements import teach


@implements(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.apply_along_axis`: the function is called once for every line."""
    arr = as_value(arr)
    n = ndim_of(arr)
    axis = axis_of(axis, n) + n
    lines = np.moveaxis(arr, axis, -1)
    around = shape_of(lines)[:-1]
    if 0 in around:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    found = [as_value(func1d(lines[(*place, slice(None))], *args, **kwargs)) for place in np.ndindex(around)]
    inner = shape_of(found[0])
    whole = np.reshape(np.stack(found), around + inner)
    return np.moveaxis(whole, list(range(n - 1, n - 1 + len(inner))), list(range(axis, axis + len(inner))))


@implements(np.apply_over_axes)
def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """`np.apply_over_axes`."""
    value = as_value(a)
    n = ndim_of(value)
    for axis in np.atleast_1d(axes):
        axis = int(axis) + n if axis < 0 else int(axis)
        found = func(value, axis)
        if ndim_of(found) != n:
            found = np.expand_dims(found, axis)
            if ndim_of(found) != n:
                raise ValueError("function is not returning an array of the correct shape")
        value = found
    return value


def vectorized(self: Any, func: Callable[..., Any], args: Sequence[Any]) -> Any:
    """What `np.vectorize` gives: of the dtype of the first result, unless `otypes` says otherwise."""
    if self.signature is not None:
        raise UnsupportedError(
            message(
                "np.vectorize with a signature cannot take traced values.",
                got=f"the signature {self.signature!r}",
                fix="Use  ad.vmap,  or a loop and  np.stack.",
            )
        )
    arrays = np.broadcast_arrays(*[np.asarray(a) for a in args])
    shape = shape_of(arrays[0])
    rows = zip(*[np.reshape(a, (-1,)) for a in arrays], strict=True)
    results = [func(*row) for row in rows]
    if not results:
        if not self.otypes:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        results = [(0.0,) * len(self.otypes) if len(self.otypes) > 1 else 0.0]
        made = _columns(results, self.otypes)
        empty = tuple([np.reshape(column[:0], shape) for column in made])
        return empty if len(empty) > 1 else empty[0]
    found = tuple([np.reshape(column, shape) for column in _columns(results, self.otypes)])
    return found if isinstance(results[0], tuple) else found[0]


def _columns(results: list[Any], otypes: str | None) -> list[Any]:
    """The results one below the other, for functions with several of them each."""
    rows = [r if isinstance(r, tuple) else (r,) for r in results]
    columns = [np.stack([np.asarray(x) for x in column]) for column in zip(*rows, strict=True)]
    kinds = list(otypes) if otypes else [dtype_of(x) for x in rows[0]]
    return [np.astype(c, np.dtype(k)) if np.dtype(k) != dtype_of(c) else c for c, k in zip(columns, kinds, strict=True)]


def learn() -> None:
    """Let NumPy's class take traced values."""
    teach(np.vectorize._vectorize_call, vectorized, "")  # type: ignore[attr-defined]
