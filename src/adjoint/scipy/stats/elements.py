"""Functions of each element that choose by conditions: SciPy takes the chosen elements out, here all stay in place.

SciPy's code extracts the elements for which a formula holds, evaluates it, and puts the results back, one after the
other. The number of elements would then depend on values. So the arrays that are extracted keep their shape: an element
for which the formula does not hold is replaced by one for which it does, and nothing is put back for it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.primitive import Primitive
from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value
from ...rules.opaque import Opaque
from ...rules.stacking import aligned
from ...transforms.jvp import jvp
from ..batches import is_batched


def by_elements(name: str, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function of each element; inside a batch as one step, whose partials are functions of each element."""
    return _step(name, function)(*args) if any([is_batched(a) for a in args]) else function(*args)


def _step(name: str, function: Callable[..., Any]) -> Primitive:
    """A step that sees plain arrays alone, with one axis more; its partials are found as they are needed."""
    partials: dict[int, Primitive] = {}

    def push(tangents: Sequence[Any], out: Any, args: Sequence[Any], params: Any) -> Any:
        total: Any = 0.0
        for k, t in enumerate(tangents):
            if t is not None:
                if k not in partials:
                    partials[k] = _step(f"{name} by {k}", functools.partial(_partial, function, k))
                total = total + t * partials[k](*args)
        return total

    return Primitive(name, function, derivative=Opaque(jvp=push), stacking=aligned)


def _partial(function: Callable[..., Any], k: int, *args: Any) -> Any:
    """The slope of a function of each element in one of its arguments."""
    shape = np.broadcast_shapes(*[shape_of(a) for a in args])
    given = [np.broadcast_to(np.asarray(a, float), shape) for a in args]

    def moved(x: Any) -> Any:
        return function(*given[:k], x, *given[k + 1 :])

    return jvp(moved, (given[k],), (np.ones(shape),))[1]


def extracted(condition: Any, *arrays: Any) -> list[Any]:
    """The elements for which a condition holds, in a row and in their places; elsewhere the first of them."""
    given = [np.asarray(a) for a in arrays]
    shape = np.broadcast_shapes(shape_of(condition), *[shape_of(a) for a in given])
    rows = [np.reshape(np.broadcast_to(a, shape), (-1,)) for a in given]
    if np.all(condition):
        return rows
    condition = np.reshape(np.broadcast_to(condition, shape), (-1,))
    first = np.argmax(condition)
    return [
        np.reshape(a, (1,)) if np.size(a) == 1 else np.where(condition, row, row[first])
        for a, row in zip(given, rows, strict=True)
    ]


def placed(out: Any, condition: Any, values: Any) -> None:
    """Put values where a condition holds: what was extracted is in its place already."""
    shape = shape_of(out)
    condition = np.broadcast_to(np.not_equal(condition, 0), shape)
    out[...] = np.where(condition, _in_shape(values, shape), out)


def _in_shape(values: Any, shape: tuple[int, ...]) -> Any:
    return np.broadcast_to(np.reshape(values, ()), shape) if np.size(values) == 1 else np.reshape(values, shape)


def apply_where(
    condition: Any, args: Any, f1: Any, f2: Any = None, /, *, fill_value: Any = None, xp: Any = None
) -> Any:
    """One formula where a condition holds, and another one, or a number, where it does not."""
    given = list(args) if isinstance(args, (tuple, list)) else [args]
    shape = np.broadcast_shapes(shape_of(condition), *[shape_of(a) for a in given])
    if np.all(condition):
        return np.copy(_in_shape(f1(*extracted(np.broadcast_to(condition, shape), *given)), shape))
    other = np.broadcast_to(np.logical_not(condition), shape)
    no = fill_value if f2 is None else _in_shape(f2(*extracted(other, *given)), shape)
    if not np.any(condition):
        return np.broadcast_to(np.asarray(no, float), shape)
    return np.where(condition, _in_shape(f1(*extracted(np.broadcast_to(condition, shape), *given)), shape), no)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], arrays: Sequence[Any], default: Any = 0) -> Any:
    """The formula of the last condition that holds, or the default."""
    given = [as_value(a) for a in arrays]
    kind = np.mintypecode([dtype_of(a).char for a in given])
    shape = np.broadcast_shapes(*[shape_of(a) for a in given])
    found: Any = np.broadcast_to(np.asarray(default, kind), shape)
    for condition, formula in zip(condlist, choicelist, strict=False):
        if np.any(condition):
            chosen = np.broadcast_to(condition, shape)
            found = np.where(chosen, _in_shape(formula(*extracted(chosen, *given)), shape), found)
    return found
