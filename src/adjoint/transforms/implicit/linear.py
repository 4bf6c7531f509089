"""`linear_solve`: the solution of a linear equation that is known by what it does to a vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.arguments import Tree, checked
from ...core.values import shape_of
from ..callbacks.plain import plain_function
from ..callbacks.solver import Callbacks
from ..interface.checking import checked_function
from ..jvp import jvp
from ..stop import stop_gradient
from ..vjp import vjp_inside
from . import solvers
from .flat import TreeShape
from .rule import Solve, implicit_rule

LinearSolver = Callable[[Callable[[Any], Any], Any], Any]
"""`solver(matvec, b)`, which gives x with matvec(x) = b; plain values come in."""


@checked("matvec")
def linear_solve(
    matvec: Callable[..., Any], b: Tree, *args: Any, solver: LinearSolver | None = None, symmetric: bool = False
) -> Any:
    """The solution x of matvec(x, *args) = b, where matvec is linear in x; nobody makes its matrix.

    Forward, A dx = db - dA x; back, the transposed equation: both are solved as the equation itself is.

    Parameters
    ----------
    matvec : callable
        `matvec(x, *args)`: the product of a square matrix with x, in containers as b is.
    b : any containers
        The right-hand side.
    *args : any containers
        Further arguments of `matvec`.
    solver : callable, optional
        `solver(matvec, b)`, where matvec is a function of x alone: any code, as it sees plain values only; the
        transposed equation is given to it as well. By default the method of minimal residuals (GMRES), or that of
        conjugate gradients if the matrix is symmetric.
    symmetric : bool, default False
        Whether the matrix is symmetric and positive definite.

    Returns
    -------
    same as `b`
        The solution.

    Raises
    ------
    NotDifferentiableError
        When a derivative is wanted and the solver did not arrive at a solution.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> a = np.array([[2.0, 1.0], [0.0, 4.0]])
    >>> ad.implicit.linear_solve(lambda x: a @ x, np.array([4.0, 4.0]))
    array([1.5, 1. ])
    >>> ad.grad(lambda s: ad.implicit.linear_solve(lambda x: s * x, 1.0))(2.0)
    -0.25
    """
    name = "ad.implicit.linear_solve"
    checked_function(matvec, name, f"{name}(matvec, b)")
    shape = TreeShape(b, name)
    usual: LinearSolver = solvers.conjugate_gradients if symmetric else solvers.gmres
    callbacks = Callbacks(matvec, b, args, solver)

    def solve(matvec: Any, b: Any, args: Any, solver: Any) -> Any:
        def alone(x: Any) -> Any:
            return matvec(x, *args)

        if solver is None:
            return (usual(shape.on_vectors(alone), shape.vector(b)),)
        return (shape.vector(solver(plain_function(name, alone), b)),)

    def residual(x: Any, others: Any, matvec: Any, b: Any, args: Any, solver: Any) -> Any:
        return shape.vector(matvec(shape.tree(x), *args)) - shape.vector(b)

    def by_trees(matvec: Any, b: Any) -> Any:
        return shape.vector(solver(lambda x: shape.tree(matvec(shape.vector(x))), shape.tree(b)))  # type: ignore[misc]

    again = by_solver(usual if solver is None else by_trees)
    return shape.tree(callbacks.solved(name, solve, implicit_rule(name, callbacks, residual, again))[0])


def by_solver(solver: LinearSolver) -> Solve:
    """The linear equation of a derivative, by a solver of products alone."""

    def solve(of_solution: Callable[[Any], Any], x: Any, right: Any, transposed: bool) -> tuple[Any, Any, Any]:
        def product(v: Any) -> Any:
            return jvp(of_solution, (x,), (v,))[1]

        def back(v: Any) -> Any:
            return vjp_inside(of_solution, x)[1](v)[0]

        found = linear_solve(back if transposed else product, right, solver=solver)
        residual = np.max(np.abs(stop_gradient(of_solution(x))))
        image = np.max(np.abs(stop_gradient(product(x))))
        scale = 1.0 + np.max(np.abs(stop_gradient(x)))
        return found, np.reshape(scale * residual / (image + np.finfo(float).tiny), (1,)), np.ones(shape_of(residual))

    return solve
