"""Activation functions: plain functions of an array, stable for large numbers, with derivatives of every order."""

from __future__ import annotations

import numpy as np

import adjoint as ad

from ..arguments import Array, Axis, NonNegativeNumbers, RealArray, checked


@checked()
def identity(x: Array) -> Array:
    """x itself.

    Parameters
    ----------
    x : ndarray or float
        Numbers.

    Returns
    -------
    ndarray
        The same numbers.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.identity(2.0)
    2.0
    """
    return x


@checked()
def sigmoid(x: RealArray, slope: RealArray = 1.0) -> Array:
    """1 / (1 + exp(-a x)), with the slope a; its derivative at 0 is a / 4.

    Parameters
    ----------
    x : ndarray or float
        Numbers.
    slope : array_like, default 1.0
        The slope a.

    Returns
    -------
    ndarray
        Numbers between 0 and 1.

    Examples
    --------
    >>> import adjoint as ad
    >>> from adjoint import nn
    >>> float(nn.sigmoid(0.0)), ad.grad(nn.sigmoid)(0.0, slope=2.0)
    (0.5, 0.5)
    """
    return ad.numpy.logistic(x if type(slope) is float and slope == 1.0 else slope * x)


@checked()
def tanh(x: Array) -> Array:
    """The hyperbolic tangent, 2 sigmoid(2 x) - 1.

    Parameters
    ----------
    x : ndarray or float
        Numbers.

    Returns
    -------
    ndarray
        Numbers between -1 and 1.

    Examples
    --------
    >>> from adjoint import nn
    >>> float(nn.tanh(0.0))
    0.0
    """
    return np.tanh(x)


@checked()
def relu(x: RealArray, at_zero: float = 0.0) -> Array:
    """max(x, 0); its subgradient at 0 is chosen.

    Parameters
    ----------
    x : ndarray or float
        Numbers.
    at_zero : float, default 0.0
        The derivative at x = 0, any number of the subdifferential [0, 1].

    Returns
    -------
    ndarray
        Numbers that are not negative; nan stays nan.

    Raises
    ------
    InputError
        If `at_zero` is not between 0 and 1.

    Examples
    --------
    >>> import adjoint as ad
    >>> from adjoint import nn
    >>> ad.grad(nn.relu)(0.0), ad.grad(nn.relu)(0.0, at_zero=0.5)
    (0.0, 0.5)
    """
    if not 0.0 <= at_zero <= 1.0:
        raise ad.errors.InputError(
            ad.errors.message(
                "at_zero has to be a subgradient of relu at 0, a number from 0 to 1.", got=f"at_zero={at_zero!r}"
            )
        )
    if at_zero == 0.0:
        return np.maximum(x, 0.0)
    return np.where(x == 0.0, at_zero * x, np.maximum(x, 0.0))


@checked()
def leaky_relu(x: RealArray, slope: RealArray = 0.01) -> Array:
    """x for x > 0, else a x, with the slope a; at 0 the derivative is a.

    Parameters
    ----------
    x : ndarray or float
        Numbers.
    slope : array_like, default 0.01
        The slope a on the left; an array is broadcast, and has a derivative too (see `nn.PReLU`).

    Returns
    -------
    ndarray
        Numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.leaky_relu(np.array([-1.0, 2.0]), slope=0.1)
    array([-0.1,  2. ])
    """
    return np.where(x > 0.0, x, slope * x)


@checked()
def softplus(x: RealArray) -> Array:
    """log(1 + exp(x)), a smooth ReLU whose derivative is the sigmoid.

    Parameters
    ----------
    x : ndarray or float
        Numbers.

    Returns
    -------
    ndarray
        Positive numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.softplus(np.array([-1000.0, 1000.0]))
    array([   0., 1000.])
    """
    return np.logaddexp(x, 0.0)


@checked()
def elu(x: RealArray, alpha: RealArray = 1.0) -> Array:
    """x for x > 0, else alpha (exp(x) - 1).

    Parameters
    ----------
    x : ndarray or float
        Numbers.
    alpha : array_like, default 1.0
        What it comes down to is -alpha; at 0 the derivative is alpha.

    Returns
    -------
    ndarray
        Numbers above -alpha.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.elu(np.array([-1000.0, 0.0, 1000.0]))
    array([  -1.,    0., 1000.])
    """
    return np.where(x > 0.0, x, alpha * np.expm1(np.where(x > 0.0, 0.0, x)))


@checked()
def gelu(x: RealArray, approximate: bool = False) -> Array:
    """x Phi(x), with the normal distribution function Phi.

    Parameters
    ----------
    x : ndarray or float
        Numbers.
    approximate : bool, default False
        Whether to take x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)) instead, which is within 5e-4 and needs no SciPy.

    Returns
    -------
    ndarray
        Numbers above -0.17.

    Raises
    ------
    InputError
        If SciPy is needed and not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.gelu(np.array([-1.0, 0.0, 1.0])).round(4)
    array([-0.1587,  0.    ,  0.8413])
    """
    if approximate:
        bounded = np.minimum(np.maximum(x, -10.0), 10.0)  # Phi is 0 and 1 beyond; the cube would overflow
        return x * ad.numpy.logistic(1.5957691216057308 * (bounded + 0.044715 * bounded**3))
    try:
        from scipy.special import ndtr
    except ImportError:
        raise ad.errors.InputError(
            ad.errors.message(
                "gelu needs SciPy for the normal distribution function.",
                fix="Install SciPy, or write  nn.gelu(x, approximate=True).",
            )
        ) from None
    return x * ndtr(x)


@checked()
def silu(x: RealArray) -> Array:
    """x sigmoid(x), also called swish.

    Parameters
    ----------
    x : ndarray or float
        Numbers.

    Returns
    -------
    ndarray
        Numbers above -0.28.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.silu(np.array([-1.0, 0.0, 1.0])).round(4)
    array([-0.2689,  0.    ,  0.7311])
    """
    return x * ad.numpy.logistic(x)


@checked()
def softmax(x: RealArray, temperature: NonNegativeNumbers = 1.0, *, axis: Axis = -1) -> Array:
    """exp(x_i / tau) / sum_j exp(x_j / tau), with the temperature tau: probabilities from logits.

    With tau -> inf all become equal; with tau -> 0 what is largest gets everything.

    Parameters
    ----------
    x : ndarray or float
        Logits.
    temperature : array_like, default 1.0
        The temperature; 0 gives the limit, in which all that are largest have equal shares.
    axis : int, default -1
        The axis along which the result sums to one.

    Returns
    -------
    ndarray
        Positive numbers that sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> logits = np.array([1000.0, 1001.0])
    >>> nn.softmax(logits).round(3), nn.softmax(logits, np.inf), nn.softmax(logits, 0.0)
    (array([0.269, 0.731]), array([0.5, 0.5]), array([0., 1.]))
    """
    height = x - ad.stop_gradient(np.max(x, axis=axis, keepdims=True))
    if type(temperature) in (int, float) and temperature == 0.0:
        powers = (height == 0.0).astype(height.dtype)
    else:
        powers = np.exp(height if type(temperature) is float and temperature == 1.0 else height / temperature)
    return powers / np.sum(powers, axis=axis, keepdims=True)


@checked()
def log_softmax(x: RealArray, temperature: NonNegativeNumbers = 1.0, *, axis: Axis = -1) -> Array:
    """The logarithm of softmax, x_i / tau - log sum_j exp(x_j / tau), without going through it.

    Parameters
    ----------
    x : ndarray or float
        Logits.
    temperature : array_like, default 1.0
        The temperature tau.
    axis : int, default -1
        The axis along which the exponentials of the result sum to one.

    Returns
    -------
    ndarray
        Numbers that are not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.log_softmax(np.array([0.0, 1000.0]))
    array([-1000.,     0.])
    """
    height = x - ad.stop_gradient(np.max(x, axis=axis, keepdims=True))
    scaled = height if type(temperature) is float and temperature == 1.0 else height / temperature
    return scaled - np.log(np.sum(np.exp(scaled), axis=axis, keepdims=True))
