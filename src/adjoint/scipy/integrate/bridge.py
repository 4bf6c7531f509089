"""`solve_ivp` with a compiled right-hand side and its exact Jacobian."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.traced import LOCAL
from ...transforms.interface.checking import checked_function
from ...transforms.jacobian import jacobian
from ...transforms.sparse.interface import sparse_jacobian, sparsity
from ..optimize.bridges.compiled import Unknowns, compiled
from ..optimize.bridges.equations import MANY, SPARSE
from ..optimize.bridges.minimize import as_vector
from .calling import as_tuple

NAME = "adjoint.scipy.integrate.solve_ivp"
IMPLICIT = ("Radau", "BDF", "LSODA")


def solve_ivp(
    fun: Callable[..., Any],
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    vectorized: bool = False,
    args: Any = None,
    **options: Any,
) -> Any:
    """`scipy.integrate.solve_ivp` with a compiled right-hand side, and its exact Jacobian for implicit methods.

    Parameters
    ----------
    fun : callable
        `fun(t, y, *args)`: plain NumPy code that returns dy/dt, in the containers of y0.
    t_span : pair of float
        The first and the last time.
    y0 : array_like or any containers
        The state at the first time. If it is a dict, a dataclass or other containers of arrays, `fun` and the events
        take the same.
    method : str or OdeSolver, default "RK45"
        As for SciPy.
    t_eval : array_like, optional
        As for SciPy.
    dense_output : bool, default False
        As for SciPy.
    events : callable or list of callables, optional
        As for SciPy.
    vectorized : bool, default False
        As for SciPy; with the exact Jacobian there is no need for it.
    args : tuple, optional
        Further arguments of `fun` and of the events.
    **options : any
        Everything else that SciPy's function takes. `jac` is the exact Jacobian unless it is given; a sparse one, if
        most of it is 0.

    Returns
    -------
    OdeResult
        SciPy's result. `y`, `y_events` and what `sol` gives are in the containers of y0, with the axis of times where
        SciPy has it: the last one of `y` and of `sol(t)`, the first one of `y_events`.

    Examples
    --------
    >>> import adjoint.scipy.integrate
    >>> def robertson(t, y):
    ...     a, b = 0.04 * y["x"] - 1e4 * y["y"] * y["z"], 3e7 * y["y"] ** 2
    ...     return {"x": -a, "y": a - b, "z": b}
    >>> found = adjoint.scipy.integrate.solve_ivp(robertson, (0, 40), {"x": 1.0, "y": 0.0, "z": 0.0}, method="BDF",
    ...                                           rtol=1e-8, atol=1e-10)
    >>> round(float(found.y["x"][-1]), 5)
    0.71583
    """
    import scipy.integrate

    checked_function(fun, NAME, "solve_ivp(f, t_span, y0)")
    state = OdeState(y0, NAME)
    more = as_tuple(args)
    if "jac" not in options and (method in IMPLICIT if isinstance(method, str) else False):
        options["jac"] = _exact(fun, state, float(t_span[0]) if not LOCAL.depth else t_span[0], more)
    asked = [events] if callable(events) else events
    found = scipy.integrate.solve_ivp(
        compiled("slope", fun, state, as_vector), t_span, state.start, method, t_eval, dense_output,
        None if asked is None else [state.event(event) for event in asked], vectorized, more or None, **options,
    )  # fmt: skip
    return state.solution(found)


class OdeState(Unknowns):
    """A state as SciPy has it, and as the user's function takes it: behind the time."""

    def function(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """The user's function of time and containers as one of time and a vector."""
        if self.is_vector:
            return f

        @functools.wraps(f)
        def of_vector(t: Any, vector: Any, *args: Any) -> Any:
            return f(t, self.tree(vector), *args)

        return of_vector

    def event(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """An event of containers, with what SciPy asks of it."""
        return self.function(f)

    def columns(self, states: Any, axis: int) -> Any:
        """Vectors along an axis, in containers whose arrays have the other axis there."""
        import optree

        from ...core.tree import NAMESPACE

        rows = [self.tree(np.take(states, k, axis)) for k in range(np.shape(states)[axis])]
        if not rows:
            return states
        return optree.tree_map(lambda *parts: np.stack(parts, axis=axis), *rows, namespace=NAMESPACE)

    def solution(self, found: Any) -> Any:
        """SciPy's result with states in containers."""
        if self.is_vector:
            return found
        found.y = self.columns(found.y, -1)
        if found.y_events is not None:
            found.y_events = [self.columns(y, 0) for y in found.y_events]
        if found.sol is not None:
            flat = found.sol
            found.sol = lambda t: self.tree(flat(t)) if np.ndim(t) == 0 else self.columns(flat(t), -1)
        return found


def _exact(fun: Callable[..., Any], state: OdeState, t: Any, args: tuple[Any, ...]) -> Callable[..., Any]:
    """The Jacobian of the right-hand side in the state: sparse if it has few entries, of many."""
    if state.size >= MANY and not LOCAL.depth:
        vector = as_vector(state.function(fun))
        pattern = sparsity(lambda y: vector(t, y, *args))(np.asarray(state.start, float))
        if pattern.nnz <= SPARSE * int(np.prod(pattern.shape)):
            return lambda t, y, *more: sparse_jacobian(lambda y: vector(t, y, *more))(y)
    return compiled("jacobian of slope", fun, state, lambda f: jacobian(as_vector(f), 1))
