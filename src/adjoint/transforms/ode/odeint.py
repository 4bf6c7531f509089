"""`odeint`: the solution of a differential equation, in one loop of machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.arguments import Count, NonNegativeNumbers, Positive, RealNumbers, Tree, checked
from ...core.errors import InputError, OutputError, message
from ...core.tree import flatten, same_structure
from ...core.values import Value, cast, describe, dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value
from ..interface.checking import checked_function
from .adaptive import Tolerance, in_adaptive_steps
from .fixed import in_fixed_steps
from .stepping import Slope, State
from .tableaux import METHODS, Tableau


@checked("f", "method")
def odeint(
    f: Callable[..., Any],
    y0: Tree,
    t: RealNumbers,
    *args: Any,
    method: str = "RK45",
    rtol: NonNegativeNumbers = 1.5e-8,
    atol: NonNegativeNumbers = 1.5e-8,
    steps: Count | None = None,
    first_step: Positive | None = None,
    max_steps: Count = 100_000,
    checkpoint_every: Count | None = None,
    full_output: bool = False,
) -> Any:
    """The solution of dy/dt = f(y, t, *args) at given times, starting with y0 at the first of them.

    A loop of Runge-Kutta steps that stays a loop in jitted code, like `ad.while_loop`. Its derivative, of every order
    and in both directions, is that of the steps that were taken: with respect to y0, to the times, to `args` and to
    whatever traced values `f` uses. For the sweep back one state is kept for each time, and the steps between two times
    are taken again, one interval after the other.

    Parameters
    ----------
    f : callable
        `(y, t, *args) -> dy/dt`, in the containers and shapes of y0. It is called a few times, not in every step.
        A body that branches on values (`if y > 0`) is run as a Python loop; `np.where` and `ad.cond` keep it rolled.
    y0 : any containers of numbers and arrays
        The state at the first time.
    t : array of one axis
        The times, increasing or decreasing. Every one of them ends a step.
    *args : any
        What `f` is given besides.
    method : str, default "RK45"
        "RK45" is that of Dormand and Prince, of order 5 with an estimate of order 4; "RK23" that of Bogacki and
        Shampine. With `steps` also "RK4", "Heun", "midpoint", "Euler".
    rtol : float or containers as those of y0, default 1.5e-8
        Steps are as long as the root mean square of the error over atol + rtol * abs(y) stays below 1.
    atol : float or containers as those of y0, default 1.5e-8
        See `rtol`.
    steps : int, optional
        Take so many steps of the same length between two times, whatever the error.
    first_step : float, optional
        The length of the first step to try; by default it is chosen from the sizes of y0 and of its slope.
    max_steps : int, default 100000
        After so many adaptive steps, rejected ones included, the rest of the solution is nan.
    checkpoint_every : int, optional
        Of the steps between two times keep one state in so many for the sweep back: less memory for long intervals.
    full_output : bool, default False
        Whether to return a dict of what was done as well: the number of "steps", those "rejected", and "success".

    Returns
    -------
    any containers of arrays
        The states at all times, stacked along a new first axis. Nan from where the solution could not be followed:
        steps that would have to be too small (it becomes infinite, or `f` is nan), or too many.

    Raises
    ------
    InputError
        If the times are no array of one axis, or the method is not known or needs `steps`.
    OutputError
        If `f` does not return the containers and shapes of y0.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> def decay(y, t, rate):
    ...     return -rate * y
    >>> ad.odeint(decay, 1.0, np.array([0.0, 1.0, 2.0]), 0.5)
    array([1.        , 0.60653066, 0.36787944])
    >>> round(ad.jit(ad.grad(lambda rate: ad.odeint(decay, 1.0, np.array([0.0, 2.0]), rate)[-1]))(0.5), 6)
    -0.735759
    """
    checked_function(f, "odeint", "ad.odeint(f, y0, t)")
    chosen = _checked_method(method, steps)
    leaves, restore = flatten(y0)
    y = [_inexact(as_value(x)) for x in leaves]
    times = _checked_times(t, np.result_type(*[real_dtype(x) for x in y]) if y else np.dtype(float))
    found: State
    facts: dict[str, Any] = {}
    slope = _flat_slope(f, y0, y, restore, args)
    if shape_of(times)[0] == 1:
        found = [np.zeros((0, *shape_of(x)), dtype_of(x)) for x in y]
    elif steps is not None:
        found, facts = in_fixed_steps(slope, chosen, y, times, steps, checkpoint_every)
    else:
        tolerance = Tolerance(_per_leaf(rtol, y), _per_leaf(atol, y), max_steps)
        found, facts = in_adaptive_steps(slope, chosen, y, times, tolerance, first_step, checkpoint_every)
    stacked = restore([np.concatenate([np.reshape(a, (1, *shape_of(a))), b]) for a, b in zip(y, found, strict=True)])
    return (stacked, facts) if full_output else stacked


def _inexact(x: Value) -> Value:
    """Integers as floating-point numbers, everything else as it is."""
    return x if dtype_of(x).kind in "fc" else cast(np.asarray(x), np.dtype(float))


def _checked_method(name: str, steps: int | None) -> Tableau:
    found = METHODS.get(name)
    if found is None or (steps is None and not found.error):
        known = ", ".join([repr(k) for k, m in METHODS.items() if steps is not None or m.error])
        raise InputError(
            message(
                f"odeint does not know the method {name!r}."
                if found is None
                else f"The method {name!r} of odeint has no estimate of its error.",
                fix=f"Choose one of  {known}"
                + (
                    ".\nFor stiff equations:  scipy.integrate.solve_ivp." if found is None else ",  or give  steps=100."
                ),
            )
        )
    if steps is not None and (isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1):
        raise InputError(message("The steps of odeint have to be a positive integer.", got=describe(steps)))
    return found


def _checked_times(t: Any, dtype: Any) -> Value:
    times = as_value(t)
    if len(shape_of(times)) != 1 or shape_of(times)[0] == 0:
        raise InputError(
            message(
                "odeint needs the times as an array of one axis, the first of which is that of y0.",
                got=describe(times),
                fix="Pass  np.array([0.0, 1.0]),  and take the last of the states.",
            )
        )
    return cast(times, dtype)


def _per_leaf(tolerance: Any, y: State) -> State:
    """One tolerance for each leaf of the state."""
    found = [as_value(x) for x in flatten(tolerance)[0]]
    if len(found) == 1:
        found = found * len(y)
    if len(found) != len(y):
        raise InputError(message("rtol and atol of odeint have to be numbers, or containers as those of y0."))
    return [cast(np.asarray(x), real_dtype(s)) for x, s in zip(found, y, strict=True)]


def real_dtype(x: Any) -> np.dtype:
    """The dtype of the real part, for numbers that are not real at least in double precision."""
    return np.result_type(dtype_of(x), np.float32 if dtype_of(x).kind in "fc" else np.float64).type(0).real.dtype


def _flat_slope(f: Callable[..., Any], y0: Any, y: State, restore: Callable[[list[Any]], Any], args: Any) -> Slope:
    """The right-hand side for the leaves of a state."""

    def slope(leaves: State, t: Value) -> State:
        found = f(restore(list(leaves)), t, *args)
        if len(y) == 1 and isinstance(found, (list, tuple)) and not isinstance(y0, (list, tuple)):
            found = as_value(found)
        flat = [as_value(k) for k in flatten(found)[0]]
        if not same_structure(found, y0):
            raise OutputError(message("f of odeint has to return the containers of y0.", got=describe(found)))
        shapes = [shape_of(k) for k in flat]
        is_real = [dtype_of(k).kind != "c" or dtype_of(x).kind == "c" for k, x in zip(flat, y, strict=True)]
        if shapes != [shape_of(x) for x in y] or not all(is_real):
            raise OutputError(
                message(
                    "f of odeint has to return dy/dt in the shapes of y0, and complex numbers only for complex ones.",
                    got=", ".join([describe(k) for k in flat]) + " for " + ", ".join([describe(x) for x in y]),
                )
            )
        return [cast(k, dtype_of(x)) for k, x in zip(flat, y, strict=True)]

    return slope
