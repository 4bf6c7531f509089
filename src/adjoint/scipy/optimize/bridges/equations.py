"""`least_squares` and `root` with exact Jacobians."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.traced import LOCAL
from ....transforms.interface.checking import checked_function
from ....transforms.sparse.interface import sparse_jacobian, sparsity
from ..solving import as_tuple
from .compiled import Unknowns, compiled
from .minimize import as_vector, exact_jacobian

MANY = 100
"""From so many unknowns on it is asked whether the Jacobian is sparse."""
SPARSE = 0.1
"""It is, if no larger a part of it can differ from 0."""


def least_squares(
    fun: Callable[..., Any],
    x0: Any,
    jac: Any = None,
    bounds: Any = (-np.inf, np.inf),
    method: str = "trf",
    *,
    args: Any = (),
    kwargs: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """`scipy.optimize.least_squares` with an exact Jacobian, compiled; a sparse one where most of it is 0.

    Parameters
    ----------
    fun : callable
        `fun(x, *args, **kwargs)`: plain NumPy code that returns the residuals.
    x0 : array_like or any containers
        Where to begin. If it is a dict, a dataclass or other containers of arrays, `fun` takes the same.
    jac : callable or str, optional
        As for SciPy. By default the exact Jacobian.
    bounds : pair or Bounds, optional
        As for SciPy; of containers, for the numbers in the order of `ad.tree.ravel`.
    method : str, default "trf"
        As for SciPy.
    args : tuple, optional
        Further arguments of `fun`.
    kwargs : dict, optional
        Further arguments of `fun` by name.
    **options : any
        Everything else that SciPy's function takes.

    Returns
    -------
    OptimizeResult
        SciPy's result; `x` and `grad` are in the containers of `x0`.

    Examples
    --------
    >>> import numpy as np
    >>> import adjoint.scipy.optimize
    >>> t = np.linspace(0.0, 1.0, 5)
    >>> found = adjoint.scipy.optimize.least_squares(lambda p: p["a"] * np.exp(-p["k"] * t) - 3 * np.exp(-2 * t),
    ...                                              {"a": 1.0, "k": 1.0})
    >>> round(float(found.x["k"]), 6)
    2.0
    """
    import scipy.optimize

    checked_function(fun, "adjoint.scipy.optimize.least_squares", "least_squares(f, x0)")
    unknowns = Unknowns(x0, "adjoint.scipy.optimize.least_squares")
    words = kwargs or {}
    whole = functools.partial(fun, **words) if words else fun
    if jac is None:
        jac = _exact(
            whole, unknowns, as_tuple(args), may_be_sparse=method != "lm" and options.get("tr_solver") != "exact"
        )
    given = compiled("residuals", whole, unknowns, as_vector)
    found = scipy.optimize.least_squares(given, unknowns.start, jac, bounds, method, args=as_tuple(args), **options)
    return unknowns.result(found, "x", "grad")


def root(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    method: str = "hybr",
    jac: Any = None,
    tol: float | None = None,
    callback: Any = None,
    options: dict[str, Any] | None = None,
) -> Any:
    """`scipy.optimize.root` with an exact Jacobian, compiled.

    Parameters
    ----------
    fun : callable
        `fun(x, *args)`: plain NumPy code that returns as many numbers as there are in x.
    x0 : array_like or any containers
        Where to begin. If it is a dict, a dataclass or other containers of arrays, `fun` takes the same.
    args : tuple, optional
        Further arguments of `fun`.
    method : str, default "hybr"
        As for SciPy; "hybr" and "lm" use the Jacobian.
    jac : callable or bool, optional
        As for SciPy. By default the exact Jacobian.
    tol : float, optional
        As for SciPy.
    callback : callable, optional
        As for SciPy.
    options : dict, optional
        As for SciPy.

    Returns
    -------
    OptimizeResult
        SciPy's result; `x` is in the containers of `x0`.

    Examples
    --------
    >>> import numpy as np
    >>> import adjoint.scipy.optimize
    >>> found = adjoint.scipy.optimize.root(lambda x: np.array([x[0] ** 2 - 4.0, x[0] * x[1] - 1.0]), [1.0, 1.0])
    >>> found.x.round(6)
    array([2. , 0.5])
    """
    import scipy.optimize

    checked_function(fun, "adjoint.scipy.optimize.root", "root(f, x0)")
    unknowns = Unknowns(x0, "adjoint.scipy.optimize.root")
    given: Callable[..., Any] = unknowns.function(fun)
    if jac is None and method in ("hybr", "lm"):
        jac = compiled("jacobian", fun, unknowns, exact_jacobian)
        given = compiled("residuals", fun, unknowns, as_vector)
    elif not unknowns.is_vector:
        given = as_vector(given)
    found = scipy.optimize.root(given, unknowns.start, as_tuple(args), method, jac, tol, callback, options)
    return unknowns.result(found, "x")


def _exact(fun: Callable[..., Any], unknowns: Unknowns, args: tuple[Any, ...], *, may_be_sparse: bool) -> Any:
    """The Jacobian: sparse if it has few entries, of many."""
    if may_be_sparse and unknowns.size >= MANY and not LOCAL.depth:
        vector = as_vector(unknowns.function(fun))
        start = np.asarray(unknowns.start, float)
        pattern = sparsity(vector)(start, *args)
        if pattern.nnz <= SPARSE * int(np.prod(pattern.shape)):
            return sparse_jacobian(vector)
    return compiled("jacobian", fun, unknowns, exact_jacobian)
