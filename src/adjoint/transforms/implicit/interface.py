"""`root`, `fixed_point`, `argmin`: the solution of an equation, by whatever solver, with its derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.arguments import Tree, checked
from ...core.errors import OutputError, message
from ...core.values import shape_of
from ..callbacks.plain import plain_function
from ..callbacks.solver import Callbacks
from ..grad import grad
from ..interface.checking import checked_function
from . import solvers
from .flat import TreeShape
from .linear import LinearSolver, by_solver
from .rule import implicit_rule

Solver = Callable[[Callable[[Any], Any], Any], Any]
"""`solver(f, x0)`, which gives the solution; plain values come in, f is a function of x alone."""


@checked("f")
def root(
    f: Callable[..., Any],
    x0: Tree,
    *args: Any,
    solver: Solver | None = None,
    linear_solver: LinearSolver | None = None,
) -> Any:
    """The solution x of f(x, *args) = 0, with the derivatives of the implicit function.

    dx = -(df/dx)^-1 (df/dp) dp, for every traced value p that has a part in f: in `args`, or in what f closes over.

    Parameters
    ----------
    f : callable
        `f(x, *args)`: as many numbers as there are in x.
    x0 : any containers
        Where the solver begins; it has no derivative.
    *args : any containers
        Further arguments of `f`.
    solver : callable, optional
        `solver(f, x0)`, where f is a function of x alone: any code, as it sees plain values only. By default Newton's
        method with the exact Jacobian.
    linear_solver : callable, optional
        `linear_solver(matvec, b)`, for the linear equation of the derivative; by default the whole Jacobian is made.

    Returns
    -------
    same as `x0`
        The solution.

    Raises
    ------
    NotDifferentiableError
        When a derivative is wanted where the Jacobian is singular, or where the solver did not arrive.

    Examples
    --------
    >>> import adjoint as ad
    >>> round(ad.grad(lambda a: ad.implicit.root(lambda x: x**2 - a, 1.0))(4.0), 6)
    0.25
    """
    return _solved("root", f, x0, args, solver, solvers.newton, linear_solver)


@checked("f")
def fixed_point(
    f: Callable[..., Any],
    x0: Tree,
    *args: Any,
    solver: Solver | None = None,
    linear_solver: LinearSolver | None = None,
) -> Any:
    """The solution x of x = f(x, *args), with the derivatives of the implicit function.

    Parameters
    ----------
    f : callable
        `f(x, *args)`, which gives containers as x is.
    x0 : any containers
        Where the solver begins; it has no derivative.
    *args : any containers
        Further arguments of `f`.
    solver : callable, optional
        `solver(f, x0)`, where f is a function of x alone: any code, as it sees plain values only. By default x = f(x)
        is repeated until nothing changes.
    linear_solver : callable, optional
        `linear_solver(matvec, b)`, for the linear equation of the derivative; by default the whole Jacobian is made.

    Returns
    -------
    same as `x0`
        The fixed point.

    Raises
    ------
    NotDifferentiableError
        When a derivative is wanted where the solver did not arrive.

    Examples
    --------
    >>> import adjoint as ad
    >>> heron = lambda x, a: 0.5 * (x + a / x)
    >>> round(ad.grad(lambda a: ad.implicit.fixed_point(heron, 1.0, a))(4.0), 6)
    0.25
    """
    return _solved("fixed_point", f, x0, args, solver, solvers.iterated, linear_solver)


@checked("f")
def argmin(
    f: Callable[..., Any],
    x0: Tree,
    *args: Any,
    solver: Solver | None = None,
    linear_solver: LinearSolver | None = None,
) -> Any:
    """The minimum of f(x, *args) over x, with its derivatives: the gradient is 0 there.

    Parameters
    ----------
    f : callable
        `f(x, *args)`, one real number.
    x0 : any containers
        Where the solver begins; it has no derivative.
    *args : any containers
        Further arguments of `f`.
    solver : callable, optional
        `solver(f, x0)`, where f is a function of x alone: any code, as it sees plain values only, for example
        `lambda f, x0: ad.optim.minimize(f, x0).x`. By default Newton's method with the exact Hessian.
    linear_solver : callable, optional
        `linear_solver(matvec, b)`, for the linear equation of the derivative, whose matrix is the Hessian; by default
        that is made.

    Returns
    -------
    same as `x0`
        Where the minimum is.

    Raises
    ------
    NotDifferentiableError
        When a derivative is wanted where the Hessian is singular, or where the solver did not arrive.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> def ridge(w, strength):
    ...     return np.sum((w - 3.0) ** 2) + strength * np.sum(w**2)
    >>> ad.jacobian(lambda s: ad.implicit.argmin(ridge, np.zeros(2), s))(2.0).round(6)
    array([-0.333333, -0.333333])
    """
    return _solved("argmin", f, x0, args, solver, solvers.damped_newton, linear_solver)


def _solved(
    kind: str,
    f: Callable[..., Any],
    x0: Tree,
    args: tuple[Any, ...],
    solver: Solver | None,
    usual: Solver,
    linear_solver: LinearSolver | None,
) -> Any:
    name = f"ad.implicit.{kind}"
    checked_function(f, name, f"{name}(f, x0)")
    shape = TreeShape(x0, name)
    callbacks = Callbacks(f, shape.vector(x0), args, solver)

    def on_vectors(f: Any, args: Any) -> Callable[[Any], Any]:
        if kind == "argmin":
            return lambda v: _number(f(shape.tree(v), *args), name)
        return lambda v: _as_many(shape.vector(f(shape.tree(v), *args)), v, name)

    def solve(f: Any, x0: Any, args: Any, solver: Any) -> Any:
        if solver is None:
            with np.errstate(all="ignore"):  # what leads nowhere is said below
                return (usual(on_vectors(f, args), x0),)
        return (shape.vector(solver(plain_function(name, lambda x: f(x, *args)), shape.tree(x0))),)

    def residual(x: Any, others: Any, f: Any, x0: Any, args: Any, solver: Any) -> Any:
        found = on_vectors(f, args)
        if kind == "argmin":
            return grad(found)(x)
        return found(x) - x if kind == "fixed_point" else found(x)

    rule = implicit_rule(name, callbacks, residual, None if linear_solver is None else by_solver(linear_solver))
    return shape.tree(callbacks.solved(name, solve, rule)[0])


def _as_many(found: Any, x: Any, name: str) -> Any:
    if shape_of(found) != shape_of(x):
        raise OutputError(
            message(
                f"The function given to {name} has to give as many numbers as it takes.",
                got=f"{shape_of(found)[0]} for {shape_of(x)[0]}",
                fix="Give one equation for each unknown.",
            )
        )
    return found


def _number(x: Any, name: str) -> Any:
    if int(np.prod(shape_of(x))) != 1:
        raise OutputError(
            message(f"The function given to {name} has to give one number.", got=f"shape {shape_of(x)}", fix="Sum it.")
        )
    return np.reshape(x, ())
