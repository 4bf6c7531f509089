"""Least squares: minima of sums of squares, or of robust losses of them, between bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message
from ...core.traced import Traced
from ...core.tree import flatten
from ...core.values import cannot_branch, decidable, shape_of
from ...transforms.grad import grad
from ...transforms.jacobian import jacobian
from ...transforms.jvp import jvp
from .conditions import Constraints, equation, joined, point_of, stationary
from .constraints import limits_of
from .minimisers import KKT, minimum
from .solving import Given, LazyField, Problem, as_result, as_tuple, numbers_of, pinned, teach

LOSSES: dict[str, Callable[[Any], Any]] = {
    "linear": lambda z: z,
    "soft_l1": lambda z: 2.0 * ((1.0 + z) ** 0.5 - 1.0),
    "huber": lambda z: np.where(z <= 1.0, z, 2.0 * np.where(z <= 1.0, 1.0, z) ** 0.5 - 1.0),
    "cauchy": np.log1p,
    "arctan": np.arctan,
}
"""What SciPy's losses make of a square."""


def _residuals(given: Given) -> Callable[[Any], Any]:
    """The residuals as a function of the point alone."""
    key = "fun" if "fun" in given else "func"
    args, words = as_tuple(given.get("args", ())), given.get("kwargs") or {}

    def residuals(x: Any) -> Any:
        found = given[key](x, *args, **words)
        return np.reshape(np.stack(found) if isinstance(found, (list, tuple)) else np.asarray(found), (-1,))

    return residuals


def _loss(given: Given) -> Callable[[Any], Any]:
    loss = given.get("loss", "linear")
    return LOSSES[loss] if isinstance(loss, str) else lambda z: np.asarray(loss(z))[0]


def cost_of(residuals: Callable[[Any], Any], loss: Callable[[Any], Any], scale: Any) -> Callable[[Any], Any]:
    """Half the sum of the losses."""
    return lambda x: 0.5 * np.sum(scale**2 * loss((residuals(x) / scale) ** 2))


def _cost(given: Given) -> Callable[[Any], Any]:
    return cost_of(_residuals(given), _loss(given), given.get("f_scale", 1.0))


def _bounds(given: Given, x: Any) -> Constraints | None:
    bounds = given.get("bounds")
    if bounds is None or (not hasattr(bounds, "lb") and not _any_finite(bounds)):
        return None
    return joined(limits_of(bounds, shape_of(x)[0]))


def _any_finite(bounds: Any) -> bool:
    return any([isinstance(b, Traced) or bool(np.any(np.isfinite(b))) for b in flatten(bounds)[0]])


def _result(found: tuple[Any, ...], given: Given) -> Any:
    z, sides, fields = found
    x = point_of(z, sides)
    residuals = _residuals(given)
    return as_result(
        fields,
        x=x,
        fun=pinned(fields["fun"], residuals(x)),
        cost=pinned(fields["cost"], _cost(given)(x)),
        jac=LazyField(lambda: pinned(fields["jac"], _scaled_jacobian(given, x))),
        grad=LazyField(lambda: pinned(fields["grad"], grad(_cost(given))(x))),
    )


def _scaled_jacobian(given: Given, x: Any) -> Any:
    """The Jacobian as SciPy gives it: its square is the Hessian of the cost, in the approximation of Gauss-Newton."""
    residuals, loss = _residuals(given), _loss(given)
    slopes = jacobian(residuals)(x)
    if loss is LOSSES["linear"]:
        return slopes
    z = (residuals(x) / given.get("f_scale", 1.0)) ** 2

    def slope(z: Any) -> Any:
        return jvp(loss, (z,), (np.ones(shape_of(z)),))[1]

    first, second = jvp(slope, (z,), (np.ones(shape_of(z)),))
    return slopes * np.maximum(first + 2.0 * second * z, np.finfo(float).eps)[:, None] ** 0.5


# leastsq, curve_fit ------------------------------------------------------------------------------------------------


def _leastsq_found(raw: Any, given: Given) -> tuple[Any, ...]:
    if not given.get("full_output"):
        return raw[0], raw[1]
    x, covariance, info, words, code = raw
    return x, (covariance, numbers_of(info), words, code)


def _leastsq_residual(x: Any, others: Any, given: Given) -> Any:
    return np.reshape(grad(_cost(given))(x), shape_of(x))


def _leastsq_result(found: tuple[Any, ...], given: Given) -> Any:
    x, rest = found
    if not isinstance(rest, tuple):
        return x, rest
    covariance, info, words, code = rest
    if covariance is not None:
        covariance = pinned(covariance, _covariance(_residuals(given), x))
    return x, covariance, {**info, "fvec": pinned(info["fvec"], _residuals(given)(x))}, words, code


def _covariance(residuals: Callable[[Any], Any], x: Any) -> Any:
    """The inverse of J* J."""
    slopes = jacobian(residuals)(x)
    return np.linalg.inv(slopes.T @ slopes)


def _weighted(given: Given) -> Callable[[Any], Any]:
    """The residuals of a curve, in units of their errors."""
    f, x, y, sigma = given["f"], given["xdata"], np.asarray(given["ydata"]), given.get("sigma")
    x = np.asarray(x) if isinstance(x, (list, tuple)) else x

    def residuals(p: Any) -> Any:
        found = np.reshape(f(x, *[p[k] for k in range(shape_of(p)[0])]) - y, (-1,))
        if sigma is None:
            return found
        errors = np.asarray(sigma)
        if len(shape_of(errors)) == 2:
            return np.linalg.solve(np.linalg.cholesky(errors), found)
        return found / np.reshape(errors, (-1,))

    return residuals


def _curve_cost(given: Given) -> Callable[[Any], Any]:
    words = given.get("kwargs") or {}
    return cost_of(_weighted(given), _loss(words), words.get("f_scale", 1.0))


def _curve_found(raw: Any, given: Given) -> tuple[Any, ...]:
    popt, pcov, *rest = raw
    z, sides = stationary(popt, _curve_cost(given), _bounds(given, popt))
    return z, sides, pcov, [numbers_of(rest[0]), *rest[1:]] if rest else []


def _curve_result(found: tuple[Any, ...], given: Given) -> Any:
    z, sides, pcov, rest = found
    popt = point_of(z, sides)
    residuals = _weighted(given)
    is_known = decidable(np.all(np.isfinite(pcov)))
    if cannot_branch(is_known) or bool(np.all(is_known)):
        estimate = _covariance(residuals, popt)
        if not given.get("absolute_sigma"):
            freedom = shape_of(residuals(popt))[0] - shape_of(popt)[0]
            estimate = estimate * (2.0 * _curve_cost(given)(popt) / freedom)
        pcov = pinned(pcov, estimate)
    if rest:
        rest = [{**rest[0], "fvec": pinned(rest[0]["fvec"], residuals(popt))}, *rest[1:]]
    return (popt, pcov, *rest)


def _curve_check(given: Given) -> None:
    if given.get("nan_policy") == "omit":
        raise UnsupportedError(
            message(
                "scipy.optimize.curve_fit is not differentiated with nan_policy='omit'.",
                fix="Leave out the missing values before:  keep = ~np.isnan(y); curve_fit(f, x[keep], y[keep]).",
            )
        )
    if (given.get("kwargs") or {}).get("loss", "linear") != "linear":
        raise UnsupportedError(
            message(
                "scipy.optimize.curve_fit is not differentiated with a robust loss, which has no simple covariance.",
                fix="Use  scipy.optimize.least_squares(..., loss=...),  whose  x  and  jac  have derivatives.",
            )
        )


ROBUST = KKT + "; `x`, `fun`, `cost`, `jac` and `grad` have derivatives"
teach(minimum(_cost, _bounds, _result), "least_squares", note=ROBUST)
teach(
    Problem(_leastsq_found, _leastsq_residual, _leastsq_result),
    "leastsq",
    note="the point and its covariance have derivatives",
)
teach(
    Problem(_curve_found, equation(_curve_cost, _bounds), _curve_result, check=_curve_check),
    "curve_fit",
    note="the parameters and their covariance have derivatives, in the data, in sigma, and in what `f` closes over",
)
