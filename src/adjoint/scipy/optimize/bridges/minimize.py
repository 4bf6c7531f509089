"""`minimize` with exact derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.tree import flatten
from ....core.values import shape_of
from ....transforms.grad import value_and_grad
from ....transforms.interface.checking import checked_function
from ....transforms.jacobian import hessian, hvp, jacobian
from ..solving import as_tuple
from .compiled import Unknowns, compiled

WITHOUT = frozenset(("nelder-mead", "powell", "cobyla", "cobyqa"))
"""Methods that use no gradient."""
CURVED = frozenset(("newton-cg", "dogleg", "trust-ncg", "trust-krylov", "trust-exact", "trust-constr"))
"""Methods that use second derivatives."""
WHOLE = frozenset(("dogleg", "trust-exact"))
"""Those of them that need the whole Hessian."""
LARGE = 200
"""From so many unknowns on, products with the Hessian are taken where a method can use them."""


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    method: Any = None,
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Any = None,
    options: dict[str, Any] | None = None,
) -> Any:
    """`scipy.optimize.minimize` with exact gradients, Hessians or products with them, compiled.

    Parameters
    ----------
    fun : callable
        `fun(x, *args)`: plain NumPy code that returns one real number.
    x0 : array_like or any containers
        Where to begin. If it is a dict, a dataclass or other containers of arrays, `fun` takes the same.
    args : tuple, optional
        Further arguments of `fun`.
    method : str or callable, optional
        As for SciPy; the default is SciPy's too.
    jac : callable or bool or str, optional
        As for SciPy. By default the exact gradient.
    hess : callable or str, optional
        As for SciPy. By default the exact Hessian, for methods that use one.
    hessp : callable, optional
        As for SciPy. By default exact products, for methods that use them, from 200 unknowns on.
    bounds : sequence or Bounds, optional
        As for SciPy; of containers, for the numbers in the order of `ad.tree.ravel`.
    constraints : dict, constraint or sequence, optional
        As for SciPy. Those that come without Jacobians get exact ones.
    tol : float, optional
        As for SciPy.
    callback : callable, optional
        As for SciPy.
    options : dict, optional
        As for SciPy.

    Returns
    -------
    OptimizeResult
        SciPy's result; `x` and `jac` are in the containers of `x0`.

    Examples
    --------
    >>> import numpy as np
    >>> import adjoint.scipy.optimize
    >>> def f(p):
    ...     return (p["a"] - 1.0) ** 2 + np.sum((p["b"] - p["a"]) ** 2)
    >>> found = adjoint.scipy.optimize.minimize(f, {"a": 0.0, "b": np.zeros(2)})
    >>> found.success, found.x["b"].round(4)
    (True, array([1., 1.]))
    """
    import scipy.optimize

    checked_function(fun, "adjoint.scipy.optimize.minimize", "minimize(f, x0)")
    unknowns = Unknowns(x0, "adjoint.scipy.optimize.minimize")
    kind = method.lower() if isinstance(method, str) else ""
    given: Callable[..., Any] = unknowns.function(fun)
    if jac is None and kind in WITHOUT:
        given = compiled("value", fun, unknowns, lambda f: f)
    elif jac is None:
        given, jac = compiled("slope", fun, unknowns, lambda f: value_and_grad(_number(f))), True
        if kind in CURVED and hess is None and hessp is None:
            if kind in WHOLE or unknowns.size < LARGE:
                hess = compiled("hessian", fun, unknowns, lambda f: hessian(_number(f)))
            else:
                hessp = compiled("product", fun, unknowns, _product)
    found = scipy.optimize.minimize(
        given, unknowns.start, as_tuple(args), method, jac, hess, hessp, bounds,
        with_jacobians(constraints, unknowns, kind), tol, callback, options,
    )  # fmt: skip
    return unknowns.result(found, "x", "jac", "grad")


def _number(f: Callable[..., Any]) -> Callable[..., Any]:
    """SciPy takes arrays of one number as well."""

    def number(x: Any, *args: Any) -> Any:
        found = f(x, *args)
        return np.reshape(found, ()) if shape_of(found) else found

    return number


def _product(f: Callable[..., Any]) -> Callable[..., Any]:
    def product(x: Any, p: Any, *args: Any) -> Any:
        return hvp(lambda y: _number(f)(y, *args), (x,), (p,))

    return product


def with_jacobians(constraints: Any, unknowns: Unknowns, kind: str) -> Any:
    """Constraints with exact Jacobians, where they have none."""
    if constraints is None or (isinstance(constraints, (list, tuple)) and not constraints):
        return ()
    if isinstance(constraints, (list, tuple)):
        return [_with_jacobian(c, unknowns, kind) for c in constraints]
    return _with_jacobian(constraints, unknowns, kind)


def _with_jacobian(c: Any, unknowns: Unknowns, kind: str) -> Any:
    if isinstance(c, dict):
        made = {**c, "fun": unknowns.function(c["fun"])}
        if c.get("jac") is None:
            made["jac"] = compiled("jacobian", c["fun"], unknowns, exact_jacobian)
        return made
    if not hasattr(c, "fun"):
        return c
    from scipy.optimize import BFGS, NonlinearConstraint

    jac = compiled("jacobian", c.fun, unknowns, exact_jacobian) if isinstance(c.jac, str) else c.jac
    hess = c.hess
    if isinstance(c.jac, str) and isinstance(hess, BFGS) and unknowns.size < LARGE:
        hess = compiled("curvature", c.fun, unknowns, _curvature)
    steps = getattr(c, "finite_diff_rel_step", None)
    return NonlinearConstraint(unknowns.function(c.fun), c.lb, c.ub, jac, hess, c.keep_feasible, steps, None)


def as_vector(f: Callable[..., Any]) -> Callable[..., Any]:
    """The results of a function, an array or any containers of numbers, as a vector."""

    def vector(x: Any, *args: Any, **kwargs: Any) -> Any:
        leaves = [np.reshape(np.asarray(part), (-1,)) for part in flatten(f(x, *args, **kwargs))[0]]
        return np.concatenate(leaves) if len(leaves) != 1 else leaves[0]

    return vector


def exact_jacobian(f: Callable[..., Any]) -> Callable[..., Any]:
    """The Jacobian of the results of a function as a vector."""
    return jacobian(as_vector(f))


def _curvature(f: Callable[..., Any]) -> Callable[..., Any]:
    return hessian(lambda x, v: np.sum(v * as_vector(f)(x)))
