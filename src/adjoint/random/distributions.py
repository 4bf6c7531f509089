"""Continuous distributions: a draw without parameters, moved and stretched, so that the parameters have derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.arguments import (
    Array,
    Bounds,
    DTypeLike,
    FiniteNumbers,
    Key,
    NonNegativeNumbers,
    RealNumbers,
    Shape,
    checked,
)
from ..core.errors import ArgumentError, message
from ..core.primitive import Primitive
from ..core.traced import Traced
from ..core.values import cast
from ..numpy.dispatch.arguments import as_value
from . import draws
from .draws import real_dtype, shape_for
from .keys import checked_key


@checked("key")
def uniform(
    key: Key, shape: Shape | None = None, low: FiniteNumbers = 0.0, high: FiniteNumbers = 1.0, dtype: DTypeLike = float
) -> Any:
    """Numbers spread evenly over [low, high): low + (high - low) u.

    Parameters
    ----------
    key : array of two uint64
        A key, used for this draw alone.
    shape : int or tuple of int, optional
        The shape of the result; by default that of the parameters, broadcast together.
    low : array_like, default 0.0
        The lower end, which is included.
    high : array_like, default 1.0
        The upper end, which is not.
    dtype : dtype, default float
        The dtype of the result, float64 or float32.

    Returns
    -------
    ndarray or float
        The numbers drawn, differentiable in `low` and `high`; without a shape and with plain parameters, one number.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.random.uniform(ad.random.key(0), 3).round(4)
    array([0.0141, 0.2578, 0.4716])
    >>> round(ad.grad(lambda high: ad.random.uniform(ad.random.key(0), high=high))(2.0), 4)
    0.0141
    """
    low, high = as_value(low), as_value(high)
    if not isinstance(low, Traced) and not isinstance(high, Traced) and np.any(low > high):
        raise ArgumentError(
            message("uniform needs low and high, of which low is not above high.", got=f"low = {low}, high = {high}")
        )
    u = _drawn(draws.standard_uniform, key, shape, dtype, low, high)
    return u if _is(low, 0.0) and _is(high, 1.0) else cast(low + (high - low) * u, np.dtype(dtype))


@checked("key")
def normal(
    key: Key,
    shape: Shape | None = None,
    loc: RealNumbers = 0.0,
    scale: NonNegativeNumbers = 1.0,
    dtype: DTypeLike = float,
) -> Any:
    """Normal numbers: loc + scale z.

    Parameters
    ----------
    key : array of two uint64
        A key, used for this draw alone.
    shape : int or tuple of int, optional
        The shape of the result; by default that of the parameters, broadcast together.
    loc : array_like, default 0.0
        The mean.
    scale : array_like, default 1.0
        The standard deviation.
    dtype : dtype, default float
        The dtype of the result, float64 or float32.

    Returns
    -------
    ndarray or float
        The numbers drawn, differentiable in `loc` and `scale`; without a shape and with plain parameters, one number.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> key = ad.random.key(0)
    >>> ad.random.normal(key, 3).round(4)
    array([-0.1425,  2.9168,  1.0294])
    >>> round(ad.grad(lambda scale: ad.random.normal(key, loc=1.0, scale=scale))(2.0), 4)
    -0.1425
    """
    return _located(draws.standard_normal, key, shape, loc, scale, dtype)


@checked("key")
def exponential(key: Key, shape: Shape | None = None, scale: NonNegativeNumbers = 1.0, dtype: DTypeLike = float) -> Any:
    """Waiting times of mean `scale`: -scale log(1 - u). For a rate, write `scale=1 / rate`.

    Parameters
    ----------
    key : array of two uint64
        A key, used for this draw alone.
    shape : int or tuple of int, optional
        The shape of the result; by default that of the parameters, broadcast together.
    scale : array_like, default 1.0
        The mean.
    dtype : dtype, default float
        The dtype of the result, float64 or float32.

    Returns
    -------
    ndarray or float
        The numbers drawn, differentiable in `scale`; without a shape and with plain parameters, one number.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.random.exponential(ad.random.key(0), 3).round(4)
    array([0.0142, 0.2981, 0.6378])
    """
    return _located(draws.standard_exponential, key, shape, 0.0, scale, dtype)


@checked("key")
def gumbel(
    key: Key,
    shape: Shape | None = None,
    loc: RealNumbers = 0.0,
    scale: NonNegativeNumbers = 1.0,
    dtype: DTypeLike = float,
) -> Any:
    """The largest of many: loc - scale log(-log u).

    Parameters
    ----------
    key : array of two uint64
        A key, used for this draw alone.
    shape : int or tuple of int, optional
        The shape of the result; by default that of the parameters, broadcast together.
    loc : array_like, default 0.0
        The mode.
    scale : array_like, default 1.0
        The width.
    dtype : dtype, default float
        The dtype of the result, float64 or float32.

    Returns
    -------
    ndarray or float
        The numbers drawn, differentiable in `loc` and `scale`; without a shape and with plain parameters, one number.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.random.gumbel(ad.random.key(0), 3).round(4)
    array([-1.4502, -0.3043,  0.2854])
    """
    return _located(draws.standard_gumbel, key, shape, loc, scale, dtype)


@checked("key")
def laplace(
    key: Key,
    shape: Shape | None = None,
    loc: RealNumbers = 0.0,
    scale: NonNegativeNumbers = 1.0,
    dtype: DTypeLike = float,
) -> Any:
    """Exponential on both sides of `loc`.

    Parameters
    ----------
    key : array of two uint64
        A key, used for this draw alone.
    shape : int or tuple of int, optional
        The shape of the result; by default that of the parameters, broadcast together.
    loc : array_like, default 0.0
        The mean.
    scale : array_like, default 1.0
        The mean distance from it.
    dtype : dtype, default float
        The dtype of the result, float64 or float32.

    Returns
    -------
    ndarray or float
        The numbers drawn, differentiable in `loc` and `scale`; without a shape and with plain parameters, one number.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.random.laplace(ad.random.key(0), 3).round(4)
    array([-3.5708, -0.6626, -0.0586])
    """
    return _located(draws.standard_laplace, key, shape, loc, scale, dtype)


@checked("key")
def logistic(
    key: Key,
    shape: Shape | None = None,
    loc: RealNumbers = 0.0,
    scale: NonNegativeNumbers = 1.0,
    dtype: DTypeLike = float,
) -> Any:
    """Logistic numbers: loc + scale log(u / (1 - u)).

    Parameters
    ----------
    key : array of two uint64
        A key, used for this draw alone.
    shape : int or tuple of int, optional
        The shape of the result; by default that of the parameters, broadcast together.
    loc : array_like, default 0.0
        The mean.
    scale : array_like, default 1.0
        The width.
    dtype : dtype, default float
        The dtype of the result, float64 or float32.

    Returns
    -------
    ndarray or float
        The numbers drawn, differentiable in `loc` and `scale`; without a shape and with plain parameters, one number.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.random.logistic(ad.random.key(0), 3).round(4)
    array([-4.2498, -1.0576, -0.1139])
    """
    return _located(draws.standard_logistic, key, shape, loc, scale, dtype)


@checked("key")
def cauchy(
    key: Key,
    shape: Shape | None = None,
    loc: RealNumbers = 0.0,
    scale: NonNegativeNumbers = 1.0,
    dtype: DTypeLike = float,
) -> Any:
    """Cauchy numbers, which have no mean: loc + scale tan(pi (u - 1/2)).

    Parameters
    ----------
    key : array of two uint64
        A key, used for this draw alone.
    shape : int or tuple of int, optional
        The shape of the result; by default that of the parameters, broadcast together.
    loc : array_like, default 0.0
        The median.
    scale : array_like, default 1.0
        Half of the numbers are closer to the median than this.
    dtype : dtype, default float
        The dtype of the result, float64 or float32.

    Returns
    -------
    ndarray or float
        The numbers drawn, differentiable in `loc` and `scale`; without a shape and with plain parameters, one number.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.random.cauchy(ad.random.key(0), 3).round(4)
    array([-22.6133,  -0.9524,  -0.0896])
    """
    return _located(draws.standard_cauchy, key, shape, loc, scale, dtype)


@checked("key")
def truncated_normal(
    key: Key,
    low: Bounds = -np.inf,
    high: Bounds = np.inf,
    shape: Shape | None = None,
    dtype: DTypeLike = float,
) -> Any:
    """Standard normal numbers between `low` and `high`: the quantile of a uniform number between their probabilities.

    For another mean and width write `loc + scale * truncated_normal(key, (low - loc) / scale, (high - loc) / scale)`.
    Needs SciPy.

    Parameters
    ----------
    key : array of two uint64
        A key, used for this draw alone.
    low : array_like, default -inf
        The lower end.
    high : array_like, default inf
        The upper end.
    shape : int or tuple of int, optional
        The shape of the result; by default that of the parameters, broadcast together.
    dtype : dtype, default float
        The dtype of the result, float64 or float32.

    Returns
    -------
    ndarray or float
        The numbers drawn, differentiable in `low` and `high`; without a shape and with plain parameters, one number.

    Raises
    ------
    ImportError
        If SciPy is not installed.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.random.truncated_normal(ad.random.key(0), 1.0, 2.0, 3).round(4)
    array([1.9658, 1.5737, 1.3605])
    """
    try:
        from scipy.special import ndtri
    except ImportError as error:
        raise ImportError(
            message("ad.random.truncated_normal needs SciPy.", fix="Install it with  pip install scipy.")
        ) from error
    low, high = as_value(low), as_value(high)
    u = _drawn(draws.standard_between, key, shape, float, low, high)  # in single precision it might become 1
    # in the upper half the probabilities are all close to 1: the mirror image has all digits
    mirrored = low > 0
    bottom, top = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
    base = _probability(bottom)
    z = np.clip(ndtri(base + (_probability(top) - base) * u), bottom, top)
    return cast(np.where(mirrored, -z, z), real_dtype(dtype))


def _probability(x: Array) -> Any:
    """How likely a normal number is below x; at infinity without the slopes, of which the second is not a number."""
    from scipy.special import ndtr

    finite = np.isfinite(x)
    return np.where(finite, ndtr(np.where(finite, x, 0.0)), np.where(x > 0, 1.0, 0.0))


def _located(primitive: Primitive, key: Key, shape: Shape | None, loc: Array, scale: Array, dtype: DTypeLike) -> Any:
    loc, scale = as_value(loc), as_value(scale)
    z = _drawn(primitive, key, shape, dtype, loc, scale)
    z = z if _is(scale, 1.0) else scale * z
    return cast(z if _is(loc, 0.0) else loc + z, np.dtype(dtype))


def _drawn(primitive: Primitive, key: Key, shape: Shape | None, dtype: DTypeLike, *parameters: Any) -> Any:
    return primitive(checked_key(key), shape=shape_for(shape, *parameters), dtype=real_dtype(dtype))


def _is(x: Array, number: float) -> bool:
    """Whether a parameter was left at its default, so that nothing has to be done."""
    return type(x) is float and x == number
