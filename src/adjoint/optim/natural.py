"""The natural gradient: steps measured by how much they change the model, not its parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad

from ..typing import Array, Tree
from .base import Optimizer
from .checks import Rate, at, described, foreign, like, number, rate_of, refuse
from .reuse import cached
from .vectors import on_vectors

LIKELIHOODS = ("gaussian", "bernoulli", "categorical")


@foreign
def natural_gradient(
    rate: Rate,
    *,
    model: Callable[[Any], Any] | None = None,
    likelihood: str = "gaussian",
    metric: Callable[[Any], Any] | None = None,
    damping: float = 1e-4,
) -> Optimizer:
    """Natural gradient descent: w_(t+1) = w_t - eta (F + damping I)^-1 g, with the metric F of the model.

    F is what `metric(params)` gives, or the mean over examples of the Fisher information J' L J of a model, where J
    is the Jacobian of its outputs and L that of the likelihood: 1 for Gaussian outputs of variance 1, p (1 - p) for
    logits of Bernoulli outputs, diag(p) - p p' for logits of categories (on the last axis). For losses that are means
    of such negative log-likelihoods this is also the Gauss-Newton matrix, so that a rate of 1 is Gauss-Newton's step.

    Parameters
    ----------
    rate : float or callable
        The rate eta: a number, or a schedule.
    model : callable, optional
        The outputs as a function of the parameters, examples on the first axis.
    likelihood : str, optional
        What the outputs are: "gaussian", "bernoulli" or "categorical".
    metric : callable, optional
        Instead of a model: the matrix F of all parameters, in the order of `ad.tree.ravel`, as a function of them.
    damping : float, optional
        What is added to the diagonal, so that directions that do not change the model get finite steps.

    Returns
    -------
    Optimizer
        The pair of `init` and `update`.

    References
    ----------
    Amari, Natural Gradient Works Efficiently in Learning, 1998. Martens, New Insights and Perspectives on the Natural
    Gradient Method, 2020.

    The path on Rosenbrock's function is drawn in docs/optim.md.

    Examples
    --------
    Logistic regression, whose natural gradient is Newton's method:

    >>> import numpy as np
    >>> from adjoint import optim
    >>> X = np.array([[1.0, -2.0], [1.0, -1.0], [1.0, 0.5], [1.0, 1.0], [1.0, 3.0]])
    >>> y = np.array([0.0, 0.0, 1.0, 0.0, 1.0])
    >>> def loss(w):
    ...     return np.mean(np.logaddexp(0.0, X @ w) - y * (X @ w))
    >>> optimizer = optim.natural_gradient(1.0, model=lambda w: X @ w, likelihood="bernoulli", damping=1e-8)
    >>> found = optim.minimize(loss, np.zeros(2), optimizer)
    >>> found.steps < 10, found.converged
    (True, True)
    """
    rate = rate_of(rate, "natural_gradient")
    damping = number(damping, "natural_gradient", "damping")
    if (model is None) == (metric is None):
        refuse(
            "natural_gradient needs either a model or a metric.",
            got="none" if model is None else "both",
            fix="Write  optim.natural_gradient(1.0, model=lambda params: predict(params, X)).",
        )
    given = metric if model is None else model
    if not callable(given):
        refuse("natural_gradient needs a function of the parameters.", got=described(given))
    if likelihood not in LIKELIHOODS:
        refuse(
            "natural_gradient knows the likelihoods gaussian, bernoulli and categorical.",
            got=f"likelihood = {described(likelihood)}",
            fix="Give the matrix of another one as  metric=.",
        )

    def init(x: Array) -> Any:
        return {"count": np.int64(0)}

    def update(gradient: Tree, state: Tree, x: Array, *, unravel: Any, **_: Any) -> tuple[Any, Any]:
        matrix = metric(unravel(x)) if metric is not None else _fisher(model, unravel, x, likelihood)
        if np.shape(matrix) != (x.size, x.size):
            refuse(
                f"The metric of {x.size} parameters is a matrix of shape ({x.size}, {x.size}).",
                got=f"shape {np.shape(matrix)}",
            )
        solved = np.linalg.solve(matrix + damping * np.eye(x.size, dtype=x.dtype), gradient)
        return -(like(at(rate, state["count"]), x) * solved), {"count": state["count"] + 1}

    return on_vectors(init, update, "natural_gradient", no_function=True)


def _fisher(model: Any, unravel: Any, x: Array, likelihood: str) -> Any:
    """The mean Fisher information of the examples."""

    def jitted() -> Any:
        information = ad.curvature.fisher(model, likelihood)
        return ad.jit(lambda v: information(unravel(v)))

    return cached((_fisher, model, likelihood, x.shape), jitted)(x)
