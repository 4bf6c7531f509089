"""Numerical differentiation: quotients of differences, with an estimate of their error. For checking, not for use."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.arguments import Positive, checked
from ..core.errors import ArgumentError, InputError, message
from ..core.tree import flatten
from ..core.values import describe
from .interface.checking import refuse_subclass

METHODS = ("central", "forward", "complex")


@checked("method")
def grad(
    fun: Callable[..., Any],
    argnums: int = 0,
    *,
    method: str = "central",
    step: Positive | None = None,
    error: bool = False,
) -> Callable[..., Any]:
    """The gradient of a real-valued function by differences.

    Parameters
    ----------
    fun : callable
        A function of numbers and arrays that returns a number.
    argnums : int, default 0
        Which argument to differentiate with respect to; it may be a container.
    method : {"central", "forward", "complex"}, default "central"
        The quotient, as for `jacobian`.
    step : float, optional
        The relative step; by default the one that balances truncation and rounding.
    error : bool, default False
        Whether to return the pair (gradient, estimate of its error).

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns the gradient, or the pair.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> g, err = ad.numerical.grad(np.exp, error=True)(1.0)
    >>> abs(g - np.e) < 1e-8, err < 1e-6
    (True, True)
    """
    return jacobian(fun, argnums, method=method, step=step, error=error)


@checked("method")
def jacobian(
    fun: Callable[..., Any],
    argnums: int = 0,
    *,
    method: str = "central",
    step: Positive | None = None,
    error: bool = False,
) -> Callable[..., Any]:
    """The Jacobian by differences.

    Parameters
    ----------
    fun : callable
        A function of numbers and arrays that returns a number or an array.
    argnums : int, default 0
        Which argument to differentiate with respect to; it may be a container.
    method : {"central", "forward", "complex"}, default "central"
        "central" has an error of h^2, "forward" one of h, and "complex" no cancellation at all; for it, `fun` has to be
        analytic and to accept complex numbers.
    step : float, optional
        The relative step; by default the one that balances truncation and rounding for the argument's precision.
    error : bool, default False
        Whether to return the pair (derivative, estimate of its error); the estimate is the change when the step is
        doubled, plus the rounding error.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns the Jacobian, or the pair.

    Raises
    ------
    ValueError
        If the method is unknown.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.numerical.jacobian(np.sin, method="complex")(np.array([0.0, 1.0])).round(6)
    array([[1.      , 0.      ],
           [0.      , 0.540302]])
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")

    @functools.wraps(fun, assigned=("__name__", "__doc__"), updated=())
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        at = _place(argnums, len(args))
        leaves, rebuild = flatten(args[at])

        def call(parts: list[Any]) -> Any:
            return np.asarray(fun(*args[:at], rebuild(parts), *args[at + 1 :], **kwargs))

        pairs = [_by_leaf(call, leaves, k, method, step) for k in range(len(leaves))]
        values = rebuild([p[0] for p in pairs])
        return (values, rebuild([p[1] for p in pairs])) if error else values

    return differentiated


def _place(argnums: int, n: int) -> int:
    """The place of an argument, of which the last ones may be counted from the end."""
    if not -n <= argnums < n:
        raise ArgumentError(message("argnums is the number of an argument of the function.", got=f"{argnums} of {n}"))
    return argnums % n


def _by_leaf(call: Callable[[list[Any]], Any], leaves: list[Any], k: int, method: str, step: float | None) -> Any:
    refuse_subclass(leaves[k], "Numerical differentiation does not move")
    x = np.asarray(leaves[k])
    if x.dtype.kind not in "fciub":
        raise InputError(
            message(
                "Numerical differentiation needs numbers to move.",
                got=describe(leaves[k]),
                fix="Pass an array of floats; of dates and durations,  (x - x[0]) / np.timedelta64(1, 's').",
            )
        )
    if x.dtype.kind not in "fc":
        x = x.astype(float)
    columns, errors = [], []
    directions = [1.0, 1j] if x.dtype.kind == "c" else [1.0]
    for place in np.ndindex(x.shape):
        found = [_quotient(call, leaves, k, x, place, direction, method, step) for direction in directions]
        columns.append(found[0][0] if len(found) == 1 else found[0][0] + 1j * found[1][0])
        errors.append(max((f[1] for f in found), key=np.max))
    shape = columns[0].shape + x.shape if columns else x.shape
    value, error = (np.stack(part, -1).reshape(shape) if part else np.zeros(shape) for part in (columns, errors))
    return (value.item(), error.item()) if shape == () else (value, error)


def _quotient(
    call: Callable[[list[Any]], Any], leaves: list[Any], k: int, x: Any, place: Any, direction: complex, method: str,
    step: float | None,
) -> tuple[Any, Any]:  # fmt: skip
    precision = np.finfo(x.dtype).eps
    power = {"central": 1 / 3, "forward": 1 / 2, "complex": 0}[method]
    h = (step if step is not None else (1e-30 if method == "complex" else precision**power)) * max(1.0, abs(x[place]))

    def at(shift: complex) -> Any:
        moved = x.astype(complex) if np.iscomplexobj(shift) and x.dtype.kind != "c" else x.copy()
        moved[place] += shift
        return call([*leaves[:k], moved if moved.ndim else moved[()], *leaves[k + 1 :]])

    if method == "complex":
        found = np.imag(at(1j * h)) / h
        return found, np.abs(found) * precision * 4
    if method == "forward":
        here = at(0 * direction)
        found, double = (at(h * direction) - here) / h, (at(2 * h * direction) - here) / (2 * h)
    else:
        found = (at(h * direction) - at(-h * direction)) / (2 * h)
        double = (at(2 * h * direction) - at(-2 * h * direction)) / (4 * h)
    rounding = precision * np.abs(at(0 * direction)) / h
    return found, np.abs(found - double) + rounding
