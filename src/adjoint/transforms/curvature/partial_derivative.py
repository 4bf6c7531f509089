"""`partial_derivative`: one mixed partial derivative, by the indices it is taken with respect to."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...core.arguments import checked
from ...core.derived import derived
from ...core.errors import InputError, message
from ...core.tree import flatten, ways
from ...core.values import Value, describe, dtype_of, may_hold, shape_of
from ..calling import entrance
from ..interface.checking import checked_function
from ..interface.inputs import checked_argnums, chosen, replaced
from ..jvp import jvp
from ..taylor.polynomial import derivative_along
from .along import CurvaturePoint, at_point

Index = Any
"""A number, or a path of keys and numbers."""
Way = tuple[int, tuple[int, ...]]
"""The number of a leaf of the argument, and a place in it."""


@checked("fun", "argnums")
def partial_derivative(
    fun: Callable[..., Any], *indices: Index, argnums: int | Sequence[int] = 0
) -> Callable[..., Any]:
    """A mixed partial derivative: `partial_derivative(f, 0, 0, 2)(x)` is d3f / dx_0^2 dx_2 at x.

    One sweep forward inside another for each number that is differentiated by, along its axis, which gives all orders
    in that number at once: exact, of any order, and without the derivatives of other numbers. The work grows with the
    square of the order in each number.

    Parameters
    ----------
    fun : callable
        The function of real numbers; its argument and result may be any containers.
    *indices : int or tuple
        With respect to what, one after the other; the order does not matter where derivatives are continuous. Of a
        vector an integer; of an array of more axes a tuple of integers; of a number `()`; of a container the keys
        and places that lead to the number, as in `("layers", 0, 2, 3)`.
    argnums : int or sequence of int, default 0
        Which positional argument the indices are for; with several, the first entry of an index says which.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns the derivative, in the containers and shapes of the
        result.

    Raises
    ------
    InputError
        If an index does not lead to a number of the argument, if there is none, or if the argument is complex.

    Notes
    -----
    At a kink it is the derivative that nested calls of `ad.jvp` give: that of the side that the convention picks.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> def f(x):
    ...     return x[0] ** 3 * np.exp(2.0 * x[1])
    >>> ad.curvature.partial_derivative(f, 0, 0, 1)(np.array([1.0, 0.0]))  # 6 x0 * 2 exp(2 x1)
    np.float64(12.0)

    Of a function of several numbers:

    >>> ad.curvature.partial_derivative(lambda x, y: x**2 * y**3, 0, 1, argnums=(0, 1))(1.0, 2.0)
    24.0
    """
    checked_function(fun, "partial_derivative", "ad.curvature.partial_derivative(f, 0, 1)(x)")
    argnums = checked_argnums(argnums, "partial_derivative")
    if not indices:
        raise InputError(
            message(
                "partial_derivative needs at least one index.",
                got="none",
                fix="Write  ad.curvature.partial_derivative(f, 0, 1)(x)  for d2f / dx0 dx1.",
            )
        )

    def mixed(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        wanted = chosen(args, argnums)
        point = at_point(lambda x: fun(*replaced(args, argnums, x), **kwargs), wanted, "partial_derivative")
        places = collections.Counter([_place(index, wanted, point) for index in indices])
        start = point.rebuild(point.given)
        if max(places.values()) > 1:
            found = _nested(point, places.items(), _by_series)(start)
            if not any([may_hold(~np.isfinite(x)) for x in flatten(found)[0]]):
                return found  # else there may be a kink, where a series has no conventions
        return _nested(point, [(way, 1) for way in places.elements()], _by_tangent)(start)

    return derived(entrance(mixed), "partial_derivative", fun, how=f"<{indices}>")  # type: ignore[no-any-return]


def _nested(point: CurvaturePoint, ways: Iterable[tuple[Way, int]], along: Any) -> Callable[[Any], Any]:
    """The derivative along each way, as often as it is counted, of the derivative along those before."""
    function = point.fun
    for way, count in ways:
        function = along(function, _direction(way, point), count)
    return function


def _by_tangent(function: Callable[[Any], Any], direction: Any, count: int) -> Callable[[Any], Any]:
    return lambda x: jvp(function, (x,), (direction,))[1]


def _by_series(function: Callable[[Any], Any], direction: Any, count: int) -> Callable[[Any], Any]:
    return _by_tangent(function, direction, 1) if count == 1 else derivative_along(function, direction, count)


def _direction(way: Way, point: CurvaturePoint) -> Any:
    """The direction of one number of the argument: 1 there, else 0."""
    leaf, place = way
    parts = [_zero(x, g) for x, g in zip(point.inputs, point.given, strict=True)]
    if place:
        parts[leaf][place] = 1.0
    else:
        parts[leaf] = 1.0 if type(parts[leaf]) is float else dtype_of(parts[leaf]).type(1.0)
    return point.rebuild(parts)


def _place(index: Index, wanted: Any, point: CurvaturePoint) -> Way:
    """The number of the leaf that an index leads to, and the place in it, counted from the front."""
    path = tuple(index) if isinstance(index, (tuple, list)) else (index,)
    for k, way in enumerate(ways(wanted)):
        if path[: len(way)] == way:
            place, shape = path[len(way) :], shape_of(point.inputs[k])
            if not _is_in(place, shape):
                break
            return k, tuple([int(i) % n for i, n in zip(place, shape, strict=True)])
    raise InputError(
        message(
            f"The index {index!r} is not that of a number of the argument.",
            got=_described(wanted),
            fix="Give an integer for a vector, a tuple of one for each axis of an array, () for a number,\n"
            "and before it the keys that lead to the array.",
        )
    )


def _zero(x: Value, given: Any) -> Any:
    if type(given) is float:
        return 0.0
    return np.zeros(shape_of(x), dtype_of(x)) if shape_of(x) else dtype_of(x).type(0.0)


def _is_in(place: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    if len(place) != len(shape):
        return False
    for i, n in zip(place, shape, strict=True):
        if not isinstance(i, (int, np.integer)) or isinstance(i, bool) or not -n <= i < n:
            return False
    return True


def _described(wanted: Any) -> str:
    leaves = flatten(wanted)[0]
    return ", ".join([describe(x) + (f" at {way}" if way else "") for x, way in zip(leaves, ways(wanted), strict=True)])
