"""`is_convex_between`: whether a function is convex along a segment, as far as samples tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from ...core.arguments import LARGEST, NonNegative, Tree, checked, whole
from ...core.errors import InputError, message
from ...core.tree import flatten, same_structure
from ...core.values import describe, shape_of
from ...host.frames.tracebacks import FOLDING
from ..interface.checking import checked_function
from ..jvp import jvp
from .along import at_point
from .points import one_number, refuse_traced


@checked("fun", "a", "b")
def is_convex_between(
    fun: Callable[..., Any],
    a: Tree,
    b: Tree,
    *args: Any,
    points: Annotated[int, whole(3, LARGEST)] = 101,
    tolerance: NonNegative | None = None,
) -> bool:
    """Whether a function is convex on the segment from a to b, as far as its derivatives at points on it tell.

    Along t -> f(a + t (b - a)) the second derivative must not be negative at any of the points, and the slope must not
    fall from one to the next, which also finds kinks that bend down. A False is certain up to the tolerance; a True
    means that nothing against it was seen.

    Parameters
    ----------
    fun : callable
        The function, of one real number as result.
    a : array or containers
        Where the segment begins.
    b : array or containers
        Where it ends: the same containers and shapes.
    *args : any containers
        Further arguments of the function, which are held.
    points : int, default 101
        How many points are looked at, ends included.
    tolerance : float, optional
        By how much second derivative and slope may fall below, relative to the largest of them by size; by default
        the square root of the precision: 1.5e-8 for float64.

    Returns
    -------
    bool
        False if the function was seen to bend down.

    Raises
    ------
    InputError
        If a and b do not fit together, are complex or no numbers, or if there are fewer than two points.
    OutputError
        If the function does not return one real number.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.curvature.is_convex_between(np.cosh, -3.0, 3.0), ad.curvature.is_convex_between(np.cos, -3.0, 3.0)
    (True, False)
    >>> def loss(w):  # convex in each factor alone
    ...     return (w[0] * w[1] - 1.0) ** 2
    >>> ad.curvature.is_convex_between(loss, np.array([0.0, 1.0]), np.array([2.0, 1.0]))
    True
    >>> ad.curvature.is_convex_between(loss, np.array([-1.0, 1.0]), np.array([1.0, -1.0]))
    True
    >>> ad.curvature.is_convex_between(loss, np.array([-1.0, -1.0]), np.array([1.0, 1.0]))
    False
    """
    checked_function(fun, "is_convex_between", "ad.curvature.is_convex_between(f, a, b)")
    refuse_traced(flatten((a, b, args))[0], "is_convex_between")
    with FOLDING:
        _check(a, b)
        start, end = [at_point(fun, x, "is_convex_between").inputs for x in (a, b)]
        rebuild = flatten(a)[1]
        ways = [np.subtract(y, x) for x, y in zip(start, end, strict=True)]
        dtype = np.result_type(*ways)
        tolerance = float(np.sqrt(np.finfo(dtype).eps)) if tolerance is None else tolerance

        def on_segment(t: Any) -> Any:
            moved = [
                (x + t * way).astype(way.dtype) if shape_of(x) else x + t * way
                for x, way in zip(start, ways, strict=True)
            ]
            return one_number(fun(rebuild(moved), *args), "is_convex_between")

        found = [_derivatives(on_segment, float(t)) for t in np.linspace(0.0, 1.0, points)]
    values, slopes, bends = np.array(found).T
    if not np.all(np.isfinite(found)):
        return False
    if np.min(bends) < -tolerance * np.max(np.abs(bends)) or np.min(np.diff(slopes)) < -tolerance * _size(slopes):
        return False
    length = 1.0 / (points - 1)
    allowed = tolerance * length * _size(slopes) + 100.0 * float(np.finfo(dtype).eps) * _size(values)
    steps = np.diff(values)  # a convex function goes up by as much as its slopes on both sides say: it has no jumps
    return bool(np.all((steps >= length * slopes[:-1] - allowed) & (steps <= length * slopes[1:] + allowed)))


def _size(x: np.ndarray) -> float:
    return float(np.max(np.abs(x)))


def _derivatives(f: Any, t: float) -> tuple[float, float, float]:
    """The value, the slope and the second derivative."""
    (value, first), (_, second) = jvp(lambda s: jvp(f, (s,), (1.0,)), (t,), (1.0,))
    return float(value), float(first), float(second)


def _check(a: Any, b: Any) -> None:
    shapes = [[shape_of(leaf) for leaf in flatten(x)[0]] for x in (a, b)]
    if not same_structure(a, b) or shapes[0] != shapes[1]:
        raise InputError(
            message(
                "The ends of a segment have the same containers and shapes.",
                got=f"{_described(a)} and {_described(b)}",
                fix="Give two points of the same space.",
            )
        )


def _described(x: Any) -> str:
    return ", ".join([describe(leaf) for leaf in flatten(x)[0]])
