"""`taylor`: the Taylor series of a function, along a direction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from ...core.arguments import Tree, checked, whole
from ...host.frames.tracebacks import FOLDING
from ..calling import entered
from ..interface.checking import checked_function
from .expansion import checked_direction, expanded
from .series import TaylorSeries


@checked("fun", "x0", "direction")
def taylor(
    fun: Callable[..., Any], x0: Tree, order: Annotated[int, whole(0, 10_000)], direction: Tree = None
) -> TaylorSeries:
    """The Taylor series of a function at a point, along a direction, in one sweep.

    Of g(s) = f(x0 + s v) the coefficients g^(k)(0) / k! for k = 0, ..., order. The cost grows with the square of the
    order.

    Parameters
    ----------
    fun : callable
        A function of one argument; its argument and result may be any containers.
    x0 : number, array or any containers
        The point.
    order : int
        The last order, from 0 on.
    direction : like x0, optional
        Where to go from the point; 1 for a number. For arrays and containers it has to be given.

    Returns
    -------
    TaylorSeries
        `coefficients`, `derivatives`, the polynomial itself as a function of s, estimates of its error and of how far
        it is good, and ways to show it.

    Raises
    ------
    InputError
        If the order is not 0, 1, 2, ..., or a direction is missing.
    TangentError
        If the direction does not have the structure, shapes or kinds of the point.

    Notes
    -----
    Where a function has no derivative of an order, that coefficient is inf or nan: of `sqrt` at 0, of `abs` at 0, of
    `x**2.5` at 0 from the third on. At kinks and ties of `max`, `clip` and the like it is nan from the first order on
    in which both sides differ. Decisions (`if x > 0`, `np.where`) and what is constant in pieces (`np.floor`) are taken
    at the point.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> t = ad.taylor(np.exp, 0.0, 4)
    >>> print(t)
    1 + s + 0.5 s^2 + 0.166667 s^3 + 0.0416667 s^4 + O(s^5)
    >>> print(t.coefficients[2], t.derivatives[2], t(0.1))
    0.5 1.0 1.1051708333333332
    """
    checked_function(fun, "taylor", "ad.taylor(f, x0, 5)")
    with FOLDING:
        order = int(order)
        direction = checked_direction(x0, direction, "taylor")
        return TaylorSeries(entered(_taylor, (fun, order), (x0, direction)), x0, direction, fun)


def _taylor(fun: Callable[..., Any], order: int, x0: Any, direction: Any) -> tuple[Any, ...]:
    return expanded(fun, x0, direction, order, "taylor")
