"""Gamma, beta and Dirichlet numbers, with the pathwise derivative of every order in their parameters.

A gamma number x of shape a >= 1 is drawn by rejection (Marsaglia and Tsang 2000). Its derivative is that of the
quantile it is (implicit reparameterisation, Figurnov et al. 2018): dx/da = -(dF/da) / f for the distribution function
F and the density f. A shape below 1 is led back to a + 1: x = y u**(1/a).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.arguments import Array, DTypeLike, Key, NonNegativeNumbers, RealNumbers, Shape, checked
from ..core.errors import message
from ..core.primitive import Primitive
from ..core.traced import Traced
from ..core.values import cast, describe, shape_of
from ..numpy.dispatch.arguments import as_value, ndim_of
from ..ops import reduction
from ..ops.declare import CONSTANT, declare
from ..ops.words import words
from ..rules.elementwise import Elementwise
from ..rules.stacking import aligned, one_by_one
from .draws import FLOAT64, open_uniform, paired_normal, real_dtype, shape_for, standard_exponential
from .keys import checked_key, inner


@checked("key")
def gamma(
    key: Key, a: RealNumbers, shape: Shape | None = None, scale: NonNegativeNumbers = 1.0, dtype: DTypeLike = float
) -> Any:
    """Gamma numbers of shape `a` and mean `a * scale`.

    Parameters
    ----------
    key : array of two uint64
        A key, used for this draw alone.
    a : array_like
        The shape parameter, positive.
    shape : int or tuple of int, optional
        The shape of the result; by default that of the parameters, broadcast together.
    scale : array_like, default 1.0
        A factor.
    dtype : dtype, default float
        The dtype of the result, float64 or float32.

    Returns
    -------
    ndarray or float
        The numbers drawn, differentiable in `a` and `scale`; without a shape and with plain parameters, one number.

    Raises
    ------
    ValueError
        If `a` is not positive.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> key = ad.random.key(0)
    >>> ad.random.gamma(key, 2.0, 3).round(4)
    array([2.0497, 3.3377, 2.3525])
    >>> round(ad.grad(lambda a: np.mean(ad.random.gamma(key, a, 10_000)))(2.0), 1)  # the mean is a
    1.0
    """
    a, scale = as_value(a), as_value(scale)
    shape, dtype = shape_for(shape, a, scale), real_dtype(dtype)
    y, small, power = _parts(checked_key(key), a, shape, dtype)
    x = y * np.where(small, np.exp(power), dtype.type(1.0))
    return cast(x if type(scale) is float and scale == 1.0 else scale * x, dtype)


@checked("key")
def beta(key: Key, a: RealNumbers, b: RealNumbers, shape: Shape | None = None, dtype: DTypeLike = float) -> Any:
    """Beta numbers, between 0 and 1: the part of one gamma number in the sum of two.

    Parameters
    ----------
    key : array of two uint64
        A key, used for this draw alone.
    a : array_like
        The shape parameter of that gamma number, positive.
    b : array_like
        The shape parameter of the other one, positive.
    shape : int or tuple of int, optional
        The shape of the result; by default that of the parameters, broadcast together.
    dtype : dtype, default float
        The dtype of the result, float64 or float32.

    Returns
    -------
    ndarray or float
        The numbers drawn, differentiable in `a` and `b`; without a shape and with plain parameters, one number.

    Raises
    ------
    ValueError
        If a parameter is not positive.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.random.beta(ad.random.key(0), 2.0, 3.0, 3).round(4)
    array([0.3611, 0.2686, 0.2578])
    """
    a, b = as_value(a), as_value(b)
    shape, dtype = shape_for(shape, a, b), real_dtype(dtype)
    keys = inner(checked_key(key), 2)
    ratio = _log_gamma(keys[1], b, shape, dtype) - _log_gamma(keys[0], a, shape, dtype)
    return cast(np.exp(-np.logaddexp(dtype.type(0.0), ratio)), dtype)


@checked("key")
def dirichlet(key: Key, alpha: RealNumbers, shape: Shape | None = None, dtype: DTypeLike = float) -> Any:
    """Positive numbers along a last axis that sum to 1: gamma numbers of shapes `alpha`, divided by their sum.

    Parameters
    ----------
    key : array of two uint64
        A key, used for this draw alone.
    alpha : array_like
        The parameters, positive, along the last axis.
    shape : int or tuple of int, optional
        The shape of the result without the last axis; by default that of `alpha` without it.
    dtype : dtype, default float
        The dtype of the result, float64 or float32.

    Returns
    -------
    ndarray
        The numbers drawn, differentiable in `alpha`.

    Raises
    ------
    ValueError
        If `alpha` is one number, or not positive.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.random.dirichlet(ad.random.key(0), [1.0, 2.0, 3.0]).round(4)
    array([0.1183, 0.4296, 0.4522])
    """
    alpha = as_value(alpha)
    if ndim_of(alpha) == 0:
        raise ValueError(
            message("A Dirichlet draw needs an array of parameters.", got=describe(alpha), fix="Write  [a, b, ...].")
        )
    *outer, last = shape_of(alpha)
    full = (*shape_for(shape, np.empty(outer)), last)
    dtype = real_dtype(dtype)
    logs = _log_gamma(checked_key(key), alpha, full, dtype)
    return cast(np.exp(logs - reduction.logsumexp(logs, axis=(-1,), keepdims=True)), dtype)


def _log_gamma(key: Key, a: Array, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """The logarithm, which is finite also where a small shape makes the number itself vanish."""
    y, small, power = _parts(key, a, shape, dtype)
    return np.log(y) + np.where(small, power, dtype.type(0.0))


def _parts(key: Key, a: Array, shape: tuple[int, ...], dtype: np.dtype) -> tuple[Any, Any, Any]:
    """A gamma number of shape at least 1, where the shape was smaller, and the logarithm of what makes up for it."""
    keys = inner(key, 2)
    small = a < 1
    raised = a + np.where(small, dtype.type(1.0), dtype.type(0.0))
    y = _path(raised, _drawn(keys[0], raised, shape=shape, dtype=dtype))
    return y, small, -standard_exponential(keys[1], shape=shape, dtype=dtype) / a


def _draw(key: Key, a: Array, *, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    a = np.asarray(a, FLOAT64)
    if not np.all((a >= 1) & (a < np.inf)):  # what was below 1 has been raised, unless it was not positive
        raise ValueError(
            message(
                "The shape parameters of gamma, beta and Dirichlet numbers have to be positive.",
                got=f"{a[~((a >= 1) & (a < np.inf))].flat[0] - 1.0}",
                fix="Write  np.exp(log_a)  for a parameter that is to be learned.",
            )
        )
    out = np.empty(shape)
    flat = out.reshape(-1)
    third = np.broadcast_to(a - 1.0 / 3.0, shape).reshape(-1)
    open_places, attempt = np.arange(flat.size), 0
    while open_places.size:
        d, n = third[open_places], open_places.size
        z = paired_normal(words(key, n + n % 2, part=2 * attempt))[:n]
        u = open_uniform(words(key, n, part=2 * attempt + 1))
        v = np.maximum(1.0 + z / (3.0 * np.sqrt(d)), 0.0) ** 3
        with np.errstate(divide="ignore", invalid="ignore"):  # at v = 0 the right side is -inf: not accepted
            accepted = np.log(u) < 0.5 * z * z + d * (1.0 - v + np.log(v))
        flat[open_places[accepted]] = (d * v)[accepted]
        open_places, attempt = open_places[~accepted], attempt + 1
    return out.astype(dtype, copy=False)[()]


STEP = 0.08
_t = np.arange(-3.7, 4.3, STEP)
NODES = np.exp(_t - np.exp(-_t))
"""Places from 0 to infinity at which an integrand that decays within a few units is added up: double exponential."""

WEIGHTS = STEP * NODES * (1.0 + np.exp(-_t))
CHUNK = 2048
"""How many slopes are found at a time, each from an integrand at all nodes."""


def slope(a: Array, x: Array) -> Any:
    """dx/da of a gamma number x of shape a >= 1."""
    if isinstance(a, Traced) or isinstance(x, Traced):
        return _slope(a, x)  # in steps that are traced, so that it has derivatives too
    a, x = np.broadcast_arrays(np.asarray(a, FLOAT64), np.asarray(x, FLOAT64))
    shape, a, x = a.shape, a.reshape(-1), x.reshape(-1)
    parts = [_slope(a[i : i + CHUNK], x[i : i + CHUNK]) for i in range(0, a.size, CHUNK)]
    return np.concatenate(parts).reshape(shape)[()] if parts else np.zeros(shape)


def _slope(a: Array, x: Array) -> Any:
    """The slope as a mean of positive terms, so that nothing cancels and no special function is needed.

    With v = log(t / x) and the unnormalised density e(v) = exp(a v - x (exp(v) - 1)), let p and q be the integrals of
    e below and above v = 0, and m and n those of |v| e. Then dF/da is a covariance of log t, and
    dx/da = x (p n + q m) / (p + q).
    """
    a, x = np.expand_dims(a, -1), np.expand_dims(x, -1)
    width = np.sqrt(a)
    below = NODES / width
    e = np.exp(-a * below - x * np.expm1(-below)) * (WEIGHTS / width)
    p, m = np.sum(e, axis=-1), np.sum(e * below, axis=-1)
    rise = NODES * width  # t - x
    above = np.log1p(rise / x)
    e = np.exp(a * above - rise) * (WEIGHTS * width) / (x + rise)
    q, n = np.sum(e, axis=-1), np.sum(e * above, axis=-1)
    return np.squeeze(x, -1) * (p * n + q * m) / (p + q)


_drawn = declare("random_gamma", _draw, CONSTANT, stacking=one_by_one, fails_from=1)

# What was drawn stays what it is: only its derivative is put in here, so the laws of the catalogue do not apply.
_path = Primitive(
    "random_gamma_path",
    lambda a, drawn: drawn,
    derivative=Elementwise([lambda out, x: slope(x, out), None]),
    stacking=aligned,
)
